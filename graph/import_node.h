// SPDX-License-Identifier: MIT
// One ONNX node to one node of the operator table: attributes of the right kind, defaults, attributes that came as
// inputs, one spelling for all opsets. Private to graph/.
#pragma once

#include <string>

#include "graph/graph.h"
#include "graph/onnx_file.h"

namespace hone {

struct ImportedNode {
  const onnx::NodeProto* proto = nullptr;
  std::string name;         // unique
  std::vector<int> inputs;  // value ids in ONNX positions, -1: absent
};

/// Fills in everything but `outputs`. `attempted` ("cannot import m.onnx: node 'a'") opens the Errors: unknown or
/// ill-typed attribute, an attribute-input that is not constant, too few or too many inputs, what normalise refuses.
GraphNode normalised_node(const Graph& graph, const ImportedNode& imported, int opset, const std::string& attempted);

/// The operator table's Error with the node in front of it.
[[noreturn]] void rethrow_for_node(const std::string& attempted, const std::exception& error);

}  // namespace hone
