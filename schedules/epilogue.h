// SPDX-License-Identifier: MIT
// Matching "one anchor and its pointwise epilogue" (bias, activation, residual add, ...), the form that all tuned
// templates accept, and the expression of that epilogue.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generators/workload.h"

namespace hone {

struct AnchorMatch {
  const Node* anchor = nullptr;  // null: no match
  int value = -1;                // value id of the anchor's output
  std::string reason;            // why there is no match
};

/// Matches workloads of one node whose op is in `ops`, all of whose inputs are arguments, followed by pointwise nodes
/// that end in a single output of the anchor's own shape. All tensors are f32.
AnchorMatch match_anchor(const Workload& workload, const std::vector<std::string_view>& ops);

/// Value of an argument at `index` (Halide order, of the argument's own rank, broadcast dimensions pinned to 0).
using LoadArgument = std::function<Halide::Expr(int argument, const std::vector<Halide::Expr>& index)>;

/// The workload's output at `index` (Halide order) where the anchor's value is `anchor`.
Halide::Expr epilogue_expr(const Workload& workload, int anchor_value, const Halide::Expr& anchor,
                           const std::vector<Halide::Expr>& index, const LoadArgument& load);

}  // namespace hone
