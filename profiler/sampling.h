// SPDX-License-Identifier: MIT
// The measuring loop: interleaved rounds of batched calls, two clocks. It knows neither kernels nor models.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "profiler/measurement.h"
#include "profiler/runner.h"

namespace hone {

/// Something to be called and timed. `call` throws on failure, which ends this subject, not the others.
struct Subject {
  std::function<void()> call;
  Measurement measurement;
  std::string failure;  // empty: fine
  double call_ns = 0;   // estimate, set by choose_calls_per_sample()
  bool given_up = false;
  bool running() const { return failure.empty() && !given_up; }
};

/// Time since construction, and interruptions by other processes. One thread: of the calling thread; more: wall time,
/// and the CPU time of all threads of the process together.
class Stopwatch {
 public:
  explicit Stopwatch(int threads);
  double cpu_ns() const;
  double wall_ns() const;
  int64_t involuntary_switches() const;

 private:
  int threads_;
  int64_t switches_at_start_;
  int64_t wall_at_start_;
  int64_t cpu_at_start_;
};

/// Sets measurement.calls_per_sample so that a sample lasts options.seconds_per_sample. Requires a warm subject (called
/// before).
void choose_calls_per_sample(Subject& subject, const MeasureOptions& options);

/// Calls the running subjects in turn until the processor has settled. Vector units take 5 to 10 ms to reach their full
/// rate after a pause: on a Zen 3 virtual machine an AVX2 loop went from 80 to 27 us a call in that time, while a
/// scalar chain had the same time throughout. Subjects whose single call is longer than that are not called.
void warm_up(std::span<Subject> subjects);

/// options.rounds rounds over the running subjects, one sample each, in rotating order. Ends after a whole round when
/// the next one might not be over at `end`. With one subject, applies the give-up rule after the first round.
void measure_rounds(std::span<Subject> subjects, const MeasureOptions& options,
                    std::chrono::steady_clock::time_point end);

/// Keeps the calling thread on the CPU that it is on; without effect where that is not allowed.
void pin_to_current_cpu();

}  // namespace hone
