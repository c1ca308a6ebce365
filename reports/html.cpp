// SPDX-License-Identifier: MIT
#include "reports/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "executor/error.h"

namespace hone {
namespace {

/// Bytes of the well-formed code point at the front of `text`, or 0 (overlong forms, surrogates, stray bytes).
size_t code_point_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t size = lead < 0x80                   ? 1
                      : lead >= 0xc2 && lead < 0xe0 ? 2
                      : (lead & 0xf0) == 0xe0       ? 3
                      : lead >= 0xf0 && lead < 0xf5 ? 4
                                                    : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (size < 3) return size;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);
  return overlong || beyond ? 0 : size;
}

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool is_usable(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  while (!text.empty()) {
    const size_t size = code_point_bytes(text);
    const char c = text[0];
    if (size == 0 || (size == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      html += kReplacement;
    } else if (c == '&') {
      html += "&amp;";
    } else if (c == '<') {
      html += "&lt;";
    } else if (c == '>') {
      html += "&gt;";
    } else if (c == '"') {
      html += "&quot;";
    } else if (c == '\'') {
      html += "&#39;";
    } else {
      html += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return html;
}

std::string truncated(std::string_view text, size_t most) {
  size_t at = 0, cut = 0;  // cut: where the text may be ended to leave room for the ellipsis
  for (size_t count = 0; at < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, cut)) + "\xe2\x80\xa6";
    if (count + 1 == most) cut = at;
    at += std::max<size_t>(code_point_bytes(text.substr(at)), 1);
  }
  return std::string(text);
}

std::string span_with_title(std::string_view text, size_t most) {
  const std::string shown = truncated(text, most);
  if (shown == text) return fmt::format("<span>{}</span>", escape(text));
  return fmt::format("<span title=\"{}\">{}</span>", escape(text), escape(shown));
}

std::string absent_paragraph(std::string_view how_to_get_it) {
  return fmt::format("<p>{}: {}</p>\n", kNotAvailable, how_to_get_it);
}

std::string significant(double value) {
  const double size = std::fabs(value);
  if (size < 0.9995) return fmt::format("{:.3f}", value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  if (size < 999.5) return fmt::format("{:.0f}", value);
  const double unit = std::pow(10, std::floor(std::log10(size)) - 2);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string format_time(double ns) {
  if (!is_usable(ns)) return std::string(kNotAvailable);
  if (ns < 999.5) return significant(ns) + " ns";
  if (ns < 999.5e3) return significant(ns / 1e3) + " \xc2\xb5s";
  if (ns < 999.5e6) return significant(ns / 1e6) + " ms";
  return significant(ns / 1e9) + " s";
}

std::string format_giga(double value) {
  return is_usable(value) ? significant(value / 1e9) : std::string(kNotAvailable);
}

std::string format_percent(double fraction) {
  const double percent = fraction * 100;
  return fmt::format("{:.{}f} %", percent, std::fabs(percent) < 99.95 ? 1 : 0);
}

std::string format_ratio(double ratio, double low, double high) {
  if (!is_usable(ratio)) return std::string(kNotAvailable);
  if (!is_usable(low) || !is_usable(high)) {
    return fmt::format("{:.3f}<span class=\"detail\">too few samples for an interval</span>", ratio);
  }
  return fmt::format("{:.3f}<span class=\"detail\">{:.3f} to {:.3f}</span>", ratio, low, high);
}

void HtmlTable::add_row(std::vector<std::string> cells, std::string_view css_class) {
  CHECK(cells.size() == columns_.size());
  rows_ += css_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", css_class);
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& kind = columns_[i].css_class;
    rows_ += (kind.empty() ? "<td>" : fmt::format("<td class=\"{}\">", kind)) + cells[i] + "</td>";
  }
  rows_ += "</tr>\n";
}

std::string HtmlTable::html() const {
  std::string head;
  for (const Column& column : columns_) {
    head += column.css_class.empty() ? "<th>" : fmt::format("<th class=\"{}\">", column.css_class);
    head += column.title + "</th>";
  }
  return fmt::format("<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
                     head, rows_);
}

std::string bar(double fraction) {
  const double width = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) * 100 : 0;
  return fmt::format("<span class=\"bar\" style=\"width:{:.1f}%\"></span>", width);
}

}  // namespace hone
