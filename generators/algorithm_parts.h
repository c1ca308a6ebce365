// SPDX-License-Identifier: MIT
// What the *_algorithm.cpp files share: one node's request, and indexing in ONNX order (outermost first), so that these
// files read like the operators' definitions; only here is an index turned round for Halide.
#pragma once

#include <Halide.h>

#include <span>
#include <string>
#include <vector>

#include "generators/workload.h"

namespace hone {

struct AlgorithmRequest {
  const Node& node;
  std::span<const Halide::Func> inputs;  // undefined where absent
  std::span<const TensorType> types;
  DType accumulator;
  std::vector<Halide::Func>& stages;
  int output;  // of a node with several

  bool has_input(size_t i) const { return i < inputs.size() && node.inputs[i] >= 0; }
  const Shape& output_shape() const { return node.outputs[static_cast<size_t>(output)].shape; }
  Halide::Type output_type() const;
};

using Index = std::vector<Halide::Expr>;  // ONNX order

/// d0 (outermost), d1, ...
std::vector<Halide::Var> index_vars(size_t rank);
Index as_index(const std::vector<Halide::Var>& vars);

Halide::Expr read(const Halide::Func& func, Index index);
/// Left side of a definition over ONNX-ordered variables or expressions.
Halide::FuncRef at(Halide::Func& func, Index index);
/// Pure Func over `vars`, in the dtype of the request's output.
Halide::Func define(const AlgorithmRequest& request, const std::vector<Halide::Var>& vars, Halide::Expr value);

/// 32-bit index constant.
Halide::Expr integer(int64_t value);
/// Within [0, extent): for indices that a select has made irrelevant, so that bounds inference stays inside the input.
Halide::Expr within(Halide::Expr index, int64_t extent);

/// The type in which a request's sums are accumulated: its accumulator, or the input's own integer type.
Halide::Type sum_type(const AlgorithmRequest& request, Halide::Type input);

/// Largest or smallest of two; a NaN in either is the result.
Halide::Expr nan_max(Halide::Expr a, Halide::Expr b);
Halide::Expr nan_min(Halide::Expr a, Halide::Expr b);

/// Halide's exp and log of a NaN are numbers; these are NaN.
Halide::Expr nan_exp(const Halide::Expr& x);
Halide::Expr nan_log(const Halide::Expr& x);

}  // namespace hone
