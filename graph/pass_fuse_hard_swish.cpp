// SPDX-License-Identifier: MIT
// HardSwish(x) = x * Clip(x + 3, 0, 6) / 6 (Howard et al., Searching for MobileNetV3, section 5.2) from its pieces:
//   x * HardSigmoid(x, 1/6, 1/2)      (x * Clip(x + 3, 0, 6)) / 6      (x / 6) * Clip(x + 3, 0, 6)
// with the operands either way round and "* 1/6" for "/ 6". Left alone: other numbers, an x that is not the same value
// on both sides, pieces with another reader.
#include "graph/hard_activation.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

struct HardSwish {
  int x = -1;
  std::vector<std::string> origins;
  std::vector<int> pieces;  // values that the pattern made and now nobody reads
};

std::optional<HardSwish> times_hard_sigmoid(const Graph& graph, const GraphNode& node) {
  if (node.op != "Mul") return std::nullopt;
  for (const int side : {1, 0}) {
    const auto producer = sole_producer(graph, node.inputs[side], "HardSigmoid");
    if (!producer) continue;
    const GraphNode& sigmoid = graph.nodes[*producer];
    const bool same_numbers = nearly(float_attribute(sigmoid.attributes, "alpha"), 1.0 / 6.0) &&
                              nearly(float_attribute(sigmoid.attributes, "beta"), 0.5);
    if (!same_numbers || sigmoid.inputs[0] != node.inputs[1 - side]) continue;
    return HardSwish{sigmoid.inputs[0], sigmoid.origins, {node.inputs[side]}};
  }
  return std::nullopt;
}

// x * Clip(x + 3, 0, 6); with `divided`, x comes divided by six.
std::optional<HardSwish> times_relu6(const Graph& graph, const GraphNode& node, bool divided) {
  if (node.op != "Mul") return std::nullopt;
  for (const int side : {1, 0}) {
    auto clip = match_shifted_relu6(graph, node.inputs[side]);
    if (!clip) continue;
    int x = node.inputs[1 - side];
    std::vector<int> pieces = {node.inputs[side]};
    if (divided) {
      const int producer = graph.producer(x);
      const auto sixth =
          producer >= 0 && sole_reader(graph, x) ? match_sixth(graph, graph.nodes[producer]) : std::nullopt;
      if (!sixth) continue;
      const auto& more = graph.nodes[producer].origins;
      clip->origins.insert(clip->origins.end(), more.begin(), more.end());
      pieces.push_back(x);
      x = *sixth;
    }
    if (x == clip->x) return HardSwish{x, clip->origins, pieces};
  }
  return std::nullopt;
}

// (x * Clip(x + 3, 0, 6)) / 6
std::optional<HardSwish> sixth_of_product(const Graph& graph, const GraphNode& node) {
  const auto sixth = match_sixth(graph, node);
  const auto producer = sixth ? sole_producer(graph, *sixth, "Mul") : std::nullopt;
  if (!producer) return std::nullopt;
  auto product = times_relu6(graph, graph.nodes[*producer], false);
  if (!product) return std::nullopt;
  const auto& more = graph.nodes[*producer].origins;
  product->origins.insert(product->origins.end(), more.begin(), more.end());
  product->pieces = {*sixth};
  return product;
}

}  // namespace

std::vector<std::string> pass_fuse_hard_swish(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode node = graph.nodes[i];
    if (is_erased(node)) continue;
    auto found = times_hard_sigmoid(graph, node);
    if (!found) found = sixth_of_product(graph, node);
    if (!found) found = times_relu6(graph, node, true);
    if (!found || graph.values[found->x].type != graph.values[node.outputs[0]].type) continue;
    found->origins.insert(found->origins.end(), node.origins.begin(), node.origins.end());
    graph.nodes[i] = {node.name,  "HardSwish",  default_attributes("HardSwish"),
                      {found->x}, node.outputs, found->origins};
    for (const int piece : found->pieces) erase_unread(graph, piece);
    changes.push_back(node.name);
  }
  return changes;
}

}  // namespace hone
