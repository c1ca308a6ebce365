// SPDX-License-Identifier: MIT
#include "graph/rewrite.h"

#include <algorithm>
#include <cmath>

#include "executor/error.h"

namespace hone {
namespace {

bool is_input(const Graph& graph, int value) {
  return std::find(graph.inputs.begin(), graph.inputs.end(), value) != graph.inputs.end();
}

void replace_reads(Graph& graph, int from, int to) {
  for (GraphNode& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

}  // namespace

Node table_node(const Graph& graph, const GraphNode& node) {
  Node result{node.op, node.attributes, {}, {}};
  for (size_t i = 0; i < node.inputs.size(); ++i)
    result.inputs.push_back(node.inputs[i] < 0 ? -1 : static_cast<int>(i));
  for (const int output : node.outputs) result.outputs.push_back(graph.values[output].type);
  return result;
}

std::vector<TensorType> input_types(const Graph& graph, const GraphNode& node) {
  std::vector<TensorType> types;
  for (const int input : node.inputs) types.push_back(input < 0 ? TensorType{} : graph.values[input].type);
  return types;
}

const Tensor* constant(const Graph& graph, int value) {
  if (value < 0 || !graph.values[value].constant) return nullptr;
  return &*graph.values[value].constant;
}

std::optional<double> uniform_constant(const Graph& graph, int value) {
  const Tensor* tensor = constant(graph, value);
  if (tensor == nullptr || tensor->elements() == 0) return std::nullopt;
  const std::vector<double> values = widen(*tensor).values;
  for (const double other : values) {
    if (other != values[0]) return std::nullopt;  // a NaN is never uniform
  }
  return values[0] == values[0] ? std::optional(values[0]) : std::nullopt;
}

bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

std::optional<int> sole_reader(const Graph& graph, int value) {
  if (graph.is_output(value)) return std::nullopt;
  const std::vector<int> readers = graph.readers(value);
  return readers.size() == 1 ? std::optional(readers[0]) : std::nullopt;
}

std::optional<int> sole_producer(const Graph& graph, int value, std::string_view op) {
  const int producer = value < 0 ? -1 : graph.producer(value);
  if (producer < 0 || graph.nodes[producer].op != op || !sole_reader(graph, value)) return std::nullopt;
  return producer;
}

int add_constant(Graph& graph, std::string name, Tensor tensor) {
  const TensorType type = tensor.type();
  graph.values.push_back({std::move(name), type, std::move(tensor)});
  return static_cast<int>(graph.values.size()) - 1;
}

int add_value(Graph& graph, std::string name, TensorType type) {
  graph.values.push_back({std::move(name), std::move(type), std::nullopt});
  return static_cast<int>(graph.values.size()) - 1;
}

Attributes default_attributes(std::string_view op) {
  const Operator* entry = find_operator(op);
  CHECK(entry != nullptr);
  Attributes attributes;
  for (const AttributeSpec& spec : entry->attributes) attributes.emplace(spec.name, spec.default_value);
  return attributes;
}

bool substitute(Graph& graph, int from, int to) {
  CHECK(graph.values[from].type == graph.values[to].type);
  if (!graph.is_output(from)) {
    replace_reads(graph, from, to);
    return true;
  }
  if (constant(graph, to) != nullptr) {
    graph.values[from].constant = graph.values[to].constant;
    for (GraphNode& node : graph.nodes) std::replace(node.outputs.begin(), node.outputs.end(), from, -1);
    return true;
  }
  const int producer = graph.producer(to);
  if (producer < 0 || is_input(graph, to) || graph.is_output(to)) return false;
  for (GraphNode& node : graph.nodes) std::replace(node.outputs.begin(), node.outputs.end(), from, -1);
  std::replace(graph.nodes[producer].outputs.begin(), graph.nodes[producer].outputs.end(), to, from);
  replace_reads(graph, to, from);
  return true;
}

void erase_node(Graph& graph, int node) {
  graph.nodes[node] = GraphNode{};
}

void erase_unread(Graph& graph, int value) {
  const int producer = value < 0 ? -1 : graph.producer(value);
  if (producer < 0) return;
  for (const int output : graph.nodes[producer].outputs) {
    if (output >= 0 && (graph.is_output(output) || !graph.readers(output).empty())) return;
  }
  const std::vector<int> inputs = graph.nodes[producer].inputs;
  erase_node(graph, producer);
  for (const int input : inputs) erase_unread(graph, input);
}

void adopt_origins(Graph& graph, int value, const std::vector<std::string>& origins) {
  int node = graph.producer(value);
  if (node < 0) {
    const std::vector<int> readers = graph.readers(value);
    if (readers.empty()) return;
    node = readers[0];
  }
  auto& kept = graph.nodes[node].origins;
  kept.insert(kept.end(), origins.begin(), origins.end());
}

void compact(Graph& graph) {
  std::erase_if(graph.nodes, is_erased);
}

void check_graph(const Graph& graph) {
  std::vector<bool> known(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) known[i] = graph.values[i].constant.has_value();
  for (const int input : graph.inputs) known[input] = true;
  for (const GraphNode& node : graph.nodes) {
    if (is_erased(node)) continue;
    for (const int input : node.inputs) CHECK(input < 0 || known[input]);
    const Operator* entry = find_operator(node.op);
    CHECK(entry != nullptr);
    const Node described = table_node(graph, node);
    CHECK(entry->infer(described, input_types(graph, node)) == described.outputs);
    for (const int output : node.outputs) {
      CHECK(!known[output]);
      known[output] = true;
    }
  }
  for (const int output : graph.outputs) CHECK(known[output]);
}

}  // namespace hone
