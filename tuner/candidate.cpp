// SPDX-License-Identifier: MIT
#include "tuner/candidate.h"

#include <algorithm>
#include <sstream>

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

// Any fixed value: all candidates of a workload, on every machine, see the same numbers.
constexpr uint64_t kArgumentSeed = 20261201;

TrialStatus status_of(RunStatus status) {
  switch (status) {
    case RunStatus::ok:
      return TrialStatus::ok;
    case RunStatus::failed:
      return TrialStatus::run_failed;
    case RunStatus::timed_out:
      return TrialStatus::run_timed_out;
  }
  return TrialStatus::run_failed;
}

uint64_t output_bytes(const Workload& workload, const WorkloadOutput& output) {
  const TensorType& type = workload.type(output.value);
  return static_cast<uint64_t>(physical_elements(type.shape, output.strides) * element_bytes(type.dtype));
}

}  // namespace

ReferenceRun make_reference_run(const Workload& workload) {
  ReferenceRun run;
  std::vector<Tensor> arguments = make_arguments(workload, kArgumentSeed);
  run.expected = evaluate_reference(workload, arguments);
  run.tolerance = tolerance(workload);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (workload.arguments[i].constant) {
      run.constants.push_back(std::move(arguments[i]));
    } else {
      run.inputs.push_back(to_physical(arguments[i], workload.arguments[i].strides));
    }
  }
  return run;
}

BuildRequest candidate_request(const Workload& workload, const Config& config, const DeviceInfo& device,
                               const std::filesystem::path& directory) {
  BuildRequest request;
  request.workload = workload;
  request.config = config;
  request.device = device;
  const std::string symbol = kernel_symbol(workload, config, device);
  request.object = directory / (symbol + ".o");
  request.shared = directory / (symbol + ".so");
  return request;
}

void TaskState::add(Contender contender) {
  if (contender.config == default_config) {
    default_ns = default_ns == 0 ? contender.best_ns : std::min(default_ns, contender.best_ns);
  }
  best_ns = best_ns == 0 ? contender.best_ns : std::min(best_ns, contender.best_ns);
  contenders.push_back(std::move(contender));
}

CandidateRunner::CandidateRunner(Builder& builder, Runner& runner, const TuningContext& context)
    : builder_(builder), runner_(runner), context_(context) {}

std::vector<Trial> CandidateRunner::run(const TaskState& state, const std::vector<Contender>& candidates,
                                        const Schedule& schedule) {
  const Workload& workload = state.task->workload;
  KernelRequest request;
  for (const auto& input : state.reference.inputs) request.inputs.emplace_back(input);
  for (const WorkloadOutput& output : workload.outputs) request.output_bytes.push_back(output_bytes(workload, output));
  std::vector<std::vector<PackedConstant>> packed;
  for (const Contender& candidate : candidates) {
    packed.push_back(builder_.pack(workload, candidate.config, state.reference.constants));
    KernelCandidate kernel;
    kernel.shared_object = candidate.shared;
    kernel.symbol = candidate.shared.stem().string();
    for (const PackedConstant& constant : packed.back()) kernel.constants.emplace_back(constant.bytes);
    request.candidates.push_back(std::move(kernel));
  }
  request.options.threads = context_.threads;
  request.options.cold_weights = context_.cold_weights;
  request.options.rounds = schedule.rounds;
  request.options.best_ns = schedule.best_ns;
  // First call, copies and samples of a kernel that deserves attention take far less; a hang must not cost more.
  request.options.deadline_seconds = 3 + 100e-9 * schedule.best_ns * static_cast<double>(candidates.size());
  std::vector<RunOutcome> outcomes = runner_.run_kernels(request);
  CHECK(outcomes.size() == candidates.size());
  std::vector<Trial> trials;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Trial trial;
    trial.config = candidates[i].config;
    judge(workload, state.reference, outcomes[i], trial);
    trials.push_back(std::move(trial));
  }
  return trials;
}

void CandidateRunner::judge(const Workload& workload, const ReferenceRun& reference, RunOutcome& outcome,
                            Trial& trial) const {
  trial.status = status_of(outcome.status);
  trial.message = outcome.message;
  if (trial.status != TrialStatus::ok) return;
  CHECK(outcome.outputs.size() == workload.outputs.size());
  double worst = 0;
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    const WorkloadOutput& output = workload.outputs[i];
    const Tensor actual = from_physical(outcome.outputs[i], workload.type(output.value), output.strides);
    worst = std::max(worst, relative_error(actual, reference.expected[i]));
  }
  trial.relative_error = worst;
  if (!(worst <= reference.tolerance)) {
    std::ostringstream text;
    text << "relative error " << worst << " exceeds the tolerance " << reference.tolerance;
    trial.status = TrialStatus::wrong_result;
    trial.message = text.str();
  } else if (outcome.measurement.ranking_ns().empty()) {
    trial.status = TrialStatus::run_failed;
    trial.message = "the runner returned no samples";
  }
  // The times of a wrong kernel are kept out: nothing may ever rank by them.
  if (trial.status == TrialStatus::ok) trial.measurement = std::move(outcome.measurement);
}

}  // namespace hone
