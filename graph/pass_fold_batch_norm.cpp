// SPDX-License-Identifier: MIT
// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta is a scale and a shift a channel. They go into the weights
// of the Conv, Gemm or MatMul before it, in double; elsewhere (or if that value has another reader) they become a Mul
// and an Add, which join any group. Left alone: statistics that are not constant, and half precision, where the order
// of the roundings would show.
#include <cmath>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/scale_shift.h"

namespace hone {
namespace {

std::optional<ScaleShift> scale_shift_of(const Graph& graph, const GraphNode& node) {
  std::vector<std::vector<double>> parameters;  // gamma, beta, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    const Tensor* tensor = constant(graph, node.inputs[i]);
    if (tensor == nullptr) return std::nullopt;
    parameters.push_back(widen(*tensor).values);
  }
  ScaleShift result;
  for (size_t c = 0; c < parameters[0].size(); ++c) {
    const double scale = parameters[0][c] / std::sqrt(parameters[3][c] + float_attribute(node.attributes, "epsilon"));
    result.scale.push_back(scale);
    result.shift.push_back(parameters[1][c] - parameters[2][c] * scale);
  }
  return result;
}

// Mul in the node's place; if there is something to add, an Add behind it.
void replace_by_pointwise(Graph& graph, size_t index, int input, const std::vector<double>* scale,
                          const std::vector<double>& shift) {
  const GraphNode node = graph.nodes[index];
  const TensorType type = graph.values[node.outputs[0]].type;
  std::vector<GraphNode> made;
  int value = input;
  if (scale != nullptr) {
    const int factor = add_channel_constant(graph, node.name + ".scale", type, *scale);
    const int product = add_value(graph, node.name + ".scaled", type);
    made.push_back({node.name + ".scale", "Mul", default_attributes("Mul"), {value, factor}, {product}, node.origins});
    value = product;
  }
  const int offset = add_channel_constant(graph, node.name + ".shift", type, shift);
  made.push_back({node.name, "Add", default_attributes("Add"), {value, offset}, {node.outputs[0]}, node.origins});
  graph.nodes[index] = made.back();
  made.pop_back();
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(index), made.begin(), made.end());
}

}  // namespace

std::vector<std::string> pass_fold_batch_norm(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode node = graph.nodes[i];
    if (node.op != "BatchNormalization" || node.outputs.size() != 1) continue;
    const int input = node.inputs[0];
    const DType dtype = graph.values[input].type.dtype;
    const auto change = scale_shift_of(graph, node);
    if (!change || (dtype != DType::f32 && dtype != DType::f64)) continue;

    const int producer = graph.producer(input);
    if (fold_into_producer(graph, input, *change)) {
      graph.nodes[producer].outputs[0] = node.outputs[0];
      erase_node(graph, static_cast<int>(i));
      adopt_origins(graph, node.outputs[0], node.origins);
      changes.push_back(node.name + " into " + graph.nodes[producer].name);
      continue;
    }
    const std::vector<double> no_shift(change->shift.size(), 0.0);
    if (fold_into_producer(graph, input, {change->scale, no_shift})) {  // a MatMul has no bias
      replace_by_pointwise(graph, i, input, nullptr, change->shift);
      changes.push_back(node.name + " into " + graph.nodes[producer].name + " and an Add");
      continue;
    }
    replace_by_pointwise(graph, i, input, &change->scale, change->shift);
    ++i;  // the Add
    changes.push_back(node.name + " to Mul and Add");
  }
  return changes;
}

}  // namespace hone
