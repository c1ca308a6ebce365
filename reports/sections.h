// SPDX-License-Identifier: MIT
// The sections of a report, one file each. To add one: section_<name>.cpp, a line in sections.cpp, a line in
// CMakeLists.txt.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/report.h"

namespace hone {

struct ReportSection {
  std::string_view name;   // anchor
  std::string_view title;  // heading
  /// The section's HTML without its heading; says "not available" where the input has nothing for it.
  std::string (*render)(const ReportInput& input);
};
/// In the order of the page.
std::span<const ReportSection> report_sections();

std::string render_summary(const ReportInput& input);
std::string render_kernels(const ReportInput& input);
std::string render_convergence(const ReportInput& input);
std::string render_decisions(const ReportInput& input);
std::string render_trials(const ReportInput& input);
std::string render_roofs(const ReportInput& input);
std::string render_provenance(const ReportInput& input);

/// A roof by its name, 0 if it was not measured.
double roof(const ReportInput& input, const std::string& name);

}  // namespace hone
