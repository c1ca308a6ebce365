// SPDX-License-Identifier: MIT
// Bundles through the executor's public interface, as an app runs them.
#include "profiler/model_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "executor/executor.h"
#include "profiler/loaded_object.h"
#include "profiler/sampling.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

int64_t status_kilobytes(const char* key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(key)) return std::atoll(line.c_str() + std::strlen(key));
  }
  return 0;
}

// Resident memory that one model adds to the process at its peak. The process itself, the request and models loaded
// before are not its doing, so the high-water mark is reset first (proc(5), clear_refs); where that is refused the mark
// can only be too high, by earlier models of the same request.
class PeakMemory {
 public:
  PeakMemory() {
    std::ofstream("/proc/self/clear_refs") << "5";
    before_kilobytes_ = status_kilobytes("VmRSS:");
  }
  int64_t bytes() const { return std::max<int64_t>(0, status_kilobytes("VmHWM:") - before_kilobytes_) * 1024; }

 private:
  int64_t before_kilobytes_;
};

// Storage size of what the plan calls input or output `index`.
uint64_t border_bytes(const Plan& plan, const PlanTensor& tensor) {
  return plan.storages[plan.views[tensor.view].storage].bytes;
}

class ModelRun {
 public:
  ModelRun(const ModelCandidate& candidate, const std::vector<std::span<const std::byte>>& inputs, int threads,
           ThreadPool* pool)
      : object_(LoadedObject::from_file(candidate.shared_object.string())) {
    const auto* table = static_cast<const hone_kernel_table*>(object_.symbol(candidate.symbol));
    model_ = Model::load(*table, candidate.plan.string());
    context_ = Context::create(model_, {.threads = threads, .pool = pool});
    const Plan& plan = model_->plan();
    if (plan.inputs.size() != inputs.size()) {
      throw std::runtime_error("the model has " + std::to_string(plan.inputs.size()) + " inputs, the request " +
                               std::to_string(inputs.size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint64_t wanted = border_bytes(plan, plan.inputs[i]);
      if (inputs[i].size() != wanted) {
        throw std::runtime_error("input " + plan.inputs[i].name + " has " + std::to_string(inputs[i].size()) +
                                 " bytes, the model wants " + std::to_string(wanted));
      }
      context_->set_input(static_cast<int>(i), inputs[i].data());
    }
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      outputs_.emplace_back(border_bytes(plan, plan.outputs[i]), std::byte{0xFF});
      context_->set_output(static_cast<int>(i), outputs_.back().data());
    }
  }

  void run() { context_->run(); }
  const std::vector<std::vector<std::byte>>& outputs() const { return outputs_; }
  size_t step_count() const { return model_->plan().steps.size(); }
  int64_t scratch_bytes() const { return static_cast<int64_t>(context_->scratch_bytes()); }

  // One run per round with a clock around each step. Apart from the unhooked samples: the clocks are not free.
  void profile_steps(int threads, const MeasureOptions& options, SteadyClock::time_point end,
                     std::vector<Measurement>& steps) {
    steps.assign(step_count(), {});
    for (Measurement& step : steps) step.threads = threads;
    std::optional<Stopwatch> watch;
    context_->set_hooks({.before = [&](int) { watch.emplace(threads); },
                         .after =
                             [&](int index) {
                               Measurement& step = steps[static_cast<size_t>(index)];
                               step.cpu_ns.push_back(watch->cpu_ns());
                               step.wall_ns.push_back(watch->wall_ns());
                               step.involuntary_switches += watch->involuntary_switches();
                             }});
    for (int round = 0; round < options.rounds && (round == 0 || SteadyClock::now() < end); ++round) run();
    context_->set_hooks({});
  }

 private:
  LoadedObject object_;  // before the model, whose kernels it holds
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Context> context_;
  std::vector<std::vector<std::byte>> outputs_;
};

std::vector<std::unique_ptr<ModelRun>> load_and_run(const WireModelRequest& request, ThreadPool* pool,
                                                    ChildProgress& progress, std::vector<ModelOutcome>& outcomes) {
  std::vector<std::unique_ptr<ModelRun>> runs(request.models.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    ModelOutcome& outcome = outcomes[i];
    try {
      progress.note(ChildProgress::loading, static_cast<int>(i));
      const PeakMemory memory;
      const auto start = SteadyClock::now();
      auto run = std::make_unique<ModelRun>(request.models[i], request.inputs, request.options.threads, pool);
      outcome.load_seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
      progress.note(ChildProgress::first_call, static_cast<int>(i));
      run->run();
      outcome.peak_rss_bytes = memory.bytes();
      if (request.options.want_outputs) outcome.outputs = run->outputs();
      runs[i] = std::move(run);
    } catch (const std::exception& error) {
      outcome.status = RunStatus::failed;
      outcome.message = error.what();
    }
  }
  return runs;
}

}  // namespace

std::vector<ModelOutcome> run_model_request(const WireModelRequest& request, ChildProgress& progress,
                                            SteadyClock::time_point end) {
  const MeasureOptions& options = request.options;
  if (options.threads == 1) pin_to_current_cpu();
  const std::unique_ptr<ThreadPool> pool = options.threads > 1 ? make_thread_pool(options.threads) : nullptr;
  std::vector<ModelOutcome> outcomes(request.models.size());
  const auto runs = load_and_run(request, pool.get(), progress, outcomes);

  std::vector<Subject> subjects(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    Subject& subject = subjects[i];
    subject.measurement.threads = options.threads;
    subject.failure = outcomes[i].message;
    if (runs[i] == nullptr) continue;
    progress.note(ChildProgress::measuring, static_cast<int>(i));
    subject.call = [&run = *runs[i], &progress, i] {
      progress.candidate.store(static_cast<int>(i), std::memory_order_relaxed);
      run.run();
    };
    if (options.rounds > 0) choose_calls_per_sample(subject, options);
  }
  if (options.rounds > 0) {
    warm_up(subjects);
    measure_rounds(subjects, options, end);
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] == nullptr) continue;
    ModelOutcome& outcome = outcomes[i];
    try {
      if (request.profile_steps && subjects[i].running()) {
        runs[i]->profile_steps(options.threads, options, end, outcome.steps);
      }
    } catch (const std::exception& error) {
      subjects[i].failure = error.what();
    }
    outcome.measurement = std::move(subjects[i].measurement);
    outcome.measurement.scratch_bytes = runs[i]->scratch_bytes();
    if (subjects[i].failure.empty()) continue;
    outcome.status = RunStatus::failed;
    outcome.message = subjects[i].failure;
  }
  return outcomes;
}

}  // namespace hone
