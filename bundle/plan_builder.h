// SPDX-License-Identifier: MIT
// From groups, layouts and chosen configs to the executor's Plan and its weight section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bundle/bundle.h"

namespace hone {

struct PlannedKernel {
  const Workload* workload = nullptr;  // of the request's groups
  KernelChoice choice;
  std::string symbol;
};

struct BuiltPlan {
  Plan plan;
  std::vector<std::byte> weights;
  std::vector<PlannedKernel> kernels;  // unique, in order of first use: the function table
  std::vector<int> step_groups;        // group of each step, -1: a copy
  uint64_t arena_lower_bound = 0;
};

/// Throws Error if a chosen config does not fit its workload.
BuiltPlan build_plan(const BundleRequest& request, const Builder& builder);

}  // namespace hone
