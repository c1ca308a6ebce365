// SPDX-License-Identifier: MIT
// The table from operators to Halide algorithms, and the parts that the algorithms share.
#include "generators/algorithms.h"

#include <algorithm>

#include "executor/error.h"
#include "generators/algorithm_parts.h"
#include "generators/operators.h"

namespace hone {

// Defined in the *_algorithm.cpp files; nobody else calls them.
Halide::Func batch_norm_algorithm(const AlgorithmRequest& request);
Halide::Func concat_algorithm(const AlgorithmRequest& request);
Halide::Func conv2d_algorithm(const AlgorithmRequest& request);
Halide::Func expand_algorithm(const AlgorithmRequest& request);
Halide::Func gather_algorithm(const AlgorithmRequest& request);
Halide::Func gemm_algorithm(const AlgorithmRequest& request);
Halide::Func global_pool_algorithm(const AlgorithmRequest& request);
Halide::Func matmul_algorithm(const AlgorithmRequest& request);
Halide::Func pad_algorithm(const AlgorithmRequest& request);
Halide::Func pointwise_algorithm(const AlgorithmRequest& request);
Halide::Func pool_algorithm(const AlgorithmRequest& request);
Halide::Func reduce_algorithm(const AlgorithmRequest& request);
Halide::Func reshape_algorithm(const AlgorithmRequest& request);
Halide::Func slice_algorithm(const AlgorithmRequest& request);
Halide::Func softmax_algorithm(const AlgorithmRequest& request);
Halide::Func split_algorithm(const AlgorithmRequest& request);
Halide::Func tile_algorithm(const AlgorithmRequest& request);
Halide::Func transpose_algorithm(const AlgorithmRequest& request);

namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Type;
using Halide::Var;

struct AlgorithmLine {
  std::string_view op;
  Func (*make)(const AlgorithmRequest& request);
};

/// Pointwise operators and the Reduce family have tables of their own.
constexpr AlgorithmLine kAlgorithms[] = {
    {"AveragePool", pool_algorithm},
    {"BatchNormalization", batch_norm_algorithm},
    {"Concat", concat_algorithm},
    {"Conv", conv2d_algorithm},
    {"Dropout", reshape_algorithm},
    {"Expand", expand_algorithm},
    {"Flatten", reshape_algorithm},
    {"Gather", gather_algorithm},
    {"Gemm", gemm_algorithm},
    {"GlobalAveragePool", global_pool_algorithm},
    {"GlobalMaxPool", global_pool_algorithm},
    {"Identity", reshape_algorithm},
    {"LogSoftmax", softmax_algorithm},
    {"MatMul", matmul_algorithm},
    {"MaxPool", pool_algorithm},
    {"Pad", pad_algorithm},
    {"Reshape", reshape_algorithm},
    {"Slice", slice_algorithm},
    {"Softmax", softmax_algorithm},
    {"Split", split_algorithm},
    {"Squeeze", reshape_algorithm},
    {"Tile", tile_algorithm},
    {"Transpose", transpose_algorithm},
    {"Unsqueeze", reshape_algorithm},
};

}  // namespace

Type halide_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Halide::Float(32);
    case DType::f64:
      return Halide::Float(64);
    case DType::f16:
      return Halide::Float(16);
    case DType::bf16:
      return Halide::BFloat(16);
    case DType::i8:
      return Halide::Int(8);
    case DType::u8:
      return Halide::UInt(8);
    case DType::i16:
      return Halide::Int(16);
    case DType::u16:
      return Halide::UInt(16);
    case DType::i32:
      return Halide::Int(32);
    case DType::u32:
      return Halide::UInt(32);
    case DType::i64:
      return Halide::Int(64);
    case DType::u64:
      return Halide::UInt(64);
    case DType::boolean:
      return Halide::UInt(8);  // a byte that is 0 or 1: Halide's Bool has no storage of its own
  }
  check_failed("dtype is one of DType", __FILE__, __LINE__);
}

std::vector<Expr> broadcast_index(const std::vector<Expr>& index, const Shape& operand, const Shape& result) {
  CHECK(index.size() == result.size() && operand.size() <= result.size());
  std::vector<Expr> kept(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(operand.size()));
  for (size_t k = 0; k < kept.size(); ++k) {
    if (operand[operand.size() - 1 - k] == 1) kept[k] = 0;
  }
  return kept;
}

Func node_algorithm(const Node& node, std::span<const Func> inputs, std::span<const TensorType> input_types,
                    DType accumulator, std::vector<Func>& stages, int output) {
  const AlgorithmRequest request{node, inputs, input_types, accumulator, stages, output};
  CHECK(output >= 0 && output < static_cast<int>(node.outputs.size()));
  const auto* line = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                  [&](const AlgorithmLine& candidate) { return candidate.op == node.op; });
  if (line != std::end(kAlgorithms)) return line->make(request);
  if (node.op.starts_with("Reduce")) return reduce_algorithm(request);
  return pointwise_algorithm(request);
}

Type AlgorithmRequest::output_type() const {
  return halide_type(node.outputs[static_cast<size_t>(output)].dtype);
}

std::vector<Var> index_vars(size_t rank) {
  std::vector<Var> vars;
  for (size_t d = 0; d < rank; ++d) vars.emplace_back("d" + std::to_string(d));
  return vars;
}

Index as_index(const std::vector<Var>& vars) {
  return {vars.begin(), vars.end()};
}

Expr read(const Func& func, Index index) {
  std::reverse(index.begin(), index.end());
  return func(index);
}

Halide::FuncRef at(Func& func, Index index) {
  std::reverse(index.begin(), index.end());
  return func(index);
}

Func define(const AlgorithmRequest& request, const std::vector<Var>& vars, Expr value) {
  if (value.type() != request.output_type()) value = cast(request.output_type(), value);
  Func func(request.node.op);
  func(std::vector<Var>(vars.rbegin(), vars.rend())) = value;
  return func;
}

Expr integer(int64_t value) {
  return Halide::Internal::make_const(Halide::Int(32), value);
}

Expr within(Expr index, int64_t extent) {
  return clamp(std::move(index), 0, integer(extent - 1));
}

Type sum_type(const AlgorithmRequest& request, Type input) {
  const Type accumulator = halide_type(request.accumulator);
  return input.is_float() == accumulator.is_float() ? accumulator : input;
}

Expr nan_max(Expr a, Expr b) {
  if (!a.type().is_float()) return max(a, b);
  // Halide's max is the hardware's, which drops a NaN on one side; LLVM makes a compare and an `and` of this.
  return select(is_nan(a), a, Halide::Internal::is_const(b) ? max(a, b) : select(is_nan(b), b, max(a, b)));
}

Expr nan_min(Expr a, Expr b) {
  if (!a.type().is_float()) return min(a, b);
  return select(is_nan(a), a, Halide::Internal::is_const(b) ? min(a, b) : select(is_nan(b), b, min(a, b)));
}

Expr nan_exp(const Expr& x) {
  return select(is_nan(x), x, exp(x));
}
Expr nan_log(const Expr& x) {
  return select(is_nan(x), x, log(x));
}

}  // namespace hone
