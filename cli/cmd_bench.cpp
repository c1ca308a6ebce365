// SPDX-License-Identifier: MIT
// hone bench: our samples through Google Benchmark's manual-time mode, so that its flags, console, JSON and compare.py
// work on them. The timing itself is hone-runner's, interleaved over all that is benched together.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/bundle_session.h"
#include "cli/model_session.h"
#include "executor/error.h"
#include "generators/operators.h"
#include "tuner/candidate.h"

namespace po = boost::program_options;

namespace hone {
namespace {

struct Series {
  std::string name;
  std::vector<double> seconds;  // one per sample
  double flops = 0;
};

std::vector<Series> bench_bundles(const Surroundings& surroundings, const std::vector<std::string>& directories,
                                  int threads, int rounds) {
  const BundleSession session = open_bundle(surroundings, directories.front(), "");
  std::vector<BundleManifest> manifests = {session.manifest};
  for (size_t i = 1; i < directories.size(); ++i) manifests.push_back(read_manifest(directories[i]));
  std::vector<const BundleManifest*> pointers;
  for (const BundleManifest& manifest : manifests) pointers.push_back(&manifest);
  MeasureOptions options;
  options.threads = threads;
  options.rounds = rounds;
  options.deadline_seconds = 600;
  options.want_outputs = false;
  const auto outcomes =
      run_bundles(*session.runner, pointers, read_inputs(manifests.front(), {}, true), options, false);
  std::vector<Series> all;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Series series{directories[i] + "/threads:" + std::to_string(threads), {}, 0};
    for (double ns : outcomes[i].measurement.ranking_ns()) series.seconds.push_back(ns * 1e-9);
    for (const BundleManifest::Kernel& step : manifests[i].steps) series.flops += step.flops;
    all.push_back(std::move(series));
  }
  return all;
}

/// The default schedule of each implementation that takes the workload.
std::vector<Series> bench_workload(const Surroundings& surroundings, const std::string& file, const DeviceInfo& device,
                                   const TuningContext& context, int rounds) {
  const std::vector<TuningTask> tasks = read_workload_task(file);
  const std::unique_ptr<Builder> builder = start_builder(surroundings, 1);
  const TransportChoice transport = choose_transport(surroundings, "", device.architecture);
  const std::unique_ptr<Runner> runner = start_runner(transport.options);
  const ScratchDirectory scratch(surroundings.temporary);
  TaskState state;
  state.task = &tasks.front();
  state.reference = make_reference_run(tasks.front().workload);
  std::vector<Contender> contenders;
  for (const SearchSpace& space : builder->spaces(tasks.front().workload, device, context)) {
    const BuildRequest request =
        candidate_request(tasks.front().workload, space.default_config, device, scratch.path());
    const BuildOutcome built = builder->build({&request, 1}).front();
    if (built.status != BuildStatus::ok) {
      throw Error("cannot bench " + file, space.default_config.canonical() + " does not build: " + built.message,
                  "report it");
    }
    contenders.push_back({request.config, 0, 0, request.shared});
  }
  std::vector<Series> all;
  for (const Trial& trial : CandidateRunner(*builder, *runner, context).run(state, contenders, {rounds, 0})) {
    if (trial.status != TrialStatus::ok) {
      throw Error("cannot bench " + file, trial.config.canonical() + ": " + trial.message, "report it");
    }
    Series series{trial.config.canonical(), {}, flops(tasks.front().workload)};
    for (double ns : trial.measurement->ranking_ns()) series.seconds.push_back(ns * 1e-9);
    all.push_back(std::move(series));
  }
  return all;
}

void register_series(const Series& series) {
  // Each repetition replays the samples in order: one iteration, one sample.
  benchmark::RegisterBenchmark(series.name.c_str(),
                               [&series](benchmark::State& state) {
                                 size_t next = 0;
                                 for ([[maybe_unused]] auto iteration : state)
                                   state.SetIterationTime(series.seconds[next++ % series.seconds.size()]);
                                 state.counters["min_ms"] =
                                     1e3 * *std::min_element(series.seconds.begin(), series.seconds.end());
                                 state.counters["FLOP/s"] = benchmark::Counter(series.flops * static_cast<double>(next),
                                                                               benchmark::Counter::kIsRate);
                               })
      ->UseManualTime()
      ->Iterations(static_cast<int64_t>(series.seconds.size()))
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int run_bench(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options("bench BUNDLE...|WORKLOAD.json [--threads N] [--rounds N] [--benchmark_...]",
                  "Times bundles (several are interleaved in one run), or the default schedules of one workload, and "
                  "reports through Google\n"
                  "Benchmark: --benchmark_format=json, --benchmark_out=FILE and compare.py work on the result. Times "
                  "are CPU time for one\n"
                  "thread, wall time for more.");
  options.positional("what", -1);
  add_device_options(options);
  options.add()("rounds", po::value<int>()->default_value(30)->value_name("N"), "samples of each");
  std::vector<std::string> ours;
  std::vector<std::string> theirs = {"hone bench"};
  for (const std::string& argument : arguments)
    (argument.starts_with("--benchmark_") ? theirs : ours).push_back(argument);
  if (!options.parse(ours)) return 0;
  const std::vector<std::string> what = options.list("what");
  if (what.empty()) throw UsageError{"hone bench needs bundle directories or one workload file"};
  const TuningContext context = context_option(options);
  const int rounds = options.get<int>("rounds");
  if (rounds < 1 || rounds > 100'000) throw UsageError{"--rounds takes 1 to 100000"};
  if (is_workload_file(what.front()) && what.size() > 1)
    throw UsageError{"hone bench takes one workload file at a time"};
  const std::vector<Series> all =
      is_workload_file(what.front())
          ? bench_workload(surroundings, what.front(), device_option(options), context, rounds)
          : bench_bundles(surroundings, what, context.threads, rounds);
  for (const Series& series : all) register_series(series);
  std::vector<char*> raw;
  for (std::string& argument : theirs) raw.push_back(argument.data());
  int count = static_cast<int>(raw.size());
  raw.push_back(nullptr);
  benchmark::Initialize(&count, raw.data());
  if (count > 1) throw UsageError{"unknown benchmark option '" + std::string(raw[1]) + "'"};
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace hone
