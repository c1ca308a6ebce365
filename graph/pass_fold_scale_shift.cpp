// SPDX-License-Identifier: MIT
// Exporters write a convolution's bias as an Add behind it (PaddlePaddle does), and scale layers as Mul and Add. If the
// other operand is one constant a channel, or one for all, it goes into the weights, in double.
// Left alone: c / x, constants that vary within a channel or broadcast the result up, values with another reader.
#include <cmath>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/scale_shift.h"

namespace hone {
namespace {

// The constant as one number a channel of `shape`; empty if it is not that.
std::optional<std::vector<double>> channel_numbers(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape.size() > shape.size() || shape.size() < 2) return std::nullopt;
  const size_t missing = shape.size() - tensor.shape.size();  // broadcasting aligns the last dimensions
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const bool is_channel = i + missing == 1 && tensor.shape[i] == shape[1];
    if (tensor.shape[i] != 1 && !is_channel) return std::nullopt;
  }
  std::vector<double> numbers = widen(tensor).values;
  if (numbers.size() == 1) numbers.assign(static_cast<size_t>(shape[1]), numbers[0]);
  return numbers;
}

std::optional<ScaleShift> scale_shift_of(const std::string& op, bool constant_first, std::vector<double> numbers) {
  std::vector<double> ones(numbers.size(), 1.0);
  const std::vector<double> zeros(numbers.size(), 0.0);
  for (double& number : numbers) {
    if (op == "Div") number = 1.0 / number;
    if (op == "Sub" && !constant_first) number = -number;
    if (!std::isfinite(number)) return std::nullopt;
  }
  if (op == "Mul" || (op == "Div" && !constant_first)) return ScaleShift{numbers, zeros};
  if (op == "Sub" && constant_first) ones.assign(numbers.size(), -1.0);
  if (op == "Add" || op == "Sub") return ScaleShift{ones, numbers};
  return std::nullopt;
}

}  // namespace

std::vector<std::string> pass_fold_scale_shift(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode node = graph.nodes[i];
    if (node.op != "Add" && node.op != "Sub" && node.op != "Mul" && node.op != "Div") continue;
    const bool constant_first = constant(graph, node.inputs[0]) != nullptr;
    const Tensor* tensor = constant(graph, node.inputs[constant_first ? 0 : 1]);
    const int input = node.inputs[constant_first ? 1 : 0];
    const TensorType& type = graph.values[node.outputs[0]].type;
    if (tensor == nullptr || graph.values[input].type != type) continue;
    const auto numbers = channel_numbers(*tensor, type.shape);
    const auto change = numbers ? scale_shift_of(node.op, constant_first, *numbers) : std::nullopt;
    const int producer = graph.producer(input);
    if (!change || !fold_into_producer(graph, input, *change)) continue;
    graph.nodes[producer].outputs[0] = node.outputs[0];
    erase_node(graph, static_cast<int>(i));
    adopt_origins(graph, node.outputs[0], node.origins);
    changes.push_back(node.name + " into " + graph.nodes[producer].name);
  }
  return changes;
}

}  // namespace hone
