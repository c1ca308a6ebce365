// SPDX-License-Identifier: MIT
// What the machine can do at most, as measured on it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {
namespace {

constexpr std::string_view kPeak = "peak_flops", kBandwidth = "bandwidth_";

std::string words(const std::string& name) {
  if (name == kPeak) return "f32 multiply-add, one core";
  if (name == "peak_flops_threads") return "f32 multiply-add, all tuned threads together";
  if (name.starts_with(kBandwidth)) return "read bandwidth, " + escape(name.substr(kBandwidth.size())) + ", one core";
  return fmt::format("<code>{}</code>", escape(name));
}

/// Compute, then memory from near to far: L1, L2, L3, DRAM. What has no place keeps its alphabetical one behind these.
int rank(const std::string& name) {
  if (name.starts_with(kPeak)) return 0;
  if (!name.starts_with(kBandwidth)) return 3;
  return name == "bandwidth_DRAM" ? 2 : 1;
}

std::string value_with_unit(const std::string& name, double value) {
  const std::string_view unit = name.starts_with(kPeak) ? " GFLOP/s" : name.starts_with(kBandwidth) ? " GB/s" : "";
  if (unit.empty()) return significant(value);
  const std::string text = format_giga(value);
  return text == kNotAvailable ? text : text + std::string(unit);
}

}  // namespace

std::string render_roofs(const ReportInput& input) {
  if (input.roofs.empty()) {
    return absent_paragraph("<code>hone tune</code> measures them on the device and keeps them in the database.");
  }
  HtmlTable table({{"roof", ""}, {"measured", "number"}});
  std::vector<std::pair<std::string, double>> roofs(input.roofs.begin(), input.roofs.end());
  std::stable_sort(roofs.begin(), roofs.end(),
                   [](const auto& a, const auto& b) { return rank(a.first) < rank(b.first); });
  for (const auto& [name, value] : roofs) table.add_row({words(name), value_with_unit(name, value)});
  return "<div class=\"narrow\">" + table.html() + "</div>\n";
}

}  // namespace hone
