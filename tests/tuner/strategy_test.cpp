// SPDX-License-Identifier: MIT
// Conformance of every search strategy in the table: valid only, ends on finite spaces, deterministic, no repeats,
// default first, survives a run in which everything fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tuner/space_points.h"
#include "tuner/strategies.h"

namespace hone {
namespace {

SearchSpace tiles() {
  SearchSpace space;
  space.implementation = "tiles";
  space.params = {{"nv", {1, 2, 3, 4}}, {"xr", {1, 2, 4, 7, 14}}, {"ku", {1, 2}}};
  space.constraints = {{"registers", [](const Config& c) { return c.at("nv") * c.at("xr") + c.at("nv") + 1 <= 16; }}};
  space.default_config = {"tiles", 1, {{"nv", 2}, {"xr", 4}, {"ku", 1}}};
  return space;
}

SearchSpace plain() {
  SearchSpace space;
  space.implementation = "plain";
  space.default_config = {"plain", 1, {}};
  return space;
}

std::set<Config> valid_points() {
  std::set<Config> points;
  const SpacePoints all({tiles(), plain()});
  for (uint64_t i = 0; i < all.count(); ++i) {
    if (all.valid(i)) points.insert(all.decode(i));
  }
  return points;
}

Trial failed(const Config& config) {
  Trial trial;
  trial.config = config;
  trial.status = TrialStatus::build_failed;
  return trial;
}

class StrategyTest : public testing::TestWithParam<size_t> {
 protected:
  const StrategyEntry& entry() const { return strategies()[GetParam()]; }
  std::unique_ptr<SearchStrategy> make(uint64_t seed) const { return entry().make({tiles(), plain()}, seed); }
};

TEST_P(StrategyTest, ProposesTheDefaultFirst) {
  const auto strategy = make(7);
  ASSERT_EQ(strategy->propose(1), std::vector<Config>{tiles().default_config});
}

TEST_P(StrategyTest, CoversAFiniteSpaceWithoutRepeatsAndEnds) {
  const auto strategy = make(7);
  std::set<Config> seen;
  for (int round = 0; round < 1000; ++round) {
    const std::vector<Config> batch = strategy->propose(3);
    if (batch.empty()) break;
    EXPECT_LE(batch.size(), 3u);
    for (const Config& config : batch) EXPECT_TRUE(seen.insert(config).second) << config.canonical();
    for (const Config& config : batch) {
      const Trial trial = failed(config);
      strategy->observe({&trial, 1});
    }
  }
  EXPECT_EQ(seen, valid_points());
  EXPECT_TRUE(strategy->propose(3).empty());
}

TEST_P(StrategyTest, SameSeedSameProposals) {
  const auto a = make(42), b = make(42);
  for (int round = 0; round < 20; ++round) EXPECT_EQ(a->propose(4), b->propose(4));
}

TEST_P(StrategyTest, NeverProposesWhatWasObserved) {
  const auto strategy = make(3);
  std::vector<Trial> trials;
  const std::set<Config> points = valid_points();
  size_t count = 0;
  for (const Config& config : points) {
    if (count++ % 2 == 0) trials.push_back(failed(config));
  }
  strategy->observe(trials);
  size_t proposed = 0;
  for (std::vector<Config> batch = strategy->propose(5); !batch.empty(); batch = strategy->propose(5)) {
    proposed += batch.size();
    for (const Config& config : batch) {
      EXPECT_TRUE(std::none_of(trials.begin(), trials.end(), [&](const Trial& t) { return t.config == config; }));
    }
  }
  EXPECT_EQ(proposed, points.size() - trials.size());
}

INSTANTIATE_TEST_SUITE_P(All, StrategyTest, testing::Range<size_t>(0, strategies().size()),
                         [](const auto& parameter) { return std::string(strategies()[parameter.param].name); });

TEST(RandomStrategy, SeedsDiffer) {
  EXPECT_NE(make_random_strategy({tiles()}, 1)->propose(20), make_random_strategy({tiles()}, 2)->propose(20));
}

TEST(RandomStrategy, DrawsFromSpacesTooLargeToList) {
  SearchSpace large = tiles();
  std::vector<int64_t> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  for (const char* name : {"a", "b"}) {
    large.params.push_back({name, values});
    large.default_config.values[name] = 0;
  }
  const auto strategy = make_random_strategy({large}, 5);
  std::set<Config> seen;
  for (const Config& config : strategy->propose(200)) {
    EXPECT_TRUE(large.violation(config).empty());
    EXPECT_TRUE(seen.insert(config).second);
  }
  EXPECT_EQ(seen.size(), 200u);
}

TEST(SpacePoints, NumbersEveryPointOnce) {
  const SpacePoints points({tiles(), plain()});
  ASSERT_EQ(points.count(), 41u);
  std::set<Config> all;
  for (uint64_t i = 0; i < points.count(); ++i) all.insert(points.decode(i));
  EXPECT_EQ(all.size(), 41u);
  EXPECT_TRUE(points.valid(40));
}

}  // namespace
}  // namespace hone
