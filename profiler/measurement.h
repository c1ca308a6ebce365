// SPDX-License-Identifier: MIT
// Measurement: the raw samples of one timed kernel or model, and what was going on around them. Value header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// How a figure came about. Only `timed` may ever be called best.
enum class Evidence { timed, emulated, modelled };
std::string_view name(Evidence evidence);

struct Measurement {
  std::vector<double> cpu_ns;  // thread CPU time per call, one per sample (a sample is the mean over calls_per_sample);
                               // of all threads together where threads > 1
  std::vector<double> wall_ns;  // wall time per call, same samples
  int64_t calls_per_sample = 1;
  int threads = 1;
  bool cold_weights = false;
  Evidence evidence = Evidence::timed;
  int64_t involuntary_switches = 0;      // over all samples
  double load_average = 0;               // 1 minute, when sampling began
  std::optional<double> frequency_ghz;   // absent where unreadable
  std::optional<int64_t> scratch_bytes;  // high-water mark of the kernel's heap scratch, all thread slots together

  /// The samples that rank: CPU time for one thread, wall time for more.
  const std::vector<double>& ranking_ns() const { return threads == 1 ? cpu_ns : wall_ns; }
  /// Minimum of ranking_ns(). Requires at least one sample.
  double best_ns() const;
  double median_ns() const;
};

/// Paired comparison of interleaved samples (same rounds): geometric mean of b/a with its confidence interval.
struct PairedVerdict {
  double ratio = 1;  // time of b / time of a: > 1 means a is faster
  double low = 1, high = 1;
  double confidence = 0.99;
  int pairs = 0;
  bool a_faster() const { return low > 1; }
  bool b_faster() const { return high < 1; }
};
/// Uses the common prefix of rounds; robust to outliers (Hodges-Lehmann estimate of the log ratio with the Wilcoxon
/// signed-rank interval). Fewer than 6 pairs, or too few for this confidence (99 % needs 8): interval is (0, inf).
PairedVerdict compare_paired(const std::vector<double>& a_ns, const std::vector<double>& b_ns,
                             double confidence = 0.99);

}  // namespace hone
