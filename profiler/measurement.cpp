// SPDX-License-Identifier: MIT
// Summaries of samples and the paired verdict that decides every play-off. No clock and no I/O here: the statistical
// tests feed synthetic durations.
#include "profiler/measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "executor/error.h"

namespace hone {
namespace {

// Above this many pairs the exact distribution of the rank sum and its normal approximation agree to about 1e-4.
constexpr int kLargestExact = 60;

// Number of pairs i <= j with (sorted[i] + sorted[j]) / 2 <= x, in linear time: as i grows, the last j shrinks.
int64_t walsh_averages_up_to(const std::vector<double>& sorted, double x) {
  int64_t count = 0;
  int64_t j = static_cast<int64_t>(sorted.size()) - 1;
  for (int64_t i = 0; i <= j; ++i) {
    while (j >= i && (sorted[i] + sorted[j]) / 2 > x) --j;
    if (j >= i) count += j - i + 1;
  }
  return count;
}

// The k-th smallest (from 1) of the n(n+1)/2 pairwise averages, found by bisection on the value: the averages are never
// stored, so ten thousand samples cost milliseconds instead of 400 MB.
double kth_walsh_average(const std::vector<double>& sorted, int64_t k) {
  double low = sorted.front(), high = sorted.back();
  if (walsh_averages_up_to(sorted, low) >= k) return low;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return high;
    (walsh_averages_up_to(sorted, middle) >= k ? high : low) = middle;
  }
}

double hodges_lehmann(const std::vector<double>& sorted) {
  const int64_t n = static_cast<int64_t>(sorted.size()), averages = n * (n + 1) / 2;
  const double upper = kth_walsh_average(sorted, averages / 2 + 1);
  return averages % 2 == 1 ? upper : (kth_walsh_average(sorted, averages / 2) + upper) / 2;
}

// Smallest w with P(W <= w) >= tail, W the signed-rank sum of n pairs without effect: each rank is added or not.
int64_t exact_quantile(int n, double tail) {
  const int64_t largest = static_cast<int64_t>(n) * (n + 1) / 2;
  std::vector<double> probability(largest + 1, 0.0);
  probability[0] = 1;
  int64_t reached = 0;
  for (int rank = 1; rank <= n; ++rank) {
    reached += rank;
    for (int64_t sum = reached; sum >= 0; --sum) {
      probability[sum] = 0.5 * (probability[sum] + (sum >= rank ? probability[sum - rank] : 0));
    }
  }
  double cumulative = 0;
  for (int64_t sum = 0; sum <= largest; ++sum) {
    cumulative += probability[sum];
    if (cumulative >= tail) return sum;
  }
  return largest;
}

// Upper-tail quantile of the standard normal distribution by bisection of erfc.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > tail ? low : high) = middle;
  }
  return low;
}

int64_t rank_sum_quantile(int64_t n, double tail) {
  if (n <= kLargestExact) return exact_quantile(static_cast<int>(n), tail);
  const double count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4;
  const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  return std::max<int64_t>(0, static_cast<int64_t>(std::floor(mean - 0.5 - normal_quantile(tail) * deviation)));
}

}  // namespace

std::string_view name(Evidence evidence) {
  switch (evidence) {
    case Evidence::timed:
      return "timed";
    case Evidence::emulated:
      return "emulated";
    case Evidence::modelled:
      return "modelled";
  }
  return "?";
}

double Measurement::best_ns() const {
  CHECK(!ranking_ns().empty());
  return *std::min_element(ranking_ns().begin(), ranking_ns().end());
}

double Measurement::median_ns() const {
  CHECK(!ranking_ns().empty());
  std::vector<double> samples = ranking_ns();
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

PairedVerdict compare_paired(const std::vector<double>& a_ns, const std::vector<double>& b_ns, double confidence) {
  CHECK(confidence > 0 && confidence < 1);
  std::vector<double> log_ratios;
  for (size_t i = 0; i < std::min(a_ns.size(), b_ns.size()); ++i) {
    // A clock too coarse for the sample says 0: such a pair tells nothing.
    if (a_ns[i] > 0 && b_ns[i] > 0) log_ratios.push_back(std::log(b_ns[i] / a_ns[i]));
  }
  std::sort(log_ratios.begin(), log_ratios.end());
  const int64_t n = static_cast<int64_t>(log_ratios.size());
  PairedVerdict verdict{.low = 0,
                        .high = std::numeric_limits<double>::infinity(),
                        .confidence = confidence,
                        .pairs = static_cast<int>(n)};
  if (n == 0) return verdict;
  verdict.ratio = std::exp(hodges_lehmann(log_ratios));
  if (n < 6) return verdict;
  // Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section 3.3: the interval runs from the k-th
  // smallest to the k-th largest pairwise average. k = 0: so few pairs cannot give this confidence (99 % needs 8).
  const int64_t k = rank_sum_quantile(n, (1 - confidence) / 2);
  if (k == 0) return verdict;
  verdict.low = std::exp(kth_walsh_average(log_ratios, k));
  verdict.high = std::exp(kth_walsh_average(log_ratios, n * (n + 1) / 2 + 1 - k));
  return verdict;
}

}  // namespace hone
