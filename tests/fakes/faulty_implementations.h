// SPDX-License-Identifier: MIT
// Implementations with real Halide schedules that are wrong on purpose, to see that tuning survives them:
//   faulty_hang_llvm        16,384 unrolled vector multiply-adds: LLVM takes minutes
//   faulty_crash_compiler   aborts while the schedule is built
//   faulty_refused          a schedule that Halide refuses
//   faulty_crash_at_run     writes gigabytes beyond its output
//   faulty_last_pixel       right everywhere but at the last element whose index is odd in the last dimension
// hone-compile-faulty is hone-compile over this table.
#pragma once

#include "schedules/implementation.h"

namespace hone {

/// The real ones, then the faulty ones: the default of a workload is right.
const ImplementationTable& faulty_implementations();

}  // namespace hone
