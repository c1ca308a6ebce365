// SPDX-License-Identifier: MIT
// Plain Halide algorithms of the operators, unscheduled: the generic implementation schedules them as they are, the
// tuned ones (schedules/) restate an anchor and use pointwise_expr for the epilogue.
// Funcs are indexed logically: Func dimension k is ONNX dimension rank-1-k (innermost first, Halide's habit).
#pragma once

#include <Halide.h>

#include <span>
#include <vector>

#include "generators/workload.h"

namespace hone {

Halide::Type halide_type(DType dtype);

/// The value of a pointwise operator from the values of its inputs (an absent optional input is undefined).
/// NaN passes Relu, Clip, Min and Max as ONNX says. CHECKs that `node.op` is pointwise.
Halide::Expr pointwise_expr(const Node& node, std::span<const Halide::Expr> inputs);

/// Index of a broadcast operand: drops leading dimensions it lacks and pins extent-1 dimensions to 0. `index` is in
/// Halide order (innermost first) for a result of `result` shape; the answer indexes an operand of `operand` shape.
std::vector<Halide::Expr> broadcast_index(const std::vector<Halide::Expr>& index, const Shape& operand,
                                          const Shape& result);

/// Algorithm of one node over its input Funcs. Requires an operator that is neither fold_only nor unknown.
/// A reduction accumulates in `accumulator`. All intermediate Funcs that need a schedule (update stages) are appended
/// to `stages`; where computing a pure Func once is worth a thought (softmax's exponentials), it is there too.
/// `output` chooses among the outputs of a node with several (Split).
Halide::Func node_algorithm(const Node& node, std::span<const Halide::Func> inputs,
                            std::span<const TensorType> input_types, DType accumulator,
                            std::vector<Halide::Func>& stages, int output = 0);

}  // namespace hone
