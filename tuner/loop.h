// SPDX-License-Identifier: MIT
// The tuning loop: propose -> build -> run -> check -> record, for all tasks of a model within one budget.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/builder.h"
#include "db/database.h"
#include "profiler/runner.h"

namespace hone {

struct TuningTask {
  Workload workload;
  int64_t count = 1;               // kernels in the model: weight of its time
  std::vector<std::string> nodes;  // for messages
};

struct TuningOptions {
  DeviceInfo device;
  TuningContext context;
  std::string strategy = "random";
  uint64_t seed = 1;
  double budget_seconds = 120;              // of the job, earlier runs included
  double more_seconds = 0;                  // > 0: the budget is what earlier runs spent plus this
  int64_t max_trials = 0;                   // search trials of the job; 0: no limit
  bool fresh = false;                       // do not observe stored trials
  bool recheck = false;                     // no search: race each stored winner against its default again
  std::string command;                      // how the user started this, kept with the job
  std::filesystem::path work_directory;     // candidates' objects; emptied afterwards
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C
};

struct TaskResult {
  Workload workload;
  int64_t count = 1;
  std::vector<std::string> nodes;
  Config best;
  int64_t trial = 0;
  double default_ns = 0, best_ns = 0;  // re-measured, interleaved
  PairedVerdict verdict;               // default against best; best faster: gain
  std::string decision;                // "gain", "no gain", "ambiguous", "not measured"
  int64_t trials = 0;
};

struct TuningProgress {
  int64_t trials = 0;
  double seconds = 0, budget_seconds = 0;
  double eta_seconds = 0;
  std::string task;  // workload summary
  double default_ns = 0, best_ns = 0;
  std::string phase;  // "defaults", "search", "playoff"
};

struct TuningResult {
  std::vector<TaskResult> tasks;
  std::map<std::string, int64_t> trials_by_status;  // of this run
  double seconds = 0;                               // of this run
  double job_seconds = 0;                           // of the job
  bool interrupted = false;
};

/// Database rows are written as trials end; whatever ends the process, all finished trials are kept. The same call
/// continues the job. Throws Error on what ends a job (database gone, disk full, runner cannot start); a candidate's
/// failure is a Trial.
TuningResult tune(const std::vector<TuningTask>& tasks, const JobKey& job, const TuningOptions& options,
                  const Environment& environment, Builder& builder, Runner& runner, TuningDatabase& database,
                  const std::function<void(const TuningProgress&)>& progress = nullptr);

}  // namespace hone
