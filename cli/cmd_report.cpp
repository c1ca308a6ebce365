// SPDX-License-Identifier: MIT
// hone report: collects database rows and a fresh profile into one HTML file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>

#include "cli/bundle_profile.h"
#include "cli/model_session.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "executor/error.h"

namespace po = boost::program_options;

namespace hone {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Before and after of one interleaved run become rows of the model that was tuned; a report is complete without.
void store_runs(const std::filesystem::path& file, const BundleSession& session, const ModelSummary& summary) {
  if (!std::filesystem::exists(file)) return;
  try {
    const auto database = TuningDatabase::open(file, TuningDatabase::Mode::read_write);
    const std::vector<std::string> models = database->models();
    if (std::find(models.begin(), models.end(), session.manifest.model_key) == models.end()) return;
    const int64_t environment = database->add_environment(describe_environment(session.transport, *session.runner));
    const int64_t batch = database->row_counts()["model_run"] + 1;
    for (const auto& [variant, measurement] : summary.variants) {
      database->add_model_run({session.manifest.model_key, variant, session.manifest.device, session.manifest.context,
                               environment, batch, measurement});
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "note: the runs are not stored: %s\n", error.what());
  }
}

void add_bundles(ReportInput& input, const Surroundings& surroundings, const Options& options,
                 const std::filesystem::path& database) {
  const BundleSession session = open_bundle(surroundings, options.get<std::string>("bundle"), "");
  const TuningContext context = TuningContext::parse(session.manifest.context);
  std::vector<const BundleManifest*> bundles = {&session.manifest};
  std::vector<std::string> names = {"tuned"};
  BundleManifest baseline;
  if (options.has("baseline")) {
    baseline = read_manifest(options.get<std::string>("baseline"));
    bundles.push_back(&baseline);
    names.insert(names.begin() + 1, "untuned");
  }
  BundleProfile profile = profile_bundles(*session.runner, bundles, names, context.threads, options.get<int>("rounds"));
  ModelSummary summary;
  summary.model = session.manifest.model_file;
  summary.device = session.manifest.device;
  summary.cpu = session.runner->info().cpu;
  summary.context = session.manifest.context;
  // Readers expect before, then after.
  std::reverse(profile.variants.begin(), profile.variants.end());
  summary.variants = std::move(profile.variants);
  summary.unaccounted_ns = profile.unaccounted_ns;
  if (options.has("baseline")) store_runs(database, session, summary);
  input.title = session.manifest.name + " on " + session.manifest.device;
  input.summaries.push_back(std::move(summary));
  input.kernels = std::move(profile.kernels);
  input.provenance.emplace_back("bundle", session.manifest.name + ", built by hone " + session.manifest.hone_version);
  input.provenance.emplace_back("target", session.manifest.target);
  input.provenance.emplace_back("CPU", session.runner->info().cpu);
}

ConvergenceCurve make_curve(const std::vector<TrialRow>& rows, const std::string& summary) {
  ConvergenceCurve curve;
  curve.workload = summary;
  double best = 0, seconds = 0;
  int64_t ordinal = 0;
  for (const TrialRow& row : rows) {
    // One environment a curve: times of two machines do not make one line.
    if (row.purpose != "search" || row.environment != rows.back().environment) continue;
    ++ordinal;
    seconds += row.trial.build_seconds + row.trial.run_seconds;
    if (row.trial.status != TrialStatus::ok || !row.trial.measurement) continue;
    const double ns = row.trial.measurement->best_ns();
    if (curve.points.empty()) curve.default_ns = ns;  // the default is the first trial of every key
    best = best == 0 ? ns : std::min(best, ns);
    curve.points.push_back({ordinal, seconds, best});
  }
  return curve;
}

void add_database(ReportInput& input, TuningDatabase& database, const std::string& file) {
  std::map<std::string, std::vector<TrialRow>> by_key;
  std::map<int64_t, std::string> devices;
  int64_t newest = 0;
  for (TrialRow& row : database.list_trials({})) {
    ++input.trials_by_status[std::string(name(row.trial.status))];
    newest = std::max(newest, row.environment);
    devices[row.environment] = row.device;
    by_key[row.workload + " " + row.device + " " + row.context].push_back(std::move(row));
  }
  std::set<std::pair<std::string, std::string>> contexts;
  for (const auto& [key, rows] : by_key) {
    const std::string& id = rows.front().workload;
    const std::optional<Workload> workload = database.workload(id);
    input.workload_summaries[id] = workload ? workload->summary() : id.substr(0, 16);
    ConvergenceCurve curve = make_curve(rows, input.workload_summaries[id]);
    if (!curve.points.empty()) input.curves.push_back(std::move(curve));
    contexts.emplace(rows.front().device, rows.front().context);
  }
  for (const auto& [device, context] : contexts) {
    for (TuningDatabase::Decision& decision : database.decisions(device, context))
      input.decisions.push_back(std::move(decision));
  }
  if (newest != 0) {
    input.roofs = database.roofs(newest, devices[newest]);
    const Environment environment = database.environments()[newest];
    input.provenance.emplace_back("tuned on", environment.cpu + ", " + environment.os + ", " + environment.transport);
    input.provenance.emplace_back("Halide", environment.halide_version);
    input.provenance.emplace_back("harness", environment.harness);
  }
  input.provenance.emplace_back("database", file);
}

}  // namespace

int run_report(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options(
      "report [--db FILE] [--bundle DIR [--baseline DIR]] -o report.html",
      "Writes one self-contained HTML file. --bundle is profiled now; with --baseline (usually built with --untuned) "
      "both run\n"
      "interleaved, so that their ratio means something. Trials, decisions and ceilings come from the database.");
  options.add()("db", po::value<std::string>()->value_name("FILE"),
                "tuning database (default: $XDG_DATA_HOME/hone/hone.sqlite)")(
      "bundle", po::value<std::string>()->value_name("DIR"), "profile this bundle")(
      "baseline", po::value<std::string>()->value_name("DIR"), "compare with this one")(
      "rounds", po::value<int>()->default_value(20)->value_name("N"), "runs to time")(
      "output,o", po::value<std::string>()->value_name("FILE"), "the HTML file");
  if (!options.parse(arguments)) return 0;
  if (!options.has("output")) throw UsageError{"hone report needs -o FILE.html"};
  if (options.has("baseline") && !options.has("bundle")) throw UsageError{"--baseline needs --bundle"};
  ReportInput input;
  input.title = "tuning database";
  input.hone_version = kVersion;
  input.created = utc_now();
  input.command = surroundings.command_line;
  const std::filesystem::path file =
      options.has("db") ? std::filesystem::path(options.get<std::string>("db")) : surroundings.database;
  if (options.has("bundle")) add_bundles(input, surroundings, options, file);
  if (options.has("db") || std::filesystem::exists(file)) {
    add_database(input, *TuningDatabase::open(file, TuningDatabase::Mode::read_only), file.string());
  } else if (!options.has("bundle")) {
    throw Error("cannot write a report", "there is no database " + file.string() + " and no --bundle",
                "tune first, or give --db or --bundle");
  }
  const std::string output = options.get<std::string>("output");
  const std::string html = render_html(input);
  std::ofstream stream(output, std::ios::binary | std::ios::trunc);
  stream << html;
  stream.close();
  if (!stream)
    throw Error("cannot write " + output, "the folder does not exist, is not writable, or the disk is full",
                "choose another file");
  std::printf("report     %s (%s)\n", output.c_str(), format_bytes(static_cast<double>(html.size())).c_str());
  return 0;
}

}  // namespace hone
