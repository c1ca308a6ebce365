// SPDX-License-Identifier: MIT
// Runner: the client side of hone-runner, the program that executes kernels and bundles in killable children, locally,
// under qemu or at the far end of ssh. A crash or hang is a RunOutcome, never the end of the caller.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measurement.h"

namespace hone {

enum class RunStatus { ok, failed, timed_out };

struct MeasureOptions {
  int threads = 1;
  bool cold_weights = true;  // rotate the constants through copies larger than the last-level cache
  int rounds = 0;            // interleaved rounds over all candidates; 0: run once for the outputs, time nothing
  double seconds_per_sample = 0.0007;  // calls are batched until a sample lasts this long
  /// One candidate: stop early after the probe round if its first sample exceeds this multiple of best_ns (0: never).
  double best_ns = 0;
  double give_up_ratio = 3;
  double deadline_seconds = 10;  // for the whole request
  bool want_outputs = true;
};

struct KernelCandidate {
  std::filesystem::path shared_object;  // local path; its bytes travel to the runner
  std::string symbol;                   // "<function>_argv" is looked up
  std::vector<std::span<const std::byte>> constants;
};

struct KernelRequest {
  std::vector<std::span<const std::byte>> inputs;  // physical storage, to_physical()
  std::vector<uint64_t> output_bytes;              // physical sizes
  std::vector<KernelCandidate> candidates;         // share inputs and outputs; rounds go over them in rotating order
  MeasureOptions options;
};

struct RunOutcome {
  RunStatus status = RunStatus::ok;
  std::string message;                          // "killed by SIGSEGV", "kernel error -11: out of memory", ...
  Measurement measurement;                      // samples empty where nothing was timed
  std::vector<std::vector<std::byte>> outputs;  // of the first call; poisoned with 0xFF before it
};

struct ModelCandidate {
  std::filesystem::path shared_object;  // hone_NAME.so, local path on the runner's machine
  std::filesystem::path plan;           // NAME.hone
  std::string symbol;                   // hone_NAME
};

struct ModelRequest {
  std::vector<ModelCandidate> models;          // interleaved
  std::vector<std::vector<std::byte>> inputs;  // dense (or the manifest's strides), model input order
  MeasureOptions options;
  bool profile_steps = false;  // also per-step times (rounds x steps), measured by hooks
};

struct ModelOutcome {
  RunStatus status = RunStatus::ok;
  std::string message;
  Measurement measurement;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<Measurement> steps;  // one per plan step if profile_steps; with hooks, so slightly above the unhooked run
  double load_seconds = 0;
  int64_t peak_rss_bytes = 0;
};

/// Measured ceilings of the machine, one thread unless said otherwise.
struct Roofs {
  double peak_flops = 0;          // f32 FMA, FLOP/s, one core
  double peak_flops_threads = 0;  // all requested threads together
  int threads = 1;
  std::vector<std::pair<std::string, double>>
      bandwidth;  // {"L1", bytes/s}, "L2", "L3", "DRAM": read bandwidth, one core
};

struct RunnerInfo {
  int protocol_version = 0;
  std::string architecture;  // "x86-64", "aarch64"
  std::string cpu;           // identity line
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual const RunnerInfo& info() const = 0;
  virtual Evidence evidence() const = 0;
  /// One outcome per candidate, in order. A candidate that kills the child makes all of that request fail: race only ok
  /// ones.
  virtual std::vector<RunOutcome> run_kernels(const KernelRequest& request) = 0;
  virtual std::vector<ModelOutcome> run_models(const ModelRequest& request) = 0;
  virtual Roofs measure_roofs(int threads) = 0;
};

/// profiler/transports.cpp: table of name, description, factory.
struct TransportOptions {
  std::filesystem::path runner;             // hone-runner for the target architecture
  std::vector<std::string> command_prefix;  // {"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"} or {"ssh", "board"}
  Evidence evidence = Evidence::timed;
};
struct TransportEntry {
  std::string_view name;  // "local", "qemu", "ssh"
  std::string_view description;
};
std::span<const TransportEntry> transports();
/// Starts hone-runner. Throws Error if it cannot start or speaks another protocol version.
std::unique_ptr<Runner> start_runner(const TransportOptions& options);

}  // namespace hone
