// SPDX-License-Identifier: MIT
// Operators that move elements without computing: Transpose, Expand, Tile, Concat, Split, Gather. Slice and Pad have
// files of their own; what only reshapes is in reshape.cpp.
#include <algorithm>
#include <numeric>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

ReferenceTensor empty_output(const Node& node, size_t i = 0) {
  ReferenceTensor output{node.outputs[i].dtype, node.outputs[i].shape, {}};
  output.values.resize(static_cast<size_t>(element_count(output.shape)));
  return output;
}

/// The output read off one input with the given strides, from `start` on.
ReferenceTensor strided_copy(ReferenceTensor output, const ReferenceTensor& input, const Strides& strides,
                             int64_t start = 0) {
  walk<2>(output.shape, {strides, dense_strides(output.shape)}, [&](const std::array<int64_t, 2>& offset) {
    output.values[static_cast<size_t>(offset[1])] = input.values[static_cast<size_t>(start + offset[0])];
  });
  return output;
}

void normalise_transpose(Attributes& attributes, int, std::span<const TensorType> inputs) {
  std::vector<int64_t>& perm = mutable_ints(attributes, "perm");
  if (!perm.empty()) return;
  perm.resize(inputs[0].shape.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
}

std::vector<TensorType> infer_transpose(const Node& node, std::span<const TensorType> inputs) {
  const std::vector<int64_t>& perm = ints_attribute(node.attributes, "perm");
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> all(inputs[0].shape.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    refuse("Transpose", "perm " + shape_text(perm) + " is no permutation of " + std::to_string(all.size()) + " axes",
           "list each axis once");
  }
  Shape output;
  for (const int64_t axis : perm) output.push_back(inputs[0].shape[static_cast<size_t>(axis)]);
  return {checked_type("Transpose", inputs[0].dtype, std::move(output))};
}

std::vector<ReferenceTensor> reference_transpose(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Strides dense = dense_strides(inputs[0].shape);
  Strides strides;
  for (const int64_t axis : ints_attribute(node.attributes, "perm"))
    strides.push_back(dense[static_cast<size_t>(axis)]);
  return {strided_copy(empty_output(node), inputs[0], strides)};
}

void normalise_expand(Attributes& attributes, int, std::span<const TensorType> inputs) {
  std::vector<int64_t>& shape = mutable_ints(attributes, "shape");
  shape = broadcast_shapes("Expand", inputs[0].shape, shape);
}

std::vector<TensorType> infer_expand(const Node& node, std::span<const TensorType> inputs) {
  const std::vector<int64_t>& shape = ints_attribute(node.attributes, "shape");
  return {checked_type("Expand", inputs[0].dtype, broadcast_shapes("Expand", inputs[0].shape, shape))};
}

std::vector<ReferenceTensor> reference_expand(const Node& node, std::span<const ReferenceTensor> inputs) {
  return {strided_copy(empty_output(node), inputs[0], broadcast_strides(inputs[0].shape, node.outputs[0].shape))};
}

std::vector<TensorType> infer_tile(const Node& node, std::span<const TensorType> inputs) {
  const std::vector<int64_t>& repeats = ints_attribute(node.attributes, "repeats");
  Shape output = inputs[0].shape;
  if (repeats.size() != output.size()) {
    refuse("Tile", "repeats " + shape_text(repeats) + " does not fit the rank of " + shape_text(output),
           "give one number for each dimension");
  }
  check_range("Tile", "repeats", repeats, 0, 1 << 30);
  for (size_t d = 0; d < output.size(); ++d) output[d] *= repeats[d];
  return {checked_type("Tile", inputs[0].dtype, std::move(output))};
}

std::vector<ReferenceTensor> reference_tile(const Node& node, std::span<const ReferenceTensor> inputs) {
  // Seen as [repeats[0], extent[0], repeats[1], extent[1], ...], the repeats are broadcast.
  ReferenceTensor output = empty_output(node);
  const Strides dense = dense_strides(inputs[0].shape);
  const std::vector<int64_t>& repeats = ints_attribute(node.attributes, "repeats");
  Shape paired;
  Strides strides;
  for (size_t d = 0; d < dense.size(); ++d) {
    paired.insert(paired.end(), {repeats[d], inputs[0].shape[d]});
    strides.insert(strides.end(), {0, dense[d]});
  }
  const Shape shape = output.shape;
  output.shape = paired;
  output = strided_copy(std::move(output), inputs[0], strides);
  output.shape = shape;
  return {std::move(output)};
}

void normalise_axis(Attributes& attributes, int, std::span<const TensorType> inputs) {
  int64_t& axis = mutable_int(attributes, "axis");
  axis = counted_axis(axis, inputs[0].shape.size());
}

/// The axis of a node whose attributes may come from a hostile text.
size_t axis_of(const Node& node, const Shape& shape) {
  const int64_t axis = int_attribute(node.attributes, "axis");
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
    refuse(node.op, "axis " + std::to_string(axis) + " is outside " + shape_text(shape),
           "use an axis from -rank to rank-1");
  }
  return static_cast<size_t>(axis);
}

