// SPDX-License-Identifier: MIT
#include "reports/sections.h"

#include <array>

namespace hone {
namespace {

constexpr std::array<ReportSection, 7> kSections = {{
    {"summary", "Summary", render_summary},
    {"kernels", "Kernels", render_kernels},
    {"decisions", "What tuning decided", render_decisions},
    {"convergence", "How the search went", render_convergence},
    {"trials", "Trials", render_trials},
    {"roofs", "Measured roofs", render_roofs},
    {"provenance", "Where this comes from", render_provenance},
}};

}  // namespace

std::span<const ReportSection> report_sections() {
  return kSections;
}

double roof(const ReportInput& input, const std::string& name) {
  const auto found = input.roofs.find(name);
  return found == input.roofs.end() ? 0 : found->second;
}

}  // namespace hone
