// SPDX-License-Identifier: MIT
// Pad: constant, edge and reflect; negative pads crop. After normalisation "pads" has every dimension's begin, then
// every dimension's end, and "axes" is empty.
#include <algorithm>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

void normalise(Attributes& attributes, int, std::span<const TensorType> inputs) {
  const size_t rank = inputs[0].shape.size();
  const std::string& mode = string_attribute(attributes, "mode");
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    refuse("Pad", "its mode is '" + mode + "'", "supported: constant, edge, reflect");
  }
  std::vector<int64_t>& pads = mutable_ints(attributes, "pads");
  std::vector<int64_t>& axes = mutable_ints(attributes, "axes");
  if (!axes.empty()) {
    if (pads.size() != 2 * axes.size()) refuse("Pad", "pads and axes do not fit", "give two pads for each axis");
    checked_axes("Pad", axes, rank);  // refuses doubles
    std::vector<int64_t> all(2 * rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(checked_axis("Pad", axes[i], rank));
      all[axis] = pads[i];
      all[axis + rank] = pads[i + axes.size()];
    }
    pads = std::move(all);
    axes.clear();
  }
  if (mode != "constant") attributes["value"] = 0.0;  // means nothing there: one form
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const std::vector<int64_t>& pads = ints_attribute(node.attributes, "pads");
  const std::string& mode = string_attribute(node.attributes, "mode");
  if (pads.size() != 2 * input.size() || !ints_attribute(node.attributes, "axes").empty()) {
    refuse("Pad", "pads " + shape_text(pads) + " do not fit the rank of " + shape_text(input),
           "give two for each axis");
  }
  if (mode != "constant" && mode != "edge" && mode != "reflect") refuse("Pad", "unknown mode", "normalise it first");
  check_range("Pad", "pads", pads, -(1 << 30), 1 << 30);
  Shape output;
  for (size_t d = 0; d < input.size(); ++d) {
    const int64_t largest = std::max(pads[d], pads[d + input.size()]);
    if ((mode == "reflect" && largest >= std::max<int64_t>(input[d], 1)) ||
        (mode == "edge" && largest > 0 && input[d] == 0)) {
      refuse("Pad", "it pads " + std::to_string(largest) + " elements by " + mode + " of " + shape_text(input),
             "use smaller pads");
    }
    output.push_back(input[d] + pads[d] + pads[d + input.size()]);
  }
  return {checked_type("Pad", inputs[0].dtype, std::move(output))};
}

/// Input position of each output position of one dimension, -1 for the constant.
std::vector<int64_t> sources(const std::string& mode, int64_t extent, int64_t begin, int64_t outputs) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < outputs; ++i) {
    int64_t at = i - begin;
    if (mode == "reflect") at = at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
    if (mode == "edge") at = std::clamp<int64_t>(at, 0, extent - 1);
    positions.push_back(at >= 0 && at < extent ? at : -1);
  }
  return positions;
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape& shape = inputs[0].shape;
  const std::vector<int64_t>& pads = ints_attribute(node.attributes, "pads");
  const std::string& mode = string_attribute(node.attributes, "mode");
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  // One dimension after another, outermost first: `offsets` are input offsets of the output's prefix, -1 outside.
  std::vector<int64_t> offsets = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::vector<int64_t> positions = sources(mode, shape[d], pads[d], output.shape[d]);
    std::vector<int64_t> next;
    next.reserve(offsets.size() * positions.size());
    for (const int64_t offset : offsets) {
      for (const int64_t at : positions) next.push_back(offset < 0 || at < 0 ? -1 : offset * shape[d] + at);
    }
    offsets = std::move(next);
  }
  const double value = float_attribute(node.attributes, "value");
  for (const int64_t offset : offsets) {
    output.values.push_back(offset < 0 ? value : inputs[0].values[static_cast<size_t>(offset)]);
  }
  return {std::move(output)};
}

}  // namespace

std::vector<Operator> pad_operators() {
  using Ints = std::vector<int64_t>;
  return {{"Pad",
           OperatorKind::copy,
           1,
           1,
           {{"axes", Ints{}, false, 3, 18},
            {"mode", std::string("constant")},
            {"pads", Ints{}, true, 1, 11},
            {"value", 0.0, false, 2, 11}},
           normalise,
           infer,
           reference,
           no_flops,
           one_term}};
}

}  // namespace hone
