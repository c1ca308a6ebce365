// SPDX-License-Identifier: MIT
// hone-runner from the client's side: good kernels give outputs and samples, bad ones give a sentence, and nothing is
// left behind by either.
#include "profiler/runner.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "executor/error.h"
#include "profiler/runner_process.h"
#include "tests/profiler/runner_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Processes whose parent is `parent`.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  DIR* folder = opendir("/proc");
  while (const dirent* entry = readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string state;
    pid_t its_parent = 0;
    rest >> state >> its_parent;
    if (its_parent == parent) children.push_back(pid);
  }
  closedir(folder);
  return children;
}

int open_files(pid_t pid) {
  int count = 0;
  DIR* folder = opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (folder == nullptr) return -1;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  return std::getline(file, text) && text.find(") Z ") == std::string::npos;
}

// Waits up to ten seconds: how long a loaded machine takes is not what is tested.
template <typename Condition>
bool becomes_true(const Condition& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_F(RunnerTest, SaysWhatItIs) {
  EXPECT_EQ(runner_->info().protocol_version, 1);
#if defined(__x86_64__)
  EXPECT_EQ(runner_->info().architecture, "x86-64");
#elif defined(__aarch64__)
  EXPECT_EQ(runner_->info().architecture, "aarch64");
#endif
  EXPECT_GT(runner_->info().cpu.size(), 10u);
  EXPECT_EQ(runner_->evidence(), Evidence::timed);
}

TEST_F(RunnerTest, OutputsOfAGoodKernel) {
  const RunOutcome outcome = run("add");
  EXPECT_EQ(outcome.status, RunStatus::ok) << outcome.message;
  ASSERT_EQ(outcome.outputs.size(), 1u);
  EXPECT_EQ(outcome.outputs[0], sum_);
  EXPECT_TRUE(outcome.measurement.cpu_ns.empty());
}

TEST_F(RunnerTest, OutputsOnlyOnRequest) {
  KernelRequest without = request({"add"}, 1);
  without.options.want_outputs = false;
  const RunOutcome outcome = runner_->run_kernels(without).at(0);
  EXPECT_EQ(outcome.status, RunStatus::ok);
  EXPECT_TRUE(outcome.outputs.empty());
  EXPECT_EQ(outcome.measurement.cpu_ns.size(), 1u);
}

TEST_F(RunnerTest, UnwrittenOutputIsPoison) {
  const RunOutcome outcome = run("forgets_last");
  ASSERT_EQ(outcome.status, RunStatus::ok) << outcome.message;
  float last = 0;
  std::memcpy(&last, outcome.outputs.at(0).data() + (kKernelElements - 1) * sizeof(float), sizeof(last));
  EXPECT_TRUE(std::isnan(last));
}

TEST_F(RunnerTest, SamplesOfAGoodKernel) {
  const RunOutcome outcome = run("add", 12);
  ASSERT_EQ(outcome.status, RunStatus::ok) << outcome.message;
  const Measurement& measurement = outcome.measurement;
  EXPECT_EQ(measurement.cpu_ns.size(), 12u);
  EXPECT_EQ(measurement.wall_ns.size(), 12u);
  EXPECT_GT(measurement.best_ns(), 0);
  EXPECT_GT(measurement.calls_per_sample, 1);  // a microsecond of work in a sample of a hundred
  EXPECT_TRUE(measurement.cold_weights);
  EXPECT_EQ(measurement.threads, 1);
  EXPECT_EQ(measurement.evidence, Evidence::timed);
  EXPECT_GE(measurement.involuntary_switches, 0);
  EXPECT_EQ(measurement.scratch_bytes, 0);
  EXPECT_EQ(outcome.outputs.at(0), sum_);
}

TEST_F(RunnerTest, InterleavedCandidatesAreComparable) {
  const auto outcomes = runner_->run_kernels(request({"add", "slow_add", "add"}, 15));
  ASSERT_EQ(outcomes.size(), 3u);
  for (const RunOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, RunStatus::ok) << outcome.message;
    EXPECT_EQ(outcome.measurement.cpu_ns.size(), 15u);
    EXPECT_EQ(outcome.outputs.at(0), sum_);
  }
  // Ten times the work: no load of the machine turns this verdict over.
  const PairedVerdict verdict =
      compare_paired(outcomes[0].measurement.ranking_ns(), outcomes[1].measurement.ranking_ns());
  EXPECT_TRUE(verdict.a_faster()) << verdict.ratio << " in " << verdict.low << ".." << verdict.high;
}

