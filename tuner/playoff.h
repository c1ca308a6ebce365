// SPDX-License-Identifier: MIT
// Play-off: the best few candidates of a task and its default, raced interleaved, so that the decision does not rest on
// samples taken minutes apart. A winner must beat the default with confidence, else the default stays.
#pragma once

#include <vector>

#include "tuner/candidate.h"

namespace hone {

/// What one play-off may cost on average; the loop keeps this much of the budget back per task.
inline constexpr double kPlayoffSeconds = 0.6;

struct PlayoffTrial {
  Trial trial;
  int64_t row = 0;  // database row, set by the loop
};

class Playoff {
 public:
  Playoff(Builder& builder, CandidateRunner& candidates, const TuningOptions& options)
      : builder_(builder), candidates_(candidates), options_(options) {}

  /// Builds what is not built, races, and returns one trial a contender; the default is first. Requires
  /// state.contenders.
  std::vector<PlayoffTrial> race(TaskState& state);
  void add(PlayoffTrial trial) { trials_.push_back(std::move(trial)); }
  /// Fills in the decision from the added trials, and forgets them.
  void decide(const TaskState& state, TaskResult& result);

 private:
  std::vector<Contender> line_up(const TaskState& state) const;
  bool ensure_built(const TaskState& state, std::vector<Contender>& contenders);

  Builder& builder_;
  CandidateRunner& candidates_;
  const TuningOptions& options_;
  std::vector<PlayoffTrial> trials_;
};

}  // namespace hone
