// SPDX-License-Identifier: MIT
// Models: their tasks, whole-model runs, the roofs they are compared with, and what was built from the records.
#include <nlohmann/json.hpp>

#include "db/content_hash.h"
#include "db/measurement_columns.h"
#include "db/sqlite_database.h"

namespace hone {

void SqliteDatabase::add_model(const std::string& model, const std::string& path, const std::string& shapes,
                               const std::vector<ModelTask>& tasks) {
  connection_.in_transaction("write", [&] {
    SQLite::Database& sqlite = connection_.sqlite();
    SQLite::Statement upsert(sqlite,
                             "INSERT INTO model (name, path, shapes, created) VALUES (?, ?, ?, ?) "
                             "ON CONFLICT (name) DO UPDATE SET path = excluded.path, shapes = excluded.shapes");
    SQLite::bind(upsert, model, path, shapes, timestamp());
    upsert.exec();
    const int64_t row = model_row(model);
    SQLite::Statement clear(sqlite, "DELETE FROM model_task WHERE model = ?");
    clear.bind(1, row);
    clear.exec();
    for (const ModelTask& task : tasks) {
      SQLite::Statement insert(sqlite, "INSERT INTO model_task (model, workload, count, nodes) VALUES (?, ?, ?, ?)");
      // Node names are the model's bytes: invalid UTF-8 is replaced rather than refused.
      const std::string nodes =
          nlohmann::json(task.nodes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      SQLite::bind(insert, row, workload_row(task.workload), task.count, nodes);
      insert.exec();
    }
  });
}

std::vector<std::string> SqliteDatabase::models() {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(), "SELECT name FROM model ORDER BY id");
    std::vector<std::string> names;
    while (query.executeStep()) names.push_back(query.getColumn(0).getString());
    return names;
  });
}

std::vector<ModelTask> SqliteDatabase::model_tasks(const std::string& model) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(
        connection_.sqlite(),
        "SELECT workload.hash, model_task.count, model_task.nodes FROM model_task "
        "JOIN workload ON workload.id = model_task.workload JOIN model ON model.id = model_task.model "
        "WHERE model.name = ? ORDER BY model_task.id");
    query.bind(1, model);
    std::vector<ModelTask> tasks;
    while (query.executeStep()) {
      ModelTask task{query.getColumn(0).getString(), query.getColumn(1).getInt64(), {}};
      const auto nodes = nlohmann::json::parse(query.getColumn(2).getString(), nullptr, false);
      for (const auto& node : nodes) {
        if (node.is_string()) task.nodes.push_back(node.get<std::string>());
      }
      tasks.push_back(std::move(task));
    }
    return tasks;
  });
}

int64_t SqliteDatabase::add_model_run(const ModelRun& run) {
  return connection_.in_transaction("write", [&] {
    SQLite::Database& sqlite = connection_.sqlite();
    const int64_t model = model_row(run.model), device = device_row(run.device);
    const std::string created = timestamp();
    const References references{run.model, "", hash_of(sqlite, "device", device),
                                hash_of(sqlite, "environment", run.environment)};
    SQLite::Statement insert(sqlite, std::string("INSERT INTO model_run (hash, model, variant, device, context, "
                                                 "environment, batch, created, ") +
                                         kMeasurementColumns +
                                         ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, model_run_hash(references, run, created), model, run.variant, device, run.context,
                 run.environment, run.batch, created);
    bind_measurement(insert, 9, run.measurement);
    insert.exec();
    return static_cast<int64_t>(sqlite.getLastInsertRowid());
  });
}

std::vector<ModelRun> SqliteDatabase::model_runs(const std::string& model) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(
        connection_.sqlite(),
        std::string("SELECT model.name, variant, device.name, context, environment, batch, ") + kMeasurementColumns +
            " FROM model_run JOIN model ON model.id = model_run.model "
            "JOIN device ON device.id = model_run.device WHERE model.name = ? ORDER BY model_run.id");
    query.bind(1, model);
    std::vector<ModelRun> runs;
    while (query.executeStep()) {
      ModelRun run;
      run.model = query.getColumn(0).getString();
      run.variant = query.getColumn(1).getString();
      run.device = query.getColumn(2).getString();
      run.context = query.getColumn(3).getString();
      run.environment = query.getColumn(4).getInt64();
      run.batch = query.getColumn(5).getInt64();
      run.measurement = *read_measurement(query, 6);
      runs.push_back(std::move(run));
    }
    return runs;
  });
}

void SqliteDatabase::add_roofs(int64_t environment, const std::string& device,
                               const std::map<std::string, double>& values) {
  connection_.in_transaction("write", [&] {
    const int64_t device_id = device_row(device);
    for (const auto& [name, value] : values) {
      SQLite::Statement insert(connection_.sqlite(),
                               "INSERT INTO roof (environment, device, name, value, created) VALUES (?, ?, ?, ?, ?)");
      SQLite::bind(insert, environment, device_id, name, value, timestamp());
      insert.exec();
    }
  });
}

std::map<std::string, double> SqliteDatabase::roofs(int64_t environment, const std::string& device) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(),
                            "SELECT roof.name, roof.value FROM roof JOIN device ON device.id = roof.device "
                            "WHERE roof.environment = ? AND device.name = ? ORDER BY roof.id");
    SQLite::bind(query, environment, device);
    std::map<std::string, double> values;
    while (query.executeStep()) values[query.getColumn(0).getString()] = query.getColumn(1).getDouble();
    return values;
  });
}

void SqliteDatabase::add_artifact(const Artifact& artifact) {
  connection_.in_transaction("write", [&] {
    SQLite::Statement insert(connection_.sqlite(),
                             "INSERT INTO artifact (kind, model, device, context, path, sha256, created) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, artifact.kind, model_row(artifact.model), device_row(artifact.device), artifact.context,
                 artifact.path, artifact.sha256, timestamp());
    insert.exec();
  });
}

std::vector<Artifact> SqliteDatabase::artifacts() {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(),
                            "SELECT kind, model.name, device.name, context, artifact.path, sha256, artifact.created "
                            "FROM artifact JOIN model ON model.id = artifact.model "
                            "JOIN device ON device.id = artifact.device ORDER BY artifact.id");
    std::vector<Artifact> all;
    while (query.executeStep()) {
      all.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(), query.getColumn(2).getString(),
                     query.getColumn(3).getString(), query.getColumn(4).getString(), query.getColumn(5).getString(),
                     query.getColumn(6).getString()});
    }
    return all;
  });
}

}  // namespace hone
