// SPDX-License-Identifier: MIT
// What the play-offs concluded: the winner against the default, re-measured and interleaved.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {
namespace {

using Decision = TuningDatabase::Decision;

struct VerdictWords {
  std::string_view verdict, css_class, meaning;
};
constexpr std::array<VerdictWords, 4> kVerdicts = {{
    {"gain", "good", "the contender is faster than the default with 99 % confidence"},
    {"ambiguous", "warn", "a contender looked faster, but not with confidence: the default is kept"},
    {"no gain", "", "the default is kept"},
    {"not measured", "", "no play-off took place"},
}};

size_t rank(const Decision& decision) {
  const auto found = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                  [&](const VerdictWords& words) { return words.verdict == decision.verdict; });
  return static_cast<size_t>(found - kVerdicts.begin());
}

std::string tag(const Decision& decision) {
  const size_t index = rank(decision);
  const std::string_view css_class = index < kVerdicts.size() ? kVerdicts[index].css_class : "";
  return fmt::format("<span class=\"tag {}\">{}</span>", css_class, escape(decision.verdict));
}

std::string workload_cell(const ReportInput& input, const Decision& decision) {
  const auto summary = input.workload_summaries.find(decision.key.workload);
  const std::string id = decision.key.workload.substr(0, 12);
  if (summary == input.workload_summaries.end()) return fmt::format("<code>{}</code>", escape(id));
  return span_with_title(summary->second, 90) +
         fmt::format("<span class=\"detail\"><code>{}</code></span>", escape(id));
}

/// Time of the default over that of the best other candidate. Exactly 1 with no width is what a play-off leaves when
/// the default itself came first: nothing was compared, so there is no interval to show.
std::string ratio_cell(const Decision& decision) {
  if (decision.ratio == 1 && decision.ratio_low == 1 && decision.ratio_high == 1) {
    return "<span class=\"detail\">the default was the fastest</span>";
  }
  return format_ratio(decision.ratio, decision.ratio_low, decision.ratio_high);
}

std::string counts(const std::vector<Decision>& decisions) {
  std::string text;
  for (const VerdictWords& words : kVerdicts) {
    const auto count = std::count_if(decisions.begin(), decisions.end(),
                                     [&](const Decision& decision) { return decision.verdict == words.verdict; });
    if (count > 0)
      text += fmt::format("<p><span class=\"tag {}\">{} {}</span> {}</p>\n", words.css_class, count, words.verdict,
                          words.meaning);
  }
  return text;
}

}  // namespace

std::string render_decisions(const ReportInput& input) {
  if (input.decisions.empty()) {
    return absent_paragraph("<code>hone tune MODEL.onnx --device host</code> ends with a play-off for each kernel.");
  }
  std::vector<Decision> decisions = input.decisions;
  std::stable_sort(decisions.begin(), decisions.end(), [](const Decision& a, const Decision& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.ratio > b.ratio;
  });
  HtmlTable table({{"workload", "name"},
                   {"verdict", ""},
                   {"default", "number"},
                   {"kept", "number"},
                   {"default / contender", "number wrapped"},
                   {"trial", "number"},
                   {"context", ""},
                   {"decided", "number"}});
  for (const Decision& decision : decisions) {
    table.add_row({workload_cell(input, decision), tag(decision), format_time(decision.default_ns),
                   format_time(decision.best_ns), ratio_cell(decision),
                   decision.trial > 0 ? std::to_string(decision.trial) : std::string(kNotAvailable),
                   fmt::format("{}<span class=\"detail\">{}</span>", escape(decision.key.device),
                               escape(decision.key.context.canonical())),
                   escape(decision.created.substr(0, 10))});
  }
  return counts(decisions) + table.html();
}

}  // namespace hone
