// SPDX-License-Identifier: MIT
// Evaluating nodes at build time with the operators' scalar references. Shape arithmetic vanishes here.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace hone {

/// A larger result stays a node: a model that expands a scalar to a gigabyte does not want it in its weights.
inline constexpr int64_t kLargestFoldedBytes = 256 << 20;

/// If all inputs are constants (or the node asks only for shapes), gives its outputs their values and returns true; the
/// caller removes the node.
bool fold_node(Graph& graph, const GraphNode& node);

}  // namespace hone
