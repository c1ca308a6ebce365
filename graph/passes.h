// SPDX-License-Identifier: MIT
// The passes, one file each (graph/pass_<name>.cpp); the table with their order is graph/passes.cpp. Private to graph/.
// A pass returns one line per change. It may leave tombstones and values that nobody reads.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone {

std::vector<std::string> pass_remove_identity(Graph& graph);
std::vector<std::string> pass_fold_constants(Graph& graph);
std::vector<std::string> pass_fold_pad(Graph& graph);
std::vector<std::string> pass_fold_batch_norm(Graph& graph);
std::vector<std::string> pass_simplify_algebra(Graph& graph);
std::vector<std::string> pass_fuse_hard_sigmoid(Graph& graph);
std::vector<std::string> pass_fuse_hard_swish(Graph& graph);
std::vector<std::string> pass_fold_scale_shift(Graph& graph);
std::vector<std::string> pass_common_subexpressions(Graph& graph);
std::vector<std::string> pass_dead_nodes(Graph& graph);

}  // namespace hone
