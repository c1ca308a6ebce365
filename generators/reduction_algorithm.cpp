// SPDX-License-Identifier: MIT
// Windows and axes that are reduced: pooling, the Reduce family, softmax; and batch normalisation beside them.
#include <algorithm>

#include "executor/error.h"
#include "generators/algorithm_parts.h"
#include "generators/algorithms.h"
#include "generators/window.h"

namespace hone {

using Halide::Expr;
using Halide::Func;
using Halide::Type;
using Halide::Var;

namespace {

Expr zero(Type type) {
  return Halide::Internal::make_zero(type);
}
/// Below (above) every element, infinities included.
Expr lowest(Type type) {
  return type.is_float() ? Expr(cast(type, -Halide::Expr(INFINITY))) : type.min();
}
Expr highest(Type type) {
  return type.is_float() ? Expr(cast(type, Halide::Expr(INFINITY))) : type.max();
}

/// A Func over `vars` that starts at `start` and takes `step(total)` over a reduction domain; a stage.
template <typename Step>
Func reduced(const AlgorithmRequest& request, const char* name, const std::vector<Var>& vars, Expr start, Step step) {
  Func total(name);
  at(total, as_index(vars)) = std::move(start);
  const Expr next = step(read(total, as_index(vars)));
  at(total, as_index(vars)) = next;
  request.stages.push_back(total);
  return total;
}

/// How many taps of an average's window count, as an expression of the output position in one dimension.
Expr counted_taps(const WindowDim& dim, const Expr& position, int64_t extent, bool include_pad, bool hangs_over) {
  if (include_pad && !hangs_over) return integer(dim.kernel);
  const Expr start = position * integer(dim.stride) - integer(dim.pad_begin);
  const int64_t end = include_pad ? extent + dim.pad_end : extent;
  // Taps k with start + k * dilation < end, and not below 0 unless the padding counts.
  const Expr last = min(integer(dim.kernel), (integer(end - 1) - start) / integer(dim.dilation) + 1);
  if (include_pad || dim.pad_begin == 0) return last;
  return last - max(0, (integer(dim.dilation - 1) - start) / integer(dim.dilation));
}

}  // namespace

Func pool_algorithm(const AlgorithmRequest& request) {
  const Shape& input = request.types[0].shape;
  const Attributes& attributes = request.node.attributes;
  const std::vector<WindowDim> window = window_of(request.node.op, attributes, input);
  const bool maximum = request.node.op == "MaxPool";
  Halide::Region taps;
  for (size_t i = window.size(); i-- > 0;) taps.emplace_back(0, integer(window[i].kernel));
  const Halide::RDom r(taps, "r");

  const std::vector<Var> vars = index_vars(input.size());
  Index from = {vars[0], vars[1]};
  Expr inside = Halide::Internal::const_true();
  Expr count = 1;
  for (size_t i = 0; i < window.size(); ++i) {
    const WindowDim& dim = window[i];
    const int64_t extent = input[i + 2];
    const Expr tap = r[static_cast<int>(window.size() - 1 - i)];
    const Expr position = vars[i + 2] * integer(dim.stride) + tap * integer(dim.dilation) - integer(dim.pad_begin);
    const int64_t last = (request.output_shape()[i + 2] - 1) * dim.stride + dim.reach() - 1 - dim.pad_begin;
    if (dim.pad_begin > 0) inside = inside && position >= 0;
    if (last >= extent) inside = inside && position < integer(extent);
    from.push_back(dim.pad_begin > 0 || last >= extent ? within(position, extent) : position);
    if (!maximum) {
      const bool include_pad = int_attribute(attributes, "count_include_pad") != 0;
      const bool counts_all = include_pad || (dim.pad_begin == 0 && last < extent);
      count = count * counted_taps(dim, vars[i + 2], extent, counts_all, last >= extent + dim.pad_end);
    }
  }
  const Type input_type = halide_type(request.types[0].dtype);
  const Type type = maximum ? input_type : sum_type(request, input_type);
  const Expr neutral = maximum ? lowest(type) : zero(type);
  const Expr element = select(inside, cast(type, read(request.inputs[0], from)), neutral);
  const Func total = reduced(request, maximum ? "largest" : "sum", vars, neutral,
                             [&](const Expr& so_far) { return maximum ? nan_max(so_far, element) : so_far + element; });
  const Expr value = read(total, as_index(vars));
  return define(request, vars, maximum ? value : value / cast(type, count));
}

Func global_pool_algorithm(const AlgorithmRequest& request) {
  const Shape& input = request.types[0].shape;
  const bool maximum = request.node.op == "GlobalMaxPool";
  Halide::Region plane;
  for (size_t d = input.size(); d-- > 2;) plane.emplace_back(0, integer(input[d]));
  const Halide::RDom r(plane, "r");
  const std::vector<Var> vars = index_vars(input.size());
  Index from = {vars[0], vars[1]};
  for (size_t d = 2; d < input.size(); ++d) from.push_back(r[static_cast<int>(input.size() - 1 - d)]);
  const Type input_type = halide_type(request.types[0].dtype);
  const Type type = maximum ? input_type : sum_type(request, input_type);
  const Expr element = cast(type, read(request.inputs[0], from));
  const Func total = reduced(request, maximum ? "largest" : "sum", vars, maximum ? lowest(type) : zero(type),
                             [&](const Expr& so_far) { return maximum ? nan_max(so_far, element) : so_far + element; });
  const int64_t elements = element_count(Shape(input.begin() + 2, input.end()));
  const Expr value = read(total, as_index(vars));
  return define(request, vars, maximum ? value : value * Halide::Internal::make_const(type, 1.0 / double(elements)));
}

namespace {

struct Axes {
  Halide::RDom domain;  // undefined if nothing is reduced
  Index from;           // of the input
  int64_t count = 1;
};

/// Walks `reduced` (non-negative, sorted) of a tensor whose other dimensions are given by `kept`, in order.
Axes walk_axes(const Shape& input, const std::vector<int64_t>& reduced, const Index& kept) {
  Axes axes;
  Halide::Region region;
  for (auto axis = reduced.rbegin(); axis != reduced.rend(); ++axis) {
    region.emplace_back(0, integer(input[static_cast<size_t>(*axis)]));
    axes.count *= input[static_cast<size_t>(*axis)];
  }
  if (!region.empty()) axes.domain = Halide::RDom(region, "r");
  size_t next_kept = 0;
  int next_reduced = static_cast<int>(reduced.size()) - 1;
  for (size_t d = 0; d < input.size(); ++d) {
    const bool is_reduced = std::binary_search(reduced.begin(), reduced.end(), static_cast<int64_t>(d));
    axes.from.push_back(is_reduced ? Expr(axes.domain[next_reduced--]) : kept[next_kept++]);
  }
  return axes;
}

Expr step_of(std::string_view op, const Expr& total, const Expr& x) {
  if (op == "ReduceMax") return nan_max(total, x);
  if (op == "ReduceMin") return nan_min(total, x);
  if (op == "ReduceProd") return total * x;
  if (op == "ReduceL1") return total + cast(x.type(), abs(x));
  if (op == "ReduceL2" || op == "ReduceSumSquare") return total + x * x;
  return total + x;
}

Expr finish_of(std::string_view op, const Expr& total, int64_t count) {
  if (op == "ReduceL2") return sqrt(total);
  if (op == "ReduceLogSum") return nan_log(total);
  if (op != "ReduceMean") return total;
  if (total.type().is_float()) return total * Halide::Internal::make_const(total.type(), 1.0 / double(count));
  return Halide::div_round_to_zero(total, Halide::Internal::make_const(total.type(), count));
}

}  // namespace

Func reduce_algorithm(const AlgorithmRequest& request) {
  const std::string& op = request.node.op;
  const Shape& input = request.types[0].shape;
  const std::vector<int64_t>& reduced_axes = ints_attribute(request.node.attributes, "axes");
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  Index kept;
  for (size_t d = 0; d < vars.size(); ++d) {
    const bool stays = int_attribute(request.node.attributes, "keepdims") == 0 ||
                       !std::binary_search(reduced_axes.begin(), reduced_axes.end(), static_cast<int64_t>(d));
    if (stays) kept.push_back(vars[d]);
  }
  const Axes axes = walk_axes(input, reduced_axes, kept);
  const Type input_type = halide_type(request.types[0].dtype);
  const bool chooses = op == "ReduceMax" || op == "ReduceMin";
  const Type type = chooses ? input_type : sum_type(request, input_type);
  Expr x = cast(type, read(request.inputs[0], axes.from));
  const auto run = [&](std::string_view step, const char* name, const Expr& start) -> Expr {
    if (reduced_axes.empty()) return step_of(step, start, x);
    const Func total =
        reduced(request, name, vars, start, [&](const Expr& so_far) { return step_of(step, so_far, x); });
    return read(total, as_index(vars));
  };
  if (op == "ReduceLogSumExp") {  // shifted by the maximum: exp of fp32 overflows from 89 on
    const Expr largest = run("ReduceMax", "largest", lowest(type));
    x = nan_exp(x - largest);
    return define(request, vars, nan_log(run("ReduceSum", "sum", zero(type))) + largest);
  }
  Expr start = zero(type);
  if (op == "ReduceProd") start = Halide::Internal::make_one(type);
  if (op == "ReduceMax") start = lowest(type);
  if (op == "ReduceMin") start = highest(type);
  return define(request, vars, finish_of(op, run(op, "total", start), axes.count));
}

/// Three passes, as usual: maximum, sum of exponentials, division. The exponentials are a stage of their own, so that a
/// schedule may compute them once.
Func softmax_algorithm(const AlgorithmRequest& request) {
  const Shape& shape = request.types[0].shape;
  const auto axis = static_cast<size_t>(int_attribute(request.node.attributes, "axis"));
  const auto end = axis + static_cast<size_t>(int_attribute(request.node.attributes, "axis_count"));
  const std::vector<Var> vars = index_vars(shape.size());
  std::vector<int64_t> normalised;
  std::vector<Var> outer;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d >= axis && d < end) {
      normalised.push_back(static_cast<int64_t>(d));
    } else {
      outer.push_back(vars[d]);
    }
  }
  const Type input_type = halide_type(request.types[0].dtype);
  const Type type = sum_type(request, input_type);
  const Index all = as_index(vars);
  const Axes max_axes = walk_axes(shape, normalised, as_index(outer));
  const Func largest = reduced(request, "largest", outer, lowest(input_type), [&](const Expr& so_far) {
    return nan_max(so_far, read(request.inputs[0], max_axes.from));
  });
  const Expr shifted = cast(type, read(request.inputs[0], all)) - cast(type, read(largest, as_index(outer)));
  Func exponential("exponential");
  at(exponential, all) = nan_exp(shifted);
  request.stages.push_back(exponential);
  const Axes sum_axes = walk_axes(shape, normalised, as_index(outer));
  const Func sum = reduced(request, "sum", outer, zero(type),
                           [&](const Expr& so_far) { return so_far + read(exponential, sum_axes.from); });
  const Expr total = read(sum, as_index(outer));
  if (request.node.op == "LogSoftmax") return define(request, vars, shifted - nan_log(total));
  return define(request, vars, read(exponential, all) / total);
}

Func batch_norm_algorithm(const AlgorithmRequest& request) {
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const Type type = sum_type(request, halide_type(request.types[0].dtype));
  const auto parameter = [&](size_t i) { return cast(type, read(request.inputs[i], {vars[1]})); };
  const Expr epsilon = Halide::Internal::make_const(type, float_attribute(request.node.attributes, "epsilon"));
  const Expr scale = parameter(1) / sqrt(parameter(4) + epsilon);
  const Expr x = cast(type, read(request.inputs[0], as_index(vars)));
  return define(request, vars, (x - parameter(3)) * scale + parameter(2));
}

}  // namespace hone
