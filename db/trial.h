// SPDX-License-Identifier: MIT
// Trial: what happened to one candidate. Failures are statuses with a reason, never sentinel times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/measurement.h"
#include "schedules/config.h"

namespace hone {

enum class TrialStatus {
  ok,
  rejected_by_constraint,
  build_failed,
  build_timed_out,
  run_failed,
  run_timed_out,
  wrong_result,
};
std::string_view name(TrialStatus status);
std::optional<TrialStatus> parse_trial_status(std::string_view text);

struct Trial {
  Config config;
  TrialStatus status = TrialStatus::ok;
  std::string message;  // reason of a failure; empty if ok
  std::optional<Measurement> measurement;
  std::optional<double> relative_error;  // against the float64 reference, where a result came back
  double build_seconds = 0;
  double run_seconds = 0;
};

}  // namespace hone
