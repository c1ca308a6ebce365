// SPDX-License-Identifier: MIT
// The table of search strategies. Better ones (boosted trees, genetic, local search) get their lines here.
#include "tuner/strategies.h"

namespace hone {

std::span<const StrategyEntry> strategies() {
  static const StrategyEntry kEntries[] = {
      {"random",
       "the defaults, then valid points uniformly without repeats; any space size, the baseline for all others",
       make_random_strategy},
      {"exhaustive", "the defaults, then every valid point in order; for spaces of up to a few hundred points",
       make_exhaustive_strategy},
  };
  return kEntries;
}

}  // namespace hone
