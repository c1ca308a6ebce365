// SPDX-License-Identifier: MIT
// The verdict on synthetic durations whose true ratio is known: exact small cases, heavy tails, drift, error rates.
#include "profiler/measurement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace hone {
namespace {

// Durations as a shared virtual machine gives them: a floor, small jitter, and now and then an interruption of up to
// 10x.
std::vector<double> noisy(double floor_ns, int count, std::mt19937& random, double spike_share = 0.05) {
  std::normal_distribution<double> jitter(0, 0.01);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    double ns = floor_ns * std::exp(std::abs(jitter(random)));
    if (uniform(random) < spike_share) ns *= 1 + 9 * uniform(random);
    samples.push_back(ns);
  }
  return samples;
}

TEST(Measurement, SummariesOfTheRankingClock) {
  Measurement measurement;
  measurement.cpu_ns = {5, 3, 4, 100};
  measurement.wall_ns = {50, 30, 40};
  EXPECT_EQ(measurement.best_ns(), 3);
  EXPECT_EQ(measurement.median_ns(), 4.5);
  measurement.threads = 2;
  EXPECT_EQ(measurement.best_ns(), 30);
  EXPECT_EQ(measurement.median_ns(), 40);
}

TEST(Measurement, EvidenceHasNames) {
  EXPECT_EQ(name(Evidence::timed), "timed");
  EXPECT_EQ(name(Evidence::emulated), "emulated");
  EXPECT_EQ(name(Evidence::modelled), "modelled");
}

// All pairwise averages written out, sorted, and indexed with the ranks of the published tables of the signed-rank
// test.
PairedVerdict by_definition(const std::vector<double>& a, const std::vector<double>& b, int rank) {
  std::vector<double> averages;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i; j < a.size(); ++j) averages.push_back((std::log(b[i] / a[i]) + std::log(b[j] / a[j])) / 2);
  }
  std::sort(averages.begin(), averages.end());
  const size_t n = averages.size();
  PairedVerdict verdict;
  verdict.ratio = std::exp(n % 2 == 1 ? averages[n / 2] : (averages[n / 2 - 1] + averages[n / 2]) / 2);
  verdict.low = std::exp(averages[rank - 1]);
  verdict.high = std::exp(averages[n - rank]);
  return verdict;
}

TEST(ComparePaired, AgreesWithTheTablesForSmallSamples) {
  // Critical values (two-sided 5 %: 6, 7, 8, 10, 20, 25 pairs; 1 %: 8, 10, 20, 25) from Wilcoxon's table; rank = value
  // + 1.
  struct Case {
    int pairs;
    double confidence;
    int critical;
  };
  for (const Case& c :
       {Case{6, 0.95, 0}, Case{7, 0.95, 2}, Case{8, 0.95, 3}, Case{10, 0.95, 8}, Case{20, 0.95, 52}, Case{25, 0.95, 89},
        Case{8, 0.99, 0}, Case{10, 0.99, 3}, Case{20, 0.99, 37}, Case{25, 0.99, 68}}) {
    std::mt19937 random(c.pairs);
    const auto a = noisy(1000, c.pairs, random), b = noisy(1100, c.pairs, random);
    const PairedVerdict expected = by_definition(a, b, c.critical + 1);
    const PairedVerdict verdict = compare_paired(a, b, c.confidence);
    EXPECT_NEAR(verdict.ratio, expected.ratio, 1e-12) << c.pairs;
    EXPECT_NEAR(verdict.low, expected.low, 1e-12) << c.pairs << " at " << c.confidence;
    EXPECT_NEAR(verdict.high, expected.high, 1e-12) << c.pairs << " at " << c.confidence;
    EXPECT_EQ(verdict.pairs, c.pairs);
    EXPECT_EQ(verdict.confidence, c.confidence);
  }
}

TEST(ComparePaired, NoVerdictFromTooFewPairs) {
  const std::vector<double> a(5, 100), b(5, 300);
  const PairedVerdict five = compare_paired(a, b, 0.5);
  EXPECT_DOUBLE_EQ(five.ratio, 3);
  EXPECT_EQ(five.low, 0);
  EXPECT_TRUE(std::isinf(five.high));
  EXPECT_FALSE(five.a_faster() || five.b_faster());
  // Seven signs alike happen once in 64 by chance: that is no 99 % interval.
  const std::vector<double> a7(7, 100), b7(7, 300);
  EXPECT_FALSE(compare_paired(a7, b7, 0.99).a_faster());
  EXPECT_TRUE(compare_paired(a7, b7, 0.95).a_faster());
  EXPECT_EQ(compare_paired({}, {}).pairs, 0);
}

