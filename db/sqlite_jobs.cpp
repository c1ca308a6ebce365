// SPDX-License-Identifier: MIT
// Jobs: who is tuning what. A job is resumed by anyone once the process that ran it has ended, however it ended.
#include "db/process_identity.h"
#include "db/sqlite_database.h"
#include "executor/error.h"

namespace hone {
namespace {

/// The process that runs a job, if one is recorded.
std::optional<ProcessIdentity> owner_of(SQLite::Database& database, int64_t job) {
  SQLite::Statement query(database, "SELECT pid, process_start, boot FROM job WHERE id = ? AND pid IS NOT NULL");
  query.bind(1, job);
  if (!query.executeStep()) return std::nullopt;
  return ProcessIdentity{query.getColumn(0).getInt64(), query.getColumn(1).getInt64(), query.getColumn(2).getString()};
}

}  // namespace

int64_t SqliteDatabase::start_job(const JobKey& key, const std::string& command) {
  return connection_.in_transaction("write", [&] {
    SQLite::Database& sqlite = connection_.sqlite();
    const std::string context = key.context.canonical(), seed = std::to_string(key.seed), now = timestamp();
    SQLite::Statement insert(
        sqlite,
        "INSERT INTO job (model, device, context, seed, strategy, command, started) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model, device, context, seed, strategy) DO NOTHING");
    SQLite::bind(insert, key.model, key.device, context, seed, key.strategy, command, now);
    insert.exec();
    SQLite::Statement find(
        sqlite, "SELECT id FROM job WHERE model = ? AND device = ? AND context = ? AND seed = ? AND strategy = ?");
    SQLite::bind(find, key.model, key.device, context, seed, key.strategy);
    CHECK(find.executeStep());
    const int64_t job = find.getColumn(0).getInt64();

    const ProcessIdentity self = this_process();
    const auto owner = owner_of(sqlite, job);
    if (owner && *owner != self && is_alive(*owner)) {
      const std::string pid = std::to_string(owner->pid);
      throw Error("cannot tune " + key.model + " for " + key.device, "process " + pid + " is running this job already",
                  "wait for it, stop it with 'kill -INT " + pid + "', or start another job with --seed");
    }
    SQLite::Statement take(sqlite,
                           "UPDATE job SET command = ?, started = ?, pid = ?, process_start = ?, boot = ?, "
                           "finished = NULL, outcome = NULL WHERE id = ?");
    SQLite::bind(take, command, now, self.pid, self.start_ticks, self.boot, job);
    take.exec();
    return job;
  });
}

void SqliteDatabase::finish_job(int64_t job, const std::string& outcome) {
  connection_.in_transaction("write", [&] {
    SQLite::Statement update(connection_.sqlite(),
                             "UPDATE job SET pid = NULL, process_start = NULL, boot = NULL, finished = ?, outcome = ? "
                             "WHERE id = ?");
    SQLite::bind(update, timestamp(), outcome, job);
    update.exec();
  });
}

double SqliteDatabase::job_seconds(int64_t job) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(), "SELECT total(build_seconds + run_seconds) FROM trial WHERE job = ?");
    query.bind(1, job);
    return query.executeStep() ? query.getColumn(0).getDouble() : 0.0;
  });
}

}  // namespace hone
