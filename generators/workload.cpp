// SPDX-License-Identifier: MIT
// Shapes, strides and attribute access, and the questions a Workload answers about itself. Its text form is in
// workload_text.cpp.
#include "generators/workload.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

template <typename T>
const T& attribute(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(std::string(name));
  CHECK(found != attributes.end());
  const T* value = std::get_if<T>(&found->second);
  CHECK(value != nullptr);
  return *value;
}

std::string joined(std::span<const int64_t> extents, std::string_view separator = "x") {
  std::string text;
  for (const int64_t extent : extents) {
    if (!text.empty()) text += separator;
    text += std::to_string(extent);
  }
  return text.empty() ? "scalar" : text;
}

/// "3x3 s2 g32": a window as people write it; equal strides are written once.
std::string window_words(const Attributes& attributes) {
  std::string text = joined(ints_attribute(attributes, "kernel_shape"));
  const std::vector<int64_t>& strides = ints_attribute(attributes, "strides");
  const bool equal = std::adjacent_find(strides.begin(), strides.end(), std::not_equal_to<>()) == strides.end();
  text += " s" + (equal && !strides.empty() ? std::to_string(strides[0]) : joined(strides));
  const std::vector<int64_t>& dilations = ints_attribute(attributes, "dilations");
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; }))
    text += " d" + joined(dilations);
  return text;
}

std::string node_words(const Workload& workload, const Node& node) {
  const auto input = [&](size_t i) -> const Shape& { return workload.type(node.inputs[i]).shape; };
  const Shape& output = node.outputs[0].shape;
  if (node.op == "Conv") {
    const int64_t group = int_attribute(node.attributes, "group");
    std::string text = "Conv " + window_words(node.attributes);
    if (group > 1) text += " g" + std::to_string(group);
    text += " " + std::to_string(input(0)[1]) + "->" + std::to_string(output[1]);
    return text + " @" + joined(std::span(input(0)).subspan(2));
  }
  if (node.op == "MaxPool" || node.op == "AveragePool") {
    return node.op + " " + window_words(node.attributes) + " " + std::to_string(output[1]) + " @" +
           joined(std::span(input(0)).subspan(2));
  }
  std::string text = node.op;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] >= 0) text += (i == 0 ? " " : ",") + joined(input(i));
  }
  return text + (input(0) == output || node.inputs.empty() ? "" : "->" + joined(output));
}

}  // namespace

int Workload::value_count() const {
  size_t count = arguments.size();
  for (const Node& node : nodes) count += node.outputs.size();
  return static_cast<int>(count);
}

const TensorType& Workload::type(int value) const {
  CHECK(value >= 0);
  size_t rest = static_cast<size_t>(value);
  if (rest < arguments.size()) return arguments[rest].type;
  rest -= arguments.size();
  for (const Node& node : nodes) {
    if (rest < node.outputs.size()) return node.outputs[rest];
    rest -= node.outputs.size();
  }
  check_failed("value < value_count()", __FILE__, __LINE__);
}

int Workload::producer(int value) const {
  CHECK(value >= 0);
  size_t rest = static_cast<size_t>(value);
  if (rest < arguments.size()) return -1;
  rest -= arguments.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (rest < nodes[i].outputs.size()) return static_cast<int>(i);
    rest -= nodes[i].outputs.size();
  }
  check_failed("value < value_count()", __FILE__, __LINE__);
}

int Workload::constant_count() const {
  return static_cast<int>(
      std::count_if(arguments.begin(), arguments.end(), [](const Argument& a) { return a.constant; }));
}

int Workload::input_count() const {
  return static_cast<int>(arguments.size()) - constant_count();
}

std::string Workload::summary() const {
  std::string text;
  for (const Node& node : nodes) {
    const bool described = text.empty();
    text += (described ? node_words(*this, node) : " + " + node.op);
  }
  if (text.empty()) text = "nothing";
  return text + " [" + std::string(name(outputs.empty() ? accumulator : type(outputs[0].value).dtype)) + "]";
}

int64_t element_count(const Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

Strides channels_last_strides(const Shape& shape) {
  if (shape.size() < 3) return dense_strides(shape);
  Strides strides(shape.size(), 1);
  int64_t step = std::max<int64_t>(shape[1], 1);
  for (size_t i = shape.size(); i-- > 2;) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  strides[0] = step;
  return strides;
}

int64_t physical_elements(const Shape& shape, const Strides& strides) {
  CHECK(shape.size() == strides.size());
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

bool is_dense(const Shape& shape, const Strides& strides) {
  CHECK(shape.size() == strides.size());
  const Strides dense = dense_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] != dense[i]) return false;
  }
  return true;
}

int64_t int_attribute(const Attributes& attributes, std::string_view name) {
  return attribute<int64_t>(attributes, name);
}
double float_attribute(const Attributes& attributes, std::string_view name) {
  return attribute<double>(attributes, name);
}
const std::string& string_attribute(const Attributes& attributes, std::string_view name) {
  return attribute<std::string>(attributes, name);
}
const std::vector<int64_t>& ints_attribute(const Attributes& attributes, std::string_view name) {
  return attribute<std::vector<int64_t>>(attributes, name);
}
const std::vector<double>& floats_attribute(const Attributes& attributes, std::string_view name) {
  return attribute<std::vector<double>>(attributes, name);
}

}  // namespace hone
