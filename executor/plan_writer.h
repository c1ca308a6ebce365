// SPDX-License-Identifier: MIT
// Writing NAME.hone, in a library of its own (hone_plan_writer): the shipped executor only reads.
#pragma once

#include <cstddef>
#include <vector>

#include "executor/plan.h"

namespace hone {

/// Header and plan, padded to where the weight section begins. The file is these bytes followed by exactly
/// weight_section_bytes(plan) (executor/plan_check.h) bytes of weights. Throws Error if the plan is inconsistent.
std::vector<std::byte> encode_plan(const Plan& plan);

}  // namespace hone
