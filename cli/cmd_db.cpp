// SPDX-License-Identifier: MIT
// hone db: looks into the tuning database without changing it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "cli/terminal.h"
#include "db/database.h"
#include "executor/error.h"
#include "generators/nearest_name.h"

namespace po = boost::program_options;
using nlohmann::json;

namespace hone {
namespace {

std::string workload_summary(TuningDatabase& database, const std::string& id) {
  const std::optional<Workload> workload = database.workload(id);
  return workload ? workload->summary() : id.substr(0, 16);
}

json row_json(const TrialRow& row) {
  json result = {{"id", row.id},
                 {"job", row.job},
                 {"workload", row.workload},
                 {"device", row.device},
                 {"context", row.context},
                 {"environment", row.environment},
                 {"purpose", row.purpose},
                 {"created", row.created},
                 {"config", row.trial.config.canonical()},
                 {"status", name(row.trial.status)},
                 {"message", row.trial.message},
                 {"build_seconds", row.trial.build_seconds},
                 {"run_seconds", row.trial.run_seconds}};
  if (row.trial.relative_error) result["relative_error"] = *row.trial.relative_error;
  if (row.trial.measurement) {
    const Measurement& measured = *row.trial.measurement;
    result["best_ns"] = measured.best_ns();
    result["cpu_ns"] = measured.cpu_ns;
    result["wall_ns"] = measured.wall_ns;
    result["evidence"] = name(measured.evidence);
    result["involuntary_switches"] = measured.involuntary_switches;
    result["load_average"] = measured.load_average;
  }
  return result;
}

int print_stats(TuningDatabase& database, const std::string& file, bool as_json) {
  const auto counts = database.row_counts();
  if (as_json) {
    std::printf("%s\n", json{{"database", file}, {"rows", counts}, {"models", database.models()}}.dump(2).c_str());
    return 0;
  }
  std::printf("%s, %s\n\n", file.c_str(), format_bytes(static_cast<double>(std::filesystem::file_size(file))).c_str());
  Table table({"table", ">rows"});
  for (const auto& [name, count] : counts) table.row({name, std::to_string(count)});
  std::printf("%s\n", table.text().c_str());
  for (const std::string& model : database.models()) std::printf("model  %s\n", model.c_str());
  return 0;
}

int print_list(TuningDatabase& database, const TuningDatabase::TrialFilter& filter, bool as_json) {
  const std::vector<TrialRow> rows = database.list_trials(filter);
  if (as_json) {
    json all = json::array();
    for (const TrialRow& row : rows) all.push_back(row_json(row));
    std::printf("%s\n", all.dump(2).c_str());
    return 0;
  }
  Table table({">trial", "workload", "purpose", "config", "status", ">time", "message"});
  for (const TrialRow& row : rows) {
    table.row({std::to_string(row.id), workload_summary(database, row.workload), row.purpose,
               row.trial.config.canonical(), std::string(name(row.trial.status)),
               row.trial.measurement ? format_ns(row.trial.measurement->best_ns()) : "-", row.trial.message});
  }
  std::printf("%s", table.text().c_str());
  return 0;
}

int print_trial(TuningDatabase& database, int64_t id, const std::string& file, bool as_json) {
  const std::optional<TrialRow> row = database.trial(id);
  if (!row)
    throw Error("cannot show trial " + std::to_string(id), file + " has no such trial",
                "`hone db list` shows those that there are");
  json all = row_json(*row);
  const std::map<int64_t, Environment> environments = database.environments();
  if (const auto found = environments.find(row->environment); found != environments.end()) {
    const Environment& of = found->second;
    all["environment_facts"] = {{"cpu", of.cpu}, {"hone", of.hone_version}, {"halide", of.halide_version},
                                {"os", of.os},   {"harness", of.harness},   {"transport", of.transport}};
  }
  if (as_json) {
    std::printf("%s\n", all.dump(2).c_str());
    return 0;
  }
  std::printf("%s\n", workload_summary(database, row->workload).c_str());
  for (const auto& [key, value] : all.items()) {
    std::printf("  %-20s %s\n", key.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  }
  return 0;
}

int print_check(TuningDatabase& database, const std::string& file, bool as_json) {
  const std::vector<CheckFinding> findings = database.check();
  if (as_json) {
    json all = json::array();
    for (const CheckFinding& finding : findings)
      all.push_back({{"table", finding.table}, {"row", finding.row}, {"problem", finding.problem}});
    std::printf("%s\n", all.dump(2).c_str());
  } else {
    for (const CheckFinding& finding : findings) {
      std::printf("%s row %ld: %s\n", finding.table.c_str(), static_cast<long>(finding.row), finding.problem.c_str());
    }
    if (findings.empty()) std::printf("%s: all is well\n", file.c_str());
  }
  if (!findings.empty()) {
    throw Error("the check of " + file + " failed", std::to_string(findings.size()) + " findings",
                "restore a backup, or delete the file and tune again");
  }
  return 0;
}

}  // namespace

int run_db(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options(
      "db stats|list|show TRIAL|check [--db FILE] [--json]",
      "Looks into the tuning database. stats: rows and models; list: trials (newest last); show: all of one trial;\n"
      "check: integrity, foreign keys, hashes, samples (exit 1 if anything is wrong).");
  options.positional("what", 2);
  options.add()("db", po::value<std::string>()->value_name("FILE"),
                "tuning database (default: $XDG_DATA_HOME/hone/hone.sqlite)")(
      "workload", po::value<std::string>()->default_value("")->value_name("ID"), "list: only this workload")(
      "device", po::value<std::string>()->default_value("")->value_name("NAME"), "list: only this device")(
      "status", po::value<std::string>()->default_value("")->value_name("STATUS"), "list: only trials of this status")(
      "limit", po::value<int64_t>()->default_value(0)->value_name("N"), "list: at most N")(
      "json", "machine-readable, on stdout");
  if (!options.parse(arguments)) return 0;
  const std::vector<std::string> what = options.list("what");
  const std::vector<std::string> verbs = {"stats", "list", "show", "check"};
  if (what.empty()) throw UsageError{"hone db needs one of stats, list, show TRIAL, check"};
  const std::string& verb = what.front();
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    throw UsageError{"unknown `hone db " + verb + "`; did you mean '" + nearest_name(verb, verbs) + "'?"};
  }
  if ((verb == "show") != (what.size() == 2)) throw UsageError{"usage: hone db stats|list|show TRIAL|check"};
  const std::filesystem::path file =
      options.has("db") ? std::filesystem::path(options.get<std::string>("db")) : surroundings.database;
  const auto database = TuningDatabase::open(file, TuningDatabase::Mode::read_only);
  const bool as_json = options.has("json");
  if (verb == "stats") return print_stats(*database, file.string(), as_json);
  if (verb == "check") return print_check(*database, file.string(), as_json);
  if (verb == "list") {
    TuningDatabase::TrialFilter filter;
    filter.workload = options.get<std::string>("workload");
    filter.device = options.get<std::string>("device");
    filter.status = options.get<std::string>("status");
    filter.limit = options.get<int64_t>("limit");
    if (!filter.status.empty() && !parse_trial_status(filter.status)) {
      throw UsageError{
          "--status takes ok, rejected_by_constraint, build_failed, build_timed_out, run_failed, run_timed_out or "
          "wrong_result"};
    }
    return print_list(*database, filter, as_json);
  }
  int64_t id = 0;
  try {
    id = std::stoll(what[1]);
  } catch (const std::exception&) {
    throw UsageError{"hone db show takes the number of a trial, not '" + what[1] + "'"};
  }
  return print_trial(*database, id, file.string(), as_json);
}

}  // namespace hone
