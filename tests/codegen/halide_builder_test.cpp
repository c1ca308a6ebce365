// SPDX-License-Identifier: MIT
// The builder through the real helper: right kernels, schedules that fail in every known way, and a helper that dies.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "codegen/builder.h"
#include "codegen/object_symbols.h"
#include "executor/error.h"
#include "profiler/runner.h"
#include "tests/fakes/fake_bundle.h"
#include "tests/fakes/faulty_implementations.h"
#include "tests/schedules/workload_sketch.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

/// Living or unreaped processes whose parent is `parent`.
std::set<pid_t> children_of(pid_t parent) {
  std::set<pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    if (std::stoi(text.substr(name_end + 4)) == parent) children.insert(std::stoi(text));
  }
  return children;
}

size_t open_files() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Workload dense_relu() {
  WorkloadSketch sketch;
  const int x = sketch.input({3, 20}), w = sketch.constant({20, 7});
  sketch.output(sketch.node("Relu", {sketch.node("MatMul", {x, w})}));
  return sketch.workload();
}

class HalideBuilderTest : public testing::Test {
 protected:
  std::unique_ptr<Builder> start(int workers) {
    return start_halide_builder(
        {.helper = HONE_COMPILE_FAULTY, .workers = workers, .table = &faulty_implementations()});
  }
  BuildRequest request(const std::string& implementation, int64_t variant = 0, double deadline = 60) const {
    BuildRequest request{workload_, {}, device_, {}, {}, deadline};
    for (const SearchSpace& space : search_spaces(faulty_implementations(), workload_, device_, {})) {
      if (space.implementation == implementation) request.config = space.default_config;
    }
    if (implementation.starts_with("faulty_")) request.config.values["variant"] = variant;
    const std::string name = kernel_symbol(workload_, request.config, device_);
    request.object = directory_.path() / (name + ".o");
    request.shared = directory_.path() / (name + ".so");
    return request;
  }
  BuildOutcome build_one(const BuildRequest& request) { return builder_->build({&request, 1}).at(0); }
  RunOutcome run(const BuildRequest& built) {
    const auto packed = builder_->pack(workload_, built.config, {&arguments_[1], 1});
    const auto runner = start_runner({.runner = HONE_RUNNER, .command_prefix = {}});
    KernelRequest request{{arguments_[0].bytes}, {3 * 7 * 4}, {}, {}};
    request.candidates.push_back({built.shared, kernel_symbol(workload_, built.config, device_), {packed[0].bytes}});
    return runner->run_kernels(request).at(0);
  }
  static Tensor output(const RunOutcome& outcome) { return {DType::f32, {3, 7}, outcome.outputs.at(0)}; }

  TemporaryDirectory directory_;
  Workload workload_ = dense_relu();
  std::vector<Tensor> arguments_ = make_arguments(workload_, 1);
  Tensor expected_ = evaluate_reference(workload_, arguments_)[0];
  DeviceInfo device_ = resolve_device("host", detect_host_cpu());
  std::unique_ptr<Builder> builder_ = start(1);
};

TEST_F(HalideBuilderTest, BuildsAKernelThatTheRunnerRuns) {
  const BuildRequest built = request("generic_cpu");
  const BuildOutcome outcome = build_one(built);
  ASSERT_EQ(outcome.status, BuildStatus::ok) << outcome.message;
  EXPECT_GT(outcome.seconds, 0);
  EXPECT_FALSE(fs::exists(built.object.string() + ".raw"));
  for (const std::string& name : undefined_symbols(built.object)) EXPECT_EQ(name.find("halide"), std::string::npos);

  const RunOutcome result = run(built);
  ASSERT_EQ(result.status, RunStatus::ok) << result.message;
  EXPECT_LE(relative_error(output(result), expected_), tolerance(workload_));
}

TEST_F(HalideBuilderTest, ObjectsAreTheSameBytesInAnyOrderAndProcess) {
  const BuildRequest first = request("generic_cpu");
  ASSERT_EQ(build_one(first).status, BuildStatus::ok);
  const std::string object = contents(first.object), shared = contents(first.shared);
  ASSERT_FALSE(object.empty());
  ASSERT_EQ(build_one(request("matmul_cpu")).status, BuildStatus::ok);
  ASSERT_EQ(build_one(first).status, BuildStatus::ok);
  EXPECT_TRUE(contents(first.object) == object);
  builder_ = start(2);
  ASSERT_EQ(build_one(first).status, BuildStatus::ok);
  EXPECT_TRUE(contents(first.object) == object);
  EXPECT_TRUE(contents(first.shared) == shared);
}

