// SPDX-License-Identifier: MIT
// check(): is everything in the file what hone once wrote? SQLite's own checks (pages, types, constraints, references),
// then every content hash, and every text that has a grammar. It reports and repairs nothing.
#include <map>
#include <nlohmann/json.hpp>

#include "db/content_hash.h"
#include "db/measurement_columns.h"
#include "db/sqlite_database.h"
#include "db/trial_columns.h"
#include "executor/error.h"

namespace hone {
namespace {

class Checker {
 public:
  explicit Checker(SQLite::Database& database) : database_(database) {}

  std::vector<CheckFinding> run() {
    table("(file)", [&] { check_file(); });
    table("(references)", [&] { check_references(); });
    table("workload", [&] { check_workloads(); });
    table("device", [&] { check_devices(); });
    table("environment", [&] { check_environments(); });
    table("space", [&] { check_spaces(); });
    table("job", [&] { check_jobs(); });
    table("trial", [&] { check_trials(); });
    table("decision", [&] { check_decisions(); });
    table("model_task", [&] { check_model_tasks(); });
    table("model_run", [&] { check_model_runs(); });
    return std::move(findings_);
  }

 private:
  void add(const std::string& table, int64_t row, const std::string& problem) {
    findings_.push_back({table, row, problem});
  }

  /// One unreadable table must not hide what is wrong with the others.
  template <typename Body>
  void table(const char* name, Body&& body) {
    try {
      body();
    } catch (const std::exception& problem) {
      add(name, 0, problem.what());
    }
  }

  /// Runs body for each row; what it throws is that row's finding. Column 0 is the row id.
  template <typename Body>
  void rows(const char* name, const std::string& sql, Body&& body) {
    SQLite::Statement query(database_, sql);
    while (query.executeStep()) {
      const int64_t id = query.getColumn(0).getInt64();
      try {
        body(query, id);
      } catch (const std::exception& problem) {
        add(name, id, problem.what());
      }
    }
  }

  const std::string& cached_hash(const char* table, int64_t row) {
    auto [entry, is_new] = hashes_.try_emplace({table, row});
    if (is_new) {
      entry->second = std::string_view(table) == "job" ? job_hash(database_, row) : hash_of(database_, table, row);
    }
    return entry->second;
  }

  void expect_hash(const char* table, int64_t row, const std::string& stored, const std::string& computed) {
    if (stored != computed) add(table, row, "its content does not match its hash");
  }

  void check_file();
  void check_references();
  void check_workloads();
  void check_devices();
  void check_environments();
  void check_spaces();
  void check_jobs();
  void check_trials();
  void check_decisions();
  void check_model_tasks();
  void check_model_runs();

