// SPDX-License-Identifier: MIT
// Context: everything that a run needs is resolved at creation (one argument array a step, one buffer a view), so that
// a run without hooks is a loop of indirect calls.
#include <HalideRuntime.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "executor/environment.h"
#include "executor/executor.h"
#include "executor/strided_copy.h"
#include "executor/text.h"

namespace hone {
namespace {

constexpr size_t kPage = 4096;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate_pages(uint64_t bytes, const std::string& attempted) {
  Memory memory;
  if (bytes <= SIZE_MAX - 2 * kPage) {
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes / kPage + 1) * kPage)));
  }
  if (memory == nullptr) {
    throw Error(attempted,
                concatenate({"there are no ", decimal(static_cast<int64_t>(bytes)), " bytes for activations"}),
                "free some memory");
  }
  return memory;
}

class PlannedContext final : public Context {
 public:
  PlannedContext(std::shared_ptr<const Model> model, const ContextOptions& options);

  const Model& model() const override { return *model_; }
  void set_input(int index, const void* data) override;
  void set_output(int index, void* data) override;
  const void* output(int index) const override;
  void set_hooks(StepHooks hooks) override { hooks_ = std::move(hooks); }
  void run() override;
  const void* view_data(uint32_t view) const override;
  uint64_t scratch_bytes() const override { return environment_.scratch_bytes(); }

 private:
  using Kind = PlanStorage::Kind;
  void resolve_steps();
  void resolve_view(size_t index);
  void place_storage(uint32_t storage, std::byte* base);
  uint32_t border_storage(const std::vector<PlanTensor>& tensors, int index, const char* what) const;
  void complete_borders();
  int run_with_hooks(size_t& failed);
  Error step_error(size_t step, int code) const;

  const std::shared_ptr<const Model> model_;  // shared: contexts and the app may let go of it in any order
  const Plan& plan_;
  Environment environment_;
  const Memory arena_;
  std::vector<Memory> own_outputs_;     // by output index; null where the app gave a buffer
  std::vector<std::byte*> bases_;       // by storage
  std::vector<halide_buffer_t> views_;  // kernels read nothing but `host`
  std::vector<StridedCopy> copies_;     // reserved: steps point into it
  std::vector<void*> arguments_;        // of all steps, one after the other
  std::vector<KernelCall> calls_;       // by step
  StepHooks hooks_;
  bool borders_complete_ = false;  // every input set, every output has a buffer
  std::atomic_flag running_;
};

PlannedContext::PlannedContext(std::shared_ptr<const Model> model, const ContextOptions& options)
    : model_(std::move(model)),
      plan_(model_->plan()),
      environment_(options.threads, options.pool, plan_.scratch_bytes),
      arena_(allocate_pages(plan_.arena_bytes, concatenate({"cannot create a context of ", plan_.name}))),
      own_outputs_(plan_.outputs.size()),
      bases_(plan_.storages.size()),
      views_(plan_.views.size()) {
  for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
    const PlanStorage& storage = plan_.storages[i];
    if (storage.kind == Kind::arena) bases_[i] = arena_.get() + storage.offset;
    if (storage.kind == Kind::weights) {
      bases_[i] = const_cast<std::byte*>(model_->weights().data()) + storage.offset;  // mapped read-only
    }
  }
  for (size_t i = 0; i < views_.size(); ++i) resolve_view(i);
  resolve_steps();
}

void PlannedContext::resolve_steps() {
  size_t arguments = 0;
  for (const PlanStep& step : plan_.steps) arguments += step.arguments.size() + 2;
  arguments_.reserve(arguments);
  copies_.reserve(plan_.steps.size());
  calls_.reserve(plan_.steps.size());
  for (const PlanStep& step : plan_.steps) {
    void** first = arguments_.data() + arguments_.size();
    arguments_.push_back(environment_.user_context_argument());
    for (uint32_t view : step.arguments) arguments_.push_back(&views_[view]);
    if (step.kernel == PlanStep::kCopy) {
      const auto& view = plan_.views;
      arguments_.push_back(&copies_.emplace_back(view[step.arguments[0]], view[step.arguments[1]]));
      calls_.push_back({StridedCopy::kernel, first});
    } else {
      calls_.push_back({model_->kernels().kernels[step.kernel], first});
    }
  }
}

void PlannedContext::resolve_view(size_t index) {
  const PlanView& view = plan_.views[index];
  std::byte* const base = bases_[view.storage];
  views_[index].host = base == nullptr ? nullptr : reinterpret_cast<uint8_t*>(base) + view.offset_bytes;
}