TEST_F(HalideBuilderTest, FaultyKernelsAreFaultyAsMeant) {
  const BuildRequest crash = request("faulty_crash_at_run"), last = request("faulty_last_pixel");
  ASSERT_EQ(build_one(crash).status, BuildStatus::ok);
  const RunOutcome crashed = run(crash);
  EXPECT_EQ(crashed.status, RunStatus::failed);
  EXPECT_NE(crashed.message.find("SIG"), std::string::npos) << crashed.message;

  ASSERT_EQ(build_one(last).status, BuildStatus::ok);
  const RunOutcome result = run(last);
  ASSERT_EQ(result.status, RunStatus::ok) << result.message;
  const Tensor actual = output(result);
  EXPECT_GT(relative_error(actual, expected_), tolerance(workload_));
  for (size_t i = 0; i < 21; ++i) {
    const bool wrong = std::abs(actual.as<float>()[i] - expected_.as<float>()[i]) > 1;
    EXPECT_EQ(wrong, i == 2 * 7 + 5) << i;  // the last row's last odd column
  }
}

TEST_F(HalideBuilderTest, FailuresAreOutcomesAndLeaveNoFiles) {
  const BuildRequest refused = request("faulty_refused");
  const BuildOutcome refusal = build_one(refused);
  EXPECT_EQ(refusal.status, BuildStatus::failed);
  EXPECT_NE(refusal.message.find("not_a_dimension"), std::string::npos) << refusal.message;
  EXPECT_EQ(refusal.message.find('\n'), std::string::npos);

  const BuildOutcome crash = build_one(request("faulty_crash_compiler"));
  EXPECT_EQ(crash.status, BuildStatus::failed);
  EXPECT_NE(crash.message.find("SIGABRT"), std::string::npos) << crash.message;

  const BuildOutcome hang = build_one(request("faulty_hang_llvm", 0, 1.0));
  EXPECT_EQ(hang.status, BuildStatus::timed_out) << hang.message;
  EXPECT_FALSE(hang.message.empty());

  BuildRequest unknown = request("generic_cpu");
  unknown.config.implementation = "generic_cpo";
  const BuildOutcome outcome = build_one(unknown);
  EXPECT_EQ(outcome.status, BuildStatus::failed);
  EXPECT_NE(outcome.message.find("generic_cpu"), std::string::npos) << outcome.message;

  BuildRequest nowhere = request("generic_cpu");
  nowhere.object = directory_.path() / "missing" / "a.o";
  EXPECT_EQ(build_one(nowhere).status, BuildStatus::failed);
  EXPECT_TRUE(fs::is_empty(directory_.path()));
  EXPECT_EQ(build_one(request("generic_cpu")).status, BuildStatus::ok);
}

