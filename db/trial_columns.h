// SPDX-License-Identifier: MIT
// Reading the trial table: the column list and its reader, shared by lookups and check().
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "db/database.h"

namespace hone {

/// "SELECT ... FROM trial JOIN ..." without WHERE; read_trial reads its columns.
std::string select_trials();
/// Throws SQLite::Exception (SQLITE_CORRUPT) that names the row if a value is none that hone writes.
TrialRow read_trial(SQLite::Statement& query);

}  // namespace hone
