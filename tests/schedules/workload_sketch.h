// SPDX-License-Identifier: MIT
// Writes Workloads in a few words: arguments first, then nodes; attributes default and shapes are inferred as on
// import.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "generators/operators.h"
#include "generators/workload.h"

namespace hone {

enum class MemoryOrder {
  dense,
  channels_last,
  channels_last_gaps,  // a slice of a tensor with three more channels
  channels_last_crop,  // a crop of an image two columns wider
};

inline Strides strides_of(const Shape& shape, MemoryOrder order) {
  if (order == MemoryOrder::dense) return dense_strides(shape);
  if (order == MemoryOrder::channels_last) return channels_last_strides(shape);
  Shape wider = shape;
  if (order == MemoryOrder::channels_last_gaps && wider.size() > 1) wider[1] += 3;
  if (order == MemoryOrder::channels_last_crop) wider.back() += 2;
  return channels_last_strides(wider);
}

class WorkloadSketch {
 public:
  /// Inputs must all come before constants, and both before nodes.
  int input(Shape shape, MemoryOrder order = MemoryOrder::dense, DType dtype = DType::f32) {
    const Strides strides = strides_of(shape, order);
    workload_.arguments.push_back({{dtype, std::move(shape)}, strides, false});
    return static_cast<int>(workload_.arguments.size()) - 1;
  }
  int constant(Shape shape, DType dtype = DType::f32) {
    const Strides strides = dense_strides(shape);
    workload_.arguments.push_back({{dtype, std::move(shape)}, strides, true});
    return static_cast<int>(workload_.arguments.size()) - 1;
  }
  /// Value id of the node's first output.
  int node(std::string op, std::vector<int> inputs, Attributes attributes = {}) {
    const Operator& entry = *find_operator(op);
    Node node{std::move(op), std::move(attributes), std::move(inputs), {}};
    std::vector<TensorType> types;
    for (const int id : node.inputs) types.push_back(id < 0 ? TensorType() : workload_.type(id));
    for (const AttributeSpec& spec : entry.attributes) {
      node.attributes.try_emplace(std::string(spec.name), spec.default_value);
    }
    if (entry.normalise != nullptr) entry.normalise(node.attributes, 17, types);
    node.outputs = entry.infer(node, types);
    const int value = workload_.value_count();
    workload_.nodes.push_back(std::move(node));
    return value;
  }
  void output(int value, MemoryOrder order = MemoryOrder::dense) {
    workload_.outputs.push_back({value, strides_of(workload_.type(value).shape, order)});
  }
  const Workload& workload() const { return workload_; }

 private:
  Workload workload_;
};

}  // namespace hone
