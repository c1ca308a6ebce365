// SPDX-License-Identifier: MIT
// What became of the candidates.
#include <fmt/format.h>

#include <array>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {
namespace {

constexpr std::array<std::pair<TrialStatus, std::string_view>, 7> kMeanings = {{
    {TrialStatus::ok, "built, ran, and its result was right"},
    {TrialStatus::rejected_by_constraint, "refused by a named constraint before anything was compiled"},
    {TrialStatus::build_failed, "the compiler refused it or crashed"},
    {TrialStatus::build_timed_out, "compiling took too long and was stopped"},
    {TrialStatus::run_failed, "it crashed or reported an error"},
    {TrialStatus::run_timed_out, "it ran too long and was stopped"},
    {TrialStatus::wrong_result, "it ran, and its result was wrong: disqualified"},
}};

std::string meaning_of(const std::string& status) {
  for (const auto& [value, meaning] : kMeanings) {
    if (name(value) == status) return std::string(meaning);
  }
  return {};
}

}  // namespace

std::string render_trials(const ReportInput& input) {
  int64_t total = 0;
  for (const auto& [status, count] : input.trials_by_status) total += count;
  if (total == 0) return absent_paragraph("no trial was read from a database.");
  HtmlTable table({{"status", ""}, {"trials", "number"}, {"share", "share"}, {"meaning", ""}});
  const auto add = [&](const std::string& status, int64_t count) {
    const double share = static_cast<double>(count) / static_cast<double>(total);
    table.add_row({fmt::format("<code>{}</code>", escape(status)), std::to_string(count),
                   format_percent(share) + bar(share), meaning_of(status)});
  };
  for (const auto& [status, meaning] : kMeanings) {
    const auto found = input.trials_by_status.find(std::string(name(status)));
    if (found != input.trials_by_status.end() && found->second > 0) add(found->first, found->second);
  }
  for (const auto& [status, count] : input.trials_by_status) {
    if (!parse_trial_status(status)) add(status, count);
  }
  return fmt::format("<p>{} trials.</p>\n", total) + table.html();
}

}  // namespace hone
