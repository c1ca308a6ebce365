// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/bundle_profile.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "executor/error.h"

namespace po = boost::program_options;

namespace hone {
namespace {

std::ofstream open_output(const std::string& file) {
  std::ofstream stream(file, std::ios::trunc);
  if (!stream)
    throw Error("cannot write " + file, "the folder does not exist or is not writable", "choose another file");
  return stream;
}

void close_output(std::ofstream& stream, const std::string& file) {
  stream.close();
  if (!stream)
    throw Error("cannot write " + file, "the disk is full or the file vanished", "free some space and run again");
}

std::string csv_cell(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void write_csv(const BundleProfile& profile, const std::string& file) {
  std::ofstream stream = open_output(file);
  stream << "step,name,nodes,workload,implementation,config,time_ns,flops,bytes,trial\n";
  for (size_t i = 0; i < profile.kernels.size(); ++i) {
    const KernelRow& row = profile.kernels[i];
    stream << i << ',' << csv_cell(row.name) << ',' << csv_cell(fmt::format("{}", fmt::join(row.nodes, " "))) << ','
           << csv_cell(row.workload) << ',' << row.implementation << ',' << csv_cell(row.config) << ','
           << fmt::format("{:.1f},{:.0f},{:.0f},{}", row.time_ns, row.flops, row.bytes, row.trial) << '\n';
  }
  close_output(stream, file);
}

/// Chrome's trace event format (also read by Perfetto): one complete event a kernel, laid end to end.
void write_trace(const BundleProfile& profile, const std::string& file) {
  nlohmann::json events = nlohmann::json::array();
  double at_us = 0;
  for (const KernelRow& row : profile.kernels) {
    events.push_back({{"name", row.name},
                      {"cat", row.implementation},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", at_us},
                      {"dur", row.time_ns / 1e3},
                      {"args", {{"workload", row.workload}, {"config", row.config}, {"nodes", row.nodes}}}});
    at_us += row.time_ns / 1e3;
  }
  std::ofstream stream = open_output(file);
  stream << nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(1) << '\n';
  close_output(stream, file);
}

nlohmann::json to_json(const BundleProfile& profile) {
  const Measurement& whole = profile.variants.front().second;
  nlohmann::json json = {{"total_ns", profile.total_ns},
                         {"unaccounted_ns", profile.unaccounted_ns},
                         {"evidence", name(whole.evidence)},
                         {"best_ns", whole.best_ns()},
                         {"cpu_ns", whole.cpu_ns},
                         {"wall_ns", whole.wall_ns},
                         {"kernels", nlohmann::json::array()}};
  for (const KernelRow& row : profile.kernels) {
    json["kernels"].push_back({{"name", row.name},
                               {"nodes", row.nodes},
                               {"workload", row.workload},
                               {"implementation", row.implementation},
                               {"config", row.config},
                               {"time_ns", row.time_ns},
                               {"flops", row.flops},
                               {"bytes", row.bytes},
                               {"trial", row.trial}});
  }
  for (const auto& [type, ns] : time_by_type(profile.kernels))
    json["by_type"].push_back({{"type", type}, {"time_ns", ns}});
  return json;
}

void print_profile(const BundleProfile& profile, size_t top) {
  std::vector<KernelRow> rows = profile.kernels;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.time_ns > b.time_ns; });
  const auto share = [&](double ns) { return format_fixed(100 * ns / profile.total_ns, 1) + " %"; };
  Table table({">share", ">time", ">GFLOP/s", ">GB/s", "kernel", "workload", "implementation"});
  for (size_t i = 0; i < std::min(top, rows.size()); ++i) {
    const KernelRow& row = rows[i];
    table.row({share(row.time_ns), format_ns(row.time_ns), format_fixed(row.flops / row.time_ns, 1),
               format_fixed(row.bytes / row.time_ns, 1), row.name, row.workload, row.implementation});
  }
  std::printf("%s", table.text().c_str());
  if (rows.size() > top) std::printf("... and %zu more (--top 0 shows all)\n", rows.size() - top);
  std::printf("\n");
  Table types({"type", ">time", ">share"});
  for (const auto& [type, ns] : time_by_type(profile.kernels)) types.row({type, format_ns(ns), share(ns)});
  types.row({"unaccounted", format_ns(profile.unaccounted_ns), share(profile.unaccounted_ns)});
  const Measurement& whole = profile.variants.front().second;
  std::printf("%s\nwhole run: median %s, minimum %s over %zu rounds, %s (%s)\n", types.text().c_str(),
              format_ns(profile.total_ns).c_str(), format_ns(whole.best_ns()).c_str(), whole.cpu_ns.size(),
              whole.threads == 1 ? "CPU time of one thread" : "wall time", std::string(name(whole.evidence)).c_str());
}

}  // namespace

int run_profile(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options(
      "profile BUNDLE [--threads N] [--csv FILE] [--trace FILE]",
      "Shows where a bundle's time goes: per kernel (median over rounds, timed by hooks around each), per operator "
      "type, and\n"
      "what the whole run takes beyond its kernels. --trace writes a file for chrome://tracing or Perfetto.");
  options.positional("bundle", 1);
  options.add()("threads", po::value<int>()->default_value(1)->value_name("N"), "threads")(
      "rounds", po::value<int>()->default_value(20)->value_name("N"), "runs to time")(
      "top", po::value<size_t>()->default_value(20)->value_name("N"), "kernels to print (0: all)")(
      "csv", po::value<std::string>()->value_name("FILE"), "all kernels as CSV")(
      "trace", po::value<std::string>()->value_name("FILE"), "trace events")(
      "transport", po::value<std::string>()->default_value("")->value_name("T"),
      "local, qemu or ssh:HOST[:RUNNER] (default: by architecture)")("json", "machine-readable, on stdout");
  if (!options.parse(arguments)) return 0;
  const int rounds = options.get<int>("rounds"), threads = options.get<int>("threads");
  if (rounds < 1 || rounds > 100'000) throw UsageError{"--rounds takes 1 to 100000"};
  if (threads < 1 || threads > 256) throw UsageError{"--threads takes 1 to 256"};
  const BundleSession session =
      open_bundle(surroundings, options.one("bundle", "one bundle directory"), options.get<std::string>("transport"));
  const BundleProfile profile =
      profile_bundles(*session.runner, {&session.manifest}, {session.manifest.name}, threads, rounds);
  if (options.has("csv")) write_csv(profile, options.get<std::string>("csv"));
  if (options.has("trace")) write_trace(profile, options.get<std::string>("trace"));
  if (options.has("json")) {
    std::printf("%s\n", to_json(profile).dump(2).c_str());
  } else {
    const size_t top = options.get<size_t>("top");
    print_profile(profile, top == 0 ? profile.kernels.size() : top);
  }
  return 0;
}

}  // namespace hone
