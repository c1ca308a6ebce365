// SPDX-License-Identifier: MIT
// Implementation: one way to compute a family of workloads. One file in schedules/, one line in implementations.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generators/tensor.h"
#include "generators/workload.h"
#include "schedules/config.h"
#include "schedules/device_info.h"
#include "schedules/tuning_context.h"

namespace hone {

struct KernelPipeline;  // schedules/kernel_pipeline.h: the Halide side

/// Yes, or no with the reason.
struct Support {
  bool supported = false;
  std::string reason;
  explicit operator bool() const { return supported; }
};

/// One constant argument of the kernel as it is stored in a bundle. Equal (bytes, descriptor) is stored once.
struct PackedConstant {
  std::vector<std::byte> bytes;
  std::string descriptor;  // "weights[co/16][ky][kx][ci][16] f32"
};

class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string_view name() const = 0;
  virtual int version() const = 0;
  virtual std::string_view description() const = 0;
  virtual Support supports(const Workload& workload, const DeviceInfo& device) const = 0;
  /// Requires supports().
  virtual SearchSpace space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const = 0;
  /// The kernel's constant arguments, in kernel order (their number may differ from the workload's constants).
  virtual std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                           std::span<const Tensor> constants) const = 0;
  /// Scheduled pipeline with every extent and stride baked in: the kernel reads nothing of a halide_buffer_t but
  /// `host`.
  virtual KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const = 0;
};

/// Name, factory and description of every implementation, most specialised first: the first that supports a
/// workload gives its default. A table is passed around (not global) so that tests can add faulty ones.
using ImplementationTable = std::vector<const Implementation*>;
const ImplementationTable& implementations();

/// The union of the spaces of all implementations that support the workload; never empty (the generic one takes all).
std::vector<SearchSpace> search_spaces(const ImplementationTable& table, const Workload& workload,
                                       const DeviceInfo& device, const TuningContext& context);
/// Throws Error if the table has no implementation of that name and version.
const Implementation& find_implementation(const ImplementationTable& table, const Config& config);

}  // namespace hone
