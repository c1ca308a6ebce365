// SPDX-License-Identifier: MIT
// Nodes whose result is their input: Identity, Dropout, Cast to the same type, Reshape (and kin) to the same shape, Pad
// by nothing, Slice of everything, Transpose that keeps the order, Concat or Sum of one. A reshape of a reshape is one
// reshape, a transpose of a transpose one transpose.
// Left alone: a node between a model input and an output (or between two outputs), where each name needs its own value.
#include <algorithm>
#include <array>
#include <string_view>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

constexpr std::array<std::string_view, 5> kReshapes = {"Flatten", "Reshape", "Squeeze", "Unsqueeze", "Expand"};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool keeps_order(const GraphNode& transpose) {
  const auto& perm = ints_attribute(transpose.attributes, "perm");
  return std::is_sorted(perm.begin(), perm.end());
}

bool returns_input(const Graph& graph, const GraphNode& node) {
  if (node.inputs.empty() || node.inputs[0] < 0) return false;
  if (graph.values[node.inputs[0]].type != graph.values[node.outputs[0]].type) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i) {  // Dropout's mask
    if (graph.is_output(node.outputs[i]) || !graph.readers(node.outputs[i]).empty()) return false;
  }
  const bool single = node.inputs.size() == 1;
  if (node.op == "Identity" || node.op == "Dropout" || node.op == "Cast" || contains(kReshapes, node.op)) return true;
  if (node.op == "Concat" || node.op == "Sum" || node.op == "Split") return single;
  if (node.op == "Transpose") return keeps_order(node);
  if (node.op == "Slice") {
    const auto& steps = ints_attribute(node.attributes, "steps");
    return std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step > 0; });
  }
  if (node.op != "Pad") return false;
  const auto& pads = ints_attribute(node.attributes, "pads");
  return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
}

// Reads the first node's input where it can; the first node stays for its other readers.
bool join_with_producer(Graph& graph, GraphNode& node) {
  const int producer = node.inputs.empty() || node.inputs[0] < 0 ? -1 : graph.producer(node.inputs[0]);
  if (producer < 0) return false;
  const GraphNode& first = graph.nodes[producer];
  constexpr std::array<std::string_view, 4> kOrderKeeping = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};
  if (contains(kOrderKeeping, node.op) && contains(kOrderKeeping, first.op)) {
    node.op = "Reshape";
    node.attributes = default_attributes("Reshape");
    node.attributes["allowzero"] = int64_t{1};  // the form that the table normalises to
    node.attributes["shape"] = graph.values[node.outputs[0]].type.shape;
  } else if (node.op == "Transpose" && first.op == "Transpose") {
    std::vector<int64_t> perm;
    for (const int64_t axis : ints_attribute(node.attributes, "perm")) {
      perm.push_back(ints_attribute(first.attributes, "perm")[static_cast<size_t>(axis)]);
    }
    node.attributes["perm"] = perm;
  } else {
    return false;
  }
  const int between = node.inputs[0];
  node.inputs[0] = first.inputs[0];
  if (graph.readers(between).empty() && !graph.is_output(between)) {
    node.origins.insert(node.origins.begin(), first.origins.begin(), first.origins.end());
    erase_node(graph, producer);
  }
  return true;
}

}  // namespace

std::vector<std::string> pass_remove_identity(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_erased(graph.nodes[i])) continue;
    const bool joined = join_with_producer(graph, graph.nodes[i]);
    const GraphNode node = graph.nodes[i];
    if (!returns_input(graph, node) || !substitute(graph, node.outputs[0], node.inputs[0])) {
      if (joined) changes.push_back(node.name + " with the one before it");
      continue;
    }
    erase_node(graph, static_cast<int>(i));
    adopt_origins(graph, graph.is_output(node.outputs[0]) ? node.outputs[0] : node.inputs[0], node.origins);
    changes.push_back(node.name);
  }
  return changes;
}

}  // namespace hone
