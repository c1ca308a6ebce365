// SPDX-License-Identifier: MIT
// The one check of a plan, made when it is written and again when it is loaded; after it the run loop checks nothing.
#pragma once

#include <cstdint>
#include <string>

#include "executor/plan.h"

namespace hone {

/// The most dimensions that a view may have.
inline constexpr size_t kMaxRank = 16;

/// Empty if every index, offset and size of the plan lies where it must, else the first that does not ("step 3
/// 'conv1': ...").
std::string plan_problem(const Plan& plan, uint64_t weight_bytes);

/// Bytes of the weight section that the plan's storages need.
uint64_t weight_section_bytes(const Plan& plan);

}  // namespace hone
