// SPDX-License-Identifier: MIT
// What the two tables of pointwise operators (scalar and Halide) share.
#pragma once

#include <vector>

#include "generators/workload.h"

namespace hone {

/// Numeric attributes of a normalised pointwise node, in the order of its table line; a string attribute counts as 0
/// if it is the default, else 1.
std::vector<double> pointwise_parameters(const Node& node);

}  // namespace hone
