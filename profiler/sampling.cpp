// SPDX-License-Identifier: MIT
// Clocks and rounds.
#include "profiler/sampling.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiler/machine.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Batches above this size are warmed by one untimed call when their turn comes: another candidate ran before, and a few
// microseconds of cold code would be charged to the first call. For long calls it would cost more time than it is
// worth.
constexpr int64_t kLeastCallsToWarm = 4;
// A sample during which another process had our CPU is taken again: it would measure that process's use of the caches.
// The criterion does not look at the time, so it favours nobody. Longer samples are interrupted at every try on a busy
// machine.
constexpr int kMostAttempts = 3;
constexpr double kLongestToRepeatNs = 2e6;
constexpr double kWarmUpNs = 10e6;
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

// One timed batch. False if the subject failed.
bool time_batch(Subject& subject, int threads, double& cpu_ns, double& wall_ns, int64_t& switches) {
  const int64_t calls = subject.measurement.calls_per_sample;
  if (calls >= kLeastCallsToWarm && !call_repeatedly(subject, 1)) return false;
  const Stopwatch watch(threads);
  if (!call_repeatedly(subject, calls)) return false;
  // The CPU clock is the inner one, at both ends: it costs a system call, which the wall clock may see but not vice
  // versa.
  cpu_ns = watch.cpu_ns();
  wall_ns = watch.wall_ns();
  switches = watch.involuntary_switches();
  return true;
}

void take_sample(Subject& subject, int threads) {
  Measurement& measurement = subject.measurement;
  double cpu_ns = 0, wall_ns = 0;
  for (int attempt = 1; attempt <= kMostAttempts; ++attempt) {
    int64_t switches = 0;
    if (!time_batch(subject, threads, cpu_ns, wall_ns, switches)) return;
    measurement.involuntary_switches += switches;
    if (switches == 0 || cpu_ns > kLongestToRepeatNs) break;
  }
  measurement.cpu_ns.push_back(cpu_ns / static_cast<double>(measurement.calls_per_sample));
  measurement.wall_ns.push_back(wall_ns / static_cast<double>(measurement.calls_per_sample));
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
  warm_up({&subject, 1});
  // Growing batches until one is long enough for the clock's own cost (about a microsecond) not to matter.
  while (true) {
    double ns = std::numeric_limits<double>::infinity();
    // The better of two: an interrupted batch would make all samples too short.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Stopwatch watch(options.threads);
      if (!call_repeatedly(subject, calls)) return;
      ns = std::min(ns, std::max(1.0, options.threads == 1 ? watch.cpu_ns() : watch.wall_ns()));
      if (ns > kWarmUpNs) break;  // interruptions are small against it, and a second time would take long
    }
    subject.call_ns = ns / static_cast<double>(calls);
    const bool precise = ns * 10 >= wanted_ns;
    const double most = static_cast<double>(precise ? kMostCallsPerSample : std::min(10 * calls, kMostCallsPerSample));
    calls = static_cast<int64_t>(std::clamp(std::ceil(wanted_ns / subject.call_ns), 1.0, most));
    if (precise || calls == kMostCallsPerSample) break;
  }
  subject.measurement.calls_per_sample = calls;
}

void warm_up(std::span<Subject> subjects) {
  const Stopwatch watch(1);
  bool called = true;
  while (called && watch.wall_ns() < kWarmUpNs) {
    called = false;
    for (Subject& subject : subjects) {
      if (!subject.running() || subject.call_ns > kWarmUpNs) continue;
      called = call_repeatedly(subject, 1) || called;
    }
  }
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
