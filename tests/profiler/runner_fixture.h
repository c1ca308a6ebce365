// SPDX-License-Identifier: MIT
// A runner and the hand-written test kernels, for the tests of the runner.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "profiler/runner.h"

namespace hone {

inline constexpr int kKernelElements = 1000;  // as in kernels/kernels.h

inline std::vector<std::byte> floats(int count, float first, float step) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = first + step * static_cast<float>(i);
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class RunnerTest : public testing::Test {
 protected:
  static std::unique_ptr<Runner> local_runner() { return start_runner({.runner = HONE_RUNNER, .command_prefix = {}}); }

  KernelCandidate candidate(const std::string& symbol) const {
    return {.shared_object = HONE_TEST_KERNELS, .symbol = symbol, .constants = {constant_}};
  }

  /// Short deadline, no timing: what the tests of failures want.
  KernelRequest request(const std::vector<std::string>& symbols, int rounds = 0) const {
    KernelRequest request{
        .inputs = {input_}, .output_bytes = {kKernelElements * sizeof(float)}, .candidates = {}, .options = {}};
    for (const std::string& symbol : symbols) request.candidates.push_back(candidate(symbol));
    request.options.rounds = rounds;
    request.options.seconds_per_sample = 0.0001;
    request.options.deadline_seconds = 20;
    return request;
  }

  RunOutcome run(const std::string& symbol, int rounds = 0) {
    return runner_->run_kernels(request({symbol}, rounds)).at(0);
  }

  void expect_failure(const std::string& symbol, const std::string& message) {
    const RunOutcome outcome = run(symbol);
    EXPECT_EQ(outcome.status, RunStatus::failed) << symbol;
    EXPECT_NE(outcome.message.find(message), std::string::npos) << symbol << ": " << outcome.message;
    EXPECT_TRUE(outcome.outputs.empty()) << symbol;
    EXPECT_TRUE(outcome.measurement.cpu_ns.empty()) << symbol;
  }

  const std::vector<std::byte> input_ = floats(kKernelElements, 0, 1);
  const std::vector<std::byte> constant_ = floats(kKernelElements, 100, 0);
  const std::vector<std::byte> sum_ = floats(kKernelElements, 100, 1);
  std::unique_ptr<Runner> runner_ = local_runner();
};

}  // namespace hone
