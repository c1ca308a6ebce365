// SPDX-License-Identifier: MIT
// What the child of hone-runner does for a kernel request: load, run once and keep the outputs, then measure.
#pragma once

#include <chrono>
#include <vector>

#include "profiler/killable_child.h"
#include "profiler/protocol.h"

namespace hone {

/// One outcome per candidate. A candidate that cannot be loaded, reports an error or writes beside its outputs fails
/// alone; one that crashes takes the process, and so the request, with it. Stops measuring early rather than pass
/// `end`.
std::vector<RunOutcome> run_kernel_request(const WireKernelRequest& request, ChildProgress& progress,
                                           std::chrono::steady_clock::time_point end);

/// How many copies of `constant_bytes` bytes of weights must take turns so that each is out of a last-level cache of
/// `cache_bytes` when its turn comes again: together more than twice the cache, at most 96 MB and 64 copies (so very
/// small weights stay in an outer cache), and no more than there are calls.
int64_t cold_copies(int64_t constant_bytes, int64_t cache_bytes, int64_t calls);

}  // namespace hone