TEST_F(RunnerTest, GivesUpOnAHopelessCandidate) {
  KernelRequest hopeless = request({"slow_add"}, 50);
  hopeless.options.best_ns = 1;  // no kernel is this fast
  const RunOutcome outcome = runner_->run_kernels(hopeless).at(0);
  EXPECT_EQ(outcome.status, RunStatus::ok);
  EXPECT_EQ(outcome.measurement.cpu_ns.size(), 1u);
  EXPECT_EQ(outcome.outputs.at(0), sum_);

  hopeless.options.best_ns = 1e12;
  EXPECT_EQ(runner_->run_kernels(hopeless).at(0).measurement.cpu_ns.size(), 50u);
}

TEST_F(RunnerTest, ScratchAndThreads) {
  RunOutcome scratch = run("uses_scratch", 2);
  EXPECT_EQ(scratch.status, RunStatus::ok) << scratch.message;
  EXPECT_EQ(scratch.outputs.at(0), floats(kKernelElements, 0, 2));
  EXPECT_GE(scratch.measurement.scratch_bytes.value_or(0), static_cast<int64_t>(kKernelElements * sizeof(float)));

  KernelRequest threaded = request({"parallel"}, 3);
  threaded.options.threads = 2;
  const RunOutcome parallel = runner_->run_kernels(threaded).at(0);
  EXPECT_EQ(parallel.status, RunStatus::ok) << parallel.message;
  EXPECT_EQ(parallel.outputs.at(0), floats(kKernelElements, 1, 1));
  EXPECT_EQ(parallel.measurement.threads, 2);
  EXPECT_EQ(parallel.measurement.wall_ns.size(), 3u);
}

TEST_F(RunnerTest, KernelErrorsHaveTheirCode) {
  expect_failure("wants_too_much", "kernel error -11: out of memory");
}

TEST_F(RunnerTest, CrashesAreOutcomes) {
  expect_failure("crashes", "killed by SIGSEGV in the first call of crashes");
  expect_failure("jumps_to_null", "killed by SIGSEGV");
  expect_failure("aborts", "killed by SIGABRT in the first call of aborts");
  expect_failure("exits", "exited with code 3");
  expect_failure("exits_as_if_well", "exited with code 0 before the run was over");
}

TEST_F(RunnerTest, WritesBesideTheOutputAreNoticed) {
  expect_failure("writes_beyond", "wrote outside its output");
  expect_failure("writes_before", "wrote outside its output");
  expect_failure("reads_far_beyond", "killed by SIGSEGV");
  expect_failure("writes_its_input", "killed by SIGSEGV");
  expect_failure("writes_its_constant", "killed by SIGSEGV");
}

TEST_F(RunnerTest, OneElementBeyondAnAlignedOutputIsACrash) {
  const int aligned = 1008;  // 63 cache lines: the output ends at the inaccessible page
  const auto input = floats(aligned, 0, 1), constant = floats(aligned, 100, 0);
  KernelRequest request = RunnerTest::request({"writes_beyond"});
  request.inputs = {input};
  request.candidates[0].constants = {constant};
  request.output_bytes = {kKernelElements * sizeof(float)};
  EXPECT_THAT(runner_->run_kernels(request).at(0).message, HasSubstr("wrote outside its output"));
  request.output_bytes = {kKernelElements * sizeof(float) -
                          32};  // 3968 bytes, a multiple of 64; index 1000 is 32 beyond
  EXPECT_THAT(runner_->run_kernels(request).at(0).message, HasSubstr("killed by SIGSEGV"));
}

TEST_F(RunnerTest, HangsEndAtTheDeadline) {
  for (const std::string symbol : {"hangs", "hangs_with_company"}) {
    KernelRequest hanging = request({symbol});
    hanging.options.deadline_seconds = 0.3;
    const RunOutcome outcome = runner_->run_kernels(hanging).at(0);
    EXPECT_EQ(outcome.status, RunStatus::timed_out);
    EXPECT_EQ(outcome.message, "not done after 0.3 s in the first call of " + symbol);
  }
  EXPECT_EQ(run("add").status, RunStatus::ok);
}

