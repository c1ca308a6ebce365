// SPDX-License-Identifier: MIT
#include "bundle/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hone {
namespace {

bool alive_together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The lower bound by its definition: the most bytes alive at any step.
uint64_t most_bytes_alive(const std::vector<Lifetime>& lifetimes) {
  uint64_t most = 0;
  for (int step = 0; step < 64; ++step) {
    uint64_t alive = 0;
    for (const Lifetime& life : lifetimes) {
      if (life.first <= step && step <= life.last) alive += (life.bytes + 63) / 64 * 64;
    }
    most = std::max(most, alive);
  }
  return most;
}

void expect_sound(const std::vector<Lifetime>& lifetimes, const ArenaPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), lifetimes.size());
  EXPECT_EQ(plan.lower_bound, most_bytes_alive(lifetimes));
  EXPECT_GE(plan.bytes, plan.lower_bound);
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0u);
    EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.bytes);
    for (size_t k = 0; k < i; ++k) {
      if (!alive_together(lifetimes[i], lifetimes[k])) continue;
      const bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[k] ||
                         plan.offsets[k] + lifetimes[k].bytes <= plan.offsets[i];
      EXPECT_TRUE(apart) << i << " and " << k;
    }
  }
}

TEST(Arena, NothingAliveTogetherOverlaps) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lifetimes(random() % 40);
    for (Lifetime& life : lifetimes) {
      life.first = static_cast<int>(random() % 50);
      life.last = life.first + static_cast<int>(random() % 14);
      life.bytes = random() % 8 == 0 ? 0 : random() % 5000;
    }
    expect_sound(lifetimes, plan_arena(lifetimes));
  }
}

TEST(Arena, AChainNeedsTwoSlots) {
  std::vector<Lifetime> lifetimes;
  for (int step = 0; step < 30; ++step) lifetimes.push_back({6400, step, step + 1});
  const ArenaPlan plan = plan_arena(lifetimes);
  EXPECT_EQ(plan.bytes, 2u * 6400);
  EXPECT_EQ(plan.lower_bound, 2u * 6400);
}

TEST(Arena, FillsGapsBelowLongLivedValues) {
  // A residual that lives throughout, and a chain beside it.
  const std::vector<Lifetime> lifetimes = {{1000, 0, 9}, {640, 0, 1}, {1280, 1, 2}, {640, 2, 3}, {1280, 3, 9}};
  const ArenaPlan plan = plan_arena(lifetimes);
  expect_sound(lifetimes, plan);
  EXPECT_EQ(plan.bytes, plan.lower_bound);
}

TEST(Arena, AnEmptyOneIsEmpty) {
  EXPECT_EQ(plan_arena({}).bytes, 0u);
  EXPECT_EQ(plan_arena({{0, 0, 3}, {0, 1, 2}}).bytes, 0u);
}

}  // namespace
}  // namespace hone
