// SPDX-License-Identifier: MIT
// Clocks and rounds.
#include "profiler/sampling.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "profiler/machine.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Batches above this size are warmed by one untimed call when their turn comes: another candidate ran before, and a few
// microseconds of cold code would be charged to the first call. For long calls it would cost more time than it is
// worth.
constexpr int64_t kLeastCallsToWarm = 4;
constexpr int64_t kMostCallsPerSample = 1'000'000;

int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

clockid_t cpu_clock(int threads) {
  return threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
}

int64_t involuntary_switches_so_far(int threads) {
  rusage usage{};
  getrusage(threads == 1 ? RUSAGE_THREAD : RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Calls the subject; false, with the reason noted, if it failed.
bool call_repeatedly(Subject& subject, int64_t calls) {
  try {
    for (int64_t i = 0; i < calls; ++i) subject.call();
    return true;
  } catch (const std::exception& error) {
    subject.failure = error.what();
    return false;
  }
}

void take_sample(Subject& subject, int threads) {
  Measurement& measurement = subject.measurement;
  const int64_t calls = measurement.calls_per_sample;
  if (calls >= kLeastCallsToWarm && !call_repeatedly(subject, 1)) return;
  const Stopwatch watch(threads);
  if (!call_repeatedly(subject, calls)) return;
  // The CPU clock costs a system call, the wall clock does not: read in this order, neither is in the other's time
  // twice.
  const double cpu_ns = watch.cpu_ns(), wall_ns = watch.wall_ns();
  measurement.cpu_ns.push_back(cpu_ns / static_cast<double>(calls));
  measurement.wall_ns.push_back(wall_ns / static_cast<double>(calls));
  measurement.involuntary_switches += watch.involuntary_switches();
}

}  // namespace

Stopwatch::Stopwatch(int threads)
    : threads_(threads),
      switches_at_start_(involuntary_switches_so_far(threads)),
      wall_at_start_(clock_ns(CLOCK_MONOTONIC)),
      cpu_at_start_(clock_ns(cpu_clock(threads))) {}

double Stopwatch::cpu_ns() const {
  return static_cast<double>(clock_ns(cpu_clock(threads_)) - cpu_at_start_);
}
double Stopwatch::wall_ns() const {
  return static_cast<double>(clock_ns(CLOCK_MONOTONIC) - wall_at_start_);
}
int64_t Stopwatch::involuntary_switches() const {
  return involuntary_switches_so_far(threads_) - switches_at_start_;
}

void choose_calls_per_sample(Subject& subject, const MeasureOptions& options) {
  const double wanted_ns = options.seconds_per_sample * 1e9;
  int64_t calls = 1;
  // Growing batches until one is long enough for the clock's own cost (about a microsecond) not to matter.
  while (subject.running()) {
    const Stopwatch watch(options.threads);
    if (!call_repeatedly(subject, calls)) return;
    const double ns = std::max(1.0, options.threads == 1 ? watch.cpu_ns() : watch.wall_ns());
    const double wanted_calls = std::ceil(static_cast<double>(calls) * wanted_ns / ns);
    const bool precise = ns * 10 >= wanted_ns;
    calls = std::clamp<int64_t>(static_cast<int64_t>(std::min(wanted_calls, 1e9)), 1,
                                precise ? kMostCallsPerSample : std::min(10 * calls, kMostCallsPerSample));
    if (precise || calls == kMostCallsPerSample) break;
  }
  subject.measurement.calls_per_sample = calls;
}

void measure_rounds(std::span<Subject> subjects, const MeasureOptions& options, SteadyClock::time_point end) {
  const double load = load_average();
  for (Subject& subject : subjects) {
    subject.measurement.load_average = load;
    subject.measurement.threads = options.threads;
  }
  SteadyClock::duration longest_round{};
  for (int round = 0; round < options.rounds; ++round) {
    const auto start = SteadyClock::now();
    if (round > 0 && start + longest_round > end) break;
    // The order rotates, so that no candidate always runs after the same one.
    for (size_t i = 0; i < subjects.size(); ++i) {
      Subject& subject = subjects[(i + static_cast<size_t>(round)) % subjects.size()];
      if (subject.running()) take_sample(subject, options.threads);
    }
    longest_round = std::max(longest_round, SteadyClock::now() - start);
    if (round == 0 && subjects.size() == 1 && subjects[0].running() && options.best_ns > 0 &&
        options.give_up_ratio > 0) {
      subjects[0].given_up = subjects[0].measurement.ranking_ns()[0] > options.give_up_ratio * options.best_ns;
    }
    if (std::none_of(subjects.begin(), subjects.end(), [](const Subject& subject) { return subject.running(); })) break;
  }
  const auto frequency = frequency_ghz();
  for (Subject& subject : subjects) subject.measurement.frequency_ghz = frequency;
}

void pin_to_current_cpu() {
  const int cpu = sched_getcpu();
  if (cpu < 0) return;
  cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpu) + 1);
  if (set == nullptr) return;
  const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpu) + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<size_t>(cpu), bytes, set);
  sched_setaffinity(0, bytes, set);
  CPU_FREE(set);
}

}  // namespace hone
