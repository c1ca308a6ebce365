// SPDX-License-Identifier: MIT
// Where the time of one run goes, kernel by kernel, and how near each is to what the machine can do.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {
namespace {

constexpr size_t kNodesShown = 2, kNameLength = 60;

std::string nodes_cell(const KernelRow& kernel) {
  std::string all, shown;
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    all += (i == 0 ? "" : ", ") + kernel.nodes[i];
    if (i < kNodesShown) shown += (i == 0 ? "" : ", ") + truncated(kernel.nodes[i], kNameLength / kNodesShown);
  }
  if (kernel.nodes.size() > kNodesShown) shown += fmt::format(", +{}", kernel.nodes.size() - kNodesShown);
  std::string cell = span_with_title(kernel.name, kNameLength);
  cell += fmt::format("<span class=\"detail\">{}</span>", escape(kernel.workload));
  if (all == kernel.name || all.empty()) return cell;
  return cell + fmt::format("<span class=\"detail\" title=\"{}\">{}</span>", escape(all), escape(shown));
}

struct RoofShare {
  double fraction = 0;
  const char* bound = "";  // which roof is the nearer one
};

/// max(flops / peak, bytes / bandwidth) / time: 1 is as fast as the nearer roof allows.
std::optional<RoofShare> roof_share(const ReportInput& input, const KernelRow& kernel) {
  const double peak = roof(input, "peak_flops"), bandwidth = roof(input, "bandwidth_DRAM");
  const double compute_ns = peak > 0 ? kernel.flops / peak * 1e9 : 0;
  const double memory_ns = bandwidth > 0 ? kernel.bytes / bandwidth * 1e9 : 0;
  // With one roof missing, the other could be the wrong one: say nothing.
  if (peak <= 0 || bandwidth <= 0 || kernel.time_ns <= 0 || (compute_ns <= 0 && memory_ns <= 0)) return std::nullopt;
  return RoofShare{std::max(compute_ns, memory_ns) / kernel.time_ns, compute_ns >= memory_ns ? "compute" : "memory"};
}

std::string roof_cell(const ReportInput& input, const KernelRow& kernel) {
  const auto share = roof_share(input, kernel);
  if (!share) return std::string(kNotAvailable);
  return format_percent(share->fraction) + fmt::format("<span class=\"detail\">{}</span>", share->bound);
}

/// Operations or bytes a nanosecond are 10^9 a second. A copy has no operations, which is known, not absent.
std::string rate(double amount, double ns, std::string_view if_zero) {
  if (ns <= 0) return std::string(kNotAvailable);
  return amount == 0 ? std::string(if_zero) : format_giga(amount / ns * 1e9);
}

std::string share_cell(double part_ns, double run_ns) {
  if (part_ns <= 0 || run_ns <= 0) return std::string(kNotAvailable);
  return format_percent(part_ns / run_ns) + bar(part_ns / run_ns);
}

std::string implementation_cell(const KernelRow& kernel) {
  if (kernel.implementation.empty() && kernel.config.empty()) return std::string(kNotAvailable);
  std::string values = kernel.config;  // "name@1{a=1,b=2}": the name stands above it
  if (const size_t brace = values.find('{'); brace != std::string::npos && values.back() == '}') {
    values = values.substr(brace + 1, values.size() - brace - 2);
  }
  for (size_t comma = values.find(','); comma != std::string::npos; comma = values.find(',', comma + 2)) {
    values.insert(comma + 1, " ");
  }
  return fmt::format("<span title=\"{}\">{}</span><span class=\"detail\"><code>{}</code></span>", escape(kernel.config),
                     escape(kernel.implementation), escape(values));
}

constexpr std::string_view kExplanation =
    "<p class=\"muted\">Share: of one run of the model. GFLOP/s and GB/s: the operations and the bytes that the "
    "workload needs "
    "at least (each input, weight and output once), over the time. % of roof: the time that the nearer measured roof "
    "allows, "
    "<i>max(operations / peak FLOP/s, bytes / DRAM bandwidth)</i>, over the time taken; \"compute\" or \"memory\" "
    "names that "
    "roof. More than 100 % of a memory roof means that operands came from a cache. Trial: the database row that the "
    "schedule "
    "was taken from.</p>\n";

}  // namespace

std::string render_kernels(const ReportInput& input) {
  if (input.kernels.empty()) return absent_paragraph("<code>hone report --bundle DIR</code> profiles a bundle.");
  std::vector<const KernelRow*> kernels;
  double kernels_ns = 0;
  for (const KernelRow& kernel : input.kernels) {
    kernels.push_back(&kernel);
    kernels_ns += kernel.time_ns;
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelRow* a, const KernelRow* b) { return a->time_ns > b->time_ns; });
  const bool whole_run = !input.summaries.empty();
  const double rest_ns = whole_run ? input.summaries.front().unaccounted_ns : 0;
  const double run_ns = kernels_ns + std::max(rest_ns, 0.0);

  HtmlTable table({{"kernel", "name"},
                   {"share of run", "share"},
                   {"time", "number"},
                   {"GFLOP/s", "number"},
                   {"GB/s", "number"},
                   {"% of roof", "number"},
                   {"implementation", "config"},
                   {"trial", "number"}});
  for (const KernelRow* kernel : kernels) {
    table.add_row({nodes_cell(*kernel), share_cell(kernel->time_ns, run_ns), format_time(kernel->time_ns),
                   rate(kernel->flops, kernel->time_ns, "<span class=\"muted\">none</span>"),
                   rate(kernel->bytes, kernel->time_ns, kNotAvailable), roof_cell(input, *kernel),
                   implementation_cell(*kernel),
                   kernel->trial > 0 ? std::to_string(kernel->trial) : "<span class=\"muted\">default</span>"});
  }
  if (whole_run && rest_ns > 0) {
    table.add_row(
        {"outside the kernels (unaccounted)", share_cell(rest_ns, run_ns), format_time(rest_ns), "", "", "", "", ""},
        "total");
  } else if (whole_run) {
    table.add_row({"outside the kernels (unaccounted)", "below the noise", "", "", "", "", "", ""}, "total");
  }
  return fmt::format("<p>{} kernels, {} in all.</p>\n", kernels.size(), format_time(kernels_ns)) + table.html() +
         std::string(kExplanation);
}

}  // namespace hone
