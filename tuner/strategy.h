// SPDX-License-Identifier: MIT
// SearchStrategy: ask-and-tell search. No clock, no I/O, seeded; the loop (tuner/loop.h) owns budget and measuring.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "db/trial.h"
#include "schedules/config.h"

namespace hone {

class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  /// At most max_count valid configs not proposed or observed before; empty: the space is exhausted.
  virtual std::vector<Config> propose(int max_count) = 0;
  /// Results in any order, also of configs that were never proposed (resume, seeds).
  virtual void observe(std::span<const Trial> trials) = 0;
};

struct StrategyEntry {
  std::string_view name;
  std::string_view description;  // with the space sizes it is meant for
  std::unique_ptr<SearchStrategy> (*make)(const std::vector<SearchSpace>& spaces, uint64_t seed);
};
/// tuner/strategies.cpp
std::span<const StrategyEntry> strategies();

}  // namespace hone
