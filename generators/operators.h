// SPDX-License-Identifier: MIT
// The table of operators: what each one computes, stated as data so that the ONNX importer is generic.
// Halide-free; the Halide algorithm of an operator is in generators/algorithms.h.
// Adding an operator: one file (or one line in pointwise.cpp), one line in operators.cpp, one line in the source list.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generators/tensor.h"
#include "generators/workload.h"

namespace hone {

enum class OperatorKind {
  pointwise,  // elementwise with broadcasting: may join any group as prologue-free epilogue
  anchor,     // convolution, matmul, pooling, reduction, softmax, ...: starts a group
  copy,       // moves data: transpose, reshape, concat, slice, pad, ...; a View where strides can say it
  fold_only,  // Shape, ConstantOfShape, ...: must disappear at build time
};

/// One attribute, its default, and (for operators whose later opsets turned it into an input) the input that
/// holds it: from `input_since` on, constant input number `input` becomes this attribute.
struct AttributeSpec {
  std::string_view name;
  AttributeValue default_value;  // its alternative is the attribute's type
  bool required = false;
  int input = -1;
  int input_since = 0;
};

struct Operator {
  std::string_view name;  // ONNX name
  OperatorKind kind;
  int min_inputs;  // tensor inputs after attribute-inputs are taken away
  int max_inputs;  // -1: any number
  std::vector<AttributeSpec> attributes;
  /// Called with every attribute present (defaults filled in).
  /// Turns opset-specific spelling into the one form that the other functions understand (auto_pad, negative axes,
  /// Softmax before 13, ...). May be null. Throws Error (attempted = "operator <name>") on what it cannot express.
  void (*normalise)(Attributes& attributes, int opset, std::span<const TensorType> inputs);
  /// Output types. Throws Error on inputs that do not fit. An absent optional input has an empty TensorType at rank 0
  /// and dtype f32; `node.inputs[i] == -1` tells it.
  std::vector<TensorType> (*infer)(const Node& node, std::span<const TensorType> inputs);
  /// Scalar reference in double, node.outputs already inferred. Absent inputs are empty tensors.
  std::vector<ReferenceTensor> (*reference)(const Node& node, std::span<const ReferenceTensor> inputs);
  /// Floating-point operations as usually counted (multiply and add are two; padding taps counted).
  double (*flops)(const Node& node, std::span<const TensorType> inputs);
  /// Terms summed into one output element: sets the tolerance. 1 for pointwise and copies.
  int64_t (*reduction_length)(const Node& node, std::span<const TensorType> inputs);
};

/// ONNX's TensorProto.DataType numbers (Cast's "to"); empty for types that hone does not have.
std::optional<DType> dtype_of_onnx(int64_t element_type);

/// The table, sorted by name.
std::span<const Operator> operators();
/// Null if hone has no such operator.
const Operator* find_operator(std::string_view name);

/// Float64 reference of a whole workload; `arguments` in workload order, dense. Intermediates stay in double.
std::vector<Tensor> evaluate_reference(const Workload& workload, std::span<const Tensor> arguments);
/// Relative error that a correct fp32 kernel stays within: grows with the square root of the reduction length.
double tolerance(const Workload& workload);
double flops(const Workload& workload);
/// Bytes that any implementation must move: each argument and output once.
double compulsory_bytes(const Workload& workload);

}  // namespace hone
