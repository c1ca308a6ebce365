// SPDX-License-Identifier: MIT
// Measured ceilings: what this machine gives to the best possible code right now. Every time is shown as a share of
// these. Source of the idea: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
#pragma once

#include "profiler/runner.h"

namespace hone {

/// Takes about a second. `threads` concerns peak_flops_threads only.
Roofs measure_roofs_here(int threads);

}  // namespace hone
