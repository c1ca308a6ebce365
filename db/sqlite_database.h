// SPDX-License-Identifier: MIT
// SqliteDatabase: TuningDatabase on one SQLite connection. Private to db/ (tests reach the connection through it to
// fill the disk). Its functions are spread over sqlite_*.cpp by what they are about; check.cpp holds check().
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "db/database.h"

namespace hone {

class SqliteDatabase final : public TuningDatabase {
 public:
  SqliteDatabase(const std::filesystem::path& file, Mode mode, int busy_timeout_ms = kBusyTimeoutMs)
      : connection_(file, mode, busy_timeout_ms) {}
  Connection& connection() { return connection_; }
  std::string note() const override { return connection_.note(); }

  // sqlite_identities.cpp
  void add_workload(const Workload& workload) override;
  void add_device(const DeviceInfo& device) override;
  int64_t add_environment(const Environment& environment) override;
  void add_space(const TuningKey& key, const std::vector<SearchSpace>& spaces) override;
  std::optional<Workload> workload(const std::string& id) override;
  std::map<int64_t, Environment> environments() override;
  std::map<std::string, int64_t> row_counts() override;

  // sqlite_models.cpp
  void add_model(const std::string& model, const std::string& path, const std::string& shapes,
                 const std::vector<ModelTask>& tasks) override;
  std::vector<std::string> models() override;
  std::vector<ModelTask> model_tasks(const std::string& model) override;
  int64_t add_model_run(const ModelRun& run) override;
  std::vector<ModelRun> model_runs(const std::string& model) override;
  void add_roofs(int64_t environment, const std::string& device, const std::map<std::string, double>& values) override;
  std::map<std::string, double> roofs(int64_t environment, const std::string& device) override;
  void add_artifact(const Artifact& artifact) override;
  std::vector<Artifact> artifacts() override;

  // sqlite_jobs.cpp
  int64_t start_job(const JobKey& key, const std::string& command) override;
  void finish_job(int64_t job, const std::string& outcome) override;
  double job_seconds(int64_t job) override;

  // sqlite_trials.cpp
  int64_t add_trial(int64_t job, const TuningKey& key, int64_t environment, const std::string& purpose,
                    const Trial& trial) override;
  std::vector<TrialRow> trials(const TuningKey& key, int64_t environment) override;
  std::vector<TrialRow> list_trials(const TrialFilter& filter) override;
  std::optional<TrialRow> trial(int64_t id) override;

  // sqlite_decisions.cpp
  void add_decision(const TuningKey& key, int64_t environment, int64_t trial, const std::string& verdict,
                    double default_ns, double best_ns, double ratio, double ratio_low, double ratio_high) override;
  std::vector<Decision> decisions(const std::string& device, const std::string& context) override;
  TuningRecord best(const TuningKey& key, int64_t environment) override;

  // check.cpp
  std::vector<CheckFinding> check() override;

 private:
  /// Row ids of what a row refers to. Throw Error if it was never added.
  int64_t workload_row(const std::string& id);
  /// The facts that this connection added last under that name, else the newest in the file.
  int64_t device_row(const std::string& name);
  int64_t model_row(const std::string& model);

  Connection connection_;
  std::map<std::string, int64_t> devices_;  // rows of add_device
};

/// ISO 8601, UTC, milliseconds: "2026-12-01T01:02:03.456Z".
std::string timestamp();

}  // namespace hone
