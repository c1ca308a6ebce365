// SPDX-License-Identifier: MIT
// What is put into a database comes back, the same value is stored once, and best() chooses as it says.
#include "db/database.h"

#include <cmath>
#include <limits>

#include "tests/db/database_fixture.h"

namespace hone {
namespace {

void expect_equal(const Measurement& a, const Measurement& b) {
  EXPECT_EQ(a.cpu_ns, b.cpu_ns);
  EXPECT_EQ(a.wall_ns, b.wall_ns);
  EXPECT_EQ(a.calls_per_sample, b.calls_per_sample);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.cold_weights, b.cold_weights);
  EXPECT_EQ(a.evidence, b.evidence);
  EXPECT_EQ(a.involuntary_switches, b.involuntary_switches);
  EXPECT_EQ(a.load_average, b.load_average);
  EXPECT_EQ(a.frequency_ghz, b.frequency_ghz);
  EXPECT_EQ(a.scratch_bytes, b.scratch_bytes);
}

TEST_F(DatabaseTest, TrialComesBackAsItWas) {
  open();
  Trial trial = ok_trial(4, 100);
  trial.measurement->cpu_ns = {0.1, 1e-300, 123456789.123456789};  // every bit counts
  trial.measurement->frequency_ghz = 3.4;
  trial.measurement->scratch_bytes = int64_t{5} << 32;
  const int64_t id = database_->add_trial(job_, key_, environment_, "search", trial);
  open();
  const auto row = database_->trial(id);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->id, id);
  EXPECT_EQ(row->job, job_);
  EXPECT_EQ(row->workload, key_.workload);
  EXPECT_EQ(row->device, key_.device);
  EXPECT_EQ(row->context, key_.context.canonical());
  EXPECT_EQ(row->environment, environment_);
  EXPECT_EQ(row->purpose, "search");
  EXPECT_EQ(row->created.size(), std::string("2026-12-01T01:02:03.456Z").size());
  EXPECT_EQ(row->trial.config, trial.config);
  EXPECT_EQ(row->trial.status, TrialStatus::ok);
  EXPECT_EQ(row->trial.relative_error, 1e-7);
  EXPECT_EQ(row->trial.build_seconds, 0.125);
  EXPECT_EQ(row->trial.run_seconds, 0.25);
  expect_equal(*row->trial.measurement, *trial.measurement);
}

