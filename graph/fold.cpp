// SPDX-License-Identifier: MIT
#include "graph/fold.h"

#include "executor/error.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

// These read the type of their input, not its elements.
bool needs_shape_only(const GraphNode& node) {
  return node.op == "Shape" || node.op == "Size";
}

bool is_foldable(const Graph& graph, const GraphNode& node) {
  int64_t bytes = 0;
  for (const int output : node.outputs) {
    const TensorType& type = graph.values[output].type;
    bytes += element_count(type.shape) * element_bytes(type.dtype);
  }
  if (bytes > kLargestFoldedBytes) return false;
  if (needs_shape_only(node)) return true;
  for (const int input : node.inputs) {
    if (input >= 0 && constant(graph, input) == nullptr) return false;
  }
  return true;
}

ReferenceTensor argument(const Graph& graph, const GraphNode& node, int input) {
  if (input < 0) return {};
  const TensorType& type = graph.values[input].type;
  if (needs_shape_only(node)) return {type.dtype, type.shape, {}};
  return widen(*constant(graph, input));
}

}  // namespace

bool fold_node(Graph& graph, const GraphNode& node) {
  if (!is_foldable(graph, node)) return false;
  const Operator* entry = find_operator(node.op);
  CHECK(entry != nullptr);
  std::vector<ReferenceTensor> arguments;
  for (const int input : node.inputs) arguments.push_back(argument(graph, node, input));
  const std::vector<ReferenceTensor> results = entry->reference(table_node(graph, node), arguments);
  CHECK(results.size() >= node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    GraphValue& value = graph.values[node.outputs[i]];
    value.constant = narrow(results[i]);
    CHECK(value.constant->type() == value.type);
  }
  return true;
}

}  // namespace hone
