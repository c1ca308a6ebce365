// SPDX-License-Identifier: MIT
// What a reader needs to trust the numbers and to make them again.
#include <fmt/format.h>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {

std::string render_provenance(const ReportInput& input) {
  std::string html = "<dl>\n";
  const auto add = [&](std::string_view key, const std::string& value, bool code) {
    const std::string shown = value.empty() ? std::string(kNotAvailable)
                              : code        ? fmt::format("<code>{}</code>", escape(value))
                                            : escape(value);
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(key), shown);
  };
  add("hone", input.hone_version, false);
  add("written", input.created, false);
  for (const auto& [key, value] : input.provenance) add(key, value, false);
  add("command to write it again", input.command, true);
  return html +
         "</dl>\n<p class=\"muted\">Every trial number on this page is a row of the database: <code>hone db show "
         "NUMBER</code> prints all of it, samples included.</p>\n";
}

}  // namespace hone