TEST_F(DatabaseTest, FailureKeepsItsReasonAndHasNoTime) {
  open();
  Trial trial;
  trial.config = {"pointwise_cpu", 1, {}};
  trial.message = "killed by SIGSEGV\n\xC3\xA4 'quoted'; DROP TABLE trial";
  for (const TrialStatus status :
       {TrialStatus::rejected_by_constraint, TrialStatus::build_failed, TrialStatus::build_timed_out,
        TrialStatus::run_failed, TrialStatus::run_timed_out, TrialStatus::wrong_result}) {
    trial.status = status;
    const auto row = database_->trial(database_->add_trial(job_, key_, environment_, "search", trial));
    ASSERT_TRUE(row);
    EXPECT_EQ(row->trial.status, status);
    EXPECT_EQ(parse_trial_status(name(status)), status);
    EXPECT_EQ(row->trial.message, trial.message);
    EXPECT_FALSE(row->trial.measurement);
    EXPECT_FALSE(row->trial.relative_error);
  }
  EXPECT_EQ(database_->best(key_, environment_).match, Match::none);
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(DatabaseTest, MeasurementWithoutSamplesAndUncomputableErrorAreStorable) {
  open();
  Trial trial = ok_trial(1, 1);
  trial.status = TrialStatus::wrong_result;
  trial.measurement->cpu_ns.clear();
  trial.measurement->wall_ns.clear();
  trial.relative_error = std::nan("");
  const auto row = database_->trial(database_->add_trial(job_, key_, environment_, "search", trial));
  ASSERT_TRUE(row && row->trial.measurement);
  EXPECT_TRUE(row->trial.measurement->cpu_ns.empty());
  EXPECT_EQ(row->trial.relative_error, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(DatabaseTest, SameValueIsOneRow) {
  open();
  const auto before = database_->row_counts();
  open();
  EXPECT_EQ(database_->row_counts(), before);
  EXPECT_EQ(before.at("workload"), 2);
  EXPECT_EQ(before.at("device"), 1);
  EXPECT_EQ(before.at("job"), 1);
  Environment other = environment_values_;
  other.halide_version = "22.0.0";
  EXPECT_NE(database_->add_environment(other), environment_);
  EXPECT_EQ(database_->environments().at(environment_), environment_values_);
  EXPECT_EQ(*database_->workload(key_.workload), relu_workload(8));
  EXPECT_FALSE(database_->workload(std::string(64, '0')));
}

TEST_F(DatabaseTest, ListsFilterAndKeepRowOrder) {
  open();
  const TuningKey other{relu_workload(16).id(), key_.device, key_.context};
  const int64_t a = database_->add_trial(job_, key_, environment_, "search", ok_trial(1, 30));
  const int64_t b = database_->add_trial(job_, other, environment_, "search", ok_trial(2, 20));
  const int64_t c = database_->add_trial(job_, key_, environment_, "playoff", ok_trial(1, 10));
  const auto of_key = database_->trials(key_, environment_);
  ASSERT_EQ(of_key.size(), 2u);
  EXPECT_EQ(of_key[0].id, a);
  EXPECT_EQ(of_key[1].id, c);
  TuningKey threaded = key_;
  threaded.context.threads = 2;
  EXPECT_TRUE(database_->trials(threaded, environment_).empty());
  TuningDatabase::TrialFilter filter;
  filter.workload = other.workload.substr(0, 8);
  ASSERT_EQ(database_->list_trials(filter).size(), 1u);
  EXPECT_EQ(database_->list_trials(filter)[0].id, b);
  filter = {};
  filter.limit = 2;
  EXPECT_EQ(database_->list_trials(filter).size(), 2u);
  filter = {};
  filter.status = "run_failed";
  EXPECT_TRUE(database_->list_trials(filter).empty());
  filter = {};
  filter.job = job_ + 1;
  EXPECT_TRUE(database_->list_trials(filter).empty());
  EXPECT_FALSE(database_->trial(12345));
  EXPECT_DOUBLE_EQ(database_->job_seconds(job_), 3 * 0.375);
}

TEST_F(DatabaseTest, BestPrefersTheLatestDecisionThenTheFastestTimedTrial) {
  open();
  EXPECT_EQ(database_->best(key_, environment_).match, Match::none);
  EXPECT_FALSE(database_->best(key_, environment_).reason.empty());
  Trial emulated = ok_trial(64, 1);
  emulated.measurement->evidence = Evidence::emulated;
  database_->add_trial(job_, key_, environment_, "search", emulated);
  EXPECT_EQ(database_->best(key_, environment_).match, Match::none) << "an emulated time must never be called best";

  const int64_t slow = database_->add_trial(job_, key_, environment_, "search", ok_trial(2, 200));
  const int64_t fast = database_->add_trial(job_, key_, environment_, "search", ok_trial(4, 100));
  Trial wrong = ok_trial(8, 50);
  wrong.status = TrialStatus::wrong_result;
  database_->add_trial(job_, key_, environment_, "search", wrong);
  TuningRecord best = database_->best(key_, environment_);
  EXPECT_EQ(best.match, Match::exact);
  EXPECT_EQ(best.trial, fast);
  EXPECT_EQ(best.best_ns, 100);

  database_->add_decision(key_, environment_, fast, "gain", 200, 100, 2, 1.9, 2.1);
  database_->add_decision(key_, environment_, slow, "no gain", 200, 201, 1, 0.99, 1.01);
  best = database_->best(key_, environment_);
  EXPECT_EQ(best.trial, slow) << "the later decision counts";
  EXPECT_EQ(best.best_ns, 201);
  EXPECT_EQ(best.config, ok_trial(2, 0).config);
  EXPECT_NE(best.reason.find("no gain"), std::string::npos) << best.reason;
  const auto decisions = database_->decisions(key_.device, "");
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].verdict, "no gain");
  EXPECT_EQ(decisions[0].key.context, key_.context);
  EXPECT_TRUE(database_->decisions("another", "").empty());
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(DatabaseTest, BestOfAnotherEnvironmentSaysWhatDiffers) {
  open();
  Environment far = environment_values_, near = environment_values_, here = environment_values_;
  far.cpu = "Other CPU";
  near.hone_version = "0.0.9";
  here.hone_version = "0.2.0";
  const int64_t far_row = database_->add_environment(far), near_row = database_->add_environment(near);
  database_->add_trial(job_, key_, far_row, "search", ok_trial(1, 10));
  const int64_t expected = database_->add_trial(job_, key_, near_row, "search", ok_trial(2, 99));
  const TuningRecord best = database_->best(key_, database_->add_environment(here));
  EXPECT_EQ(best.match, Match::other_environment);
  EXPECT_EQ(best.trial, expected) << "the same CPU comes before a faster one";
  EXPECT_NE(best.reason.find("other hone"), std::string::npos) << best.reason;
  EXPECT_EQ(best.reason.find("CPU"), std::string::npos) << best.reason;
}

TEST_F(DatabaseTest, ModelsRunsRoofsSpacesAndArtifacts) {
  open();
  const std::vector<ModelTask> tasks = {{relu_workload(16).id(), 2, {"a", "b\"<\xff"}}, {key_.workload, 1, {"c"}}};
  database_->add_model("relu.onnx 0123", "/models/relu.onnx", "x:1,8", {tasks[1]});
  database_->add_model("relu.onnx 0123", "/models/relu.onnx", "x:1,8", tasks);
  EXPECT_EQ(database_->models(), std::vector<std::string>{"relu.onnx 0123"});
  const auto read = database_->model_tasks("relu.onnx 0123");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].workload, tasks[0].workload);
  EXPECT_EQ(read[0].count, 2);
  EXPECT_EQ(read[0].nodes[0], "a");
  EXPECT_EQ(read[1].nodes, tasks[1].nodes);

  ModelRun run{"relu.onnx 0123", "tuned", key_.device, key_.context.canonical(), environment_, 7, measurement_of(5)};
  database_->add_model_run(run);
  const auto runs = database_->model_runs("relu.onnx 0123");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].variant, "tuned");
  EXPECT_EQ(runs[0].batch, 7);
  expect_equal(runs[0].measurement, run.measurement);

  database_->add_roofs(environment_, key_.device, {{"peak_flops", 1e11}, {"bandwidth_DRAM", 1e10}});
  database_->add_roofs(environment_, key_.device, {{"peak_flops", 2e11}});
  EXPECT_EQ(database_->roofs(environment_, key_.device),
            (std::map<std::string, double>{{"peak_flops", 2e11}, {"bandwidth_DRAM", 1e10}}));

  SearchSpace space;
  space.implementation = "pointwise_cpu";
  space.params = {{"tile", {1, 2, 4}}};
  space.default_config = {"pointwise_cpu", 1, {{"tile", 2}}};
  database_->add_space(key_, {space});
  database_->add_space(key_, {space});
  EXPECT_EQ(database_->row_counts().at("space"), 1);
  database_->add_artifact(
      {"bundle", run.model, key_.device, key_.context.canonical(), "/out", std::string(64, 'a'), ""});
  EXPECT_EQ(database_->artifacts().at(0).path, "/out");
  EXPECT_TRUE(database_->check().empty());
}

