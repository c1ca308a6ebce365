// SPDX-License-Identifier: MIT
// What the loop knows of one task while it runs, and how one candidate of it is measured and checked.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/builder.h"
#include "db/database.h"
#include "profiler/runner.h"
#include "tuner/loop.h"
#include "tuner/strategy.h"

namespace hone {

/// Arguments of a workload and what the float64 reference makes of them; computed once a workload.
struct ReferenceRun {
  std::vector<std::vector<std::byte>> inputs;  // physical
  std::vector<Tensor> constants;
  std::vector<Tensor> expected;
  double tolerance = 0;
};
ReferenceRun make_reference_run(const Workload& workload);

/// Builds <directory>/<symbol>.{o,so}: the names by which CandidateRunner finds the kernel again.
BuildRequest candidate_request(const Workload& workload, const Config& config, const DeviceInfo& device,
                               const std::filesystem::path& directory);

/// A candidate that ran right, as the play-off needs it.
struct Contender {
  Config config;
  double best_ns = 0;
  int64_t trial = 0;
  std::filesystem::path shared;  // empty: stored by an earlier run, must be built again
};

struct TaskState {
  const TuningTask* task = nullptr;
  TuningKey key;
  std::unique_ptr<SearchStrategy> strategy;
  Config default_config;
  ReferenceRun reference;
  std::vector<Contender> contenders;   // every ok trial, in the order of measuring
  double default_ns = 0, best_ns = 0;  // 0: none yet
  int64_t trials = 0;
  bool exhausted = false;

  void add(Contender contender);
};

/// Runs candidates through one runner. Outcomes of several candidates in one call come from interleaved rounds.
class CandidateRunner {
 public:
  CandidateRunner(Builder& builder, Runner& runner, const TuningContext& context);
  struct Schedule {
    int rounds = 1;
    double best_ns = 0;  // give up on candidates far above it
  };
  /// Trials with measurement, relative error and status; build_seconds is the caller's.
  std::vector<Trial> run(const TaskState& state, const std::vector<Contender>& candidates, const Schedule& schedule);

 private:
  void judge(const Workload& workload, const ReferenceRun& reference, RunOutcome& outcome, Trial& trial) const;

  Builder& builder_;
  Runner& runner_;
  TuningContext context_;
};

}  // namespace hone
