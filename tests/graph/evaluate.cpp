// SPDX-License-Identifier: MIT
#include "tests/graph/evaluate.h"

#include <algorithm>
#include <map>
#include <span>

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

class Memory {
 public:
  Memory(const Graph& graph, const std::vector<ValueLayout>& layouts) : graph_(graph), layouts_(layouts) {}

  void write(int value, const Tensor& tensor) {
    CHECK(layouts_[value].storage == value && layouts_[value].offset == 0);
    CHECK(tensor.type() == graph_.values[value].type);
    storages_[value] = to_physical(tensor, layouts_[value].strides);
  }

  Tensor read(int value) const {
    if (graph_.values[value].constant) return *graph_.values[value].constant;
    const ValueLayout& layout = layouts_[value];
    const TensorType& type = graph_.values[value].type;
    const auto storage = storages_.find(layout.storage);
    CHECK(storage != storages_.end());  // written by an earlier group
    const auto skipped = static_cast<size_t>(layout.offset * element_bytes(type.dtype));
    return from_physical(std::span(storage->second).subspan(skipped), type, layout.strides);
  }

 private:
  const Graph& graph_;
  const std::vector<ValueLayout>& layouts_;
  std::map<int, std::vector<std::byte>> storages_;
};

}  // namespace

std::vector<Tensor> evaluate(const Graph& graph, const std::vector<ValueLayout>& layouts,
                             const std::vector<Group>& groups, const std::vector<Tensor>& inputs) {
  Memory memory(graph, layouts);
  for (size_t i = 0; i < graph.inputs.size(); ++i) memory.write(graph.inputs[i], inputs[i]);
  for (const Group& group : groups) {
    std::vector<Tensor> arguments;
    for (const int argument : group.arguments) arguments.push_back(memory.read(argument));
    const std::vector<Tensor> results = evaluate_reference(group.workload, arguments);
    CHECK(results.size() == group.outputs.size());
    for (size_t i = 0; i < results.size(); ++i) memory.write(group.outputs[i], results[i]);
  }
  std::vector<Tensor> outputs;
  for (const int output : graph.outputs) outputs.push_back(memory.read(output));
  return outputs;
}

std::vector<Tensor> evaluate_unfused(const Graph& graph, const std::vector<Tensor>& inputs) {
  const std::vector<ValueLayout> layouts = assign_layouts(graph);
  return evaluate(graph, layouts, make_groups(graph, layouts, {.fuse = false}), inputs);
}

}  // namespace hone
