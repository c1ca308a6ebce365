// SPDX-License-Identifier: MIT
#include "graph/scale_shift.h"

#include <algorithm>

#include "graph/rewrite.h"

namespace hone {
namespace {

// Where the output channel of each weight is: weight i belongs to channel (i / inner) % channels.
struct Weights {
  int input = 1;  // position among the node's inputs
  int64_t inner = 1;
};

std::optional<Weights> weights_of(const Graph& graph, const GraphNode& node) {
  const Tensor* weights = constant(graph, node.inputs[1]);
  if (weights == nullptr || (weights->dtype != DType::f32 && weights->dtype != DType::f64)) return std::nullopt;
  const Shape& shape = weights->shape;
  if (node.op == "Conv") return Weights{1, weights->elements() / std::max<int64_t>(shape[0], 1)};
  if (shape.size() != 2 || graph.values[node.outputs[0]].type.shape.size() != 2) return std::nullopt;
  if (node.op == "MatMul") return Weights{1, 1};
  if (node.op == "Gemm") return Weights{1, int_attribute(node.attributes, "transB") != 0 ? shape[1] : 1};
  return std::nullopt;
}

int bias_input(const GraphNode& node) {
  return node.inputs.size() > 2 ? node.inputs[2] : -1;
}

// The bias as one number a channel; empty if it is not that (Gemm's may be a matrix) or not constant.
std::optional<std::vector<double>> bias_of(const Graph& graph, const GraphNode& node, size_t channels) {
  const int input = bias_input(node);
  if (input < 0) return std::vector<double>(channels, 0.0);
  const Tensor* bias = constant(graph, input);
  if (bias == nullptr || bias->type().dtype != graph.values[node.outputs[0]].type.dtype) return std::nullopt;
  const bool per_channel = !bias->shape.empty() && bias->shape.back() == bias->elements();
  if (bias->elements() != 1 && !(per_channel && bias->elements() == static_cast<int64_t>(channels))) {
    return std::nullopt;
  }
  std::vector<double> numbers = widen(*bias).values;
  if (numbers.size() == 1) numbers.assign(channels, numbers[0]);
  if (node.op == "Gemm") {
    for (double& number : numbers) number *= float_attribute(node.attributes, "beta");
  }
  return numbers;
}

int scaled_weights(Graph& graph, int value, int64_t inner, const std::vector<double>& scale) {
  ReferenceTensor weights = widen(*constant(graph, value));
  for (size_t i = 0; i < weights.values.size(); ++i) {
    weights.values[i] *= scale[(i / static_cast<size_t>(inner)) % scale.size()];
  }
  return add_constant(graph, graph.values[value].name + ".scaled", narrow(weights));
}

}  // namespace

bool fold_into_producer(Graph& graph, int value, const ScaleShift& change) {
  const int producer = graph.producer(value);
  if (producer < 0 || !sole_reader(graph, value)) return false;
  const GraphNode node = graph.nodes[producer];
  if (node.op != "Conv" && node.op != "Gemm" && node.op != "MatMul") return false;
  const auto weights = weights_of(graph, node);
  if (!weights) return false;
  const bool shifts = std::any_of(change.shift.begin(), change.shift.end(), [](double s) { return s != 0; });
  if (node.op == "MatMul" && shifts) return false;
  auto bias = bias_of(graph, node, change.scale.size());
  if (!bias) return false;

  GraphNode changed = node;
  const bool scales = std::any_of(change.scale.begin(), change.scale.end(), [](double s) { return s != 1; });
  if (scales) changed.inputs[1] = scaled_weights(graph, node.inputs[1], weights->inner, change.scale);
  if (node.op != "MatMul" && (shifts || bias_input(node) >= 0)) {
    for (size_t c = 0; c < bias->size(); ++c) (*bias)[c] = (*bias)[c] * change.scale[c] + change.shift[c];
    const DType dtype = graph.values[value].type.dtype;
    const auto channels = static_cast<int64_t>(bias->size());
    changed.inputs.resize(3, -1);
    changed.inputs[2] = add_constant(graph, node.name + ".bias", narrow({dtype, {channels}, *bias}));
    if (node.op == "Gemm") changed.attributes["beta"] = 1.0;
  }
  graph.nodes[producer] = std::move(changed);
  return true;
}

int add_channel_constant(Graph& graph, const std::string& name, const TensorType& type,
                         const std::vector<double>& numbers) {
  Shape shape(std::max<size_t>(type.shape.size(), 2) - 1, 1);
  shape[0] = static_cast<int64_t>(numbers.size());
  return add_constant(graph, name, narrow({type.dtype, shape, numbers}));
}

}  // namespace hone
