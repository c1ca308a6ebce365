// SPDX-License-Identifier: MIT
// y = scale[c] * x + shift[c], one pair a channel (dimension 1): what BatchNormalization and per-channel Mul and Add
// are, and what a convolution or matrix product before them can do with its own weights. Private to graph/.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace hone {

struct ScaleShift {
  std::vector<double> scale, shift;  // as long as the channels
};

/// Multiplies the weights and shifts the bias of the node that makes `value` (Conv, Gemm, MatMul with constant
/// weights), computed in double. Returns false, and changes nothing, if that node is another, if `value` has other
/// readers or is a graph output, if the weights are no constants or not f32/f64, or if a MatMul would need a bias. The
/// caller connects the producer to the result.
bool fold_into_producer(Graph& graph, int value, const ScaleShift& change);

/// Constant of `type.dtype` that holds one number a channel and broadcasts over a tensor of `type`: [C, 1, 1, ...].
int add_channel_constant(Graph& graph, const std::string& name, const TensorType& type,
                         const std::vector<double>& numbers);

}  // namespace hone
