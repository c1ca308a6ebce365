// SPDX-License-Identifier: MIT
#include "schedules/epilogue.h"

#include <algorithm>
#include <map>

#include "executor/error.h"
#include "generators/algorithms.h"
#include "generators/operators.h"

namespace hone {
namespace {

AnchorMatch no_match(std::string reason) {
  return {nullptr, -1, std::move(reason)};
}

/// Evaluates values from the output back to the anchor and the arguments. Values of the output's own shape are used
/// at one index only, so they are remembered: Halide sees a graph and not an exploded tree.
class EpilogueEvaluation {
 public:
  EpilogueEvaluation(const Workload& workload, const LoadArgument& load) : workload_(workload), load_(load) {}

  void set(int value, const Halide::Expr& expr) { known_[value] = expr; }

  Halide::Expr value(int id, const std::vector<Halide::Expr>& index, bool own_index) {
    if (own_index && known_.contains(id)) return known_.at(id);
    const int producer = workload_.producer(id);
    Halide::Expr result = producer < 0 ? load_(id, index) : node_value(producer, index, own_index);
    if (own_index) known_[id] = result;
    return result;
  }

 private:
  Halide::Expr node_value(int producer, const std::vector<Halide::Expr>& index, bool own_index) {
    const Node& node = workload_.nodes[static_cast<size_t>(producer)];
    const Shape& result = node.outputs[0].shape;
    std::vector<Halide::Expr> inputs;
    for (const int input : node.inputs) {
      if (input < 0) {
        inputs.emplace_back();
        continue;
      }
      const Shape& operand = workload_.type(input).shape;
      const bool same = own_index && operand == result;
      inputs.push_back(value(input, same ? index : broadcast_index(index, operand, result), same));
    }
    return pointwise_expr(node, inputs);
  }

  const Workload& workload_;
  const LoadArgument& load_;
  std::map<int, Halide::Expr> known_;
};

}  // namespace

AnchorMatch match_anchor(const Workload& workload, const std::vector<std::string_view>& ops) {
  AnchorMatch match;
  int value = static_cast<int>(workload.arguments.size());
  for (const Node& node : workload.nodes) {
    const Operator* entry = find_operator(node.op);
    if (entry == nullptr || node.outputs.size() != 1) return no_match(node.op + " has no single known output");
    if (entry->kind != OperatorKind::pointwise) {
      if (std::find(ops.begin(), ops.end(), node.op) == ops.end()) return no_match("has a " + node.op);
      if (match.anchor != nullptr) return no_match("has more than one anchor");
      match.anchor = &node;
      match.value = value;
    }
    ++value;
  }
  if (match.anchor == nullptr) return no_match("has none of the operators it is made for");
  for (const int input : match.anchor->inputs) {
    if (workload.producer(input < 0 ? 0 : input) >= 0) return no_match("the anchor's inputs are computed in the group");
  }
  if (workload.outputs.size() != 1) return no_match("has more than one output");
  const int output = workload.outputs[0].value;
  if (workload.producer(output) < 0 || workload.type(output).shape != workload.type(match.value).shape) {
    return no_match("the epilogue changes the shape");
  }
  for (int id = 0; id < workload.value_count(); ++id) {
    if (workload.type(id).dtype != DType::f32) return no_match("is not f32 throughout");
  }
  return match;
}

Halide::Expr epilogue_expr(const Workload& workload, int anchor_value, const Halide::Expr& anchor,
                           const std::vector<Halide::Expr>& index, const LoadArgument& load) {
  EpilogueEvaluation evaluation(workload, load);
  evaluation.set(anchor_value, anchor);
  return evaluation.value(workload.outputs[0].value, index, true);
}

}  // namespace hone
