// SPDX-License-Identifier: MIT
// Workload: the canonical operator graph that one kernel computes, and the unit of tuning.
// graph/ cuts a model into groups and turns each into a Workload; equal Workloads share one kernel and its trials.
// Halide-free value types; shapes and dimensions are in ONNX order (outermost first) everywhere in hone except
// inside Halide code, where Func and buffer dimension k is ONNX dimension rank-1-k.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "executor/dtype.h"

namespace hone {

using Shape = std::vector<int64_t>;    // logical extents, ONNX order
using Strides = std::vector<int64_t>;  // in elements, ONNX order; any permutation, padding or 0 (broadcast)

/// ONNX attribute. Floats are kept as double (exact for float32).
using AttributeValue = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, AttributeValue>;

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

/// One operator application. `inputs` are value ids, -1 for an absent optional input.
struct Node {
  std::string op;         // ONNX operator name, or hone's own ("HardSwish" is ONNX's)
  Attributes attributes;  // normalised: every attribute of the operator's entry is present
  std::vector<int> inputs;
  std::vector<TensorType> outputs;
  bool operator==(const Node&) const = default;
};

/// A kernel argument. Constants (weights) come after all inputs; their values never enter the Workload.
struct Argument {
  TensorType type;
  Strides strides;  // as stored in memory; for constants the dense row-major strides
  bool constant = false;
  bool operator==(const Argument&) const = default;
};

struct WorkloadOutput {
  int value = 0;
  Strides strides;
  bool operator==(const WorkloadOutput&) const = default;
};

/// Value ids: 0 .. arguments.size()-1 are the arguments, then the outputs of the nodes, in order.
struct Workload {
  std::vector<Argument> arguments;  // inputs, then constants
  std::vector<Node> nodes;          // topological order
  std::vector<WorkloadOutput> outputs;
  DType accumulator = DType::f32;
  bool operator==(const Workload&) const = default;

  /// Type of a value id. Requires 0 <= value < value_count().
  const TensorType& type(int value) const;
  int value_count() const;
  /// Index into `nodes` of the node that makes `value`, or -1 for an argument.
  int producer(int value) const;
  int input_count() const;     // arguments that are not constant
  int constant_count() const;  // arguments that are

  /// Canonical text: JSON with "format": 1, sorted keys, floats as hex-float strings. Two equal Workloads print
  /// the same bytes on every machine.
  std::string canonical_json() const;
  /// SHA-256 of canonical_json(), 64 hex digits.
  std::string id() const;
  /// One line for people: "Conv 3x3 s1 64->64 @56x56 + Relu [f32]".
  std::string summary() const;
  /// Throws Error on text that is not a workload (hostile input: checks ids, topological order, shapes, strides).
  static Workload parse(std::string_view json);
};

int64_t element_count(const Shape& shape);
Strides dense_strides(const Shape& shape);          // row-major
Strides channels_last_strides(const Shape& shape);  // [N, C, spatial...]: C innermost; rank < 3: dense
/// Elements from the first to one past the last addressed: 1 + sum((extent-1)*stride); 0 if any extent is 0.
int64_t physical_elements(const Shape& shape, const Strides& strides);
bool is_dense(const Shape& shape, const Strides& strides);  // row-major, ignoring strides of extent-1 dimensions

/// Attribute access on a normalised node; a missing name or wrong kind is a broken invariant (CHECK).
int64_t int_attribute(const Attributes& attributes, std::string_view name);
double float_attribute(const Attributes& attributes, std::string_view name);
const std::string& string_attribute(const Attributes& attributes, std::string_view name);
const std::vector<int64_t>& ints_attribute(const Attributes& attributes, std::string_view name);
const std::vector<double>& floats_attribute(const Attributes& attributes, std::string_view name);

}  // namespace hone
