// SPDX-License-Identifier: MIT
// Compiles points of a space with the real hone-compile, runs them under the executor's KernelEnvironment and compares
// with the reference. Every buffer ends where an unreadable page begins and its gaps are NaN: a kernel that reads or
// writes where it must not is caught by the machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/builder.h"
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

struct KernelPoint {
  Config config;
  int threads = 1;
};

/// hone-compile, started on first use: call before any thread exists.
Builder& kernel_builder();

/// Relative error of each point's outputs (the worst of them). Throws Error if a point does not build.
std::vector<double> kernel_errors(Builder& builder, const KernelCase& test, const DeviceInfo& device,
                                  std::span<const KernelPoint> points);

/// Text of the lowered statement, without the numbers that Halide adds to repeated names.
std::string lowered_text(const Workload& workload, const Implementation& implementation, const Config& config,
                         const DeviceInfo& device);

/// The default and `count` other points of the space, chosen by `seed`.
std::vector<Config> some_points(const SearchSpace& space, int count, unsigned seed);

}  // namespace hone
