// SPDX-License-Identifier: MIT
// Layout assignment. Values that a convolution or pool touches, and what follows them elementwise, form classes that
// are channels-last together: vectors run along channels (notes on kernels: every fast template wants C innermost), and
// a class never needs a conversion inside. Everything else is dense row-major. Copies that strides can express become
// views.
#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "generators/operators.h"
#include "graph/graph.h"
#include "graph/strided_view.h"

namespace hone {
namespace {

constexpr std::array<std::string_view, 6> kChannelsLast = {
    "AveragePool", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalMaxPool", "MaxPool",
};
// Operators beside the pointwise ones that keep the meaning of each dimension.
constexpr std::array<std::string_view, 15> kFollowers = {
    "BatchNormalization", "Concat", "DepthToSpace", "Expand",  "Pad",          "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceSum",          "Resize", "Slice",        "Softmax", "SpaceToDepth", "Split",     "Upsample",
};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Union-find over values, by halving paths.
class Classes {
 public:
  explicit Classes(size_t count) : parent_(count), channels_last_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int find(int value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }
  void join(int a, int b) {
    a = find(a);
    b = find(b);
    parent_[b] = a;
    channels_last_[a] = channels_last_[a] || channels_last_[b];
  }
  void mark(int value) { channels_last_[find(value)] = true; }
  bool is_channels_last(int value) { return channels_last_[find(value)]; }

 private:
  std::vector<int> parent_;
  std::vector<bool> channels_last_;
};

// Constants are packed by each schedule as it likes, and model inputs lie as the caller has them.
bool is_free(const Graph& graph, int value) {
  return value >= 0 && !graph.values[value].constant && graph.values[value].type.shape.size() >= 3 &&
         std::find(graph.inputs.begin(), graph.inputs.end(), value) == graph.inputs.end();
}

Classes layout_classes(const Graph& graph) {
  Classes classes(graph.values.size());
  for (const GraphNode& node : graph.nodes) {
    const Operator* entry = find_operator(node.op);
    const bool seed = contains(kChannelsLast, node.op);
    const bool follows = seed || contains(kFollowers, node.op) || entry->kind == OperatorKind::pointwise;
    const int output = node.outputs[0];
    if (!follows || !is_free(graph, output)) {
      if (seed && is_free(graph, node.inputs[0])) classes.mark(node.inputs[0]);
      continue;
    }
    const size_t rank = graph.values[output].type.shape.size();
    for (const int input : node.inputs) {
      if (is_free(graph, input) && graph.values[input].type.shape.size() == rank) classes.join(output, input);
    }
    for (const int other : node.outputs) {
      if (is_free(graph, other) && graph.values[other].type.shape.size() == rank) classes.join(output, other);
    }
    if (seed) classes.mark(output);
  }
  return classes;
}

}  // namespace

std::vector<ValueLayout> assign_layouts(const Graph& graph) {
  Classes classes = layout_classes(graph);
  std::vector<ValueLayout> layouts(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    layouts[i] = {static_cast<int>(i), 0, dense_strides(graph.values[i].type.shape)};
  }
  for (const GraphNode& node : graph.nodes) {
    const bool may_view = find_operator(node.op)->kind == OperatorKind::copy && node.inputs[0] >= 0 &&
                          !graph.values[node.inputs[0]].constant;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int output = node.outputs[i];
      if (graph.is_output(output)) continue;  // dense, own storage
      const Shape& shape = graph.values[output].type.shape;
      const bool channels_last = is_free(graph, output) && classes.is_channels_last(output);
      if (channels_last) layouts[output].strides = channels_last_strides(shape);
      if (!may_view) continue;
      const ValueLayout& from = layouts[node.inputs[0]];
      const auto view = view_of_input(graph, node, static_cast<int>(i), from.strides);
      if (!view) continue;
      layouts[output] = {from.storage, from.offset + view->offset,
                         canonical_strides(shape, view->strides, channels_last)};
    }
  }
  return layouts;
}

}  // namespace hone
