// SPDX-License-Identifier: MIT
// Builder: (Workload, Config, DeviceInfo) -> kernel object, as the tuner and bundle/ see it.
// HalideBuilder compiles in killable children of the helper program hone-compile.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schedules/implementation.h"

namespace hone {

enum class BuildStatus { ok, failed, timed_out };

struct BuildRequest {
  Workload workload;
  Config config;
  DeviceInfo device;
  std::filesystem::path object;  // written: relocatable object with the final symbol names (hone_malloc, ...)
  std::filesystem::path shared;  // written if not empty: the same object linked for hone-runner
  double deadline_seconds = 20;
};

struct BuildOutcome {
  BuildStatus status = BuildStatus::ok;
  std::string message;
  double seconds = 0;  // wall, in the child
};

/// Unique C symbol of a kernel, "hone_k" + 24 hex digits of the hash of (workload, config, target).
std::string kernel_symbol(const Workload& workload, const Config& config, const DeviceInfo& device);

class Builder {
 public:
  virtual ~Builder() = default;
  virtual std::vector<SearchSpace> spaces(const Workload& workload, const DeviceInfo& device,
                                          const TuningContext& context) const = 0;
  virtual std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                           std::span<const Tensor> constants) const = 0;
  /// Compiles all (as many at once as the builder has workers); outcomes in request order. `done` (may be null) is
  /// called on the caller's thread as each one ends, with its index; returning false stops: queued ones come back as
  /// failed "cancelled".
  virtual std::vector<BuildOutcome> build(std::span<const BuildRequest> requests,
                                          const std::function<bool(size_t, const BuildOutcome&)>& done = nullptr) = 0;
};

struct HalideBuilderOptions {
  std::filesystem::path helper;  // hone-compile
  int workers = 1;
  const ImplementationTable* table = &implementations();
};
/// Starts the helper: call before any thread or database handle exists. Throws Error if it cannot start.
std::unique_ptr<Builder> start_halide_builder(const HalideBuilderOptions& options);

/// main() of hone-compile over a table; tests link one with faulty implementations.
int compile_helper_main(int argc, char** argv, const ImplementationTable& table);

}  // namespace hone