TEST_F(RunnerTest, BadObjectsFailAlone) {
  const std::filesystem::path garbage = std::filesystem::path(testing::TempDir()) / "garbage.so";
  std::ofstream(garbage) << "this is no ELF file";
  KernelRequest mixed = request({"add", "no_such_kernel", "add"}, 2);
  mixed.candidates[2].shared_object = garbage;
  const auto outcomes = runner_->run_kernels(mixed);
  EXPECT_EQ(outcomes[0].status, RunStatus::ok);
  EXPECT_EQ(outcomes[0].measurement.cpu_ns.size(), 2u);
  EXPECT_EQ(outcomes[1].status, RunStatus::failed);
  EXPECT_THAT(outcomes[1].message, HasSubstr("no symbol no_such_kernel_argv"));
  EXPECT_EQ(outcomes[2].status, RunStatus::failed);
  EXPECT_THAT(outcomes[2].message, HasSubstr("cannot load the kernel"));
  std::filesystem::remove(garbage);
}

TEST_F(RunnerTest, AMissingObjectIsTheCallersError) {
  KernelRequest missing = request({"add"});
  missing.candidates[0].shared_object = "/nowhere/k.so";
  EXPECT_THROW(runner_->run_kernels(missing), Error);
}

TEST_F(RunnerTest, AnImpossibleOutputFailsWithoutHarm) {
  KernelRequest huge = request({"add"});
  huge.output_bytes = {uint64_t{1} << 36};
  EXPECT_EQ(runner_->run_kernels(huge).at(0).status, RunStatus::failed);
  huge.output_bytes = {uint64_t{1} << 60};
  EXPECT_THAT(runner_->run_kernels(huge).at(0).message, HasSubstr("out of its range"));
  EXPECT_EQ(run("add").status, RunStatus::ok);
}

TEST_F(RunnerTest, APrintingKernelDoesNotDisturbTheProtocol) {
  const RunOutcome outcome = run("prints");
  EXPECT_EQ(outcome.status, RunStatus::ok);
  EXPECT_EQ(outcome.outputs.at(0), sum_);
}

TEST_F(RunnerTest, ColdWeightsTakeTurns) {
  const RunOutcome cold = run("insists_on_one_place", 3);
  EXPECT_EQ(cold.message, "killed by SIGABRT while measuring insists_on_one_place");
  EXPECT_EQ(run("checks_constant", 20).status, RunStatus::ok);

  KernelRequest hot = request({"insists_on_one_place"}, 3);
  hot.options.cold_weights = false;
  const RunOutcome outcome = runner_->run_kernels(hot).at(0);
  EXPECT_EQ(outcome.status, RunStatus::ok) << outcome.message;
  EXPECT_FALSE(outcome.measurement.cold_weights);
}

TEST_F(RunnerTest, NothingIsLeftBehind) {
  run("add");
  const std::vector<pid_t> runners = children_of(getpid());
  ASSERT_EQ(runners.size(), 1u);
  const int files = open_files(runners[0]), own_files = open_files(getpid());
  for (int repetition = 0; repetition < 4; ++repetition) {
    for (const char* symbol : {"add", "crashes", "leaves_company", "leaves_a_daemon", "exits", "writes_beyond"})
      run(symbol, 1);
  }
  EXPECT_TRUE(children_of(runners[0]).empty());
  EXPECT_EQ(open_files(runners[0]), files);
  EXPECT_EQ(open_files(getpid()), own_files);
  runner_.reset();
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST_F(RunnerTest, RestartsAfterTheRunnerDied) {
  const pid_t runner = children_of(getpid()).at(0);
  kill(runner, SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return !is_running(runner); }));
  const RunOutcome dead = run("add");
  EXPECT_EQ(dead.status, RunStatus::failed);
  EXPECT_THAT(dead.message, HasSubstr("killed by SIGKILL"));
  const RunOutcome again = run("add");
  EXPECT_EQ(again.status, RunStatus::ok) << again.message;
}

TEST_F(RunnerTest, KillingTheClientLeavesNoRunnerAndNoKernel) {
  runner_.reset();
  const pid_t client = fork();
  if (client == 0) {  // a client in the middle of a request that hangs
    const auto runner = local_runner();
    KernelRequest hanging = request({"hangs"});
    hanging.options.deadline_seconds = 1000;
    runner->run_kernels(hanging);
    _exit(0);
  }
  pid_t runner = 0, kernel = 0;
  ASSERT_TRUE(becomes_true([&] {
    const auto runners = children_of(client);
    if (runners.empty()) return false;
    runner = runners[0];
    const auto kernels = children_of(runner);
    if (kernels.empty()) return false;
    kernel = kernels[0];
    return true;
  }));
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  EXPECT_TRUE(becomes_true([&] { return !is_running(runner) && !is_running(kernel); }));
}

