// SPDX-License-Identifier: MIT
// x * 1, x / 1, x + 0, x - 0 to x, where the constant does not broadcast x to a larger shape.
// Not touched: x * 0 (x may be infinite or NaN), 0 - x, 1 / x. x + 0 turns -0 into 0, which no later operator of
// hone tells apart but for 1 / x; ONNX Runtime does the same.
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

// The operand that the node returns, or -1.
int kept_operand(const Graph& graph, const GraphNode& node) {
  const bool commutes = node.op == "Mul" || node.op == "Add";
  if (!commutes && node.op != "Div" && node.op != "Sub") return -1;
  const double neutral = node.op == "Mul" || node.op == "Div" ? 1.0 : 0.0;
  for (const int side : {1, 0}) {
    if (side == 0 && !commutes) break;
    const int kept = node.inputs[1 - side];
    const bool same_type = graph.values[kept].type == graph.values[node.outputs[0]].type;
    if (same_type && uniform_constant(graph, node.inputs[side]) == neutral) return kept;
  }
  return -1;
}

}  // namespace

std::vector<std::string> pass_simplify_algebra(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode node = graph.nodes[i];
    if (is_erased(node)) continue;
    const int kept = kept_operand(graph, node);
    if (kept < 0 || !substitute(graph, node.outputs[0], kept)) continue;
    erase_node(graph, static_cast<int>(i));
    adopt_origins(graph, graph.is_output(node.outputs[0]) ? node.outputs[0] : kept, node.origins);
    changes.push_back(node.name);
  }
  return changes;
}

}  // namespace hone
