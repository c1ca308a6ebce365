// SPDX-License-Identifier: MIT
#include "db/trial.h"

#include <array>
#include <utility>

namespace hone {
namespace {

// The texts are stored (CHECK constraint of the trial table): append only.
constexpr std::array<std::pair<TrialStatus, std::string_view>, 7> kStatusNames = {{
    {TrialStatus::ok, "ok"},
    {TrialStatus::rejected_by_constraint, "rejected_by_constraint"},
    {TrialStatus::build_failed, "build_failed"},
    {TrialStatus::build_timed_out, "build_timed_out"},
    {TrialStatus::run_failed, "run_failed"},
    {TrialStatus::run_timed_out, "run_timed_out"},
    {TrialStatus::wrong_result, "wrong_result"},
}};

}  // namespace

std::string_view name(TrialStatus status) {
  for (const auto& [value, text] : kStatusNames) {
    if (value == status) return text;
  }
  return "?";
}

std::optional<TrialStatus> parse_trial_status(std::string_view text) {
  for (const auto& [value, known] : kStatusNames) {
    if (known == text) return value;
  }
  return std::nullopt;
}

}  // namespace hone