std::vector<TensorType> infer_concat(const Node& node, std::span<const TensorType> inputs) {
  Shape output = inputs[0].shape;
  const size_t axis = axis_of(node, output);
  for (const TensorType& input : inputs.subspan(1)) {
    Shape other = input.shape;
    if (other.size() == output.size()) other[axis] = output[axis];
    if (other != output || input.dtype != inputs[0].dtype) {
      refuse("Concat",
             shape_text(inputs[0].shape) + " and " + shape_text(input.shape) + " do not fit along axis " +
                 std::to_string(axis),
             "all inputs need one type and equal extents but along the axis");
    }
    output[axis] += input.shape[axis];
  }
  return {checked_type("Concat", inputs[0].dtype, std::move(output))};
}

std::vector<ReferenceTensor> reference_concat(const Node& node, std::span<const ReferenceTensor> inputs) {
  ReferenceTensor output = empty_output(node);
  const size_t axis = axis_of(node, output.shape);
  const Strides dense = dense_strides(output.shape);
  int64_t start = 0;
  for (const ReferenceTensor& input : inputs) {
    walk<2>(input.shape, {dense_strides(input.shape), dense}, [&](const std::array<int64_t, 2>& offset) {
      output.values[static_cast<size_t>(start + offset[1])] = input.values[static_cast<size_t>(offset[0])];
    });
    start += input.shape[axis] * dense[axis];
  }
  return {std::move(output)};
}

/// Fills "split" with the parts' extents. Without it, ONNX 18 counts the parts in num_outputs; before, it counts the
/// node's outputs, which an attribute cannot tell: such models must be saved with opset 18 or with "split".
void normalise_split(Attributes& attributes, int, std::span<const TensorType> inputs) {
  int64_t& axis = mutable_int(attributes, "axis");
  axis = checked_axis("Split", axis, inputs[0].shape.size());
  std::vector<int64_t>& split = mutable_ints(attributes, "split");
  int64_t& parts = mutable_int(attributes, "num_outputs");
  if (split.empty()) {
    const int64_t extent = inputs[0].shape[static_cast<size_t>(axis)];
    if (parts < 1 || parts > std::max<int64_t>(extent, 1)) {
      refuse("Split", "it has neither 'split' nor a fitting 'num_outputs'", "save the model with opset 18 or newer");
    }
    const int64_t part = (extent + parts - 1) / parts;  // the last one may be smaller
    split.assign(static_cast<size_t>(parts), part);
    split.back() = extent - part * (parts - 1);
  }
  parts = static_cast<int64_t>(split.size());
}