void PlannedContext::place_storage(uint32_t storage, std::byte* base) {
  bases_[storage] = base;
  for (size_t i = 0; i < views_.size(); ++i) {
    if (plan_.views[i].storage == storage) resolve_view(i);
  }
}

uint32_t PlannedContext::border_storage(const std::vector<PlanTensor>& tensors, int index, const char* what) const {
  if (index < 0 || static_cast<size_t>(index) >= tensors.size()) {
    throw Error(concatenate({"cannot find ", what, " ", decimal(index), " of ", plan_.name}),
                concatenate({"it has ", decimal(static_cast<int64_t>(tensors.size()))}), "count from 0");
  }
  return plan_.views[tensors[static_cast<size_t>(index)].view].storage;
}

void PlannedContext::set_input(int index, const void* data) {
  const uint32_t storage = border_storage(plan_.inputs, index, "input");
  // Steps never write to inputs: plan_problem() saw to that.
  place_storage(storage, static_cast<std::byte*>(const_cast<void*>(data)));
  borders_complete_ = false;
}

void PlannedContext::set_output(int index, void* data) {
  const uint32_t storage = border_storage(plan_.outputs, index, "output");
  own_outputs_[static_cast<size_t>(index)].reset();
  place_storage(storage, static_cast<std::byte*>(data));
  borders_complete_ = false;
}

const void* PlannedContext::output(int index) const {
  return bases_[border_storage(plan_.outputs, index, "output")];
}

const void* PlannedContext::view_data(uint32_t view) const {
  CHECK(view < views_.size());
  return views_[view].host;
}

void PlannedContext::complete_borders() {
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    if (bases_[plan_.views[plan_.inputs[i].view].storage] == nullptr) {
      throw Error(concatenate({"cannot run ", plan_.name}),
                  concatenate({"input '", plan_.inputs[i].name, "' is not set"}),
                  concatenate({"set it (index ", decimal(static_cast<int64_t>(i)), ") before run"}));
    }
  }
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const uint32_t storage = plan_.views[plan_.outputs[i].view].storage;
    if (bases_[storage] != nullptr) continue;
    own_outputs_[i] = allocate_pages(plan_.storages[storage].bytes, concatenate({"cannot run ", plan_.name}));
    place_storage(storage, own_outputs_[i].get());
  }
  borders_complete_ = true;
}

void PlannedContext::run() {
  if (running_.test_and_set(std::memory_order_acquire)) {
    throw Error(concatenate({"cannot run ", plan_.name}), "this context is already running",
                "create one context per thread");
  }
  struct Clear {
    std::atomic_flag& flag;
    ~Clear() { flag.clear(std::memory_order_release); }
  } const clear{running_};
  if (!borders_complete_) complete_borders();
  size_t failed = 0;
  int code = 0;
  if (hooks_.before || hooks_.after) {
    code = run_with_hooks(failed);
  } else {
    code = environment_.run(calls_);
    failed = environment_.position();
  }
  if (code != 0) throw step_error(failed, code);
}

int PlannedContext::run_with_hooks(size_t& failed) {
  for (failed = 0; failed < calls_.size(); ++failed) {
    if (hooks_.before) hooks_.before(static_cast<int>(failed));
    const int code = environment_.run({&calls_[failed], 1});
    if (code != 0) return code;
    if (hooks_.after) hooks_.after(static_cast<int>(failed));
  }
  return 0;
}

Error PlannedContext::step_error(size_t index, int code) const {
  const PlanStep& step = plan_.steps[index];
  std::string nodes;
  for (const std::string& node : step.nodes) nodes.append(nodes.empty() ? " (nodes " : ", ").append(node);
  if (!nodes.empty()) nodes.append(")");
  const std::string attempted = concatenate(
      {"cannot run step ", decimal(static_cast<int64_t>(index)), " '", step.name, "' of ", plan_.name, nodes});
  const std::string problem =
      concatenate({"kernel error ", decimal(code), code == kOutOfMemory ? ": out of memory" : ""});
  if (code == kOutOfMemory) return Error(attempted, problem, "free memory or use fewer threads");
  return Error(attempted, problem, "build a debug bundle with 'hone build --debug' to see more");
}

}  // namespace

std::unique_ptr<Context> Context::create(std::shared_ptr<const Model> model, const ContextOptions& options) {
  CHECK(model != nullptr);
  return std::make_unique<PlannedContext>(std::move(model), options);
}

}  // namespace hone
