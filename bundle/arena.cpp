// SPDX-License-Identifier: MIT
#include "bundle/arena.h"

#include <algorithm>
#include <numeric>

namespace hone {
namespace {

constexpr uint64_t kAlignment = 64;

uint64_t aligned(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

uint64_t most_alive(const std::vector<Lifetime>& lifetimes) {
  uint64_t most = 0;
  for (const Lifetime& at : lifetimes) {  // the maximum is reached at some value's first step
    uint64_t alive = 0;
    for (const Lifetime& other : lifetimes) {
      if (other.first <= at.first && at.first <= other.last) alive += aligned(other.bytes);
    }
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

ArenaPlan plan_arena(const std::vector<Lifetime>& lifetimes) {
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  plan.lower_bound = most_alive(lifetimes);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;  // by offset
  for (size_t value : order) {
    const uint64_t bytes = aligned(lifetimes[value].bytes);
    uint64_t offset = 0;
    for (size_t other : placed) {
      if (!overlap(lifetimes[value], lifetimes[other])) continue;
      if (plan.offsets[other] >= offset + bytes) break;  // the gap before it is large enough
      offset = std::max(offset, plan.offsets[other] + aligned(lifetimes[other].bytes));
    }
    plan.offsets[value] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    const auto later = [&](size_t other) { return plan.offsets[other] > offset; };
    placed.insert(std::find_if(placed.begin(), placed.end(), later), value);
  }
  return plan;
}

}  // namespace hone
