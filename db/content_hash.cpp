// SPDX-License-Identifier: MIT
#include "db/content_hash.h"

#include "db/measurement_columns.h"
#include "db/row_hash.h"

namespace hone {

std::string device_hash(const std::string& name, const std::string& facts) {
  return RowHash("device").text(name).text(facts).hex();
}

std::string environment_hash(const Environment& environment) {
  RowHash hash("environment");
  hash.text(environment.cpu).text(environment.hone_version).text(environment.halide_version);
  return hash.text(environment.os).text(environment.harness).text(environment.transport).hex();
}

std::string job_hash(SQLite::Database& database, int64_t job) {
  SQLite::Statement query(database, "SELECT model, device, context, seed, strategy FROM job WHERE id = ?");
  query.bind(1, job);
  RowHash hash("job");
  if (query.executeStep()) {
    for (int i = 0; i < query.getColumnCount(); ++i) hash.text(query.getColumn(i).getString());
  }
  return hash.hex();
}

std::string hash_of(SQLite::Database& database, const char* table, int64_t row) {
  SQLite::Statement query(database, std::string("SELECT hash FROM ") + table + " WHERE id = ?");
  query.bind(1, row);
  return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

std::string trial_hash(const References& references, int64_t sequence, const TrialRow& row) {
  RowHash hash("trial");
  hash.text(references.owner).integer(sequence).text(references.workload).text(references.device);
  hash.text(row.context).text(references.environment).text(row.purpose).text(row.trial.config.canonical());
  hash.text(name(row.trial.status)).text(row.trial.message).real(row.trial.relative_error);
  hash.real(row.trial.build_seconds).real(row.trial.run_seconds).text(row.created);
  hash_measurement(hash, row.trial.measurement);
  return hash.hex();
}

std::string decision_hash(const References& references, const TuningDatabase::Decision& decision) {
  RowHash hash("decision");
  hash.text(references.owner).text(references.workload).text(references.device);
  hash.text(decision.key.context.canonical()).text(references.environment).text(decision.verdict);
  hash.real(decision.default_ns).real(decision.best_ns).real(decision.ratio);
  return hash.real(decision.ratio_low).real(decision.ratio_high).text(decision.created).hex();
}

std::string model_run_hash(const References& references, const ModelRun& run, const std::string& created) {
  RowHash hash("model_run");
  hash.text(references.owner).text(run.variant).text(references.device).text(run.context);
  hash.text(references.environment).integer(run.batch).text(created);
  hash_measurement(hash, run.measurement);
  return hash.hex();
}

}  // namespace hone
