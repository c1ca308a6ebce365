// SPDX-License-Identifier: MIT
// FakeRunner: times come from a function of the config (which FakeBuilder wrote into the "shared object"); outputs are
// the expected ones unless the test says otherwise.
#pragma once

#include <fstream>
#include <functional>
#include <iterator>

#include "profiler/runner.h"
#include "schedules/config.h"

namespace hone {

class FakeRunner final : public Runner {
 public:
  /// Time of one call, ns, in the given round.
  std::function<double(const Config&, int round)> time_ns;
  std::function<RunStatus(const Config&)> status = [](const Config&) { return RunStatus::ok; };
  std::function<std::vector<std::vector<std::byte>>(const Config&, const KernelRequest&)> outputs;
  int requests = 0;

  const RunnerInfo& info() const override { return info_; }
  Evidence evidence() const override { return Evidence::timed; }
  std::vector<RunOutcome> run_kernels(const KernelRequest& request) override {
    ++requests;
    std::vector<RunOutcome> outcomes;
    for (const KernelCandidate& candidate : request.candidates) {
      std::ifstream file(candidate.shared_object);
      const Config config = Config::parse(std::string(std::istreambuf_iterator<char>(file), {}));
      RunOutcome outcome;
      outcome.status = status(config);
      outcome.message = outcome.status == RunStatus::ok ? "" : "killed by the test";
      outcome.measurement.threads = request.options.threads;
      if (outcome.status == RunStatus::ok) {
        outcome.outputs = outputs(config, request);
        for (int round = 0; round < request.options.rounds; ++round) {
          outcome.measurement.cpu_ns.push_back(time_ns(config, round));
          outcome.measurement.wall_ns.push_back(time_ns(config, round) * 1.1);
        }
      }
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }
  std::vector<ModelOutcome> run_models(const ModelRequest&) override { return {}; }
  Roofs measure_roofs(int) override { return {}; }

 private:
  RunnerInfo info_{1, "x86-64", "fake"};
};

}  // namespace hone
