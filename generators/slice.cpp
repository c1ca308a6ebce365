// SPDX-License-Identifier: MIT
// Slice. After normalisation "axes" lists every dimension, 0 <= start < extent, steps are not 0, and
// end = start + count * step (so it may lie outside the input for steps beyond one, or below 0 for negative ones).
#include <algorithm>
#include <numeric>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

struct Range {
  int64_t start, end, step;
  int64_t count() const {
    if (step == 0 || (step > 0 && end <= start) || (step < 0 && end >= start)) return 0;
    return step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  }
};

/// ONNX's rules: negative positions count from the end, positions outside are clamped;
/// unlike numpy's, a start before the first element is the first element for negative steps too. An end of INT32_MAX or
/// INT64_MAX is "to the end" in either direction, as ONNX Runtime reads the specification.
Range resolve(Range range, int64_t extent) {
  // Steps larger than the extent all mean the same, and INT64_MIN has no negative.
  range.step = std::clamp(range.step, -std::max<int64_t>(extent, 1), std::max<int64_t>(extent, 1));
  const int64_t low = range.step > 0 ? 0 : -1;
  const int64_t high = range.step > 0 ? extent : extent - 1;
  if (range.start < 0) range.start += extent;
  if (range.end < 0) range.end += extent;
  if (range.end == INT32_MAX || range.end == INT64_MAX) range.end = range.step > 0 ? extent : -1;
  range.start = std::clamp(range.start, int64_t{0}, std::max<int64_t>(high, 0));
  range.end = std::clamp(range.end, low, high);
  const int64_t count = range.count();
  if (count == 0) return {0, 0, range.step};
  return {range.start, range.start + count * range.step, range.step};
}

void normalise(Attributes& attributes, int, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  std::vector<int64_t>& starts = mutable_ints(attributes, "starts");
  std::vector<int64_t>& ends = mutable_ints(attributes, "ends");
  std::vector<int64_t>& axes = mutable_ints(attributes, "axes");
  std::vector<int64_t>& steps = mutable_ints(attributes, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    refuse("Slice", "starts, ends, axes and steps differ in length", "give one of each for each axis");
  }
  if (std::find(steps.begin(), steps.end(), 0) != steps.end()) refuse("Slice", "a step is 0", "use steps other than 0");
  checked_axes("Slice", axes, input.size());  // refuses doubles
  std::vector<Range> ranges;
  for (const int64_t extent : input) ranges.push_back({0, extent, 1});
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(checked_axis("Slice", axes[i], input.size()));
    ranges[axis] = resolve({starts[i], ends[i], steps[i]}, input[axis]);
  }
  for (std::vector<int64_t>* list : {&starts, &ends, &axes, &steps}) list->clear();
  for (size_t d = 0; d < ranges.size(); ++d) {
    starts.push_back(ranges[d].start);
    ends.push_back(ranges[d].end);
    axes.push_back(static_cast<int64_t>(d));
    steps.push_back(ranges[d].step);
  }
}

std::vector<Range> ranges_of(const Node& node, const Shape& input) {
  const std::vector<int64_t>& starts = ints_attribute(node.attributes, "starts");
  const std::vector<int64_t>& ends = ints_attribute(node.attributes, "ends");
  const std::vector<int64_t>& axes = ints_attribute(node.attributes, "axes");
  const std::vector<int64_t>& steps = ints_attribute(node.attributes, "steps");
  std::vector<int64_t> all(input.size());
  std::iota(all.begin(), all.end(), 0);
  if (axes != all || starts.size() != all.size() || ends.size() != all.size() || steps.size() != all.size()) {
    refuse("Slice", "its attributes are not normalised", "list every axis");
  }
  std::vector<Range> ranges;
  for (size_t d = 0; d < input.size(); ++d) {
    const Range range{starts[d], ends[d], steps[d]};
    const int64_t count = range.count();
    const int64_t last = range.start + (count - 1) * range.step;
    const bool inside = range.start >= 0 && range.start < input[d] && last >= 0 && last < input[d];
    if (range.step == 0 || (count != 0 && !inside))
      refuse("Slice", "it reaches outside its input", "normalise it first");
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  Shape output;
  for (const Range& range : ranges_of(node, inputs[0].shape)) output.push_back(range.count());
  return {checked_type("Slice", inputs[0].dtype, std::move(output))};
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  const Strides dense = dense_strides(inputs[0].shape);
  Strides strides;
  int64_t start = 0;
  for (const Range& range : ranges_of(node, inputs[0].shape)) {
    start += range.start * dense[strides.size()];
    strides.push_back(range.step * dense[strides.size()]);
  }
  walk<1>(output.shape, {strides}, [&](const std::array<int64_t, 1>& offset) {
    output.values.push_back(inputs[0].values[static_cast<size_t>(start + offset[0])]);
  });
  return {std::move(output)};
}

}  // namespace

std::vector<Operator> slice_operators() {
  using Ints = std::vector<int64_t>;
  return {{"Slice",
           OperatorKind::copy,
           1,
           1,
           {{"starts", Ints{}, true, 1, 10},
            {"ends", Ints{}, true, 2, 10},
            {"axes", Ints{}, false, 3, 10},
            {"steps", Ints{}, false, 4, 10}},
           normalise,
           infer,
           reference,
           no_flops,
           one_term}};
}

}  // namespace hone
