// SPDX-License-Identifier: MIT
// A Pad with zeros over spatial dimensions becomes part of the pads of the Conv or AveragePool behind it (exporters of
// "same" padding write it so; in EfficientNet-Lite0 in front of each depthwise convolution).
// Left alone: MaxPool (its own padding is minus infinity), other values and modes, cropping, channels or batch padded,
// a padded value with another reader, average pools that do not count their own padding or round up.
#include "executor/error.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

bool all_zero(const std::vector<int64_t>& numbers) {
  for (const int64_t number : numbers) {
    if (number != 0) return false;
  }
  return true;
}

// Begins and ends of the spatial dimensions; empty if the Pad does anything else.
std::optional<std::vector<int64_t>> spatial_zero_pads(const GraphNode& pad) {
  if (string_attribute(pad.attributes, "mode") != "constant" || float_attribute(pad.attributes, "value") != 0.0) {
    return std::nullopt;
  }
  const auto& pads = ints_attribute(pad.attributes, "pads");
  const size_t rank = pads.size() / 2;
  std::vector<int64_t> spatial;
  for (size_t i = 0; i < pads.size(); ++i) {
    const bool is_spatial = i % rank >= 2;
    if (pads[i] < 0 || (!is_spatial && pads[i] != 0)) return std::nullopt;
    if (is_spatial) spatial.push_back(pads[i]);
  }
  return spatial;
}

bool takes_pads(const GraphNode& node, int padded) {
  if (node.inputs[0] != padded) return false;
  if (node.op == "Conv") return node.inputs[1] != padded;
  if (node.op != "AveragePool" || int_attribute(node.attributes, "ceil_mode") != 0) return false;
  return int_attribute(node.attributes, "count_include_pad") != 0 || all_zero(ints_attribute(node.attributes, "pads"));
}

// The operator may refuse pads as large as its window.
bool is_accepted(const Graph& graph, const GraphNode& node) {
  const Node described = table_node(graph, node);
  try {
    return find_operator(node.op)->infer(described, input_types(graph, node)) == described.outputs;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> pass_fold_pad(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode pad = graph.nodes[i];
    if (pad.op != "Pad") continue;
    const auto reader = sole_reader(graph, pad.outputs[0]);
    const auto pads = spatial_zero_pads(pad);
    if (!reader || !pads || pads->empty() || !takes_pads(graph.nodes[*reader], pad.outputs[0])) continue;
    GraphNode node = graph.nodes[*reader];
    auto sum = ints_attribute(node.attributes, "pads");
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += (*pads)[k];
    node.attributes["pads"] = sum;
    if (node.op == "AveragePool") node.attributes["count_include_pad"] = int64_t{1};
    node.inputs[0] = pad.inputs[0];
    node.origins.insert(node.origins.begin(), pad.origins.begin(), pad.origins.end());
    if (!is_accepted(graph, node)) continue;
    graph.nodes[*reader] = node;
    changes.push_back(pad.name + " into " + node.name);
    erase_node(graph, static_cast<int>(i));
  }
  return changes;
}

}  // namespace hone
