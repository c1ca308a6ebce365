// SPDX-License-Identifier: MIT
// Reports: one self-contained HTML file (no network, no script from elsewhere) from database rows and profile values.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"

namespace hone {

/// One row of the kernel table, from a bundle's profile.
struct KernelRow {
  std::string name;  // plan step
  std::vector<std::string> nodes;
  std::string workload;  // summary
  std::string implementation;
  std::string config;
  double time_ns = 0;
  double flops = 0, bytes = 0;
  int64_t trial = 0;
};

struct ConvergencePoint {
  int64_t trial = 0;  // ordinal within the key
  double seconds = 0;
  double best_ns = 0;
};
struct ConvergenceCurve {
  std::string workload;  // summary
  double default_ns = 0;
  std::vector<ConvergencePoint> points;
};

struct ModelSummary {
  std::string model, device, cpu, context;
  std::vector<std::pair<std::string, Measurement>> variants;  // "untuned", "tuned", from one interleaved run
  double unaccounted_ns = 0;                                  // run time outside the kernels
};

struct ReportInput {
  std::string title;
  std::string hone_version, created, command;
  std::vector<ModelSummary> summaries;
  std::vector<KernelRow> kernels;
  std::map<std::string, double> roofs;  // "peak_flops", "bandwidth_DRAM", ...: absent is shown as absent
  std::vector<ConvergenceCurve> curves;
  std::map<std::string, int64_t> trials_by_status;
  std::vector<TuningDatabase::Decision> decisions;
  std::map<std::string, std::string> workload_summaries;
  std::vector<std::pair<std::string, std::string>> provenance;  // key, value
};

/// reports/sections.cpp: table of sections (name, title, function from input to HTML).
std::string render_html(const ReportInput& input);

}  // namespace hone
