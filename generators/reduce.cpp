// SPDX-License-Identifier: MIT
// The Reduce* operators over any axes. After normalisation "axes" lists every reduced axis, non-negative and sorted;
// an empty list reduces nothing (noop_with_empty_axes), though ReduceL2 and its like still apply to each element.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

void normalise(Attributes& attributes, int, std::span<const TensorType> inputs) {
  std::vector<int64_t>& axes = mutable_ints(attributes, "axes");
  int64_t& noop = mutable_int(attributes, "noop_with_empty_axes");
  const size_t rank = inputs[0].shape.size();
  if (axes.empty() && noop == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis = counted_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  noop = 1;
  mutable_int(attributes, "keepdims") = int_attribute(attributes, "keepdims") != 0;
}

bool reduces(const std::vector<int64_t>& axes, size_t dimension) {
  return std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(dimension));
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  const std::vector<int64_t>& axes = ints_attribute(node.attributes, "axes");
  if (checked_axes(node.op, axes, inputs[0].shape.size()) != axes) {
    refuse(node.op, "its axes are not normalised", "list them non-negative and sorted");
  }
  Shape output;
  for (size_t d = 0; d < inputs[0].shape.size(); ++d) {
    if (!reduces(axes, d)) output.push_back(inputs[0].shape[d]);
    if (reduces(axes, d) && int_attribute(node.attributes, "keepdims") != 0) output.push_back(1);
  }
  return {checked_type(node.op, inputs[0].dtype, std::move(output))};
}

double nan_max(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
double nan_min(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}

/// One line each: start value, one step, and what is done with the result of `count` steps.
struct Reduction {
  std::string_view name;
  double start;
  double (*step)(double total, double x);
  double (*finish)(double total, double count);
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double plus(double total, double x) {
  return total + x;
}
double plus_square(double total, double x) {
  return total + x * x;
}
double plain(double total, double) {
  return total;
}

constexpr Reduction kReductions[] = {
    {"ReduceL1", 0, [](double t, double x) { return t + std::fabs(x); }, plain},
    {"ReduceL2", 0, plus_square, [](double t, double) { return std::sqrt(t); }},
    {"ReduceLogSum", 0, plus, [](double t, double) { return std::log(t); }},
    {"ReduceLogSumExp", 0, [](double t, double x) { return t + std::exp(x); },
     [](double t, double) { return std::log(t); }},
    {"ReduceMax", -kInfinity, nan_max, plain},
    {"ReduceMean", 0, plus, [](double t, double count) { return t / count; }},
    {"ReduceMin", kInfinity, nan_min, plain},
    {"ReduceProd", 1, [](double t, double x) { return t * x; }, plain},
    {"ReduceSum", 0, plus, plain},
    {"ReduceSumSquare", 0, plus_square, plain},
};

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const auto* line = std::find_if(std::begin(kReductions), std::end(kReductions),
                                  [&](const Reduction& reduction) { return reduction.name == node.op; });
  const Shape& shape = inputs[0].shape;
  const std::vector<int64_t>& axes = ints_attribute(node.attributes, "axes");
  Shape kept = shape;
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  output.values.assign(static_cast<size_t>(element_count(kept)), line->start);
  walk<2>(shape, {dense_strides(shape), broadcast_strides(kept, shape)}, [&](const std::array<int64_t, 2>& offset) {
    double& total = output.values[static_cast<size_t>(offset[1])];
    total = line->step(total, inputs[0].values[static_cast<size_t>(offset[0])]);
  });
  const double count = static_cast<double>(element_count(shape)) / static_cast<double>(output.values.size());
  const bool integer = output.dtype != DType::f32 && output.dtype != DType::f64 && output.dtype != DType::f16 &&
                       output.dtype != DType::bf16;
  for (double& value : output.values) {
    value = line->finish(value, count);
    if (integer) value = std::trunc(value);
  }
  return {std::move(output)};
}

int64_t terms(const Node& node, std::span<const TensorType> inputs) {
  int64_t count = 1;
  for (const int64_t axis : ints_attribute(node.attributes, "axes"))
    count *= inputs[0].shape[static_cast<size_t>(axis)];
  return count;
}

double count_flops(const Node&, std::span<const TensorType> inputs) {
  return static_cast<double>(element_count(inputs[0].shape));
}

}  // namespace

std::vector<Operator> reduce_operators() {
  std::vector<Operator> entries;
  for (const Reduction& line : kReductions) {
    const int axes_since = line.name == "ReduceSum" ? 13 : 18;  // the opset in which "axes" became an input
    entries.push_back({line.name,
                       OperatorKind::anchor,
                       1,
                       1,
                       {{"axes", std::vector<int64_t>{}, false, 1, axes_since},
                        {"keepdims", int64_t{1}},
                        {"noop_with_empty_axes", int64_t{0}}},
                       normalise,
                       infer,
                       reference,
                       count_flops,
                       terms});
  }
  return entries;
}

}  // namespace hone
