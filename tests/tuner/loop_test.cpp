// SPDX-License-Identifier: MIT
// The tuning loop over fakes: default first, winners need confidence, failures are trials, resume measures nothing
// twice.
#include "tuner/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "executor/error.h"
#include "tests/fakes/fake_builder.h"
#include "tests/fakes/fake_runner.h"
#include "tuner/candidate.h"

namespace hone {
namespace {

Workload relu(int64_t size) {
  Workload workload;
  const TensorType type{DType::f32, {size}};
  workload.arguments = {{type, dense_strides(type.shape), false}};
  workload.nodes = {{"Relu", {}, {0}, {type}}};
  workload.outputs = {{1, dense_strides(type.shape)}};
  return workload;
}

class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    SearchSpace space;
    space.implementation = "fake";
    space.params = {{"x", {0, 1, 2, 3, 4, 5, 6, 7}}};
    space.default_config = {"fake", 1, {{"x", 0}}};
    builder.spaces_to_give = {space};
    runner.time_ns = [](const Config& c, int round) {
      return 1000.0 - 50.0 * static_cast<double>(c.at("x")) + (round % 3);
    };
    runner.outputs = [this](const Config&, const KernelRequest& request) {
      std::vector<std::vector<std::byte>> outputs;
      for (const TuningTask& task : tasks) {
        const ReferenceRun reference = make_reference_run(task.workload);
        if (reference.expected[0].bytes.size() == request.output_bytes[0]) outputs = {reference.expected[0].bytes};
      }
      return outputs;
    };
    options.device.name = "fake-device";
    options.budget_seconds = 60;
    options.work_directory = std::filesystem::path(testing::TempDir()) / "hone-loop-test";
    job = {"model", "fake-device", options.context, 1, "random"};
  }

  TuningResult run() { return tune(tasks, job, options, environment, builder, runner, *database); }
  std::vector<TrialRow> rows(const std::string& purpose) {
    std::vector<TrialRow> all = database->list_trials({});
    std::erase_if(all, [&](const TrialRow& row) { return row.purpose != purpose; });
    return all;
  }

  std::vector<TuningTask> tasks = {{relu(1000), 1, {"a"}}, {relu(37), 3, {"b"}}};
  FakeBuilder builder;
  FakeRunner runner;
  TuningOptions options;
  JobKey job;
  Environment environment{"fake cpu", "1", "21", "test", "1", "local"};
  std::unique_ptr<TuningDatabase> database = TuningDatabase::open(":memory:", TuningDatabase::Mode::read_write);
};

TEST_F(LoopTest, FindsTheBestAndStoresTheDecision) {
  const TuningResult result = run();
  ASSERT_EQ(result.tasks.size(), 2u);
  for (const TaskResult& task : result.tasks) {
    EXPECT_EQ(task.best.at("x"), 7);
    EXPECT_EQ(task.decision, "gain");
    EXPECT_GT(task.verdict.low, 1.0);
    EXPECT_EQ(database->best({task.workload.id(), "fake-device", options.context}, 1).config, task.best);
  }
  EXPECT_EQ(rows("search").size(), 16u);
  EXPECT_EQ(rows("search").front().trial.config.at("x"), 0) << "the default is trial 0";
}

TEST_F(LoopTest, EqualTimesKeepTheDefault) {
  runner.time_ns = [](const Config& c, int round) {
    return 1000.0 + static_cast<double>((round * 7 + c.at("x") * 3) % 11);
  };
  for (const TaskResult& task : run().tasks) {
    EXPECT_EQ(task.best.at("x"), 0);
    EXPECT_NE(task.decision, "gain");
  }
}

