// SPDX-License-Identifier: MIT
// Runs a graph's groups through their Workloads' scalar references, every value in the memory that its layout says:
// proves passes, layouts and groups without a compiler. An interpreter for tests; the product's is the executor.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace hone {

/// Outputs in the graph's order, for inputs in the graph's order. Fails a CHECK if a group reads what no earlier group
/// wrote.
std::vector<Tensor> evaluate(const Graph& graph, const std::vector<ValueLayout>& layouts,
                             const std::vector<Group>& groups, const std::vector<Tensor>& inputs);

/// The plainest way: no passes, one group a node.
std::vector<Tensor> evaluate_unfused(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace hone
