// SPDX-License-Identifier: MIT
#include "tuner/playoff.h"

#include <algorithm>

#include "executor/error.h"

namespace hone {
namespace {

constexpr size_t kFinalists = 3;  // beside the default
constexpr int kRounds = 20;       // paired samples: enough for a 99 % interval of a few per cent
constexpr int kRoundsAlone = 5;   // nothing to compare: only a fresh figure is wanted

const Contender* find(const std::vector<Contender>& contenders, const Config& config) {
  for (const Contender& contender : contenders) {
    if (contender.config == config) return &contender;
  }
  return nullptr;
}

}  // namespace

std::vector<Contender> Playoff::line_up(const TaskState& state) const {
  std::vector<Contender> sorted = state.contenders;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Contender& a, const Contender& b) { return a.best_ns < b.best_ns; });
  std::vector<Contender> line;
  if (const Contender* standard = find(sorted, state.default_config)) line.push_back(*standard);
  const size_t places = line.size() + kFinalists;
  for (const Contender& contender : sorted) {
    if (line.size() == places) break;
    if (find(line, contender.config) == nullptr) line.push_back(contender);
  }
  return line;
}

bool Playoff::ensure_built(const TaskState& state, std::vector<Contender>& contenders) {
  std::vector<BuildRequest> requests;
  std::vector<size_t> missing;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (!contenders[i].shared.empty()) continue;
    requests.push_back(
        candidate_request(state.task->workload, contenders[i].config, options_.device, options_.work_directory));
    missing.push_back(i);
  }
  if (requests.empty()) return true;
  const std::vector<BuildOutcome> built = builder_.build(requests);
  for (size_t i = 0; i < built.size(); ++i) {
    if (built[i].status == BuildStatus::ok) contenders[missing[i]].shared = requests[i].shared;
  }
  std::erase_if(contenders, [](const Contender& contender) { return contender.shared.empty(); });
  return !contenders.empty();
}

std::vector<PlayoffTrial> Playoff::race(TaskState& state) {
  std::vector<Contender> line = line_up(state);
  if (!ensure_built(state, line)) return {};
  std::vector<PlayoffTrial> raced;
  for (Trial& trial : candidates_.run(state, line, {line.size() > 1 ? kRounds : kRoundsAlone, 0}))
    raced.push_back({std::move(trial), 0});
  return raced;
}

void Playoff::decide(const TaskState& state, TaskResult& result) {
  const PlayoffTrial* standard = nullptr;
  const PlayoffTrial* challenger = nullptr;
  for (const PlayoffTrial& raced : trials_) {
    if (raced.trial.status != TrialStatus::ok) continue;
    if (raced.trial.config == state.default_config) {
      standard = &raced;
    } else if (challenger == nullptr ||
               raced.trial.measurement->median_ns() < challenger->trial.measurement->median_ns()) {
      challenger = &raced;
    }
  }
  const PlayoffTrial* best = standard;
  if (standard != nullptr) result.default_ns = standard->trial.measurement->best_ns();
  if (standard == nullptr) {
    best = challenger;  // the default did not build or run right: anything that does is a gain
    result.decision = "gain";
  } else if (challenger == nullptr) {
    result.decision = "no gain";
  } else {
    result.verdict =
        compare_paired(challenger->trial.measurement->ranking_ns(), standard->trial.measurement->ranking_ns());
    result.decision = result.verdict.a_faster() ? "gain" : result.verdict.ratio > 1 ? "ambiguous" : "no gain";
    if (result.verdict.a_faster()) best = challenger;
  }
  if (best == nullptr) {
    result.decision = "not measured";
    trials_.clear();
    return;
  }
  result.best = best->trial.config;
  result.trial = best->row;
  result.best_ns = best->trial.measurement->best_ns();
  trials_.clear();
}

}  // namespace hone
