// SPDX-License-Identifier: MIT
// Decisions, and best(): which Config a key should get, and why.
#include <cstdio>

#include "db/content_hash.h"
#include "db/sqlite_database.h"

namespace hone {
namespace {

enum class Where { this_environment, other_environments };

/// ?1 workload hash, ?2 device name, ?3 context, ?4 environment. In other environments those of the same CPU come
/// first.
std::string key_condition(const std::string& table, Where where) {
  return "WHERE " + table + ".workload = (SELECT id FROM workload WHERE hash = ?1) AND device.name = ?2 AND " + table +
         ".context = ?3 AND " + table + ".environment " + (where == Where::this_environment ? "=" : "!=") + " ?4 " +
         // Emulated and modelled times rank nothing.
         "AND trial.status = 'ok' AND trial.evidence = 'timed' AND trial.best_ns IS NOT NULL ";
}
constexpr const char* kSameCpuFirst = "ORDER BY environment.cpu = (SELECT cpu FROM environment WHERE id = ?4) DESC, ";

void bind_key(SQLite::Statement& query, const TuningKey& key, int64_t environment) {
  SQLite::bind(query, key.workload, key.device, key.context.canonical(), environment);
}

/// "environment 3 (other cpu, hone_version)": what differs between two environments.
std::string difference(const Environment& a, const Environment& b, int64_t b_id) {
  std::string fields;
  const auto compare = [&](const std::string& x, const std::string& y, const char* what) {
    if (x != y) fields += (fields.empty() ? "other " : ", ") + std::string(what);
  };
  compare(a.cpu, b.cpu, "CPU");
  compare(a.hone_version, b.hone_version, "hone");
  compare(a.halide_version, b.halide_version, "Halide");
  compare(a.os, b.os, "OS");
  compare(a.harness, b.harness, "harness");
  compare(a.transport, b.transport, "transport");
  return "environment " + std::to_string(b_id) + " (" + fields + ")";
}

struct Found {
  TuningRecord record;
  int64_t environment = 0;
};

std::optional<Found> latest_decision(SQLite::Database& database, const TuningKey& key, int64_t environment,
                                     Where where) {
  SQLite::Statement query(database,
                          "SELECT trial.id, trial.config, decision.best_ns, decision.environment, decision.id, "
                          "decision.verdict, decision.ratio, decision.ratio_low, decision.ratio_high FROM decision "
                          "JOIN trial ON trial.id = decision.trial JOIN device ON device.id = decision.device "
                          "JOIN environment ON environment.id = decision.environment " +
                              key_condition("decision", where) + kSameCpuFirst + "decision.id DESC LIMIT 1");
  bind_key(query, key, environment);
  if (!query.executeStep()) return std::nullopt;
  char reason[160];
  std::snprintf(reason, sizeof reason, "decision %lld: %s, %.3f (%.3f to %.3f) times the default's speed",
                static_cast<long long>(query.getColumn(4).getInt64()), query.getColumn(5).getText(),
                query.getColumn(6).getDouble(), query.getColumn(7).getDouble(), query.getColumn(8).getDouble());
  return Found{{query.getColumn(0).getInt64(), Config::parse(query.getColumn(1).getString()),
                query.getColumn(2).getDouble(), Match::exact, reason},
               query.getColumn(3).getInt64()};
}

std::optional<Found> fastest_trial(SQLite::Database& database, const TuningKey& key, int64_t environment, Where where) {
  SQLite::Statement query(database,
                          "SELECT trial.id, trial.config, trial.best_ns, trial.environment, trial.purpose FROM trial "
                          "JOIN device ON device.id = trial.device "
                          "JOIN environment ON environment.id = trial.environment " +
                              key_condition("trial", where) + kSameCpuFirst + "trial.best_ns, trial.id LIMIT 1");
  bind_key(query, key, environment);
  if (!query.executeStep()) return std::nullopt;
  return Found{
      {query.getColumn(0).getInt64(), Config::parse(query.getColumn(1).getString()), query.getColumn(2).getDouble(),
       Match::exact, "fastest " + query.getColumn(4).getString() + " trial, not decided by a play-off"},
      query.getColumn(3).getInt64()};
}

}  // namespace

void SqliteDatabase::add_decision(const TuningKey& key, int64_t environment, int64_t trial, const std::string& verdict,
                                  double default_ns, double best_ns, double ratio, double ratio_low,
                                  double ratio_high) {
  const Decision decision{key,     environment, trial,     verdict,    default_ns,
                          best_ns, ratio,       ratio_low, ratio_high, timestamp()};
  connection_.in_transaction("write", [&] {
    SQLite::Database& sqlite = connection_.sqlite();
    const int64_t workload = workload_row(key.workload), device = device_row(key.device);
    const References references{hash_of(sqlite, "trial", trial), key.workload, hash_of(sqlite, "device", device),
                                hash_of(sqlite, "environment", environment)};
    SQLite::Statement insert(sqlite,
                             "INSERT INTO decision (hash, workload, device, context, environment, trial, verdict, "
                             "default_ns, best_ns, ratio, ratio_low, ratio_high, created) "
                             "VALUES (?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, decision_hash(references, decision), workload, device, key.context.canonical(), environment,
                 trial, verdict, default_ns, best_ns, ratio, ratio_low, ratio_high, decision.created);
    insert.exec();
  });
}

std::vector<TuningDatabase::Decision> SqliteDatabase::decisions(const std::string& device, const std::string& context) {
  return connection_.guarded("read", [&] {
    SQLite::Statement query(
        connection_.sqlite(),
        "SELECT workload.hash, device.name, decision.context, environment, coalesce(trial, 0), verdict, "
        "default_ns, best_ns, ratio, ratio_low, ratio_high, decision.created FROM decision "
        "JOIN workload ON workload.id = decision.workload JOIN device ON device.id = decision.device "
        "WHERE (?1 = '' OR device.name = ?1) AND (?2 = '' OR decision.context = ?2) "
        "AND decision.id IN (SELECT max(d.id) FROM decision d JOIN device v ON v.id = d.device "
        "GROUP BY d.workload, v.name, d.context, d.environment) ORDER BY decision.id");
    SQLite::bind(query, device, context);
    std::vector<Decision> all;
    while (query.executeStep()) {
      const auto real = [&](int column) { return query.getColumn(column).getDouble(); };
      all.push_back({{query.getColumn(0).getString(), query.getColumn(1).getString(),
                      TuningContext::parse(query.getColumn(2).getString())},
                     query.getColumn(3).getInt64(),
                     query.getColumn(4).getInt64(),
                     query.getColumn(5).getString(),
                     real(6),
                     real(7),
                     real(8),
                     real(9),
                     real(10),
                     query.getColumn(11).getString()});
    }
    return all;
  });
}

TuningRecord SqliteDatabase::best(const TuningKey& key, int64_t environment) {
  const auto find = [&](Where where) {
    return connection_.guarded("read", [&] {
      auto found = latest_decision(connection_.sqlite(), key, environment, where);
      return found ? found : fastest_trial(connection_.sqlite(), key, environment, where);
    });
  };
  if (const auto found = find(Where::this_environment)) return found->record;
  if (auto found = find(Where::other_environments)) {
    const auto known = environments();
    const auto here = known.find(environment);
    const Environment none;
    found->record.match = Match::other_environment;
    found->record.reason += ", in " + difference(here == known.end() ? none : here->second,
                                                 known.at(found->environment), found->environment);
    return found->record;
  }
  TuningRecord nothing;
  nothing.reason = "no timed trial of this workload, device and context";
  return nothing;
}

}  // namespace hone