TEST(HostileClient, GetsRefusalsAndHarmsNothing) {
  RunnerProcess runner({HONE_RUNNER});
  ASSERT_TRUE(runner.receive(20).has_value());  // the greeting
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    Message message(1 + random() % 100);
    for (std::byte& byte : message) byte = static_cast<std::byte>(random() % 7);
    ASSERT_TRUE(runner.send(message, 20));
    const auto reply = runner.receive(20);
    ASSERT_TRUE(reply.has_value()) << i;
    EXPECT_EQ(kind(*reply), MessageKind::refusal);
  }
  ASSERT_TRUE(runner.send({}, 20));
  EXPECT_EQ(decode_refusal(runner.receive(20).value()), "a message ends too early");
}

TEST(HostileClient, ForgedRequestsAreSurvived) {
  RunnerProcess runner({HONE_RUNNER});
  ASSERT_TRUE(runner.receive(20).has_value());
  const std::vector<std::byte> object(20, std::byte{1}), input(100);
  const Message good = encode(WireKernelRequest{.inputs = {input},
                                                .output_bytes = {100},
                                                .candidates = {{object, "k", {input}}},
                                                .options = {.deadline_seconds = 1}});
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    Message message = good;
    message[1 + random() % (message.size() - 1)] ^= std::byte(1u << random() % 8);
    ASSERT_TRUE(runner.send(message, 20));
    const auto reply = runner.receive(20);
    ASSERT_TRUE(reply.has_value()) << i;
    if (kind(*reply) == MessageKind::refusal) continue;
    for (const RunOutcome& outcome : decode_kernel_reply(*reply)) EXPECT_NE(outcome.status, RunStatus::ok);
  }
}

TEST(HostileClient, ABrokenFrameEndsTheRunner) {
  for (const std::string bytes : {"\\377\\377\\377\\377", "\\003\\000\\000", "\\003\\000\\000\\000ab"}) {
    const std::string command = "printf '" + bytes + "' | '" HONE_RUNNER "' > /dev/null 2>&1";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << bytes;
  }
  EXPECT_EQ(std::system("'" HONE_RUNNER "' < /dev/null > /dev/null"), 0);
}

TEST(StartRunner, ErrorsNameTheRemedy) {
  try {
    start_runner({.runner = "/nowhere/hone-runner", .command_prefix = {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/hone-runner"));
  }
  EXPECT_THROW(start_runner({.runner = HONE_RUNNER, .command_prefix = {"no-such-program-here"}}), Error);
  try {
    start_runner({.runner = "/bin/true", .command_prefix = {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did not greet: exited with code 0"));
  }
  try {  // a shell that prints a welcome
    start_runner(
        {.runner = HONE_RUNNER, .command_prefix = {"sh", "-c", "printf '\\005\\000\\000\\000hello'; sleep 1"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("its greeting is not understood"));
  }
}

TEST(Transports, EachHasADescription) {
  ASSERT_EQ(transports().size(), 3u);
  EXPECT_EQ(transports()[0].name, "local");
  for (const TransportEntry& entry : transports()) EXPECT_FALSE(entry.description.empty());
}

TEST_F(RunnerTest, EvidenceComesFromTheTransport) {
  const auto emulated =
      start_runner({.runner = HONE_RUNNER, .command_prefix = {"env", "A=b"}, .evidence = Evidence::emulated});
  const RunOutcome outcome = emulated->run_kernels(request({"add"}, 2)).at(0);
  EXPECT_EQ(outcome.status, RunStatus::ok) << outcome.message;
  EXPECT_EQ(outcome.measurement.evidence, Evidence::emulated);
}

TEST_F(RunnerTest, RoofsArePlausible) {
  const Roofs roofs = runner_->measure_roofs(2);
  EXPECT_GT(roofs.peak_flops, 1e8);
  EXPECT_GT(roofs.peak_flops_threads, 1e8);
  EXPECT_EQ(roofs.threads, 2);
  ASSERT_GE(roofs.bandwidth.size(), 2u);
  EXPECT_EQ(roofs.bandwidth.front().first, "L1");
  EXPECT_EQ(roofs.bandwidth.back().first, "DRAM");
  for (const auto& [level, bytes_per_second] : roofs.bandwidth) {
    EXPECT_GT(bytes_per_second, 1e7) << level;
    RecordProperty(level, std::to_string(bytes_per_second * 1e-9));
  }
}

}  // namespace
}  // namespace hone
