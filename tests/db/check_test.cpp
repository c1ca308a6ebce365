// SPDX-License-Identifier: MIT
// check() finds planted damage of each kind, in the right row, and nothing else.
#include "tests/db/database_fixture.h"

namespace hone {
namespace {

class CheckTest : public DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    open();
    trial_ = database_->add_trial(job_, key_, environment_, "search", ok_trial(4, 100));
    database_->add_trial(job_, key_, environment_, "search", ok_trial(8, 90));
    database_->add_decision(key_, environment_, trial_, "gain", 200, 100, 2, 1.9, 2.1);
    database_->add_model("relu.onnx 0123", "relu.onnx", "", {{key_.workload, 1, {"relu"}}});
    database_->add_model_run(
        {"relu.onnx 0123", "tuned", key_.device, key_.context.canonical(), environment_, 1, measurement_of(5)});
    ASSERT_TRUE(database_->check().empty());
  }

  /// Damages the file behind the schema's back and returns what check() says.
  std::vector<CheckFinding> after(const std::string& sql) {
    database_.reset();
    {
      SQLite::Database sqlite(file_.string(), SQLite::OPEN_READWRITE);
      sqlite.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
      EXPECT_GT(sqlite.exec(sql), 0) << "the damage was not done: " << sql;
    }
    return SqliteDatabase(file_, TuningDatabase::Mode::read_only).check();
  }
  void expect_finding(const std::string& sql, const std::string& table, int64_t row, const std::string& part) {
    const auto findings = after(sql);
    bool found = false;
    std::string all;
    for (const CheckFinding& finding : findings) {
      all += finding.table + " " + std::to_string(finding.row) + ": " + finding.problem + "\n";
      found =
          found || (finding.table == table && finding.row == row && finding.problem.find(part) != std::string::npos);
    }
    EXPECT_TRUE(found) << "wanted '" << part << "' for " << table << " " << row << ", got:\n" << all;
  }

  int64_t trial_ = 0;
};

TEST_F(CheckTest, FlippedSampleByte) {
  expect_finding("UPDATE trial SET wall_ns = CAST(x'01' || substr(wall_ns, 2) AS BLOB) WHERE id = 1", "trial", 1,
                 "does not match its hash");
}

TEST_F(CheckTest, FlippedRankingSampleAlsoBreaksTheMinimum) {
  // 200 as a little-endian double in place of the second sample (the minimum).
  expect_finding(
      "UPDATE trial SET cpu_ns = CAST(substr(cpu_ns, 1, 8) || x'0000000000006940' || substr(cpu_ns, 17) AS BLOB) WHERE "
      "id = 1",
      "trial", 1, "minimum");
}

TEST_F(CheckTest, CutSamples) {
  expect_finding("UPDATE trial SET cpu_ns = substr(cpu_ns, 1, 11) WHERE id = 2", "trial", 2, "broken size");
}

TEST_F(CheckTest, ChangedTime) {
  expect_finding("UPDATE trial SET best_ns = 1 WHERE id = 2", "trial", 2, "minimum");
  expect_finding("UPDATE trial SET run_seconds = 1e9 WHERE id = 1", "trial", 1, "hash");
  expect_finding("UPDATE decision SET ratio = 9", "decision", 1, "hash");
  expect_finding("UPDATE model_run SET cpu_ns = wall_ns", "model_run", 1, "hash");
}

TEST_F(CheckTest, WrongWorkloadHash) {
  expect_finding("UPDATE workload SET hash = replace(printf('%64d', 0), ' ', '0') WHERE id = 2", "workload", 2, "hash");
}

TEST_F(CheckTest, ChangedWorkload) {
  expect_finding("UPDATE workload SET json = replace(json, '[1,8]', '[1,9]') WHERE id = 1", "workload", 1, "");
  expect_finding("UPDATE workload SET json = '{' WHERE id = 2", "workload", 2, "");
}

TEST_F(CheckTest, ImpossibleConfig) {
  expect_finding("UPDATE trial SET config = 'pointwise_cpu@{tile' WHERE id = 2", "trial", 2, "");
  expect_finding("UPDATE trial SET config = 'other_cpu@1{tile=4}' WHERE id = 1", "trial", 1, "hash");
}

TEST_F(CheckTest, Orphans) {
  expect_finding("DELETE FROM workload WHERE id = 1", "trial", 1, "workload");
  expect_finding("DELETE FROM trial WHERE id = 1", "decision", 1, "trial");
}

TEST_F(CheckTest, UnknownWords) {
  expect_finding("UPDATE trial SET status = 'fine' WHERE id = 1", "trial", 1, "status");
  expect_finding("UPDATE trial SET evidence = 'guessed' WHERE id = 2", "trial", 2, "evidence");
  expect_finding("UPDATE job SET context = 'many threads'", "job", 1, "");
  expect_finding("UPDATE model_task SET nodes = '{\"a\": 1}'", "model_task", 1, "names");
}

TEST_F(CheckTest, DecisionOfAnotherKey) {
  expect_finding("UPDATE decision SET workload = 2", "decision", 1, "another key");
}

TEST_F(CheckTest, ChangedDeviceAndEnvironment) {
  expect_finding("UPDATE device SET facts = replace(facts, '\"cores\":1', '\"cores\":2')", "device", 1, "hash");
  expect_finding("UPDATE environment SET cpu = 'Faster CPU'", "environment", 1, "hash");
}

TEST_F(CheckTest, DamagedPage) {
  database_.reset();
  {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 * 3);
    file << std::string(64, '\xff');
  }
  const auto findings = SqliteDatabase(file_, TuningDatabase::Mode::read_only).check();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].table, "(file)");
}

}  // namespace
}  // namespace hone
