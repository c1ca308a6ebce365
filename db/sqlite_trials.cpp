// SPDX-License-Identifier: MIT
// Trials: one committed row each, and the lists of them.
#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "db/content_hash.h"
#include "db/measurement_columns.h"
#include "db/sqlite_database.h"
#include "db/trial_columns.h"
#include "executor/error.h"

namespace hone {
namespace {

std::vector<TrialRow> read_all(SQLite::Statement& query) {
  std::vector<TrialRow> rows;
  while (query.executeStep()) rows.push_back(read_trial(query));
  return rows;
}

int64_t next_sequence(SQLite::Database& database, int64_t job) {
  SQLite::Statement query(database, "SELECT coalesce(max(sequence), 0) + 1 FROM trial WHERE job = ?");
  query.bind(1, job);
  CHECK(query.executeStep());
  return query.getColumn(0).getInt64();
}

}  // namespace

std::string select_trials() {
  return std::string(
             "SELECT trial.id, trial.job, workload.hash, device.name, trial.context, trial.environment, trial.purpose, "
             "trial.created, trial.config, trial.status, trial.message, trial.relative_error, trial.build_seconds, "
             "trial.run_seconds, ") +
         kMeasurementColumns +
         " FROM trial JOIN workload ON workload.id = trial.workload JOIN device ON device.id = trial.device ";
}

TrialRow read_trial(SQLite::Statement& query) {
  const auto text = [&](int column) { return query.getColumn(column).getString(); };
  TrialRow row;
  row.id = query.getColumn(0).getInt64();
  row.job = query.getColumn(1).getInt64();
  row.workload = text(2);
  row.device = text(3);
  row.context = text(4);
  row.environment = query.getColumn(5).getInt64();
  row.purpose = text(6);
  row.created = text(7);
  const auto status = parse_trial_status(text(9));
  if (!status) throw SQLite::Exception("trial " + std::to_string(row.id) + " has no known status", SQLITE_CORRUPT);
  try {
    row.trial.config = Config::parse(text(8));
    row.trial.measurement = read_measurement(query, 14);
  } catch (const std::exception& problem) {
    throw SQLite::Exception("trial " + std::to_string(row.id) + ": " + problem.what(), SQLITE_CORRUPT);
  }
  row.trial.status = *status;
  row.trial.message = text(10);
  if (!query.getColumn(11).isNull()) row.trial.relative_error = query.getColumn(11).getDouble();
  row.trial.build_seconds = query.getColumn(12).getDouble();
  row.trial.run_seconds = query.getColumn(13).getDouble();
  return row;
}

int64_t SqliteDatabase::add_trial(int64_t job, const TuningKey& key, int64_t environment, const std::string& purpose,
                                  const Trial& trial) {
  TrialRow row;
  row.context = key.context.canonical();
  row.purpose = purpose;
  row.created = timestamp();
  row.trial = trial;
  // SQLite has no NaN; an error that cannot be computed is as bad as an infinite one.
  if (trial.relative_error && std::isnan(*trial.relative_error)) {
    row.trial.relative_error = std::numeric_limits<double>::infinity();
  }
  return connection_.in_transaction("write", [&] {
    SQLite::Database& sqlite = connection_.sqlite();
    const int64_t workload = workload_row(key.workload), device = device_row(key.device);
    const int64_t sequence = next_sequence(sqlite, job);
    const References references{job_hash(sqlite, job), key.workload, hash_of(sqlite, "device", device),
                                hash_of(sqlite, "environment", environment)};
    SQLite::Statement insert(
        sqlite, std::string("INSERT INTO trial (hash, job, sequence, workload, device, context, environment, purpose, "
                            "config, status, message, build_seconds, run_seconds, created, relative_error, ") +
                    kMeasurementColumns +
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, trial_hash(references, sequence, row), job, sequence, workload, device, row.context,
                 environment, purpose, trial.config.canonical(), std::string(name(trial.status)), trial.message,
                 trial.build_seconds, trial.run_seconds, row.created);
    bind_optional(insert, 15, row.trial.relative_error);
    bind_measurement(insert, 16, trial.measurement);
    insert.exec();
    return static_cast<int64_t>(sqlite.getLastInsertRowid());
  });
}

std::vector<TrialRow> SqliteDatabase::trials(const TuningKey& key, int64_t environment) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(),
                            select_trials() +
                                "WHERE trial.workload = (SELECT id FROM workload WHERE hash = ?) AND device.name = ? "
                                "AND trial.context = ? AND trial.environment = ? ORDER BY trial.id");
    SQLite::bind(query, key.workload, key.device, key.context.canonical(), environment);
    return read_all(query);
  });
}

std::vector<TrialRow> SqliteDatabase::list_trials(const TrialFilter& filter) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(),
                            select_trials() +
                                "WHERE substr(workload.hash, 1, length(?1)) = ?1 AND (?2 = '' OR device.name = ?2) "
                                "AND (?3 = '' OR trial.context = ?3) AND (?4 = '' OR trial.status = ?4) "
                                "AND (?5 = 0 OR trial.job = ?5) ORDER BY trial.id LIMIT ?6");
    SQLite::bind(query, filter.workload, filter.device, filter.context, filter.status, filter.job,
                 filter.limit > 0 ? filter.limit : int64_t{-1});
    return read_all(query);
  });
}

std::optional<TrialRow> SqliteDatabase::trial(int64_t id) {
  return connection_.guarded("read", [&]() -> std::optional<TrialRow> {
    SQLite::Statement query(connection_.sqlite(), select_trials() + "WHERE trial.id = ?");
    query.bind(1, id);
    if (!query.executeStep()) return std::nullopt;
    return read_trial(query);
  });
}

}  // namespace hone
