// SPDX-License-Identifier: MIT
// Small workloads with awkward numbers: what every implementation that supports them must compute right.
#pragma once

#include <string>
#include <vector>

#include "generators/workload.h"

namespace hone {

struct WorkloadCase {
  std::string name;
  Workload workload;
};

std::vector<WorkloadCase> convolution_cases();
std::vector<WorkloadCase> depthwise_cases();
std::vector<WorkloadCase> matmul_cases();
std::vector<WorkloadCase> pool_cases();
std::vector<WorkloadCase> pointwise_cases();
std::vector<WorkloadCase> other_cases();

}  // namespace hone
