// SPDX-License-Identifier: MIT
// The Halide side of codegen: one kernel to one object file, in this process. Only hone-compile calls it, in a child
// that may be killed.
#pragma once

#include <filesystem>
#include <string>

#include "schedules/implementation.h"

namespace hone {

/// Writes the object with Halide's own symbol names. Throws Error if Halide refuses the schedule (its message in one
/// line) or if the code needs more than the executor offers.
void compile_kernel(const ImplementationTable& table, const Workload& workload, const Config& config,
                    const DeviceInfo& device, const std::filesystem::path& object);

/// Compiles a small kernel to nowhere, so that forked children find Halide's and LLVM's pages and tables in place.
void warm_up_compiler();

}  // namespace hone
