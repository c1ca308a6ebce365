// SPDX-License-Identifier: MIT
#include "graph/strided_view.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace hone {
namespace {

constexpr std::array<std::string_view, 6> kReshapes = {"Dropout", "Flatten", "Identity",
                                                       "Reshape", "Squeeze", "Unsqueeze"};

std::optional<StridedView> transpose_view(const GraphNode& node, const Strides& strides) {
  StridedView view;
  for (const int64_t dimension : ints_attribute(node.attributes, "perm")) view.strides.push_back(strides[dimension]);
  return view;
}

std::optional<StridedView> slice_view(const Graph& graph, const GraphNode& node, const Strides& strides) {
  const auto& starts = ints_attribute(node.attributes, "starts");
  const auto& steps = ints_attribute(node.attributes, "steps");
  const auto& axes = ints_attribute(node.attributes, "axes");
  const Shape& shape = graph.values[node.inputs[0]].type.shape;
  StridedView view{0, strides};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = shape[axes[i]];
    if (steps[i] < 1) return std::nullopt;
    const int64_t start = starts[i] < 0 ? starts[i] + extent : starts[i];
    view.offset += std::clamp<int64_t>(start, 0, extent) * strides[axes[i]];
    view.strides[axes[i]] *= steps[i];
  }
  return view;
}

std::optional<StridedView> split_view(const Graph& graph, const GraphNode& node, int output, const Strides& strides) {
  const int64_t axis = int_attribute(node.attributes, "axis");
  StridedView view{0, strides};
  for (int i = 0; i < output; ++i) view.offset += graph.values[node.outputs[i]].type.shape[axis] * strides[axis];
  return view;
}

bool same_but_for_ones(const Shape& shape, const Strides& a, const Strides& b) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides, const Shape& to) {
  if (element_count(from) != element_count(to) || element_count(from) == 0) return std::nullopt;
  Shape old_shape;
  Strides old_strides;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    old_shape.push_back(from[i]);
    old_strides.push_back(strides[i]);
  }
  Strides result(to.size(), 0);
  // Both shapes fall into runs of dimensions with equal products; within a run the old ones must be contiguous.
  size_t old_end = 0;
  size_t new_end = 0;
  while (new_end < to.size()) {
    const size_t old_begin = old_end;
    const size_t new_begin = new_end;
    int64_t new_product = to[new_end++];
    int64_t old_product = 1;
    if (new_product > 1) old_product = old_shape[old_end++];
    while (new_product != old_product) {
      if (new_product < old_product) {
        new_product *= to[new_end++];
      } else {
        old_product *= old_shape[old_end++];
      }
    }
    for (size_t i = old_begin; i + 1 < old_end; ++i) {
      if (old_strides[i] != old_shape[i + 1] * old_strides[i + 1]) return std::nullopt;
    }
    int64_t stride = old_end > old_begin ? old_strides[old_end - 1] : 1;
    for (size_t i = new_end; i-- > new_begin;) {
      result[i] = stride;
      stride *= to[i];
    }
  }
  return result;
}

std::optional<StridedView> view_of_input(const Graph& graph, const GraphNode& node, int output,
                                         const Strides& strides) {
  if (element_count(graph.values[node.outputs[output]].type.shape) == 0) return std::nullopt;
  if (node.op == "Transpose") return transpose_view(node, strides);
  if (node.op == "Slice") return slice_view(graph, node, strides);
  if (node.op == "Split") return split_view(graph, node, output, strides);
  // Concat would come here: its inputs as views of parts of its output, where each has one maker and no other place.
  if (output > 0 || std::find(kReshapes.begin(), kReshapes.end(), node.op) == kReshapes.end()) return std::nullopt;
  const Shape& from = graph.values[node.inputs[0]].type.shape;
  const auto reshaped = reshaped_strides(from, strides, graph.values[node.outputs[0]].type.shape);
  if (!reshaped) return std::nullopt;
  return StridedView{0, *reshaped};
}

Strides canonical_strides(const Shape& shape, const Strides& strides, bool prefer_channels_last) {
  Strides preferred = prefer_channels_last ? channels_last_strides(shape) : dense_strides(shape);
  Strides other = prefer_channels_last ? dense_strides(shape) : channels_last_strides(shape);
  if (same_but_for_ones(shape, strides, preferred)) return preferred;
  if (same_but_for_ones(shape, strides, other)) return other;
  Strides result = strides;
  int64_t inner = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) result[i] = inner;
    inner = result[i] * shape[i];
  }
  return result;
}

}  // namespace hone
