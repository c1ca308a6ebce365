// SPDX-License-Identifier: MIT
// What the child of hone-runner does for a model request: load bundles, run them once, then measure them interleaved.
#pragma once

#include <chrono>
#include <vector>

#include "profiler/killable_child.h"
#include "profiler/protocol.h"

namespace hone {

/// One outcome per model; as run_kernel_request().
std::vector<ModelOutcome> run_model_request(const WireModelRequest& request, ChildProgress& progress,
                                            std::chrono::steady_clock::time_point end);

}  // namespace hone
