// SPDX-License-Identifier: MIT
// The measuring loop over subjects that count their calls: order, batches, ends. No time is asserted.
#include "profiler/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "profiler/kernel_session.h"

namespace hone {
namespace {

const auto kNoEnd = std::chrono::steady_clock::time_point::max();

Subject subject(std::function<void()> call) {
  return {.call = std::move(call), .measurement = {}, .failure = {}};
}

// An interrupted sample is taken again at once, so on a busy machine a call may stand several times in a row.
TEST(MeasureRounds, RotatesTheOrder) {
  std::string order;
  std::vector<Subject> subjects;
  for (const char letter : {'a', 'b', 'c'}) subjects.push_back(subject([&order, letter] { order += letter; }));
  measure_rounds(subjects, {.rounds = 4}, kNoEnd);
  order.erase(std::unique(order.begin(), order.end()), order.end());
  EXPECT_EQ(order, "abcbcacababc");
  for (const Subject& each : subjects) {
    EXPECT_EQ(each.measurement.cpu_ns.size(), 4u);
    EXPECT_EQ(each.measurement.wall_ns.size(), 4u);
  }
}

TEST(MeasureRounds, BatchesAreWarmedAndCounted) {
  int calls = 0;
  std::vector<Subject> subjects = {subject([&] { ++calls; })};
  subjects[0].measurement.calls_per_sample = 10;
  measure_rounds(subjects, {.rounds = 3}, kNoEnd);
  EXPECT_EQ(calls % (10 + 1), 0);  // one untimed call before each batch
  EXPECT_GE(calls, 3 * (10 + 1));
  EXPECT_LE(calls, 3 * 3 * (10 + 1));
}

TEST(MeasureRounds, AFailureEndsOneSubject) {
  int calls = 0;
  std::vector<Subject> subjects = {subject([&] {
                                     if (++calls == 3) throw std::runtime_error("third call");
                                   }),
                                   subject([] {})};
  measure_rounds(subjects, {.rounds = 6}, kNoEnd);
  EXPECT_EQ(subjects[0].failure, "third call");
  EXPECT_LE(subjects[0].measurement.cpu_ns.size(), 2u);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(subjects[1].failure, "");
  EXPECT_EQ(subjects[1].measurement.cpu_ns.size(), 6u);
}

TEST(WarmUp, CallsShortSubjectsInTurn) {
  std::string order;
  std::vector<Subject> subjects;
  for (const char letter : {'a', 'b', 'c'}) subjects.push_back(subject([&order, letter] { order += letter; }));
  subjects[1].call_ns = 1e9;
  warm_up(subjects);
  ASSERT_GT(order.size(), 4u);
  EXPECT_EQ(order.substr(0, 4), "acac");
  EXPECT_EQ(order.find('b'), std::string::npos);
}

TEST(MeasureRounds, EndsAfterAWholeRound) {
  std::vector<Subject> subjects = {subject([] {}), subject([] {})};
  measure_rounds(subjects, {.rounds = 100}, std::chrono::steady_clock::now());
  EXPECT_EQ(subjects[0].measurement.cpu_ns.size(), 1u);
  EXPECT_EQ(subjects[1].measurement.cpu_ns.size(), 1u);
}

TEST(MeasureRounds, GivesUpOnlyAlone) {
  const MeasureOptions options{.rounds = 5, .best_ns = 1e-3, .give_up_ratio = 2};
  std::vector<Subject> one = {subject([] {})};
  measure_rounds(one, options, kNoEnd);
  EXPECT_TRUE(one[0].given_up);
  EXPECT_EQ(one[0].measurement.cpu_ns.size(), 1u);
  std::vector<Subject> two = {subject([] {}), subject([] {})};  // a race is run to its end
  measure_rounds(two, options, kNoEnd);
  EXPECT_EQ(two[0].measurement.cpu_ns.size(), 5u);
}

TEST(ChooseCalls, ShortCallsAreBatched) {
  int calls = 0;
  Subject quick = subject([&] { ++calls; });
  choose_calls_per_sample(quick, {.seconds_per_sample = 0.0005});
  EXPECT_GT(quick.measurement.calls_per_sample, 100);
  EXPECT_GT(calls, 100);
  Subject unbatched = subject([] {});
  choose_calls_per_sample(unbatched, {.seconds_per_sample = 0});
  EXPECT_EQ(unbatched.measurement.calls_per_sample, 1);
}

TEST(ChooseCalls, AFailureIsNoted) {
  Subject failing = subject([] { throw std::runtime_error("no"); });
  choose_calls_per_sample(failing, {});
  EXPECT_EQ(failing.failure, "no");
}

TEST(ColdCopies, ExceedTwiceTheCacheWithinTheLimits) {
  const int64_t kMegabyte = int64_t{1} << 20;
  EXPECT_EQ(cold_copies(0, 32 * kMegabyte, 1000), 1);
  EXPECT_EQ(cold_copies(2 * kMegabyte, 32 * kMegabyte, 1000), 33);   // 66 MB > 64 MB
  EXPECT_EQ(cold_copies(2 * kMegabyte, 32 * kMegabyte, 20), 20);     // no more than calls
  EXPECT_EQ(cold_copies(1000, 32 * kMegabyte, 1'000'000), 64);       // at most 64
  EXPECT_EQ(cold_copies(8 * kMegabyte, 256 * kMegabyte, 1000), 13);  // 96 MB is enough
  EXPECT_EQ(cold_copies(500 * kMegabyte, 32 * kMegabyte, 1000), 1);  // cold by itself
}

}  // namespace
}  // namespace hone
