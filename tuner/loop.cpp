// SPDX-License-Identifier: MIT
#include "tuner/loop.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "executor/error.h"
#include "generators/nearest_name.h"
#include "tuner/candidate.h"
#include "tuner/playoff.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

const StrategyEntry& find_strategy(std::string_view wanted) {
  std::vector<std::string_view> names;
  for (const StrategyEntry& entry : strategies()) {
    if (entry.name == wanted) return entry;
    names.push_back(entry.name);
  }
  throw Error("cannot tune", "unknown search strategy '" + std::string(wanted) + "'",
              "did you mean '" + nearest_name(wanted, names) + "'?");
}

class TuningLoop {
 public:
  TuningLoop(const JobKey& job, const TuningOptions& options, const Environment& environment, Builder& builder,
             Runner& runner, TuningDatabase& database, const std::function<void(const TuningProgress&)>& progress)
      : options_(options),
        builder_(builder),
        database_(database),
        progress_(progress),
        candidates_(builder, runner, options.context),
        runner_(runner),
        environment_(database.add_environment(environment)),
        started_(Clock::now()),
        last_trial_(started_) {
    database.add_device(options.device);
    job_ = database.start_job(job, options.command);
    earlier_seconds_ = options.fresh ? 0 : database.job_seconds(job_);
    if (!options.fresh) {
      for (const TrialRow& row :
           database.list_trials({.workload = {}, .device = {}, .context = {}, .status = {}, .job = job_, .limit = 0})) {
        job_trials_ += row.purpose == "search";
      }
    }
    budget_ = options.more_seconds > 0 ? earlier_seconds_ + options.more_seconds : options.budget_seconds;
  }

  void prepare(const std::vector<TuningTask>& tasks, const JobKey& job);
  void search();
  void decide();
  TuningResult finish();

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }
  double left() const { return budget_ - earlier_seconds_ - seconds(); }
  bool interrupted() const { return options_.stop != nullptr && options_.stop->load(); }
  bool trials_left() const { return options_.max_trials == 0 || job_trials_ < options_.max_trials; }
  bool may_search() const { return !interrupted() && trials_left() && left() > playoff_reserve_; }
  TaskState* next_task();
  void run_batch(TaskState& state, int count, const char* phase);
  void try_candidate(TaskState& state, const BuildRequest& request, const BuildOutcome& built, const char* phase);
  int64_t record(TaskState& state, const char* purpose, Trial trial);
  void report(const TaskState& state, const char* phase);
  void observe_stored(TaskState& state);
  void keep_stored_winner(TaskState& state);

  const TuningOptions& options_;
  Builder& builder_;
  TuningDatabase& database_;
  const std::function<void(const TuningProgress&)>& progress_;
  CandidateRunner candidates_;
  Runner& runner_;
  int64_t environment_;
  Clock::time_point started_, last_trial_;
  int64_t job_ = 0, job_trials_ = 0, run_trials_ = 0;
  double earlier_seconds_ = 0, budget_ = 0, playoff_reserve_ = 0;
  std::vector<TaskState> states_;
  TuningResult result_;
};

void TuningLoop::prepare(const std::vector<TuningTask>& tasks, const JobKey& job) {
  const StrategyEntry& strategy = find_strategy(options_.strategy);
  for (const TuningTask& task : tasks) {
    if (interrupted()) break;
    database_.add_workload(task.workload);
    TaskState state;
    state.task = &task;
    state.key = {task.workload.id(), options_.device.name, options_.context};
    const auto spaces = builder_.spaces(task.workload, options_.device, options_.context);
    CHECK(!spaces.empty());
    database_.add_space(state.key, spaces);
    state.default_config = spaces.front().default_config;
    state.strategy = strategy.make(spaces, job.seed);
    state.reference = make_reference_run(task.workload);
    if (!options_.fresh) observe_stored(state);
    states_.push_back(std::move(state));
  }
  playoff_reserve_ = std::min(0.25 * budget_, kPlayoffSeconds * static_cast<double>(states_.size()));
}

