// SPDX-License-Identifier: MIT
#include "db/database.h"

#include "db/sqlite_database.h"
#include "executor/error.h"

namespace hone {

std::string_view name(Match match) {
  switch (match) {
    case Match::exact:
      return "exact";
    case Match::other_environment:
      return "other environment";
    case Match::other_shape:
      return "other shape";
    case Match::other_device:
      return "other device";
    case Match::none:
      return "none";
  }
  return "?";
}

std::unique_ptr<TuningDatabase> TuningDatabase::open(const std::filesystem::path& file, Mode mode) {
  return std::make_unique<SqliteDatabase>(file, mode);
}

std::filesystem::path TuningDatabase::default_path(std::string_view xdg_data_home, std::string_view home) {
  // The XDG specification says that a relative $XDG_DATA_HOME is to be ignored.
  if (std::filesystem::path(xdg_data_home).is_absolute()) {
    return std::filesystem::path(xdg_data_home) / "hone" / "hone.sqlite";
  }
  if (home.empty()) {
    throw Error("cannot choose a database", "neither XDG_DATA_HOME nor HOME is set", "name a file with --db FILE");
  }
  return std::filesystem::path(home) / ".local" / "share" / "hone" / "hone.sqlite";
}

}  // namespace hone
