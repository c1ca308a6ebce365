// SPDX-License-Identifier: MIT
// The nodes of an ONNX file before anything is computed: unique names, execution order, what hone cannot import.
// Private to graph/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx_file.h"

namespace hone {

/// Constant and ConstantOfShape carry a tensor as attribute, which the operator table cannot: the importer makes
/// constants of them.
inline constexpr std::string_view kConstant = "Constant";
inline constexpr std::string_view kConstantOfShape = "ConstantOfShape";

/// A unique name for each node in file order: its own, "<op>_<index>" if it has none, with "_2", "_3" if it is doubled.
std::vector<std::string> node_names(const onnx::GraphProto& graph);

std::optional<UnsupportedNode> unsupported(const onnx::NodeProto& node, const std::string& name);

/// Indices of the nodes that the graph's outputs need, in topological order, file order where that is one. Throws Error
/// (opened by `attempted`, naming a node) on a cycle, a name made twice, a name that nothing makes.
std::vector<int> execution_order(const onnx::GraphProto& graph, const std::vector<std::string>& names,
                                 const std::string& attempted);

}  // namespace hone