void TuningLoop::observe_stored(TaskState& state) {
  std::vector<Trial> trials;
  for (TrialRow& row : database_.trials(state.key, environment_)) {
    if (row.purpose != "search") continue;
    if (row.trial.status == TrialStatus::ok && row.trial.measurement) {
      state.add({row.trial.config, row.trial.measurement->best_ns(), row.id, {}});
    }
    trials.push_back(std::move(row.trial));
  }
  state.trials = static_cast<int64_t>(trials.size());
  state.strategy->observe(trials);
}

/// Seconds go where the model's time is: trials end up in proportion to each task's share of it. A task without a
/// valid candidate counts as the slowest one, so that it gets one soon.
TaskState* TuningLoop::next_task() {
  double slowest = 1;
  for (const TaskState& state : states_) slowest = std::max(slowest, state.best_ns);
  TaskState* next = nullptr;
  double next_share = 0;
  for (TaskState& state : states_) {
    if (state.exhausted) continue;
    const double ns = state.best_ns > 0 ? state.best_ns : slowest;
    const double share = ns * static_cast<double>(state.task->count) / static_cast<double>(state.trials + 1);
    if (share > next_share) {
      next = &state;
      next_share = share;
    }
  }
  return next;
}

void TuningLoop::search() {
  for (TaskState& state : states_) {
    // The default of every task is measured whatever the budget: without it nothing can be compared.
    if (state.trials == 0 && !interrupted() && trials_left() && left() > 0) run_batch(state, 1, "defaults");
  }
  constexpr int kBatch = 4;
  while (may_search()) {
    TaskState* state = next_task();
    if (state == nullptr) break;
    run_batch(*state, kBatch, "search");
  }
}

void TuningLoop::run_batch(TaskState& state, int count, const char* phase) {
  if (options_.max_trials > 0) {
    count = static_cast<int>(std::min<int64_t>(count, options_.max_trials - job_trials_));
  }
  const std::vector<Config> configs = state.strategy->propose(count);
  if (configs.empty()) {
    state.exhausted = true;
    return;
  }
  std::vector<BuildRequest> requests;
  for (const Config& config : configs) {
    requests.push_back(candidate_request(state.task->workload, config, options_.device, options_.work_directory));
  }
  const bool defaults = std::string_view(phase) == "defaults";
  if (options_.context.threads > 1) {  // a build beside a measurement of several threads would disturb it
    const std::vector<BuildOutcome> built = builder_.build(requests);
    for (size_t i = 0; i < built.size() && (defaults || may_search()); ++i) {
      try_candidate(state, requests[i], built[i], phase);
    }
    return;
  }
  builder_.build(requests, [&](size_t i, const BuildOutcome& built) {
    try_candidate(state, requests[i], built, phase);
    return defaults || may_search();
  });
}

void TuningLoop::try_candidate(TaskState& state, const BuildRequest& request, const BuildOutcome& built,
                               const char* phase) {
  std::error_code ignored;
  std::filesystem::remove(request.object, ignored);
  Trial trial;
  if (built.status == BuildStatus::ok) {
    // Two rounds tell a hopeless candidate; a contender is re-raced in the play-off anyway.
    constexpr int kRounds = 4;
    trial = candidates_.run(state, {{request.config, 0, 0, request.shared}}, {kRounds, state.best_ns}).front();
  } else {
    trial.config = request.config;
    trial.status = built.status == BuildStatus::failed ? TrialStatus::build_failed : TrialStatus::build_timed_out;
    trial.message = built.message;
  }
  trial.build_seconds = built.seconds;
  const double ns = trial.measurement ? trial.measurement->best_ns() : 0;
  const bool ok = trial.status == TrialStatus::ok;
  state.strategy->observe({&trial, 1});
  ++state.trials;
  const int64_t id = record(state, "search", std::move(trial));
  if (ok) {
    state.add({request.config, ns, id, request.shared});
  } else {
    std::filesystem::remove(request.shared, ignored);
  }
  report(state, phase);
}

