// SPDX-License-Identifier: MIT
// Equal constants become one value, then equal nodes (same operator, attributes and inputs) one node.
// Left alone: a node that makes a graph output, whose name needs a value of its own.
#include <map>
#include <string_view>
#include <tuple>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

void share_constants(Graph& graph, std::vector<std::string>& changes) {
  // The hash first: comparing two weights that differ in their last byte is slow, and there may be many.
  using Key = std::tuple<DType, Shape, size_t>;
  std::map<Key, std::vector<int>> seen;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const int value = static_cast<int>(i);
    const Tensor* tensor = constant(graph, value);
    if (tensor == nullptr || graph.is_output(value) || graph.readers(value).empty()) continue;
    auto& same_key = seen[{tensor->dtype, tensor->shape, std::hash<std::string_view>{}(bytes_of(*tensor))}];
    bool shared = false;
    for (const int other : same_key) {
      if (bytes_of(*constant(graph, other)) != bytes_of(*tensor)) continue;
      shared = substitute(graph, value, other);
      changes.push_back("constant " + graph.values[value].name + " is " + graph.values[other].name);
      graph.values[value].constant.reset();
      break;
    }
    if (!shared) same_key.push_back(value);
  }
}

bool makes_output(const Graph& graph, const GraphNode& node) {
  for (const int output : node.outputs) {
    if (graph.is_output(output)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> pass_common_subexpressions(Graph& graph) {
  std::vector<std::string> changes;
  share_constants(graph, changes);
  using Key = std::tuple<std::string, Attributes, std::vector<int>, size_t>;
  std::map<Key, size_t> seen;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (is_erased(node)) continue;
    const auto [first, is_new] = seen.try_emplace({node.op, node.attributes, node.inputs, node.outputs.size()}, i);
    if (is_new || makes_output(graph, node)) continue;
    GraphNode& kept = graph.nodes[first->second];
    kept.origins.insert(kept.origins.end(), node.origins.begin(), node.origins.end());
    changes.push_back(node.name + " is " + kept.name);
    const std::vector<int> from = node.outputs;
    const std::vector<int> to = kept.outputs;
    erase_node(graph, static_cast<int>(i));
    for (size_t k = 0; k < from.size(); ++k) substitute(graph, from[k], to[k]);
  }
  return changes;
}

}  // namespace hone