TEST(ComparePaired, IdenticalSamplesTie) {
  const std::vector<double> a(30, 123);
  const PairedVerdict verdict = compare_paired(a, a);
  EXPECT_EQ(verdict.ratio, 1);
  EXPECT_FALSE(verdict.a_faster() || verdict.b_faster());
}

TEST(ComparePaired, IsSymmetric) {
  std::mt19937 random(3);
  const auto a = noisy(100, 101, random), b = noisy(103, 101, random);
  const PairedVerdict ab = compare_paired(a, b), ba = compare_paired(b, a);
  EXPECT_NEAR(ab.ratio * ba.ratio, 1, 1e-12);
  EXPECT_NEAR(ab.low * ba.high, 1, 1e-12);
}

TEST(ComparePaired, UsesTheCommonPrefixAndSkipsEmptyClocks) {
  std::vector<double> a(12, 100), b(9, 200);
  b[4] = 0;
  const PairedVerdict verdict = compare_paired(a, b);
  EXPECT_EQ(verdict.pairs, 8);
  EXPECT_DOUBLE_EQ(verdict.ratio, 2);
  EXPECT_TRUE(verdict.a_faster());
}

TEST(ComparePaired, SeesTwoPercentThroughSpikes) {
  std::mt19937 random(7);
  int seen = 0;
  for (int repetition = 0; repetition < 50; ++repetition) {
    // Every tenth sample of either is interrupted, by up to ten times its length.
    const auto a = noisy(1000, 40, random, 0.1), b = noisy(1020, 40, random, 0.1);
    const PairedVerdict verdict = compare_paired(a, b);
    seen += verdict.a_faster();
    EXPECT_FALSE(verdict.b_faster());
    EXPECT_NEAR(verdict.ratio, 1.02, 0.01);
  }
  EXPECT_GE(seen, 40);
}

TEST(ComparePaired, CommonDriftCancels) {
  std::mt19937 random(11);
  auto a = noisy(1000, 60, random), b = noisy(1010, 60, random);
  for (size_t i = 0; i < a.size(); ++i) {  // the clock falls to half its frequency on the way
    const double slower = 1 + static_cast<double>(i) / 60;
    a[i] *= slower;
    b[i] *= slower;
  }
  const PairedVerdict verdict = compare_paired(a, b);
  EXPECT_TRUE(verdict.a_faster());
  EXPECT_NEAR(verdict.ratio, 1.01, 0.005);
}

// The share of wrong verdicts on equal candidates must not exceed what the confidence promises (binomial, 4 sigma), and
// must not be zero either: an interval that never errs at 90 % would be needlessly wide.
void expect_error_rate(int pairs, double confidence, int repetitions) {
  std::mt19937 random(pairs);
  int wrong = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const PairedVerdict verdict = compare_paired(noisy(1000, pairs, random), noisy(1000, pairs, random), confidence);
    wrong += verdict.a_faster() || verdict.b_faster();
  }
  const double promised = (1 - confidence) * repetitions;
  EXPECT_LT(wrong, promised + 4 * std::sqrt(promised)) << pairs;
  EXPECT_GT(wrong, promised / 4) << pairs;
}

TEST(ComparePaired, ErrorRateOfEqualCandidates) {
  expect_error_rate(12, 0.90, 2000);
  expect_error_rate(40, 0.90, 1000);   // exact distribution
  expect_error_rate(100, 0.90, 1000);  // normal approximation
  expect_error_rate(30, 0.99, 4000);
}

TEST(ComparePaired, ExactAndApproximateIntervalsMeet) {
  std::mt19937 random(5);
  const auto a = noisy(1000, 61, random), b = noisy(1005, 61, random);
  const PairedVerdict approximate = compare_paired(a, b);
  const PairedVerdict exact = compare_paired({a.begin(), a.end() - 1}, {b.begin(), b.end() - 1});
  EXPECT_NEAR(approximate.high - approximate.low, exact.high - exact.low, 0.15 * (exact.high - exact.low));
}

TEST(ComparePaired, ManySamples) {
  std::mt19937 random(13);
  const auto a = noisy(1000, 20000, random), b = noisy(1001, 20000, random);
  const PairedVerdict verdict = compare_paired(a, b);
  EXPECT_EQ(verdict.pairs, 20000);
  EXPECT_TRUE(verdict.a_faster());
  EXPECT_NEAR(verdict.ratio, 1.001, 0.0005);
}

}  // namespace
}  // namespace hone