TEST_F(HalideBuilderTest, MissingBinutilsAreAnErrorThatNamesThePackage) {
  BuildRequest foreign = request("generic_cpu");
  foreign.device.binutils_prefix = "sparc64-linux-gnu-";
  try {
    build_one(foreign);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("apt-get install binutils-sparc64-linux-gnu"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(build_one(request("generic_cpu")).status, BuildStatus::ok);
}

TEST_F(HalideBuilderTest, ManyRequestsWithHangsLeaveNothingBehind) {
  builder_ = start(2);
  std::vector<BuildRequest> requests;
  for (int i = 0; i < 50; ++i) {
    if (i % 25 == 3) {
      requests.push_back(request("faulty_hang_llvm", i / 25, 0.8));
    } else if (i % 10 == 5) {
      requests.push_back(request("faulty_crash_compiler", i % 4));
    } else {
      requests.push_back(request("faulty_last_pixel", i % 4));
      requests.back().object += std::to_string(i);  // requests that run at the same time have files of their own
      requests.back().shared += std::to_string(i);
    }
  }
  const size_t files_before = open_files();
  const pid_t helper = *children_of(getpid()).begin();
  std::set<size_t> seen;
  const std::vector<BuildOutcome> outcomes = builder_->build(requests, [&](size_t index, const BuildOutcome&) {
    EXPECT_TRUE(seen.insert(index).second);
    return true;
  });
  EXPECT_EQ(seen.size(), requests.size());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const BuildStatus expected = i % 25 == 3   ? BuildStatus::timed_out
                                 : i % 10 == 5 ? BuildStatus::failed
                                               : BuildStatus::ok;
    EXPECT_EQ(outcomes[i].status, expected) << i << ": " << outcomes[i].message;
  }
  EXPECT_EQ(open_files(), files_before);
  EXPECT_EQ(children_of(getpid()), std::set<pid_t>{helper});
  EXPECT_TRUE(children_of(helper).empty());
  builder_.reset();
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST_F(HalideBuilderTest, StopsWhenToldTo) {
  std::vector<BuildRequest> requests = {request("generic_cpu"), request("faulty_hang_llvm", 0, 100),
                                        request("faulty_hang_llvm", 1, 100)};
  builder_ = start(2);
  const auto outcomes = builder_->build(requests, [](size_t, const BuildOutcome&) { return false; });
  EXPECT_EQ(outcomes[0].status, BuildStatus::ok) << outcomes[0].message;
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(outcomes[i].status, BuildStatus::failed);
    EXPECT_EQ(outcomes[i].message, "cancelled");
  }
}

TEST_F(HalideBuilderTest, AKilledHelperIsStartedAgain) {
  ASSERT_EQ(children_of(getpid()).size(), 1u);
  const pid_t helper = *children_of(getpid()).begin();
  kill(helper, SIGKILL);
  EXPECT_EQ(build_one(request("generic_cpu")).status, BuildStatus::ok);
  ASSERT_EQ(children_of(getpid()).size(), 1u);
  EXPECT_NE(*children_of(getpid()).begin(), helper);
}

TEST_F(HalideBuilderTest, AKernelThatTakesTheHelperDownTwiceIsToBlame) {
  const std::vector<BuildRequest> requests = {request("faulty_hang_llvm", 0, 100), request("generic_cpu")};
  std::atomic<bool> over = false;
  // Kills every helper as soon as it has a child: the worst that a kernel could do to it.
  std::thread killer([&] {
    int left = 2;
    while (!over && left > 0) {
      for (const pid_t helper : children_of(getpid())) {
        if (children_of(helper).empty()) continue;
        kill(helper, SIGKILL);
        --left;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto outcomes = builder_->build(requests);
  over = true;
  killer.join();
  EXPECT_EQ(outcomes[0].status, BuildStatus::failed);
  EXPECT_NE(outcomes[0].message.find("hone-compile died"), std::string::npos) << outcomes[0].message;
  EXPECT_EQ(outcomes[1].status, BuildStatus::ok) << outcomes[1].message;
}

TEST(StartHalideBuilder, SaysWhatIsMissing) {
  try {
    start_halide_builder({.helper = "/nowhere/hone-compile", .workers = 1, .table = &implementations()});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/hone-compile"), std::string::npos) << error.what();
  }
  EXPECT_THROW(start_halide_builder({.helper = "/bin/true", .workers = 1, .table = &implementations()}), Error);
}

TEST(KernelSymbol, DependsOnWorkloadConfigAndTarget) {
  const Workload workload = dense_relu();
  const Config config{"generic_cpu", 1, {}};
  DeviceInfo device = built_in_devices()[0];
  const std::string symbol = kernel_symbol(workload, config, device);
  EXPECT_EQ(symbol.size(), 30u);
  EXPECT_EQ(symbol.substr(0, 6), "hone_k");
  EXPECT_EQ(symbol.find_first_not_of("0123456789abcdef", 6), std::string::npos);
  EXPECT_EQ(kernel_symbol(dense_relu(), config, device), symbol);
  EXPECT_NE(kernel_symbol(workload, {"generic_cpu", 2, {}}, device), symbol);
  device.halide_target += "-no_asserts";
  EXPECT_NE(kernel_symbol(workload, config, device), symbol);
}

}  // namespace
}  // namespace hone