  SQLite::Database& database_;
  std::vector<CheckFinding> findings_;
  std::map<std::pair<std::string, int64_t>, std::string> hashes_;
};

void Checker::check_file() {
  SQLite::Statement query(database_, "PRAGMA integrity_check");
  while (query.executeStep()) {
    const std::string line = query.getColumn(0).getString();
    if (line != "ok") add("(file)", 0, line);
  }
}

void Checker::check_references() {
  SQLite::Statement query(database_, "PRAGMA foreign_key_check");
  while (query.executeStep()) {
    add(query.getColumn(0).getString(), query.getColumn(1).getInt64(),
        "refers to a row of " + query.getColumn(2).getString() + " that is not there");
  }
}

void Checker::check_workloads() {
  rows("workload", "SELECT id, hash, json, summary FROM workload", [&](SQLite::Statement& row, int64_t id) {
    const std::string json = row.getColumn(2).getString();
    const Workload workload = Workload::parse(json);
    if (workload.canonical_json() != json) {
      add("workload", id, "its JSON is not in canonical form");
    } else {
      expect_hash("workload", id, row.getColumn(1).getString(), workload.id());
    }
  });
}

void Checker::check_devices() {
  rows("device", "SELECT id, hash, name, facts FROM device", [&](SQLite::Statement& row, int64_t id) {
    const std::string facts = row.getColumn(3).getString();
    if (!nlohmann::json::accept(facts)) add("device", id, "its facts are not JSON");
    expect_hash("device", id, row.getColumn(1).getString(), device_hash(row.getColumn(2).getString(), facts));
  });
}

void Checker::check_environments() {
  rows("environment", "SELECT id, hash, cpu, hone_version, halide_version, os, harness, transport FROM environment",
       [&](SQLite::Statement& row, int64_t id) {
         const auto text = [&](int column) { return row.getColumn(column).getString(); };
         const Environment environment{text(2), text(3), text(4), text(5), text(6), text(7)};
         expect_hash("environment", id, text(1), environment_hash(environment));
       });
}

void Checker::check_spaces() {
  rows("space", "SELECT id, context, description FROM space", [&](SQLite::Statement& row, int64_t id) {
    TuningContext::parse(row.getColumn(1).getString());
    if (!nlohmann::json::accept(row.getColumn(2).getString())) add("space", id, "its description is not JSON");
  });
}

void Checker::check_jobs() {
  rows("job", "SELECT id, context, seed FROM job", [&](SQLite::Statement& row, int64_t id) {
    TuningContext::parse(row.getColumn(1).getString());
    const std::string seed = row.getColumn(2).getString();
    if (seed.empty() || seed.find_first_not_of("0123456789") != std::string::npos) {
      add("job", id, "its seed '" + seed + "' is no number");
    }
  });
}

void Checker::check_trials() {
  std::string sql = select_trials();
  sql.insert(sql.find(" FROM trial"), ", trial.hash, trial.sequence, trial.device, trial.workload");
  constexpr int kHash = 14 + kMeasurementColumnCount;
  rows("trial", sql, [&](SQLite::Statement& row, int64_t id) {
    const TrialRow trial = read_trial(row);  // parses the config and the blobs
    TuningContext::parse(trial.context);
    if (trial.trial.config.canonical() != row.getColumn(8).getString()) {
      add("trial", id, "its config '" + row.getColumn(8).getString() + "' is not in canonical form");
    }
    const auto best = trial.trial.measurement ? best_of(*trial.trial.measurement) : std::nullopt;
    const SQLite::Column stored = row.getColumn(14);
    if (stored.isNull() == best.has_value() || (best && stored.getDouble() != *best)) {
      add("trial", id, "its best_ns is not the minimum of its ranking samples");
    }
    const References references{
        cached_hash("job", trial.job), cached_hash("workload", row.getColumn(kHash + 3).getInt64()),
        cached_hash("device", row.getColumn(kHash + 2).getInt64()), cached_hash("environment", trial.environment)};
    const int64_t sequence = row.getColumn(kHash + 1).getInt64();
    expect_hash("trial", id, row.getColumn(kHash).getString(), trial_hash(references, sequence, trial));
  });
}

void Checker::check_decisions() {
  rows("decision",
       "SELECT d.id, d.hash, d.workload, d.device, d.context, d.environment, coalesce(d.trial, 0), d.verdict, "
       "d.default_ns, d.best_ns, d.ratio, d.ratio_low, d.ratio_high, d.created, t.workload IS NOT d.workload "
       "OR t.context IS NOT d.context OR t.environment IS NOT d.environment FROM decision d "
       "LEFT JOIN trial t ON t.id = d.trial",
       [&](SQLite::Statement& row, int64_t id) {
         const auto real = [&](int column) { return row.getColumn(column).getDouble(); };
         const auto integer = [&](int column) { return row.getColumn(column).getInt64(); };
         TuningDatabase::Decision decision;
         decision.key.context = TuningContext::parse(row.getColumn(4).getString());
         decision.verdict = row.getColumn(7).getString();
         decision.default_ns = real(8);
         decision.best_ns = real(9);
         decision.ratio = real(10);
         decision.ratio_low = real(11);
         decision.ratio_high = real(12);
         decision.created = row.getColumn(13).getString();
         const References references{integer(6) == 0 ? std::string() : cached_hash("trial", integer(6)),
                                     cached_hash("workload", integer(2)), cached_hash("device", integer(3)),
                                     cached_hash("environment", integer(5))};
         expect_hash("decision", id, row.getColumn(1).getString(), decision_hash(references, decision));
         if (integer(6) != 0 && integer(14) != 0) {
           add("decision", id, "it names trial " + std::to_string(integer(6)) + ", which is of another key");
         }
       });
}

void Checker::check_model_tasks() {
  rows("model_task", "SELECT id, nodes FROM model_task", [&](SQLite::Statement& row, int64_t id) {
    const auto nodes = nlohmann::json::parse(row.getColumn(1).getString(), nullptr, false);
    bool names = nodes.is_array();
    for (const auto& node : nodes) names = names && node.is_string();
    if (!names) add("model_task", id, "its nodes are not a JSON list of names");
  });
}

void Checker::check_model_runs() {
  const std::string sql =
      std::string(
          "SELECT r.id, r.hash, model.name, r.variant, r.device, r.context, r.environment, r.batch, "
          "r.created, ") +
      kMeasurementColumns + " FROM model_run r LEFT JOIN model ON model.id = r.model";
  rows("model_run", sql, [&](SQLite::Statement& row, int64_t id) {
    ModelRun run;
    run.model = row.getColumn(2).getString();
    run.variant = row.getColumn(3).getString();
    run.context = row.getColumn(5).getString();
    run.batch = row.getColumn(7).getInt64();
    const auto measurement = read_measurement(row, 9);
    if (!measurement) return add("model_run", id, "it has no measurement");
    run.measurement = *measurement;
    TuningContext::parse(run.context);
    const References references{run.model, "", cached_hash("device", row.getColumn(4).getInt64()),
                                cached_hash("environment", row.getColumn(6).getInt64())};
    expect_hash("model_run", id, row.getColumn(1).getString(),
                model_run_hash(references, run, row.getColumn(8).getString()));
  });
}

}  // namespace

std::vector<CheckFinding> SqliteDatabase::check() {
  return Checker(connection_.sqlite()).run();
}

}  // namespace hone
