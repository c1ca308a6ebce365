// SPDX-License-Identifier: MIT
// The aarch64 hone-runner under qemu-user: the same protocol, the same verdicts on good and bad kernels. Skipped,
// visibly, where the cross-built runner does not exist (target runtime-aarch64).
#include <gmock/gmock.h>

#include <filesystem>

#include "profiler/runner.h"
#include "tests/profiler/runner_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

class QemuRunnerTest : public RunnerTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(HONE_RUNNER_AARCH64)) {
      GTEST_SKIP() << "no " HONE_RUNNER_AARCH64 ": build target runtime-aarch64";
    }
    runner_ = start_runner({.runner = HONE_RUNNER_AARCH64,
                            .command_prefix = {"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"},
                            .evidence = Evidence::emulated});
  }
};

TEST_F(QemuRunnerTest, RunsKernels) {
  EXPECT_EQ(runner_->info().architecture, "aarch64");
  const RunOutcome good = run("add", 3);
  ASSERT_EQ(good.status, RunStatus::ok) << good.message;
  EXPECT_EQ(good.outputs.at(0), sum_);
  EXPECT_EQ(good.measurement.cpu_ns.size(), 3u);
  EXPECT_EQ(good.measurement.evidence, Evidence::emulated);
}

TEST_F(QemuRunnerTest, SurvivesBadKernels) {
  expect_failure("crashes", "killed by SIGSEGV");
  expect_failure("aborts", "killed by SIGABRT");
  expect_failure("exits", "exited with code 3");
  expect_failure("writes_beyond", "wrote outside its output");
  expect_failure("writes_its_input", "killed by SIGSEGV");
  expect_failure("wants_too_much", "out of memory");
  KernelRequest hanging = request({"hangs"});
  hanging.options.deadline_seconds = 1;
  EXPECT_EQ(runner_->run_kernels(hanging).at(0).status, RunStatus::timed_out);
  EXPECT_EQ(run("add").status, RunStatus::ok);
}

}  // namespace
}  // namespace hone
