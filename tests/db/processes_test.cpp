// SPDX-License-Identifier: MIT
// Several processes and one database: they share it, one at a time runs a job, and kill -9 loses nothing committed.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <set>

#include "db/process_identity.h"
#include "tests/db/database_fixture.h"

namespace hone {
namespace {

/// A child that runs body(write end of a pipe) and ends; what it writes is read here.
class Child {
 public:
  explicit Child(const std::function<void(int)>& body) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      int code = 0;
      try {
        body(ends[1]);
      } catch (const std::exception& error) {
        fprintf(stderr, "child: %s\n", error.what());
        code = 1;
      }
      _exit(code);
    }
    close(ends[1]);
    read_end_ = ends[0];
  }
  ~Child() {
    kill_now();
    close(read_end_);
  }
  pid_t pid() const { return pid_; }
  /// False at the end of the pipe.
  bool read(int64_t& value) const { return ::read(read_end_, &value, sizeof value) == sizeof value; }
  void kill_now() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int read_end_ = -1;
};

void send(int pipe, int64_t value) {
  if (write(pipe, &value, sizeof value) != sizeof value) _exit(9);
}

class ProcessesTest : public DatabaseTest {
 protected:
  /// Body of a child that tunes the given seed for ever and reports each committed trial.
  std::function<void(int)> endless_writer(uint64_t seed, int64_t count) {
    return [this, seed, count](int pipe) {
      job_key_.seed = seed;
      open();
      for (int64_t i = 0; i < count; ++i) {
        send(pipe,
             database_->add_trial(job_, key_, environment_, "search", ok_trial(i, 1000.0 + static_cast<double>(i))));
        usleep(500);  // leaves the lock to others now and then
      }
    };
  }
};

TEST_F(ProcessesTest, TwoProcessesCreateAndWriteTogether) {
  constexpr int64_t kTrials = 40;
  Child first(endless_writer(1, kTrials)), second(endless_writer(2, kTrials));
  std::set<int64_t> ids;
  int64_t id = 0;
  while (first.read(id)) ids.insert(id);
  while (second.read(id)) ids.insert(id);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(ids.size(), 2u * kTrials);
  SqliteDatabase database(file_, TuningDatabase::Mode::read_only);
  EXPECT_EQ(database.row_counts().at("trial"), 2 * kTrials);
  EXPECT_EQ(database.row_counts().at("workload"), 2);
  EXPECT_TRUE(database.check().empty());
}

TEST_F(ProcessesTest, KilledWriterLosesNothingAndItsJobGoesOn) {
  for (const int64_t enough : {1, 7, 23}) {
    Child writer(endless_writer(1, 1'000'000));
    std::vector<int64_t> committed(static_cast<size_t>(enough));
    for (int64_t& id : committed) ASSERT_TRUE(writer.read(id));
    const std::string pid = std::to_string(writer.pid());
    const std::string refusal = error_of([&] { open(); });
    EXPECT_NE(refusal.find("process " + pid), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("--seed"), std::string::npos) << refusal;
    writer.kill_now();
    int64_t id = 0;
    while (writer.read(id)) committed.push_back(id);

    open();  // starts the job of the dead process
    EXPECT_TRUE(database_->check().empty());
    for (size_t i = 0; i < committed.size(); ++i) {
      const auto row = database_->trial(committed[i]);
      ASSERT_TRUE(row) << "trial " << committed[i] << " was committed and is gone";
      EXPECT_EQ(row->trial.config, ok_trial(static_cast<int64_t>(i), 0).config);
      EXPECT_EQ(row->trial.measurement->cpu_ns, measurement_of(1000.0 + static_cast<double>(i)).cpu_ns);
    }
    database_->finish_job(job_, "interrupted");
    database_.reset();
  }
}

TEST_F(ProcessesTest, SameProcessMayStartItsJobAgainAndFinishedJobsAreFree) {
  open();
  const int64_t first = job_;
  open();
  EXPECT_EQ(job_, first);
  database_->finish_job(job_, "finished");
  Child other([&](int) { open(); });
  EXPECT_EQ(other.wait(), 0);
}

TEST(ProcessIdentityTest, TellsALaterProcessFromAnEarlierOne) {
  const ProcessIdentity self = this_process();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_TRUE(is_alive(self));
  ProcessIdentity reused = self;
  reused.start_ticks += 1;
  EXPECT_FALSE(is_alive(reused)) << "same pid, other process";
  ProcessIdentity rebooted = self;
  rebooted.boot = "00000000-0000-0000-0000-000000000000";
  EXPECT_FALSE(is_alive(rebooted));

  ProcessIdentity ended;
  {
    Child child([](int pipe) {
      send(pipe, this_process().start_ticks);
      pause();
    });
    ended = {child.pid(), 0, self.boot};
    ASSERT_TRUE(child.read(ended.start_ticks));
    EXPECT_TRUE(is_alive(ended));
  }
  EXPECT_FALSE(is_alive(ended));
}

}  // namespace
}  // namespace hone