std::vector<TensorType> infer_split(const Node& node, std::span<const TensorType> inputs) {
  const size_t axis = axis_of(node, inputs[0].shape);
  const std::vector<int64_t>& split = ints_attribute(node.attributes, "split");
  check_range("Split", "split", split, 0, inputs[0].shape[axis]);
  if (std::accumulate(split.begin(), split.end(), int64_t{0}) != inputs[0].shape[axis]) {
    refuse("Split", "parts " + shape_text(split) + " do not add up to " + std::to_string(inputs[0].shape[axis]),
           "check 'split'");
  }
  std::vector<TensorType> outputs;
  for (const int64_t part : split) {
    Shape shape = inputs[0].shape;
    shape[axis] = part;
    outputs.push_back(checked_type("Split", inputs[0].dtype, std::move(shape)));
  }
  return outputs;
}

std::vector<ReferenceTensor> reference_split(const Node& node, std::span<const ReferenceTensor> inputs) {
  const size_t axis = axis_of(node, inputs[0].shape);
  const Strides dense = dense_strides(inputs[0].shape);
  std::vector<ReferenceTensor> outputs;
  int64_t start = 0;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    outputs.push_back(strided_copy(empty_output(node, i), inputs[0], dense, start));
    start += node.outputs[i].shape[axis] * dense[axis];
  }
  return outputs;
}

std::vector<TensorType> infer_gather(const Node& node, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const auto axis = static_cast<std::ptrdiff_t>(axis_of(node, input));
  if (inputs[1].dtype != DType::i32 && inputs[1].dtype != DType::i64) {
    refuse("Gather", "its indices are " + std::string(name(inputs[1].dtype)), "supported: i32, i64");
  }
  Shape output(input.begin(), input.begin() + axis);
  output.insert(output.end(), inputs[1].shape.begin(), inputs[1].shape.end());
  output.insert(output.end(), input.begin() + axis + 1, input.end());
  return {checked_type("Gather", inputs[0].dtype, std::move(output))};
}

/// An index outside the axis is clamped to it, as kernels do: never read elsewhere.
std::vector<ReferenceTensor> reference_gather(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape& shape = inputs[0].shape;
  const size_t axis = axis_of(node, shape);
  const int64_t extent = shape[axis];
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)));
  const int64_t inner = element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()));
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  if (element_count(output.shape) == 0) return {std::move(output)};
  if (extent == 0) refuse("Gather", "it gathers from an axis of extent 0", "check the input shapes");
  for (int64_t i = 0; i < outer; ++i) {
    for (const double index : inputs[1].values) {
      const double counted = index < 0 ? index + static_cast<double>(extent) : index;
      const auto row = static_cast<int64_t>(std::clamp(counted, 0.0, static_cast<double>(extent - 1)));
      const auto from = inputs[0].values.begin() + (i * extent + row) * inner;
      output.values.insert(output.values.end(), from, from + inner);
    }
  }
  return {std::move(output)};
}

}  // namespace

std::vector<Operator> copy_operators() {
  using Ints = std::vector<int64_t>;
  const auto entry = [](std::string_view name, int min_inputs, int max_inputs, std::vector<AttributeSpec> attributes,
                        decltype(Operator::normalise) norm, decltype(Operator::infer) infer,
                        decltype(Operator::reference) reference) {
    return Operator{name,  OperatorKind::copy, min_inputs, max_inputs, std::move(attributes), norm,
                    infer, reference,          no_flops,   one_term};
  };
  return {
      entry("Concat", 1, -1, {{"axis", int64_t{1}, true}}, normalise_axis, infer_concat, reference_concat),
      entry("Expand", 1, 1, {{"shape", Ints{}, true, 1, 8}}, normalise_expand, infer_expand, reference_expand),
      entry("Gather", 2, 2, {{"axis", int64_t{0}}}, normalise_axis, infer_gather, reference_gather),
      entry("Split", 1, 1, {{"axis", int64_t{0}}, {"num_outputs", int64_t{0}}, {"split", Ints{}, false, 1, 13}},
            normalise_split, infer_split, reference_split),
      entry("Tile", 1, 1, {{"repeats", Ints{}, true, 1, 6}}, nullptr, infer_tile, reference_tile),
      entry("Transpose", 1, 1, {{"perm", Ints{}}}, normalise_transpose, infer_transpose, reference_transpose),
  };
}

}  // namespace hone