TEST_F(LoopTest, FailuresAreTrialsAndTuningGoesOn) {
  builder.outcome = [](const BuildRequest& request) {
    if (request.config.at("x") == 5) return BuildOutcome{BuildStatus::timed_out, "deadline", 1};
    if (request.config.at("x") == 4) return BuildOutcome{BuildStatus::failed, "LLVM abort", 1};
    return BuildOutcome{};
  };
  runner.status = [](const Config& c) {
    return c.at("x") == 7 ? RunStatus::failed : c.at("x") == 3 ? RunStatus::timed_out : RunStatus::ok;
  };
  const auto right = runner.outputs;
  runner.outputs = [right](const Config& c, const KernelRequest& request) {
    auto outputs = right(c, request);
    if (c.at("x") == 6) reinterpret_cast<float*>(outputs[0].data())[0] += 1;
    return outputs;
  };
  const TuningResult result = run();
  EXPECT_EQ(result.tasks[0].best.at("x"), 2);
  for (const auto& [status, count] : std::map<std::string, int64_t>{
           {"build_timed_out", 2}, {"build_failed", 2}, {"run_failed", 2}, {"run_timed_out", 2}, {"wrong_result", 2}}) {
    EXPECT_EQ(result.trials_by_status.at(status), count) << status;
  }
  for (const TrialRow& row : rows("search")) {
    EXPECT_EQ(row.trial.measurement.has_value(), row.trial.status == TrialStatus::ok);
    EXPECT_EQ(row.trial.message.empty(), row.trial.status == TrialStatus::ok);
  }
}

TEST_F(LoopTest, ADefaultThatFailsIsReplaced) {
  runner.status = [](const Config& c) { return c.at("x") == 0 ? RunStatus::failed : RunStatus::ok; };
  const TuningResult result = run();
  EXPECT_EQ(result.tasks[0].best.at("x"), 7);
  EXPECT_EQ(result.tasks[0].decision, "gain");
}

TEST_F(LoopTest, ResumeMeasuresNothingTwice) {
  options.max_trials = 5;
  run();
  ASSERT_EQ(rows("search").size(), 5u);
  options.max_trials = 11;
  run();
  ASSERT_EQ(rows("search").size(), 11u);
  options.max_trials = 0;
  run();
  std::set<std::string> seen;
  for (const TrialRow& row : rows("search"))
    EXPECT_TRUE(seen.insert(row.workload + row.trial.config.canonical()).second);
  EXPECT_EQ(seen.size(), 16u);
}

TEST_F(LoopTest, StopsWhenAskedAndKeepsWhatIsDone) {
  std::atomic<bool> stop{false};
  options.stop = &stop;
  const auto times = runner.time_ns;
  runner.time_ns = [&](const Config& c, int round) {
    if (runner.requests == 4) stop = true;
    return times(c, round);
  };
  const TuningResult result = run();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(rows("search").size(), 4u);
  EXPECT_EQ(result.tasks[0].decision, "not measured");
}

TEST_F(LoopTest, AWholeBudgetSpentEarlierLeavesOnlyNothingToMeasure) {
  options.max_trials = 3;
  run();
  options.max_trials = 0;
  options.budget_seconds = 1e-9;
  run();
  EXPECT_EQ(rows("search").size(), 3u);
}

TEST_F(LoopTest, RecheckRacesTheStoredWinnerAndCanTakeItBack) {
  run();
  options.recheck = true;
  const TuningResult kept = run();
  EXPECT_EQ(kept.tasks[0].best.at("x"), 7);
  EXPECT_EQ(rows("search").size(), 16u) << "a recheck searches nothing";
  const auto times = runner.time_ns;
  runner.time_ns = [&](const Config& c, int round) { return c.at("x") == 7 ? 2000.0 + round : times(c, round); };
  const TuningResult taken_back = run();
  EXPECT_TRUE(taken_back.tasks[0].verdict.b_faster());
  EXPECT_EQ(taken_back.tasks[0].best.at("x"), 0);
  EXPECT_EQ(database->best(TuningKey{tasks[0].workload.id(), "fake-device", options.context}, 1).config.at("x"), 0);
}

TEST_F(LoopTest, UnknownStrategySuggestsTheNearest) {
  options.strategy = "randon";
  try {
    run();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'random'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hone
