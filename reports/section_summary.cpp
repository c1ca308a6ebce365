// SPDX-License-Identifier: MIT
// Before and after of each model, from one interleaved run: the first variant is what the others are compared with.
#include <fmt/format.h>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {
namespace {

bool has_samples(const Measurement& measurement) {
  return !measurement.ranking_ns().empty();
}

/// Time of the first variant / time of `other`: > 1 means `other` is faster.
PairedVerdict speed_up(const Measurement& first, const Measurement& other) {
  return compare_paired(other.ranking_ns(), first.ranking_ns());
}

std::string_view verdict_tag(const PairedVerdict& verdict) {
  if (verdict.a_faster()) return "<span class=\"tag good\">faster</span>";
  if (verdict.b_faster()) return "<span class=\"tag warn\">slower</span>";
  return "<span class=\"tag\">no difference shown</span>";
}

std::string headline(const ModelSummary& summary) {
  const auto& [first_name, first] = summary.variants.front();
  const auto& [last_name, last] = summary.variants.back();
  if (summary.variants.size() < 2 || !has_samples(first) || !has_samples(last)) return {};
  const PairedVerdict verdict = speed_up(first, last);
  const std::string times =
      fmt::format("{}, {} was {}", format_time(last.best_ns()), escape(first_name), format_time(first.best_ns()));
  if (verdict.a_faster()) {
    return fmt::format("<p class=\"headline\"><strong>{:.2f} times as fast</strong>: {} takes {}.</p>\n", verdict.ratio,
                       escape(last_name), times);
  }
  if (verdict.b_faster()) {
    return fmt::format("<p class=\"headline\"><strong>Slower</strong>: {} takes {}.</p>\n", escape(last_name), times);
  }
  return fmt::format("<p class=\"headline\"><strong>No difference shown</strong>: {} takes {}.</p>\n",
                     escape(last_name), times);
}

std::string model_table(const ModelSummary& summary) {
  HtmlTable table({{"variant", ""},
                   {"minimum", "number"},
                   {fmt::format("times as fast as {}", escape(summary.variants.front().first)), "number wrapped"},
                   {"", ""},
                   {"median", "number"},
                   {"samples", "number"}});
  const Measurement& first = summary.variants.front().second;
  for (const auto& [name, measurement] : summary.variants) {
    const bool timed = has_samples(measurement);
    std::string ratio, tag;
    if (&measurement != &first) {
      const bool comparable = timed && has_samples(first);
      const PairedVerdict verdict = comparable ? speed_up(first, measurement) : PairedVerdict{};
      ratio = comparable ? format_ratio(verdict.ratio, verdict.low, verdict.high) : std::string(kNotAvailable);
      tag = comparable ? verdict_tag(verdict) : "";
    }
    if (measurement.evidence != Evidence::timed) {
      tag += fmt::format(" <span class=\"tag warn\">{}, not timed</span>", hone::name(measurement.evidence));
    }
    const std::string minimum = timed ? format_time(measurement.best_ns()) : std::string(kNotAvailable);
    const std::string median = timed ? format_time(measurement.median_ns()) : std::string(kNotAvailable);
    const std::string samples = timed ? std::to_string(measurement.ranking_ns().size()) : "none";
    table.add_row({escape(name), minimum, ratio, tag, median, samples});
  }
  return table.html();
}

}  // namespace

std::string render_summary(const ReportInput& input) {
  std::string html;
  for (const ModelSummary& summary : input.summaries) {
    html += fmt::format("<h3>{}</h3>\n", escape(summary.model));
    if (input.summaries.size() > 1) {  // of a single one the page's subtitle says it
      html += fmt::format("<p class=\"muted\">{}, {}, {}</p>\n", escape(summary.device), escape(summary.cpu),
                          escape(summary.context));
    }
    if (summary.variants.empty()) {
      html += absent_paragraph("this model was not timed.");
      continue;
    }
    html += headline(summary) + model_table(summary);
    const bool one_thread = summary.variants.front().second.threads == 1;
    html += fmt::format(
        "<p class=\"muted\">{} per run. The variants ran in turn, so that whatever else the machine did hit them "
        "alike; "
        "the ratio is over pairs of neighbouring runs, with its 99 % interval.</p>\n",
        one_thread ? "CPU time of the one thread" : "Wall time");
  }
  if (!html.empty()) return html;
  return absent_paragraph(
      "<code>hone report --bundle DIR --baseline UNTUNED_DIR</code> times a bundle against an untuned one.");
}

}  // namespace hone
