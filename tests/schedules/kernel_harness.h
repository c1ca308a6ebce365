// SPDX-License-Identifier: MIT
// Compiles one point of one implementation, runs it under the executor's KernelEnvironment and compares it with the
// reference. Every buffer ends where an unreadable page begins and its gaps are NaN: a kernel that reads or writes
// where it must not is caught by the machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "generators/tensor.h"
#include "schedules/implementation.h"

namespace hone {

struct KernelCase {
  Workload workload;
  std::vector<Tensor> arguments;
  std::vector<Tensor> expected;
  double tolerance = 0;

  explicit KernelCase(Workload w);
};

/// Relative error of the kernel's outputs (the worst of them).
double kernel_error(const KernelCase& test, const Implementation& implementation, const Config& config,
                    const DeviceInfo& device, int threads);

/// Text of the lowered statement, without the numbers that Halide adds to repeated names.
std::string lowered_text(const Workload& workload, const Implementation& implementation, const Config& config,
                         const DeviceInfo& device);

/// The default and `count` other points of the space, chosen by `seed`.
std::vector<Config> some_points(const SearchSpace& space, int count, unsigned seed);

}  // namespace hone
