// SPDX-License-Identifier: MIT
// Softmax and LogSoftmax. Before opset 13 they normalise over all dimensions from "axis" on (the input flattened to a
// matrix), since then over one: "axis" and hone's own "axis_count" say which, after normalisation.
#include <algorithm>
#include <cmath>
#include <limits>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

/// "axis" was not given: its default differs by opset.
constexpr int64_t kDefaultAxis = std::numeric_limits<int64_t>::min();

void normalise(Attributes& attributes, int opset, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t& axis = mutable_int(attributes, "axis");
  int64_t& count = mutable_int(attributes, "axis_count");
  const bool flattens = opset < 13;
  if (axis == kDefaultAxis) axis = flattens && rank > 1 ? 1 : -1;
  axis = counted_axis(axis, shape.size());
  if (!flattens || axis < 0 || axis >= rank) return;  // infer refuses the latter
  // Dimensions of extent 1 at either end change nothing: most flattened softmaxes are plain ones.
  int64_t end = rank;
  while (end - 1 > axis && shape[static_cast<size_t>(end - 1)] == 1) --end;
  while (axis + 1 < end && shape[static_cast<size_t>(axis)] == 1) ++axis;
  count = end - axis;
}

struct Rows {
  int64_t outer, length, inner;
};

Rows rows_of(const Attributes& attributes, const Shape& shape) {
  const int64_t axis = int_attribute(attributes, "axis");
  const int64_t end = axis + int_attribute(attributes, "axis_count");
  Rows rows{1, 1, 1};
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto position = static_cast<int64_t>(d);
    (position < axis ? rows.outer : position < end ? rows.length : rows.inner) *= shape[d];
  }
  return rows;
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  const int64_t axis = int_attribute(node.attributes, "axis");
  const int64_t count = int_attribute(node.attributes, "axis_count");
  const auto rank = static_cast<int64_t>(inputs[0].shape.size());
  if (axis < 0 || axis >= rank || count < 1 || count > rank - axis) {
    refuse(node.op, "axis " + std::to_string(axis) + " is outside the input " + shape_text(inputs[0].shape),
           "use an axis of the input");
  }
  return {checked_type(node.op, inputs[0].dtype, inputs[0].shape)};
}

void softmax_row(const double* from, double* to, int64_t length, int64_t step, bool logarithm) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < length; ++i) largest = std::max(largest, from[i * step]);
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += std::exp(from[i * step] - largest);
  for (int64_t i = 0; i < length; ++i) {
    const double shifted = from[i * step] - largest;
    to[i * step] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
  }
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Rows rows = rows_of(node.attributes, inputs[0].shape);
  ReferenceTensor output = {node.outputs[0].dtype, node.outputs[0].shape, {}};
  output.values.resize(inputs[0].values.size());
  for (int64_t i = 0; i < rows.outer * rows.inner; ++i) {
    const int64_t start = i / std::max<int64_t>(rows.inner, 1) * rows.length * rows.inner + i % rows.inner;
    softmax_row(inputs[0].values.data() + start, output.values.data() + start, rows.length, rows.inner,
                node.op == "LogSoftmax");
  }
  return {std::move(output)};
}

int64_t terms(const Node& node, std::span<const TensorType> inputs) {
  return rows_of(node.attributes, inputs[0].shape).length;
}

/// Maximum, subtraction, exponential, sum and division: five an element.
double count_flops(const Node&, std::span<const TensorType> inputs) {
  return 5.0 * static_cast<double>(element_count(inputs[0].shape));
}

}  // namespace

std::vector<Operator> softmax_operators() {
  const std::vector<AttributeSpec> attributes = {{"axis", kDefaultAxis}, {"axis_count", int64_t{1}}};
  return {{"Softmax", OperatorKind::anchor, 1, 1, attributes, normalise, infer, reference, count_flops, terms},
          {"LogSoftmax", OperatorKind::anchor, 1, 1, attributes, normalise, infer, reference, count_flops, terms}};
}

}  // namespace hone
