// SPDX-License-Identifier: MIT
#include "bundle/plan_builder.h"

#include <map>

#include "bundle/arena.h"
#include "bundle/sha256.h"
#include "executor/error.h"

namespace hone {
namespace {

class PlanBuilder {
 public:
  PlanBuilder(const BundleRequest& request, const Builder& builder) : request_(request), builder_(builder) {
    value_views_.assign(request.graph.values.size(), -1);
  }
  BuiltPlan build();

 private:
  const GraphValue& value(int id) const { return request_.graph.values[static_cast<size_t>(id)]; }
  const ValueLayout& layout(int id) const { return request_.layouts[static_cast<size_t>(id)]; }
  uint64_t storage_bytes(int owner) const;
  void add_borders();
  void add_step(size_t group);
  void add_copies();
  void place_arena();
  uint32_t kernel_of(const Workload& workload, KernelChoice& choice);
  uint32_t add_storage(PlanStorage storage);
  uint32_t storage_of(int owner);
  uint32_t view_of(int id);
  uint32_t constant_view(const PackedConstant& constant, DType dtype);
  std::string step_name(const Group& group) const;
  std::vector<std::string> step_nodes(const Group& group) const;
  void touch(uint32_t view, int step);

  const BundleRequest& request_;
  const Builder& builder_;
  BuiltPlan built_;
  std::map<int, uint32_t> owner_storages_;
  std::vector<int> value_views_;
  std::map<std::string, uint32_t> constant_views_;
  std::map<std::string, uint32_t> kernel_indices_;
  std::map<uint32_t, Lifetime> lifetimes_;      // by arena storage
  std::vector<std::pair<int, size_t>> copies_;  // value -> output that has no storage of its own
};

uint64_t PlanBuilder::storage_bytes(int owner) const {
  const TensorType& type = value(owner).type;
  return static_cast<uint64_t>(physical_elements(type.shape, layout(owner).strides) * element_bytes(type.dtype));
}

uint32_t PlanBuilder::add_storage(PlanStorage storage) {
  built_.plan.storages.push_back(storage);
  return static_cast<uint32_t>(built_.plan.storages.size() - 1);
}

/// Storage of a value that owns one: an input's or output's if add_borders() gave it that, else a new arena slot.
uint32_t PlanBuilder::storage_of(int owner) {
  const auto found = owner_storages_.find(owner);
  if (found != owner_storages_.end()) return found->second;
  if (value(owner).constant) {
    const PackedConstant dense{value(owner).constant->bytes, "dense"};
    const uint32_t view = constant_view(dense, value(owner).type.dtype);
    return owner_storages_[owner] = built_.plan.views[view].storage;
  }
  return owner_storages_[owner] = add_storage({PlanStorage::Kind::arena, storage_bytes(owner), 0, 0});
}

uint32_t PlanBuilder::view_of(int id) {
  int& view = value_views_[static_cast<size_t>(id)];
  if (view >= 0) return static_cast<uint32_t>(view);
  const TensorType& type = value(id).type;
  const ValueLayout& where = layout(id);
  const uint32_t storage = storage_of(where.storage);
  const auto offset = static_cast<uint64_t>(where.offset * element_bytes(type.dtype));
  built_.plan.views.push_back({storage, offset, type.dtype, type.shape, where.strides});
  view = static_cast<int>(built_.plan.views.size() - 1);
  return static_cast<uint32_t>(view);
}

/// Equal bytes with an equal descriptor are stored once.
uint32_t PlanBuilder::constant_view(const PackedConstant& constant, DType dtype) {
  const std::string key = constant.descriptor + "\n" + sha256(constant.bytes);
  const auto found = constant_views_.find(key);
  if (found != constant_views_.end()) return found->second;
  built_.weights.resize((built_.weights.size() + 63) / 64 * 64);
  const uint64_t offset = built_.weights.size(), bytes = constant.bytes.size();
  built_.weights.insert(built_.weights.end(), constant.bytes.begin(), constant.bytes.end());
  const uint32_t storage = add_storage({PlanStorage::Kind::weights, bytes, offset, 0});
  // Packed constants are opaque: one dimension of whole elements.
  const int64_t element = element_bytes(dtype);
  const bool whole = static_cast<int64_t>(bytes) % element == 0;
  const DType type = whole ? dtype : DType::u8;
  const int64_t count = static_cast<int64_t>(bytes) / element_bytes(type);
  built_.plan.views.push_back({storage, 0, type, {count}, {1}});
  return constant_views_[key] = static_cast<uint32_t>(built_.plan.views.size() - 1);
}

void PlanBuilder::add_borders() {
  const Graph& graph = request_.graph;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const int id = graph.inputs[i];
    owner_storages_[id] = add_storage({PlanStorage::Kind::input, storage_bytes(id), 0, static_cast<uint32_t>(i)});
    built_.plan.inputs.push_back({value(id).name, view_of(id)});
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const int id = graph.outputs[i];
    const bool own = layout(id).storage == id && !value(id).constant && owner_storages_.count(id) == 0;
    const TensorType& type = value(id).type;
    const auto bytes = static_cast<uint64_t>(element_count(type.shape) * element_bytes(type.dtype));
    const uint32_t storage = add_storage({PlanStorage::Kind::output, bytes, 0, static_cast<uint32_t>(i)});
    if (own && is_dense(type.shape, layout(id).strides)) {
      owner_storages_[id] = storage;
      built_.plan.outputs.push_back({value(id).name, view_of(id)});
      continue;
    }
    // An input, a constant, a view, or listed before: copied when everything has run.
    built_.plan.views.push_back({storage, 0, type.dtype, type.shape, dense_strides(type.shape)});
    built_.plan.outputs.push_back({value(id).name, static_cast<uint32_t>(built_.plan.views.size() - 1)});
    copies_.emplace_back(id, i);
  }
}

uint32_t PlanBuilder::kernel_of(const Workload& workload, KernelChoice& choice) {
  const auto chosen = request_.choices.find(workload.id());
  if (chosen != request_.choices.end()) {
    choice = chosen->second;
  } else {
    const auto spaces = builder_.spaces(workload, request_.device, request_.context);
    CHECK(!spaces.empty());
    choice = {spaces.front().default_config, 0, "default schedule"};
  }
  const std::string symbol = kernel_symbol(workload, choice.config, request_.device);
  const auto [found, added] = kernel_indices_.try_emplace(symbol, static_cast<uint32_t>(built_.kernels.size()));
  if (added) built_.kernels.push_back({&workload, choice, symbol});
  return found->second;
}

std::string PlanBuilder::step_name(const Group& group) const {
  std::string text;
  for (int node : group.nodes) text += (text.empty() ? "" : "+") + request_.graph.nodes[static_cast<size_t>(node)].name;
  return text;
}

std::vector<std::string> PlanBuilder::step_nodes(const Group& group) const {
  std::vector<std::string> names;
  for (int node : group.nodes) {
    const std::vector<std::string>& origins = request_.graph.nodes[static_cast<size_t>(node)].origins;
    names.insert(names.end(), origins.begin(), origins.end());
  }
  return names;
}

void PlanBuilder::touch(uint32_t view, int step) {
  const uint32_t storage = built_.plan.views[view].storage;
  if (built_.plan.storages[storage].kind != PlanStorage::Kind::arena) return;
  const auto [found, added] =
      lifetimes_.try_emplace(storage, Lifetime{built_.plan.storages[storage].bytes, step, step});
  if (!added) found->second.last = step;
}

void PlanBuilder::add_step(size_t index) {
  const Group& group = request_.groups[index];
  KernelChoice choice;
  PlanStep step;
  step.kernel = kernel_of(group.workload, choice);
  step.name = step_name(group);
  step.nodes = step_nodes(group);
  std::vector<Tensor> constants;
  DType constant_type = DType::f32;
  for (size_t i = 0; i < group.arguments.size(); ++i) {
    if (!group.workload.arguments[i].constant) {
      step.arguments.push_back(view_of(group.arguments[i]));
      continue;
    }
    CHECK(value(group.arguments[i]).constant.has_value());
    constants.push_back(*value(group.arguments[i]).constant);
    if (constants.size() == 1) constant_type = constants.front().dtype;
  }
  for (const PackedConstant& packed : builder_.pack(group.workload, choice.config, constants)) {
    step.arguments.push_back(constant_view(packed, constant_type));
  }
  for (int output : group.outputs) step.arguments.push_back(view_of(output));
  step.output_count = static_cast<uint32_t>(group.outputs.size());
  const int now = static_cast<int>(built_.plan.steps.size());
  for (uint32_t view : step.arguments) touch(view, now);
  built_.plan.steps.push_back(std::move(step));
  built_.step_groups.push_back(static_cast<int>(index));
}

void PlanBuilder::add_copies() {
  for (const auto& [id, output] : copies_) {
    PlanStep step;
    step.kernel = PlanStep::kCopy;
    step.arguments = {view_of(id), built_.plan.outputs[output].view};
    step.name = "copy of " + value(id).name;
    touch(step.arguments[0], static_cast<int>(built_.plan.steps.size()));
    built_.plan.steps.push_back(std::move(step));
    built_.step_groups.push_back(-1);
  }
}

void PlanBuilder::place_arena() {
  std::vector<uint32_t> storages;
  std::vector<Lifetime> lifetimes;
  for (const auto& [storage, lifetime] : lifetimes_) {
    storages.push_back(storage);
    lifetimes.push_back(lifetime);
  }
  const ArenaPlan arena = plan_arena(lifetimes);
  for (size_t i = 0; i < storages.size(); ++i) built_.plan.storages[storages[i]].offset = arena.offsets[i];
  built_.plan.arena_bytes = arena.bytes;
  built_.arena_lower_bound = arena.lower_bound;
}

BuiltPlan PlanBuilder::build() {
  Plan& plan = built_.plan;
  plan.name = request_.name;
  plan.target = request_.device.name;
  plan.cpu_flags = request_.device.cpu_flags;
  plan.threads = request_.context.threads;
  add_borders();
  for (size_t group = 0; group < request_.groups.size(); ++group) add_step(group);
  add_copies();
  place_arena();
  plan.kernel_count = static_cast<uint32_t>(built_.kernels.size());
  return std::move(built_);
}

}  // namespace

BuiltPlan build_plan(const BundleRequest& request, const Builder& builder) {
  return PlanBuilder(request, builder).build();
}

}  // namespace hone
