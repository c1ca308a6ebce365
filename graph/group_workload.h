// SPDX-License-Identifier: MIT
// From nodes of a graph to the Workload that names their kernel. Private to graph/.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace hone {

/// `nodes` in topological order. Outputs are the values that others read or that are graph outputs. Ids are by
/// position, so that equal computations anywhere in any model give equal Workloads.
Group group_workload(const Graph& graph, const std::vector<ValueLayout>& layouts, std::vector<int> nodes);

}  // namespace hone