/// A trial's cost is all that passed since the previous one was recorded, so that the sum over a job's trials is what
/// the job has spent, whatever ended it.
int64_t TuningLoop::record(TaskState& state, const char* purpose, Trial trial) {
  const auto now = Clock::now();
  trial.run_seconds = std::max(0.0, std::chrono::duration<double>(now - last_trial_).count() - trial.build_seconds);
  last_trial_ = now;
  ++result_.trials_by_status[std::string(name(trial.status))];
  if (std::string_view(purpose) == "search") ++job_trials_;
  ++run_trials_;
  return database_.add_trial(job_, state.key, environment_, purpose, trial);
}

void TuningLoop::report(const TaskState& state, const char* phase) {
  if (!progress_) return;
  TuningProgress now;
  now.trials = job_trials_;
  now.seconds = earlier_seconds_ + seconds();
  now.budget_seconds = budget_;
  now.eta_seconds = std::max(0.0, left());
  if (options_.max_trials > 0 && run_trials_ > 0) {
    const double per_trial = seconds() / static_cast<double>(run_trials_);
    now.eta_seconds = std::min(now.eta_seconds, per_trial * static_cast<double>(options_.max_trials - job_trials_));
  }
  now.task = state.task->workload.summary();
  now.default_ns = state.default_ns;
  now.best_ns = state.best_ns;
  now.phase = phase;
  progress_(now);
}

/// For a recheck: the default and the stored winner are the only contenders.
void TuningLoop::keep_stored_winner(TaskState& state) {
  const TuningRecord record = database_.best(state.key, environment_);
  std::erase_if(state.contenders, [&](const Contender& contender) {
    return contender.config != state.default_config &&
           (record.match == Match::none || contender.config != record.config);
  });
}

void TuningLoop::decide() {
  Playoff playoff(builder_, candidates_, options_);
  for (TaskState& state : states_) {
    TaskResult result;
    result.workload = state.task->workload;
    result.count = state.task->count;
    result.nodes = state.task->nodes;
    result.trials = state.trials;
    result.best = state.default_config;
    result.decision = "not measured";
    result.default_ns = state.default_ns;
    result.best_ns = state.best_ns;
    if (options_.recheck) keep_stored_winner(state);
    if (!interrupted() && (left() > 0 || options_.recheck) && !state.contenders.empty()) {
      for (PlayoffTrial& raced : playoff.race(state)) {
        raced.row = record(state, "playoff", raced.trial);
        playoff.add(std::move(raced));
      }
      playoff.decide(state, result);
      if (result.trial != 0) {
        database_.add_decision(state.key, environment_, result.trial, result.decision, result.default_ns,
                               result.best_ns, result.verdict.ratio, result.verdict.low, result.verdict.high);
      }
      report(state, "playoff");
    }
    result_.tasks.push_back(std::move(result));
  }
}

TuningResult TuningLoop::finish() {
  result_.interrupted = interrupted();
  result_.seconds = seconds();
  result_.job_seconds = earlier_seconds_ + result_.seconds;
  database_.finish_job(job_, result_.interrupted ? "interrupted" : "finished");
  return std::move(result_);
}

}  // namespace

TuningResult tune(const std::vector<TuningTask>& tasks, const JobKey& job, const TuningOptions& options,
                  const Environment& environment, Builder& builder, Runner& runner, TuningDatabase& database,
                  const std::function<void(const TuningProgress&)>& progress) {
  std::filesystem::create_directories(options.work_directory);
  TuningLoop loop(job, options, environment, builder, runner, database, progress);
  loop.prepare(tasks, job);
  if (!options.recheck) loop.search();
  loop.decide();
  TuningResult result = loop.finish();
  std::error_code ignored;
  std::filesystem::remove_all(options.work_directory, ignored);
  return result;
}

}  // namespace hone
