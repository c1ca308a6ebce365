// SPDX-License-Identifier: MIT
// Connection: one SQLite connection that is known to be a hone database of our schema version, with its pragmas set.
// Everything SQLite can complain about becomes an Error that names the file and the remedy.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "db/database.h"

namespace hone {

inline constexpr int kApplicationId = 0x686f6e65;  // "hone", in the file's header
inline constexpr int kSchemaVersion = 1;           // number of migrations
inline constexpr int kBusyTimeoutMs = 10'000;

class Connection {
 public:
  /// Opens, creates (also the missing folders) and migrates. See TuningDatabase::open.
  Connection(const std::filesystem::path& file, TuningDatabase::Mode mode, int busy_timeout_ms = kBusyTimeoutMs);

  SQLite::Database& sqlite() { return database_; }
  const std::filesystem::path& file() const { return file_; }
  /// Empty, or why the rollback journal is used in place of the write-ahead log.
  const std::string& note() const { return note_; }

  /// Runs body() and turns SQLite's exceptions into "cannot <action> <file>: <problem>; <remedy>".
  template <typename Body>
  auto guarded(std::string_view action, Body&& body) {
    try {
      return body();
    } catch (const SQLite::Exception& exception) {
      throw_error(action, exception);
    }
  }

  /// guarded() within one immediate transaction: all of body() is committed, or nothing.
  template <typename Body>
  auto in_transaction(std::string_view action, Body&& body) {
    return guarded(action, [&] {
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        transaction.commit();
      } else {
        auto result = body();
        transaction.commit();
        return result;
      }
    });
  }

  [[noreturn]] void throw_error(std::string_view action, const SQLite::Exception& exception) const;

 private:
  void check_identity(TuningDatabase::Mode mode);
  void migrate();
  void choose_journal();
  int pragma(const char* name) { return database_.execAndGet(std::string("PRAGMA ") + name).getInt(); }

  std::filesystem::path file_;
  SQLite::Database database_;
  std::string note_;
};

}  // namespace hone