TEST_F(DatabaseTest, UnknownReferencesAreRefusedByName) {
  open();
  TuningKey stranger = key_;
  stranger.workload = std::string(64, 'f');
  EXPECT_NE(error_of([&] {
              database_->add_trial(job_, stranger, environment_, "search", ok_trial(1, 1));
            }).find("workload ffff"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              database_->add_roofs(environment_, "no-such-device", {{"peak_flops", 1}});
            }).find("no-such-device"),
            std::string::npos);
  error_of([&] { database_->add_trial(job_, key_, 999, "search", ok_trial(1, 1)); });
  EXPECT_EQ(database_->row_counts().at("trial"), 0);
}

TEST(DefaultPath, FollowsXdgThenHome) {
  EXPECT_EQ(TuningDatabase::default_path("/data", "/home/a"), "/data/hone/hone.sqlite");
  EXPECT_EQ(TuningDatabase::default_path("", "/home/a"), "/home/a/.local/share/hone/hone.sqlite");
  EXPECT_EQ(TuningDatabase::default_path("relative", "/home/a"), "/home/a/.local/share/hone/hone.sqlite");
  EXPECT_THROW(TuningDatabase::default_path("", ""), Error);
}

TEST(InMemory, Works) {
  const auto database = TuningDatabase::open(":memory:", TuningDatabase::Mode::read_write);
  database->add_workload(relu_workload(8));
  EXPECT_EQ(database->row_counts().at("workload"), 1);
  EXPECT_TRUE(database->note().empty());
}

}  // namespace
}  // namespace hone
