// SPDX-License-Identifier: MIT
// A bundle's time by kernel: what profile prints and report draws.
#pragma once

#include <string>
#include <vector>

#include "cli/bundle_session.h"
#include "reports/report.h"

namespace hone {

struct BundleProfile {
  std::vector<KernelRow> kernels;                             // plan order; time: median over rounds
  std::vector<std::pair<std::string, Measurement>> variants;  // whole runs without hooks, interleaved
  double total_ns = 0;                                        // median whole run of the profiled bundle, unhooked
  double unaccounted_ns = 0;                                  // total minus the kernels; never below zero
};

/// Times `bundles` interleaved without hooks, then the first one with hooks. `names` are the variants' names.
BundleProfile profile_bundles(Runner& runner, const std::vector<const BundleManifest*>& bundles,
                              const std::vector<std::string>& names, int threads, int rounds);

/// Share of the run by operator type of each kernel's anchor ("Conv", "Gemm", ...), largest first.
std::vector<std::pair<std::string, double>> time_by_type(const std::vector<KernelRow>& kernels);

}  // namespace hone
