// SPDX-License-Identifier: MIT
// Bundles in hone-runner: a shared object of hand-written kernels with a plan of two steps.
#include <gmock/gmock.h>

#include <filesystem>

#include "profiler/runner.h"
#include "tests/fakes/fake_bundle.h"
#include "tests/profiler/runner_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

enum : uint32_t { kAdd, kHang };

class ModelRunnerTest : public testing::Test {
 protected:
  // y = (x + 100) + 100 by way of the arena; or a plan that hangs.
  ModelCandidate write_model(const std::string& file, uint32_t second_kernel = kAdd) const {
    PlanBuilder builder(kKernelElements);
    const uint32_t x = builder.input(), y = builder.output(), sum = builder.arena();
    const uint32_t weights = builder.weights(std::vector<float>(kKernelElements, 100.f));
    builder.step(kAdd, {x, weights, sum}, "first");
    builder.step(second_kernel, {sum, weights, y}, "second");
    builder.plan.kernel_count = 2;
    write_file(directory_.path() / file, builder.file());
    return {.shared_object = HONE_TEST_MODEL, .plan = directory_.path() / file, .symbol = "hone_test_model"};
  }
  ModelRequest request(const std::vector<ModelCandidate>& models, int rounds) const {
    ModelRequest request{.models = models, .inputs = {floats(kKernelElements, 0, 1)}, .options = {}};
    request.options.rounds = rounds;
    request.options.seconds_per_sample = 0.0001;
    request.options.deadline_seconds = 20;
    return request;
  }

  TemporaryDirectory directory_;
  const std::vector<std::byte> expected_ = floats(kKernelElements, 200, 1);
  std::unique_ptr<Runner> runner_ = start_runner({.runner = HONE_RUNNER, .command_prefix = {}});
};

TEST_F(ModelRunnerTest, RunsAndTimesABundle) {
  ModelRequest profiled = request({write_model("a.hone")}, 5);
  profiled.profile_steps = true;
  const auto outcomes = runner_->run_models(profiled);
  ASSERT_EQ(outcomes.size(), 1u);
  const ModelOutcome& outcome = outcomes[0];
  ASSERT_EQ(outcome.status, RunStatus::ok) << outcome.message;
  EXPECT_EQ(outcome.outputs, std::vector<std::vector<std::byte>>(1, expected_));
  EXPECT_EQ(outcome.measurement.cpu_ns.size(), 5u);
  EXPECT_GT(outcome.measurement.best_ns(), 0);
  EXPECT_EQ(outcome.measurement.scratch_bytes, 0);
  ASSERT_EQ(outcome.steps.size(), 2u);
  for (const Measurement& step : outcome.steps) {
    EXPECT_EQ(step.cpu_ns.size(), 5u);
    EXPECT_GT(step.best_ns(), 0);
  }
  EXPECT_GT(outcome.load_seconds, 0);
  EXPECT_GT(outcome.peak_rss_bytes, 0);
}

TEST_F(ModelRunnerTest, OutputsWithoutTiming) {
  const auto outcomes = runner_->run_models(request({write_model("a.hone")}, 0));
  ASSERT_EQ(outcomes[0].status, RunStatus::ok) << outcomes[0].message;
  EXPECT_EQ(outcomes[0].outputs.at(0), expected_);
  EXPECT_TRUE(outcomes[0].measurement.cpu_ns.empty());
  EXPECT_TRUE(outcomes[0].steps.empty());
}

TEST_F(ModelRunnerTest, InterleavesModelsAndThreads) {
  ModelRequest two = request({write_model("a.hone"), write_model("b.hone")}, 6);
  two.options.threads = 2;
  const auto outcomes = runner_->run_models(two);
  ASSERT_EQ(outcomes.size(), 2u);
  for (const ModelOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, RunStatus::ok) << outcome.message;
    EXPECT_EQ(outcome.outputs.at(0), expected_);
    EXPECT_EQ(outcome.measurement.wall_ns.size(), 6u);
    EXPECT_EQ(outcome.measurement.threads, 2);
  }
}

TEST_F(ModelRunnerTest, ABadBundleFailsAlone) {
  ModelCandidate no_plan = write_model("a.hone"), no_symbol = no_plan, no_object = no_plan;
  no_plan.plan = directory_.path() / "missing.hone";
  no_symbol.symbol = "hone_other";
  no_object.shared_object = directory_.path() / "missing.so";
  const auto outcomes = runner_->run_models(request({no_plan, write_model("b.hone"), no_symbol, no_object}, 2));
  EXPECT_EQ(outcomes[0].status, RunStatus::failed);
  EXPECT_THAT(outcomes[0].message, HasSubstr("missing.hone"));
  EXPECT_EQ(outcomes[1].status, RunStatus::ok) << outcomes[1].message;
  EXPECT_EQ(outcomes[1].measurement.cpu_ns.size(), 2u);
  EXPECT_THAT(outcomes[2].message, HasSubstr("no symbol hone_other"));
  EXPECT_THAT(outcomes[3].message, HasSubstr("missing.so"));
}

TEST_F(ModelRunnerTest, WrongInputsAreNamed) {
  ModelRequest bad = request({write_model("a.hone")}, 0);
  bad.inputs[0].resize(10);
  EXPECT_EQ(runner_->run_models(bad)[0].message, "input x0 has 10 bytes, the model wants 4000");
  bad.inputs.clear();
  EXPECT_EQ(runner_->run_models(bad)[0].message, "the model has 1 inputs, the request 0");
}

TEST_F(ModelRunnerTest, AHangingModelTimesOut) {
  ModelRequest hanging = request({write_model("a.hone", kHang)}, 1);
  hanging.options.deadline_seconds = 0.3;
  const auto outcomes = runner_->run_models(hanging);
  EXPECT_EQ(outcomes[0].status, RunStatus::timed_out);
  EXPECT_EQ(outcomes[0].message, "not done after 0.3 s in the first call of hone_test_model");
}

}  // namespace
}  // namespace hone
