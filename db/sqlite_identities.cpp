// SPDX-License-Identifier: MIT
// Workloads, devices, environments and spaces: the content-addressed rows that figures refer to.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "db/content_hash.h"
#include "db/sqlite_database.h"
#include "executor/error.h"

namespace hone {
namespace {

nlohmann::json facts_of(const DeviceInfo& device) {
  return {{"kind", name(device.kind)},
          {"halide_target", device.halide_target},
          {"architecture", device.architecture},
          {"binutils_prefix", device.binutils_prefix},
          {"vector_bits", device.vector_bits},
          {"vector_registers", device.vector_registers},
          {"cores", device.cores},
          {"l1_bytes", device.l1_bytes},
          {"l2_bytes", device.l2_bytes},
          {"l3_bytes", device.l3_bytes},
          {"cpu_flags", device.cpu_flags}};
}

nlohmann::json describe(const std::vector<SearchSpace>& spaces) {
  nlohmann::json all = nlohmann::json::array();
  for (const SearchSpace& space : spaces) {
    nlohmann::json params = nlohmann::json::array(), constraints = nlohmann::json::array();
    for (const TunableParam& param : space.params) params.push_back({{"name", param.name}, {"values", param.values}});
    for (const Constraint& constraint : space.constraints) constraints.push_back(constraint.name);
    all.push_back({{"implementation", space.implementation},
                   {"version", space.version},
                   {"params", params},
                   {"constraints", constraints},
                   {"default", space.default_config.canonical()}});
  }
  return all;
}

int64_t row_with_hash(SQLite::Database& database, const char* table, const std::string& hash) {
  SQLite::Statement query(database, std::string("SELECT id FROM ") + table + " WHERE hash = ?");
  query.bind(1, hash);
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

Error never_added(const std::string& what) {
  return Error("cannot store a result", what + " is not in the database",
               "this is a bug in hone: please report it with this line");
}

}  // namespace

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(ms));
  return text;
}

void SqliteDatabase::add_workload(const Workload& workload) {
  connection_.in_transaction("write", [&] {
    SQLite::Statement insert(connection_.sqlite(),
                             "INSERT INTO workload (hash, json, summary, created) VALUES (?, ?, ?, ?) "
                             "ON CONFLICT (hash) DO NOTHING");
    SQLite::bind(insert, workload.id(), workload.canonical_json(), workload.summary(), timestamp());
    insert.exec();
  });
}

void SqliteDatabase::add_device(const DeviceInfo& device) {
  const std::string facts = facts_of(device).dump(), hash = device_hash(device.name, facts);
  devices_[device.name] = connection_.in_transaction("write", [&] {
    SQLite::Statement insert(
        connection_.sqlite(),
        "INSERT INTO device (hash, name, facts, created) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING");
    SQLite::bind(insert, hash, device.name, facts, timestamp());
    insert.exec();
    return row_with_hash(connection_.sqlite(), "device", hash);
  });
}

int64_t SqliteDatabase::add_environment(const Environment& environment) {
  const std::string hash = environment_hash(environment);
  return connection_.in_transaction("write", [&] {
    SQLite::Statement insert(
        connection_.sqlite(),
        "INSERT INTO environment (hash, cpu, hone_version, halide_version, os, harness, transport, "
        "created) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING");
    SQLite::bind(insert, hash, environment.cpu, environment.hone_version, environment.halide_version, environment.os,
                 environment.harness, environment.transport, timestamp());
    insert.exec();
    return row_with_hash(connection_.sqlite(), "environment", hash);
  });
}

void SqliteDatabase::add_space(const TuningKey& key, const std::vector<SearchSpace>& spaces) {
  connection_.in_transaction("write", [&] {
    SQLite::Statement insert(connection_.sqlite(),
                             "INSERT INTO space (workload, device, context, space, description, created) "
                             "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    SQLite::bind(insert, workload_row(key.workload), device_row(key.device), key.context.canonical(), space_id(spaces),
                 describe(spaces).dump(), timestamp());
    insert.exec();
  });
}

std::optional<Workload> SqliteDatabase::workload(const std::string& id) {
  return connection_.guarded("read", [&]() -> std::optional<Workload> {
    SQLite::Statement query(connection_.sqlite(), "SELECT json FROM workload WHERE hash = ?");
    query.bind(1, id);
    if (!query.executeStep()) return std::nullopt;
    return Workload::parse(query.getColumn(0).getString());
  });
}

std::map<int64_t, Environment> SqliteDatabase::environments() {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(connection_.sqlite(),
                            "SELECT id, cpu, hone_version, halide_version, os, harness, transport FROM environment");
    std::map<int64_t, Environment> all;
    while (query.executeStep()) {
      all[query.getColumn(0).getInt64()] = {query.getColumn(1).getString(), query.getColumn(2).getString(),
                                            query.getColumn(3).getString(), query.getColumn(4).getString(),
                                            query.getColumn(5).getString(), query.getColumn(6).getString()};
    }
    return all;
  });
}

std::map<std::string, int64_t> SqliteDatabase::row_counts() {
  return connection_.guarded("read", [&] {
    SQLite::Statement tables(connection_.sqlite(),
                             "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    std::map<std::string, int64_t> counts;
    while (tables.executeStep()) {
      const std::string table = tables.getColumn(0).getString();
      counts[table] = connection_.sqlite().execAndGet("SELECT count(*) FROM \"" + table + "\"").getInt64();
    }
    return counts;
  });
}

int64_t SqliteDatabase::workload_row(const std::string& id) {
  const int64_t row = row_with_hash(connection_.sqlite(), "workload", id);
  if (row == 0) throw never_added("workload " + id);
  return row;
}

int64_t SqliteDatabase::device_row(const std::string& name) {
  if (const auto known = devices_.find(name); known != devices_.end()) return known->second;
  SQLite::Statement query(connection_.sqlite(), "SELECT max(id) FROM device WHERE name = ?");
  query.bind(1, name);
  if (!query.executeStep() || query.getColumn(0).isNull()) throw never_added("device " + name);
  return query.getColumn(0).getInt64();
}

int64_t SqliteDatabase::model_row(const std::string& model) {
  SQLite::Statement query(connection_.sqlite(), "SELECT id FROM model WHERE name = ?");
  query.bind(1, model);
  if (!query.executeStep()) throw never_added("model " + model);
  return query.getColumn(0).getInt64();
}

}  // namespace hone
