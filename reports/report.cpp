// SPDX-License-Identifier: MIT
#include "reports/report.h"

#include <fmt/format.h>

#include <map>

#include "executor/error.h"
#include "reports/html.h"
#include "reports/sections.h"

namespace hone {

extern const std::string_view kReportTemplate;  // hone_embed_text

namespace {

/// Replaces each {{name}} once, in one pass over the template: values are never looked at again.
std::string fill(std::string_view text, const std::map<std::string, std::string, std::less<>>& values) {
  std::string result;
  while (true) {
    const size_t open = text.find("{{");
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const size_t close = text.find("}}", open);
    CHECK(close != std::string_view::npos);
    const auto value = values.find(text.substr(open + 2, close - open - 2));
    CHECK(value != values.end());
    result += value->second;
    text.remove_prefix(close + 2);
  }
}

std::string subtitle(const ReportInput& input) {
  if (input.summaries.empty()) return "Tuning records";
  const ModelSummary& first = input.summaries.front();
  return escape(fmt::format("{} on {}, {}", first.device, first.cpu, first.context));
}

}  // namespace

std::string render_html(const ReportInput& input) {
  std::string navigation, sections;
  for (const ReportSection& section : report_sections()) {
    navigation += fmt::format("<a href=\"#{}\">{}</a>\n", section.name, section.title);
    sections += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.name, section.title,
                            section.render(input));
  }
  return fill(kReportTemplate, {{"title", escape(input.title)},
                                {"subtitle", subtitle(input)},
                                {"navigation", navigation},
                                {"sections", sections},
                                {"version", escape(input.hone_version)},
                                {"created", escape(input.created)}});
}

}  // namespace hone
