// SPDX-License-Identifier: MIT
// Arena planning: where each activation lies, so that values which are alive at the same time never overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

/// A value in the arena: alive from the step that writes it to the last one that reads it, both included.
struct Lifetime {
  uint64_t bytes = 0;
  int first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<uint64_t> offsets;  // multiples of 64, in the order of the lifetimes
  uint64_t bytes = 0;
  uint64_t lower_bound = 0;  // most bytes alive at one step: no plan can need less
};

/// Greedy by size: the largest value first, each at the lowest offset that is free during its life.
/// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, algorithm 3.
ArenaPlan plan_arena(const std::vector<Lifetime>& lifetimes);

}  // namespace hone
