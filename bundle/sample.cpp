// SPDX-License-Identifier: MIT
#include "bundle/sample.h"

#include <cstring>
#include <optional>

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

constexpr uint64_t kSampleSeed = 7;

/// Deterministic input of a type: what a one-operator workload would be checked with.
Tensor make_input(const TensorType& type, uint64_t seed) {
  Workload workload;
  workload.arguments = {{type, dense_strides(type.shape), false}};
  return make_arguments(workload, seed).front();
}

/// Physical memory of every storage, in which views read and write as the executor's do.
class ReferenceMemory {
 public:
  explicit ReferenceMemory(const BundleRequest& request) : request_(request) {
    storages_.resize(request.graph.values.size());
  }

  Tensor read(int id) {
    const ValueLayout& where = layout(id);
    const TensorType& type = value(id).type;
    if (value(id).constant) return *value(id).constant;
    const std::vector<std::byte>& bytes = storage(where.storage);
    const auto offset = static_cast<size_t>(where.offset * element_bytes(type.dtype));
    const auto count = static_cast<size_t>(physical_elements(type.shape, where.strides) * element_bytes(type.dtype));
    CHECK(offset + count <= bytes.size());
    return from_physical(std::span(bytes).subspan(offset, count), type, where.strides);
  }
  void write(int id, const Tensor& tensor) {
    CHECK(layout(id).storage == id && tensor.type() == value(id).type);
    storages_[static_cast<size_t>(id)] = to_physical(tensor, layout(id).strides);
  }

 private:
  const GraphValue& value(int id) const { return request_.graph.values[static_cast<size_t>(id)]; }
  const ValueLayout& layout(int id) const { return request_.layouts[static_cast<size_t>(id)]; }
  const std::vector<std::byte>& storage(int owner) {
    std::vector<std::byte>& bytes = storages_[static_cast<size_t>(owner)];
    if (bytes.empty() && value(owner).constant) bytes = value(owner).constant->bytes;
    return bytes;
  }

  const BundleRequest& request_;
  std::vector<std::vector<std::byte>> storages_;  // by value id
};

}  // namespace

Sample make_sample(const BundleRequest& request) {
  const Graph& graph = request.graph;
  ReferenceMemory memory(request);
  Sample sample;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphValue& input = graph.values[static_cast<size_t>(graph.inputs[i])];
    const auto given = request.sample_inputs.find(input.name);
    sample.inputs.push_back(given != request.sample_inputs.end() ? given->second
                                                                 : make_input(input.type, kSampleSeed + i));
    memory.write(graph.inputs[i], sample.inputs.back());
  }
  for (const Group& group : request.groups) {
    std::vector<Tensor> arguments;
    for (int argument : group.arguments) arguments.push_back(memory.read(argument));
    const std::vector<Tensor> results = evaluate_reference(group.workload, arguments);
    CHECK(results.size() == group.outputs.size());
    for (size_t i = 0; i < results.size(); ++i) memory.write(group.outputs[i], results[i]);
  }
  for (int output : graph.outputs) sample.outputs.push_back(memory.read(output));
  return sample;
}

}  // namespace hone
