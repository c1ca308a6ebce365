// SPDX-License-Identifier: MIT
#include "db/connection.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "db/file_system.h"
#include "executor/error.h"

namespace hone {

extern const std::string_view kMigration0001;  // hone_embed_text

namespace {

/// Index i brings the schema from version i to i + 1.
const std::array<const std::string_view*, kSchemaVersion> kMigrations = {&kMigration0001};

bool in_memory(const std::filesystem::path& file) {
  return file == ":memory:";
}

std::string attempt(std::string_view action, const std::filesystem::path& file) {
  return "cannot " + std::string(action) + " database " + file.string();
}

Error to_error(std::string_view action, const std::filesystem::path& file, const SQLite::Exception& exception) {
  const std::string attempted = attempt(action, file);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  const std::string detail = exception.what();
  switch (exception.getErrorCode() & 0xff) {
    case SQLITE_FULL:
      return Error(attempted, "the disk is full", "free some space in " + folder + " and run the same command again");
    case SQLITE_IOERR:
      return Error(attempted, "the disk reported an error (" + detail + ")",
                   "check the disk and its free space, or keep the database elsewhere with --db FILE");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Error(attempted, "it cannot be written (" + detail + ")",
                   "make the file and its folder writable, or choose another with --db FILE");
    case SQLITE_CANTOPEN:
      return Error(attempted, "the file cannot be opened or created (" + detail + ")",
                   "check that the folder " + folder + " exists and that you may write there");
    case SQLITE_NOTADB:
      return Error(attempted, "it is not a SQLite file", "choose another file with --db FILE");
    case SQLITE_CORRUPT:
      return Error(attempted, "the file is damaged (" + detail + ")",
                   "restore a copy, or save what is readable with 'sqlite3 " + file.string() +
                       " .recover | sqlite3 NEW' and use --db NEW");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(attempted, "another process keeps it locked",
                   "wait for that process ('fuser " + file.string() + "' names it) and try again");
    case SQLITE_NOMEM:
      return Error(attempted, "out of memory", "free some memory and run the same command again");
    case SQLITE_CONSTRAINT:
      return Error(attempted, "a row would break the schema's rules (" + detail + ")",
                   "this is a bug in hone: please report it with this line");
    default:
      return Error(attempted, detail, "run 'hone db check' on it, or choose another file with --db FILE");
  }
}

void prepare_folder(const std::filesystem::path& file) {
  if (in_memory(file) || !file.has_parent_path()) return;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    throw Error(attempt("create", file), "its folder cannot be made (" + error.message() + ")",
                "choose a writable place with --db FILE");
  }
}

/// SQLite reads a WAL database in a folder that it cannot write only if told that nobody else writes either; with no
/// -wal file beside it that is true unless a writer comes later, and then the worst is a read that fails.
std::string read_only_name(const std::filesystem::path& file) {
  if (in_memory(file)) return file.string();
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0 || std::filesystem::exists(file.string() + "-wal")) {
    return file.string();
  }
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '?' || c == '#' || c == '%') {
      uri += c == '?' ? "%3f" : c == '#' ? "%23" : "%25";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

SQLite::Database open_file(const std::filesystem::path& file, TuningDatabase::Mode mode, int busy_timeout_ms) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw Error(attempt("open", file), "it is a folder", "name a file with --db FILE");
  }
  try {
    if (mode == TuningDatabase::Mode::read_only) {
      if (!in_memory(file) && !std::filesystem::exists(file, ignored)) {
        throw Error(attempt("open", file), "there is no such file",
                    "run 'hone tune' first, or name another with --db FILE");
      }
      return SQLite::Database(read_only_name(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, busy_timeout_ms);
    }
    prepare_folder(file);
    return SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, busy_timeout_ms);
  } catch (const SQLite::Exception& exception) {
    throw to_error("open", file, exception);
  }
}

}  // namespace

Connection::Connection(const std::filesystem::path& file, TuningDatabase::Mode mode, int busy_timeout_ms)
    : file_(file), database_(open_file(file, mode, busy_timeout_ms)) {
  guarded("open", [&] {
    check_identity(mode);
    database_.exec("PRAGMA foreign_keys = ON");
    // A few milliseconds an added trial buy that a power cut loses nothing that was committed
    // (docs/reference/database.md).
    database_.exec("PRAGMA synchronous = FULL");
    if (mode == TuningDatabase::Mode::read_write) {
      migrate();
      choose_journal();
    }
  });
}

void Connection::throw_error(std::string_view action, const SQLite::Exception& exception) const {
  throw to_error(action, file_, exception);
}

void Connection::check_identity(TuningDatabase::Mode mode) {
  const int application_id = pragma("application_id");  // the first read: here SQLite finds out that it is no database
  const bool has_tables = database_.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() > 0;
  if (application_id != kApplicationId && (application_id != 0 || has_tables)) {
    throw Error(attempt("open", file_), "it is a database of another program", "choose another file with --db FILE");
  }
  const int version = pragma("user_version");
  if (mode == TuningDatabase::Mode::read_only && version < kSchemaVersion) {
    throw Error(attempt("open", file_),
                version == 0 ? "it is empty" : "an older hone made it and it was not converted yet",
                "run 'hone tune' with it once, or choose another file with --db FILE");
  }
  if (version > kSchemaVersion) {
    throw Error(attempt("open", file_),
                "a newer hone made it (schema " + std::to_string(version) + ", this one knows " +
                    std::to_string(kSchemaVersion) + ")",
                "update hone, or choose another file with --db FILE");
  }
}

void Connection::migrate() {
  // SQLite opens a write-protected file for reading without a word: say so here, not after an hour of tuning.
  if (sqlite3_db_readonly(database_.getHandle(), "main") == 1) {
    throw SQLite::Exception("write-protected", SQLITE_READONLY);
  }
  if (pragma("user_version") == kSchemaVersion) {
    database_.exec("BEGIN IMMEDIATE; ROLLBACK");  // finds a folder in which no journal can be made
    return;
  }
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  check_identity(TuningDatabase::Mode::read_write);  // another process may have been first
  for (int version = pragma("user_version"); version < kSchemaVersion; ++version) {
    database_.exec(std::string(*kMigrations[static_cast<size_t>(version)]));
  }
  database_.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  database_.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  transaction.commit();
}

void Connection::choose_journal() {
  if (in_memory(file_)) return;
  const std::string network = network_file_system_of(file_);
  const std::string wanted = network.empty() ? "wal" : "delete";
  if (!network.empty()) {
    note_ = file_.string() + " is on " + network +
            ": SQLite's slower rollback journal is used; keep the file on a local disk if several processes write it";
  }
  if (database_.execAndGet("PRAGMA journal_mode").getString() == wanted) return;
  // Two processes that open a new file together may each hold what the other waits for: SQLite then reports "busy" at
  // once, without the busy timeout. A file system may also refuse WAL; the journal that the file has is safe then.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  while (true) {
    try {
      database_.execAndGet("PRAGMA journal_mode = " + wanted);
      return;
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

}  // namespace hone
