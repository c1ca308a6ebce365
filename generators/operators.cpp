// SPDX-License-Identifier: MIT
// The visible table of operator families, and what follows for whole workloads: reference, tolerance, FLOPs, bytes.
#include "generators/operators.h"

#include <algorithm>
#include <cmath>

#include "executor/error.h"

namespace hone {

// Each family's file; nobody else calls them.
std::vector<Operator> batch_norm_operators();
std::vector<Operator> conv2d_operators();
std::vector<Operator> copy_operators();
std::vector<Operator> fold_only_operators();
std::vector<Operator> matmul_operators();
std::vector<Operator> pad_operators();
std::vector<Operator> pointwise_operators();
std::vector<Operator> pool_operators();
std::vector<Operator> reduce_operators();
std::vector<Operator> reshape_operators();
std::vector<Operator> slice_operators();
std::vector<Operator> softmax_operators();

namespace {

constexpr std::vector<Operator> (*kFamilies[])() = {
    batch_norm_operators, conv2d_operators, copy_operators,   fold_only_operators, matmul_operators, pad_operators,
    pointwise_operators,  pool_operators,   reduce_operators, reshape_operators,   slice_operators,  softmax_operators,
};

std::vector<Operator> all_operators() {
  std::vector<Operator> all;
  for (const auto family : kFamilies) {
    for (Operator& entry : family()) all.push_back(std::move(entry));
  }
  std::sort(all.begin(), all.end(), [](const Operator& a, const Operator& b) { return a.name < b.name; });
  return all;
}

const Operator& operator_of(const Node& node) {
  const Operator* entry = find_operator(node.op);
  CHECK(entry != nullptr);
  return *entry;
}

std::vector<TensorType> input_types(const Workload& workload, const Node& node) {
  std::vector<TensorType> types;
  for (const int input : node.inputs) types.push_back(input < 0 ? TensorType{} : workload.type(input));
  return types;
}

/// Rounding of what is stored: fp32 is the unit of tolerance(), narrower floats round more coarsely.
double storage_error(DType dtype) {
  if (dtype == DType::f16) return std::ldexp(1, -10);
  return dtype == DType::bf16 ? std::ldexp(1, -7) : 0;
}

}  // namespace

std::optional<DType> dtype_of_onnx(int64_t element_type) {
  switch (element_type) {  // TensorProto.DataType
    case 1:
      return DType::f32;
    case 2:
      return DType::u8;
    case 3:
      return DType::i8;
    case 4:
      return DType::u16;
    case 5:
      return DType::i16;
    case 6:
      return DType::i32;
    case 7:
      return DType::i64;
    case 9:
      return DType::boolean;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 12:
      return DType::u32;
    case 13:
      return DType::u64;
    case 16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

std::span<const Operator> operators() {
  static const std::vector<Operator> table = all_operators();
  return table;
}

const Operator* find_operator(std::string_view name) {
  const std::span<const Operator> table = operators();
  const auto found =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const Operator& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

std::vector<Tensor> evaluate_reference(const Workload& workload, std::span<const Tensor> arguments) {
  CHECK(arguments.size() == workload.arguments.size());
  std::vector<ReferenceTensor> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    CHECK(arguments[i].type() == workload.arguments[i].type);
    values.push_back(widen(arguments[i]));
  }
  for (const Node& node : workload.nodes) {
    std::vector<ReferenceTensor> inputs;
    for (const int input : node.inputs)
      inputs.push_back(input < 0 ? ReferenceTensor{} : values[static_cast<size_t>(input)]);
    for (ReferenceTensor& output : operator_of(node).reference(node, inputs)) values.push_back(std::move(output));
  }
  CHECK(static_cast<int>(values.size()) == workload.value_count());
  std::vector<Tensor> outputs;
  for (const WorkloadOutput& output : workload.outputs)
    outputs.push_back(narrow(values[static_cast<size_t>(output.value)]));
  return outputs;
}

/// Rounding errors of a sum of K terms add up like a random walk, sqrt(K) eps. Measured on random data: direct sums 1
/// to 2e-6 and Winograd F(4x4), F(6x6) up to 1.6e-5 at K = 4608 (64e-6 allowed), pointwise approximations below 1e-6.
double tolerance(const Workload& workload) {
  double terms = 0;
  double storage = 0;
  for (const Node& node : workload.nodes) {
    terms += static_cast<double>(operator_of(node).reduction_length(node, input_types(workload, node)));
    for (const TensorType& output : node.outputs) storage += storage_error(output.dtype);
  }
  return std::ldexp(2 + std::sqrt(terms), -20) + storage;
}

double flops(const Workload& workload) {
  double total = 0;
  for (const Node& node : workload.nodes) total += operator_of(node).flops(node, input_types(workload, node));
  return total;
}

double compulsory_bytes(const Workload& workload) {
  const auto bytes = [](const TensorType& type) {
    return static_cast<double>(element_count(type.shape)) * static_cast<double>(element_bytes(type.dtype));
  };
  double total = 0;
  for (const Argument& argument : workload.arguments) total += bytes(argument.type);
  for (const WorkloadOutput& output : workload.outputs) total += bytes(workload.type(output.value));
  return total;
}

}  // namespace hone
