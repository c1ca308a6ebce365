// SPDX-License-Identifier: MIT
// Every way in which a database cannot be opened or written ends in one Error that names the file and a remedy, and
// leaves the file as it was.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iterator>

#include "db/connection.h"
#include "db/file_system.h"
#include "tests/db/database_fixture.h"

namespace hone {
namespace {

using Mode = TuningDatabase::Mode;

class OpenTest : public DatabaseTest {
 protected:
  /// The message of opening `file_` in a mode.
  std::string refusal(Mode mode, int busy_timeout_ms = 50) {
    const std::string message = error_of([&] { SqliteDatabase(file_, mode, busy_timeout_ms); });
    EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
    EXPECT_NE(message.find("; "), std::string::npos) << "no remedy: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  void expect_refused(Mode mode, const std::string& part) {
    const std::string message = refusal(mode);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  void write(const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; }
  std::string bytes() {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void execute(const std::string& sql) {
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
};

TEST_F(OpenTest, CreatesMissingFolders) {
  file_ = folder_ / "a" / "b" / "hone.sqlite";
  open();
  EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(OpenTest, FolderThatCannotBeMade) {
  write("a file where a folder should be");
  file_ = file_ / "hone.sqlite";
  expect_refused(Mode::read_write, "folder cannot be made");
}

TEST_F(OpenTest, MissingFileForReading) {
  expect_refused(Mode::read_only, "no such file");
  EXPECT_FALSE(std::filesystem::exists(file_)) << "reading must not create it";
}

TEST_F(OpenTest, EmptyFile) {
  write("");
  expect_refused(Mode::read_only, "empty");
  open();  // for writing it is as good as a missing one
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(OpenTest, FolderInPlaceOfFile) {
  std::filesystem::create_directory(file_);
  expect_refused(Mode::read_write, "it is a folder");
}

TEST_F(OpenTest, NotSqlite) {
  write(
      "This is a text of more than a hundred characters, which is what SQLite looks at before it says no to a "
      "file....");
  const std::string before = bytes();
  expect_refused(Mode::read_write, "not a SQLite file");
  expect_refused(Mode::read_only, "not a SQLite file");
  EXPECT_EQ(bytes(), before);
}

TEST_F(OpenTest, ForeignDatabase) {
  execute("CREATE TABLE recipes (name TEXT)");
  const std::string before = bytes();
  expect_refused(Mode::read_write, "another program");
  execute("PRAGMA application_id = 77; DROP TABLE recipes");
  expect_refused(Mode::read_only, "another program");
  file_ = folder_ / "second.sqlite";
  execute("CREATE TABLE recipes (name TEXT)");
  EXPECT_EQ(bytes(), before) << "a foreign database must not be touched";
}

TEST_F(OpenTest, NewerSchema) {
  open();
  database_.reset();
  execute("PRAGMA user_version = 7");
  expect_refused(Mode::read_write, "schema 7");
  expect_refused(Mode::read_only, "update hone");
}

TEST_F(OpenTest, TruncatedFile) {
  open();
  for (int i = 0; i < 50; ++i) database_->add_trial(job_, key_, environment_, "search", ok_trial(i, 100));
  database_.reset();
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  const std::string message = error_of([&] {
    open();
    database_->list_trials({});
  });
  EXPECT_NE(message.find("damaged"), std::string::npos) << message;
  EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
  EXPECT_NE(message.find(".recover"), std::string::npos) << message;
}

TEST_F(OpenTest, Locked) {
  open();
  database_.reset();
  SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  expect_refused(Mode::read_write, "locked");
  EXPECT_EQ(SqliteDatabase(file_, Mode::read_only).row_counts().at("workload"), 2) << "readers do not wait for writers";
}

TEST_F(OpenTest, ReadOnlyModeRefusesToWrite) {
  open();
  database_.reset();
  SqliteDatabase reader(file_, Mode::read_only);
  EXPECT_NE(error_of([&] { reader.add_workload(relu_workload(32)); }).find("cannot be written"), std::string::npos);
}

/// Permissions do not stop root: act as nobody for a while.
class AsNobody {
 public:
  AsNobody() : was_root_(geteuid() == 0) {
    if (was_root_ && seteuid(65534) != 0) ADD_FAILURE() << "seteuid";
  }
  ~AsNobody() {
    if (was_root_ && seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

TEST_F(OpenTest, WriteProtectedFileAndFolder) {
  open();
  const int64_t id = database_->add_trial(job_, key_, environment_, "search", ok_trial(1, 1));
  database_.reset();
  chmod(file_.c_str(), 0444);
  chmod(folder_.c_str(), 0555);
  {
    const AsNobody nobody;
    expect_refused(Mode::read_write, "cannot be written");
    SqliteDatabase reader(file_, Mode::read_only);
    EXPECT_TRUE(reader.trial(id)) << "a write-protected database can be read";
    file_ = folder_ / "new.sqlite";
    expect_refused(Mode::read_write, "cannot be opened or created");
  }
  chmod(folder_.c_str(), 0755);
}

TEST_F(OpenTest, FullDiskLosesNoCommittedTrial) {
  open();
  SQLite::Database& sqlite = database_->connection().sqlite();
  const int pages = sqlite.execAndGet("PRAGMA page_count").getInt();
  sqlite.exec("PRAGMA max_page_count = " + std::to_string(pages + 4));
  int64_t committed = 0;
  const std::string message = error_of([&] {
    for (int i = 0; i < 1000; ++i) {
      database_->add_trial(job_, key_, environment_, "search", ok_trial(i, 100));
      ++committed;
    }
  });
  EXPECT_NE(message.find("the disk is full"), std::string::npos) << message;
  EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
  EXPECT_GT(committed, 0);
  open();
  EXPECT_EQ(database_->row_counts().at("trial"), committed);
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(OpenTest, FailingWriteIsAnErrorToo) {
  open();
  database_->finish_job(job_, "finished");
  database_.reset();
  // A file size limit makes write(2) fail with EFBIG: SQLite reports an I/O error.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
    try {
      open();
      for (int i = 0; i < 1000; ++i) database_->add_trial(job_, key_, environment_, "search", ok_trial(i, 100));
    } catch (const Error& error) {
      fprintf(stderr, "child: %s\n", error.what());
      _exit(std::string(error.what()).find("the disk reported an error") != std::string::npos ? 0 : 1);
    }
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  open();
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(OpenTest, JournalFollowsTheFileSystem) {
  open();
  EXPECT_EQ(database_->connection().sqlite().execAndGet("PRAGMA synchronous").getInt(), 2);
  EXPECT_EQ(database_->connection().sqlite().execAndGet("PRAGMA foreign_keys").getInt(), 1);
  const std::string network = network_file_system_of(file_);
  EXPECT_EQ(database_->connection().sqlite().execAndGet("PRAGMA journal_mode").getString(),
            network.empty() ? "wal" : "delete");
  EXPECT_EQ(database_->note().empty(), network.empty());
}

TEST(FileSystem, NamesTheOnesWithoutSharedMemory) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0xff534d42), "CIFS");
  EXPECT_EQ(network_file_system(0x65735546), "FUSE");
  EXPECT_EQ(network_file_system(0x01021997), "9p");
  EXPECT_EQ(network_file_system(0xef53), "") << "ext4";
  EXPECT_EQ(network_file_system(0x01021994), "") << "tmpfs";
  EXPECT_EQ(network_file_system(0x794c7630), "") << "overlayfs";
}

}  // namespace
}  // namespace hone
