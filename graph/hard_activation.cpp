// SPDX-License-Identifier: MIT
#include "graph/hard_activation.h"

#include "graph/rewrite.h"

namespace hone {
namespace {

// The other operand if one operand of a commutative node is `number` everywhere.
std::optional<int> other_operand(const Graph& graph, const GraphNode& node, double number) {
  for (const int side : {1, 0}) {
    const auto found = uniform_constant(graph, node.inputs[side]);
    if (found && nearly(*found, number)) return node.inputs[1 - side];
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> match_sixth(const Graph& graph, const GraphNode& node) {
  if (node.op == "Mul") return other_operand(graph, node, 1.0 / 6.0);
  if (node.op != "Div") return std::nullopt;
  const auto divisor = uniform_constant(graph, node.inputs[1]);
  return divisor && nearly(*divisor, 6.0) ? std::optional(node.inputs[0]) : std::nullopt;
}

std::optional<ShiftedRelu6> match_shifted_relu6(const Graph& graph, int value) {
  const auto clip = sole_producer(graph, value, "Clip");
  if (!clip) return std::nullopt;
  const GraphNode& clip_node = graph.nodes[*clip];
  const bool to_six =
      float_attribute(clip_node.attributes, "min") == 0.0 && float_attribute(clip_node.attributes, "max") == 6.0;
  const auto add = to_six ? sole_producer(graph, clip_node.inputs[0], "Add") : std::nullopt;
  if (!add) return std::nullopt;
  const auto x = other_operand(graph, graph.nodes[*add], 3.0);
  if (!x) return std::nullopt;
  ShiftedRelu6 result{*x, graph.nodes[*add].origins};
  result.origins.insert(result.origins.end(), clip_node.origins.begin(), clip_node.origins.end());
  return result;
}

}  // namespace hone
