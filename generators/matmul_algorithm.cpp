// SPDX-License-Identifier: MIT
// MatMul and Gemm as plain sums of products.
#include "generators/algorithm_parts.h"
#include "generators/algorithms.h"

namespace hone {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace {

/// Index of one operand's batch dimensions: broadcast against the output's first `batch` dimensions.
Index batch_index(const std::vector<Var>& vars, size_t batch, const Shape& operand) {
  const size_t own = operand.size() < 2 ? 0 : operand.size() - 2;
  Index index;
  for (size_t d = 0; d < own; ++d) {
    index.push_back(operand[d] == 1 ? Expr(0) : Expr(vars[batch - own + d]));
  }
  return index;
}

}  // namespace

Func matmul_algorithm(const AlgorithmRequest& request) {
  const Shape& a = request.types[0].shape;
  const Shape& b = request.types[1].shape;
  const std::vector<Var> vars = index_vars(request.output_shape().size());
  const size_t batch = vars.size() - (a.size() > 1) - (b.size() > 1);
  const Halide::RDom r(0, integer(a.back()), "r");
  Index left = batch_index(vars, batch, a);
  if (a.size() > 1) left.push_back(vars[batch]);
  left.push_back(r);
  Index right = batch_index(vars, batch, b);
  right.push_back(r);
  if (b.size() > 1) right.push_back(vars.back());

  const Halide::Type type = sum_type(request, halide_type(request.types[0].dtype));
  Func sum("sum");
  at(sum, as_index(vars)) = Halide::Internal::make_zero(type);
  at(sum, as_index(vars)) += cast(type, read(request.inputs[0], left)) * cast(type, read(request.inputs[1], right));
  request.stages.push_back(sum);
  return define(request, vars, read(sum, as_index(vars)));
}

Func gemm_algorithm(const AlgorithmRequest& request) {
  const Attributes& attributes = request.node.attributes;
  const bool left = int_attribute(attributes, "transA") != 0;
  const bool right = int_attribute(attributes, "transB") != 0;
  const std::vector<Var> vars = index_vars(2);
  const Halide::RDom r(0, integer(request.types[0].shape[left ? 0 : 1]), "r");
  const Expr a = read(request.inputs[0], left ? Index{r, vars[0]} : Index{vars[0], r});
  const Expr b = read(request.inputs[1], right ? Index{vars[1], r} : Index{r, vars[1]});

  const Halide::Type type = sum_type(request, halide_type(request.types[0].dtype));
  Func sum("sum");
  at(sum, as_index(vars)) = Halide::Internal::make_zero(type);
  at(sum, as_index(vars)) += cast(type, a) * cast(type, b);
  request.stages.push_back(sum);

  const auto scaled = [&](const Expr& value, const char* factor) {
    const double number = float_attribute(attributes, factor);
    return number == 1 ? value : value * Halide::Internal::make_const(type, number);
  };
  Expr result = scaled(read(sum, as_index(vars)), "alpha");
  if (request.has_input(2)) {
    std::vector<Expr> index = broadcast_index({vars[1], vars[0]}, request.types[2].shape, request.output_shape());
    result = result + scaled(cast(type, request.inputs[2](index)), "beta");
  }
  return define(request, vars, result);
}

}  // namespace hone
