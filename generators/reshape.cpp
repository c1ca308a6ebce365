// SPDX-License-Identifier: MIT
// Operators that keep the elements and their order and change the shape only: Reshape and its relatives. With dense
// memory they are Views and cost nothing.
#include <algorithm>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  return {{node.outputs[0].dtype, node.outputs[0].shape, inputs[0].values}};
}

/// Resolves 0 (copy the input's extent, unless allowzero) and -1 (what is left).
void normalise_reshape(Attributes& attributes, int, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  std::vector<int64_t>& shape = mutable_ints(attributes, "shape");
  int64_t& allow_zero = mutable_int(attributes, "allowzero");
  const std::string asked = shape_text(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0 || allow_zero != 0) continue;
    if (i >= input.size()) refuse("Reshape", "shape " + asked + " copies an extent the input lacks", "check the shape");
    shape[i] = input[i];
  }
  allow_zero = 1;
  const auto free = std::find(shape.begin(), shape.end(), -1);
  if (free == shape.end()) return;
  *free = 1;
  const int64_t known = element_count(shape);
  const int64_t total = element_count(input);
  if (known == 0 || total % known != 0 || std::find(shape.begin(), shape.end(), -1) != shape.end()) {
    refuse("Reshape", shape_text(input) + " does not fit the shape " + asked, "check the shape");
  }
  *free = total / known;
}

TensorType same_elements(std::string_view op, const TensorType& input, Shape shape) {
  TensorType type = checked_type(op, input.dtype, std::move(shape));
  if (element_count(type.shape) != element_count(input.shape)) {
    refuse(op, shape_text(input.shape) + " does not fit the shape " + shape_text(type.shape), "check the shape");
  }
  return type;
}

std::vector<TensorType> infer_reshape(const Node& node, std::span<const TensorType> inputs) {
  return {same_elements("Reshape", inputs[0], ints_attribute(node.attributes, "shape"))};
}

/// Unlike other axes, this one may be the rank itself.
void normalise_flatten(Attributes& attributes, int, std::span<const TensorType> inputs) {
  int64_t& axis = mutable_int(attributes, "axis");
  const auto rank = static_cast<int64_t>(inputs[0].shape.size());
  if (axis != rank) axis = checked_axis("Flatten", axis, static_cast<size_t>(std::max<int64_t>(rank, 1)));
}

std::vector<TensorType> infer_flatten(const Node& node, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const int64_t axis = int_attribute(node.attributes, "axis");
  if (axis < 0 || axis > static_cast<int64_t>(input.size())) {
    refuse("Flatten", "axis " + std::to_string(axis) + " is outside the rank", "use an axis from 0 to the rank");
  }
  const Shape outer(input.begin(), input.begin() + axis);
  const Shape inner(input.begin() + axis, input.end());
  return {same_elements("Flatten", inputs[0], {element_count(outer), element_count(inner)})};
}

void normalise_squeeze(Attributes& attributes, int, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  std::vector<int64_t>& axes = mutable_ints(attributes, "axes");
  if (axes.empty()) {
    for (size_t d = 0; d < input.size(); ++d) {
      if (input[d] == 1) axes.push_back(static_cast<int64_t>(d));
    }
  }
  axes = checked_axes("Squeeze", axes, input.size());
}

std::vector<TensorType> infer_squeeze(const Node& node, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const std::vector<int64_t> axes = checked_axes("Squeeze", ints_attribute(node.attributes, "axes"), input.size());
  Shape output;
  for (size_t d = 0; d < input.size(); ++d) {
    const bool removed = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d));
    if (!removed) output.push_back(input[d]);
    if (removed && input[d] != 1) {
      refuse("Squeeze", "dimension " + std::to_string(d) + " of " + shape_text(input) + " is not 1", "check the axes");
    }
  }
  return {checked_type("Squeeze", inputs[0].dtype, std::move(output))};
}

void normalise_unsqueeze(Attributes& attributes, int, std::span<const TensorType> inputs) {
  std::vector<int64_t>& axes = mutable_ints(attributes, "axes");
  axes = checked_axes("Unsqueeze", axes, inputs[0].shape.size() + axes.size());
}

std::vector<TensorType> infer_unsqueeze(const Node& node, std::span<const TensorType> inputs) {
  Shape output = inputs[0].shape;
  const std::vector<int64_t>& listed = ints_attribute(node.attributes, "axes");
  for (const int64_t axis : checked_axes("Unsqueeze", listed, output.size() + listed.size())) {
    output.insert(output.begin() + axis, 1);
  }
  return {checked_type("Unsqueeze", inputs[0].dtype, std::move(output))};
}

void normalise_dropout(Attributes& attributes, int, std::span<const TensorType>) {
  if (int_attribute(attributes, "training_mode") != 0) {
    refuse("Dropout", "training_mode is 1", "export the model for inference");
  }
  attributes["ratio"] = 0.5;  // means nothing in inference: one form
}

std::vector<TensorType> infer_same(const Node& node, std::span<const TensorType> inputs) {
  return {checked_type(node.op, inputs[0].dtype, inputs[0].shape)};
}

}  // namespace

std::vector<Operator> reshape_operators() {
  using Ints = std::vector<int64_t>;
  const auto entry = [](std::string_view name, std::vector<AttributeSpec> attributes,
                        decltype(Operator::normalise) norm, decltype(Operator::infer) infer) {
    return Operator{name, OperatorKind::copy, 1, 1, std::move(attributes), norm, infer, reference, no_flops, one_term};
  };
  return {
      entry("Dropout", {{"ratio", 0.5, false, 1, 12}, {"training_mode", int64_t{0}, false, 2, 12}}, normalise_dropout,
            infer_same),
      entry("Flatten", {{"axis", int64_t{1}}}, normalise_flatten, infer_flatten),
      entry("Identity", {}, nullptr, infer_same),
      entry("Reshape", {{"allowzero", int64_t{0}}, {"shape", Ints{}, true, 1, 5}}, normalise_reshape, infer_reshape),
      entry("Squeeze", {{"axes", Ints{}, false, 1, 13}}, normalise_squeeze, infer_squeeze),
      entry("Unsqueeze", {{"axes", Ints{}, true, 1, 13}}, normalise_unsqueeze, infer_unsqueeze),
  };
}

}  // namespace hone
