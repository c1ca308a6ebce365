// SPDX-License-Identifier: MIT
// Algorithms that only move elements. Where strides can say the same (layout assignment decides), no kernel is made of
// them; these are for the rest.
#include <algorithm>

#include "generators/algorithm_parts.h"
#include "generators/algorithms.h"

namespace hone {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

Func transpose_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const std::vector<int64_t>& perm = ints_attribute(request.node.attributes, "perm");
  Index from(vars.size());
  for (size_t d = 0; d < vars.size(); ++d) from[static_cast<size_t>(perm[d])] = vars[d];
  return define(request, vars, read(request.inputs[0], from));
}

Func expand_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const std::vector<Expr> index(vars.rbegin(), vars.rend());
  const std::vector<Expr> from = broadcast_index(index, request.types[0].shape, request.output_shape());
  return define(request, vars, request.inputs[0](from));
}

Func tile_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  Index from;
  for (size_t d = 0; d < vars.size(); ++d) from.push_back(vars[d] % integer(request.types[0].shape[d]));
  return define(request, vars, read(request.inputs[0], from));
}

Func slice_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const std::vector<int64_t>& starts = ints_attribute(request.node.attributes, "starts");
  const std::vector<int64_t>& steps = ints_attribute(request.node.attributes, "steps");
  Index from;
  for (size_t d = 0; d < vars.size(); ++d) from.push_back(vars[d] * integer(steps[d]) + integer(starts[d]));
  return define(request, vars, read(request.inputs[0], from));
}

Func split_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const auto axis = static_cast<size_t>(int_attribute(request.node.attributes, "axis"));
  const std::vector<int64_t>& parts = ints_attribute(request.node.attributes, "split");
  int64_t start = 0;
  for (int i = 0; i < request.output; ++i) start += parts[static_cast<size_t>(i)];
  Index from = as_index(vars);
  from[axis] = from[axis] + integer(start);
  return define(request, vars, read(request.inputs[0], from));
}

Func concat_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const auto axis = static_cast<size_t>(int_attribute(request.node.attributes, "axis"));
  Expr value;
  int64_t end = request.output_shape()[axis];
  // From the last input to the first: position < end of input i ? input i : what comes after it.
  for (size_t i = request.inputs.size(); i-- > 0;) {
    const int64_t extent = request.types[i].shape[axis];
    if (extent == 0) continue;
    Index from = as_index(vars);
    from[axis] = within(from[axis] - integer(end - extent), extent);
    const Expr element = read(request.inputs[i], from);
    value = value.defined() ? select(vars[axis] < integer(end), element, value) : element;
    end -= extent;
  }
  return define(request, vars, value.defined() ? value : Halide::Internal::make_zero(request.output_type()));
}

Func pad_algorithm(const AlgorithmRequest& request) {
  const Shape& input = request.types[0].shape;
  const std::vector<Var> vars = index_vars(input.size());
  const std::vector<int64_t>& pads = ints_attribute(request.node.attributes, "pads");
  const std::string& mode = string_attribute(request.node.attributes, "mode");
  Index from;
  Expr inside = Halide::Internal::const_true();
  for (size_t d = 0; d < vars.size(); ++d) {
    Expr position = vars[d] - integer(pads[d]);
    const bool begins = pads[d] > 0;
    const bool ends = pads[d + vars.size()] > 0;
    if (mode == "reflect") {
      const Expr last = integer(input[d] - 1);
      if (begins) position = select(position < 0, -position, position);
      if (ends) position = select(position > last, 2 * last - position, position);
    } else if (mode == "constant") {
      if (begins) inside = inside && position >= 0;
      if (ends) inside = inside && position < integer(input[d]);
    }
    from.push_back(begins || ends ? within(position, input[d]) : position);
  }
  const Expr value =
      Halide::Internal::make_const(request.output_type(), float_attribute(request.node.attributes, "value"));
  if (element_count(input) == 0) return define(request, vars, value);
  return define(request, vars, select(inside, read(request.inputs[0], from), value));
}

/// An index outside the axis is clamped to it: a kernel never reads elsewhere, whatever its input holds.
Func gather_algorithm(const AlgorithmRequest& request) {
  const Shape& input = request.types[0].shape;
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const auto axis = static_cast<size_t>(int_attribute(request.node.attributes, "axis"));
  const size_t index_rank = request.types[1].shape.size();
  const auto first = vars.begin() + static_cast<std::ptrdiff_t>(axis);
  const Index position(first, first + static_cast<std::ptrdiff_t>(index_rank));
  Expr row = read(request.inputs[1], position);
  const Expr extent = Halide::Internal::make_const(row.type(), input[axis]);
  row = select(row < 0, row + extent, row);
  row = cast(Halide::Int(32), clamp(row, Halide::Internal::make_zero(row.type()), extent - 1));
  Index from(vars.begin(), first);
  from.push_back(within(row, input[axis]));
  from.insert(from.end(), first + static_cast<std::ptrdiff_t>(index_rank), vars.end());
  return define(request, vars, read(request.inputs[0], from));
}

namespace {

/// Position in a run of dimensions, row-major.
Expr flatten(const std::vector<Var>& vars, const Shape& shape, size_t begin, size_t end) {
  Expr linear = 0;
  for (size_t d = begin; d < end; ++d) linear = linear * integer(shape[d]) + vars[d];
  return linear;
}

void unflatten(const Expr& linear, const Shape& shape, size_t begin, size_t end, Index& index) {
  int64_t below = 1;
  for (size_t d = begin; d < end; ++d) below *= shape[d];
  for (size_t d = begin; d < end; ++d) {
    below /= shape[d];
    Expr position = below == 1 ? linear : linear / integer(below);
    if (d > begin) position = position % integer(shape[d]);
    index.push_back(shape[d] == 1 ? Expr(0) : position);
  }
}

}  // namespace

/// Any operator that keeps the elements' order. Input and output dimensions are paired in runs of equal size, as short
/// as possible, so that a dimension that stays costs no division.
Func reshape_algorithm(const AlgorithmRequest& request) {
  const Shape& input = request.types[0].shape;
  const Shape& output = request.output_shape();
  const std::vector<Var> vars = index_vars(output.size());
  if (element_count(output) == 0) return define(request, vars, Halide::Internal::make_zero(request.output_type()));
  Index from;
  size_t i = 0;
  size_t o = 0;
  while (i < input.size() || o < output.size()) {
    const size_t input_begin = i;
    const size_t output_begin = o;
    int64_t input_size = i < input.size() ? input[i++] : 1;
    int64_t output_size = o < output.size() ? output[o++] : 1;
    while (input_size != output_size) {
      if (input_size < output_size) {
        input_size *= input[i++];
      } else {
        output_size *= output[o++];
      }
    }
    unflatten(flatten(vars, output, output_begin, o), input, input_begin, i, from);
  }
  return define(request, vars, read(request.inputs[0], from));
}

}  // namespace hone
