// SPDX-License-Identifier: MIT
// What the `hash` column of each table covers. Writers and check() share these functions.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "db/database.h"

namespace hone {

std::string device_hash(const std::string& name, const std::string& facts);
std::string environment_hash(const Environment& environment);

/// Hashes of the rows that a trial, decision or model run refers to.
struct References {
  std::string owner;  // job of a trial, trial of a decision ("" for none), name of a run's model
  std::string workload, device, environment;
};
std::string job_hash(SQLite::Database& database, int64_t job);
/// The `hash` of a row, or "" if there is none.
std::string hash_of(SQLite::Database& database, const char* table, int64_t row);

std::string trial_hash(const References& references, int64_t sequence, const TrialRow& row);
std::string decision_hash(const References& references, const TuningDatabase::Decision& decision);
std::string model_run_hash(const References& references, const ModelRun& run, const std::string& created);

}  // namespace hone
