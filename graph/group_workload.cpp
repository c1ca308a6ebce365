// SPDX-License-Identifier: MIT
#include "graph/group_workload.h"

#include <algorithm>
#include <map>
#include <set>

#include "executor/error.h"

namespace hone {
namespace {

DType accumulator_for(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return dtype;
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
      return DType::i32;
    default:
      return DType::f32;
  }
}

class WorkloadBuilder {
 public:
  WorkloadBuilder(const Graph& graph, const std::vector<ValueLayout>& layouts, std::vector<int> nodes)
      : graph_(graph), layouts_(layouts) {
    group_.nodes = std::move(nodes);
    for (const int node : group_.nodes) {
      for (const int output : graph_.nodes[node].outputs) inside_.insert(output);
    }
  }

  Group run() {
    add_arguments(false);
    add_arguments(true);
    for (const int node : group_.nodes) add_node(graph_.nodes[node]);
    for (const int node : group_.nodes) add_outputs(graph_.nodes[node]);
    group_.workload.accumulator = accumulator_for(group_.workload.nodes[0].outputs[0].dtype);
    return std::move(group_);
  }

 private:
  // One form for a + b and b + a, so that they are one Workload: what the group computed itself comes first (the latest
  // before others), then what has the result's shape, then what is broadcast to it.
  std::vector<int> operands(const GraphNode& node) const {
    std::vector<int> inputs = node.inputs;
    if (node.op != "Add" && node.op != "Mul") return inputs;
    const auto rank = [&](int input) {
      if (inside_.contains(input)) return 1 + graph_.producer(input);
      return graph_.values[input].type == graph_.values[node.outputs[0]].type ? 0 : -1;
    };
    if (rank(inputs[1]) > rank(inputs[0])) std::swap(inputs[0], inputs[1]);
    return inputs;
  }

  // Each outside value once, in order of first use.
  void add_arguments(bool constants) {
    for (const int node : group_.nodes) {
      for (const int input : operands(graph_.nodes[node])) {
        if (input < 0 || inside_.contains(input) || ids_.contains(input)) continue;
        const GraphValue& value = graph_.values[input];
        if (value.constant.has_value() != constants) continue;
        ids_[input] = static_cast<int>(group_.arguments.size());
        group_.arguments.push_back(input);
        group_.workload.arguments.push_back({value.type, layouts_[input].strides, constants});
      }
    }
  }

  void add_node(const GraphNode& node) {
    Node made{node.op, node.attributes, {}, {}};
    for (const int input : operands(node)) made.inputs.push_back(input < 0 ? -1 : ids_.at(input));
    for (const int output : node.outputs) {
      made.outputs.push_back(graph_.values[output].type);
      ids_[output] = static_cast<int>(group_.arguments.size()) + made_++;
    }
    group_.workload.nodes.push_back(std::move(made));
  }

  bool is_read_outside(int value) const {
    if (graph_.is_output(value)) return true;
    for (const int reader : graph_.readers(value)) {
      if (std::find(group_.nodes.begin(), group_.nodes.end(), reader) == group_.nodes.end()) return true;
    }
    return false;
  }

  void add_outputs(const GraphNode& node) {
    const bool last = &node == &graph_.nodes[group_.nodes.back()];
    for (const int output : node.outputs) {
      const bool owns_storage = layouts_[output].storage == output;  // else a view, which no kernel writes
      // A node that nobody reads (dead_nodes disabled) still writes something: a kernel has an output.
      const bool fallback = last && output == node.outputs.back() && group_.outputs.empty();
      if (!owns_storage || !(is_read_outside(output) || fallback)) continue;
      group_.outputs.push_back(output);
      group_.workload.outputs.push_back({ids_.at(output), layouts_[output].strides});
    }
  }

  const Graph& graph_;
  const std::vector<ValueLayout>& layouts_;
  Group group_;
  std::set<int> inside_;    // values that the group makes
  std::map<int, int> ids_;  // graph value to workload value
  int made_ = 0;
};

}  // namespace

Group group_workload(const Graph& graph, const std::vector<ValueLayout>& layouts, std::vector<int> nodes) {
  return WorkloadBuilder(graph, layouts, std::move(nodes)).run();
}

}  // namespace hone
