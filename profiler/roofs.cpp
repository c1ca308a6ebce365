// SPDX-License-Identifier: MIT
// Best of many short samples: a roof is what the machine can do, so interruptions and neighbours are noise to be
// skipped.
#include "profiler/roofs.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "profiler/machine.h"
#include "profiler/roof_loops.h"
#include "profiler/sampling.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimePerRoof{150};
constexpr size_t kBytesPerLook = size_t{1} << 20;
constexpr int64_t kSampleNs = 200'000;  // short enough to fall between two timer interrupts, long for the clock

// The largest work per nanosecond of CPU time that `body`, which returns its work, reaches within kTimePerRoof.
template <typename Body>
double best_rate(const Body& body) {
  double best = 0;
  const auto end = SteadyClock::now() + kTimePerRoof;
  do {
    const Stopwatch watch(1);
    double work = 0;
    do {
      work += body();
    } while (watch.wall_ns() < kSampleNs);
    best = std::max(best, work / watch.cpu_ns());
  } while (SteadyClock::now() < end);
  return best;
}

double peak_flops_one_core(const RoofLoops& loops) {
  return 1e9 * best_rate([&] { return 2.0 * static_cast<double>(loops.multiply_add(1 << 20)); });
}

// All threads start together and do the same work, about a millisecond of it; the slowest ends the sample. Wall time,
// since it is the machine's throughput that is asked for.
double peak_flops_together(const RoofLoops& loops, int threads, double flops_of_one) {
  const auto operations = static_cast<int64_t>(flops_of_one / 2 * 1e-3);
  std::atomic<int> arrived = 0, finished = 0;
  std::atomic<bool> over = false;
  const auto meet = [&](std::atomic<int>& counter, int target) {
    ++counter;
    while (counter.load() < target) std::this_thread::yield();
  };
  double best = 0;
  const auto end = SteadyClock::now() + 3 * kTimePerRoof;  // a moment when all CPUs are free is rarer
  const auto work = [&](bool timekeeper) {
    for (int sample = 1; !over; ++sample) {
      meet(arrived, sample * threads);
      const auto start = SteadyClock::now();
      const int64_t done = loops.multiply_add(operations);
      if (timekeeper) over = start > end;  // before the others leave the meeting, so that all see the same
      meet(finished, sample * threads);
      if (!timekeeper) continue;
      const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
      best = std::max(best, 2.0 * static_cast<double>(done) * threads / seconds);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, false);
  work(true);
  for (std::thread& thread : others) thread.join();
  return best;
}

struct Level {
  std::string name;
  int64_t bytes = 0;  // of the buffer that is read again and again
};

// Half of L1 and L2 (the rest is for whatever else lives there); of L3 a quarter, since other cores share it, but well
// above L2; DRAM: four times the last level, within what a machine surely has.
std::vector<Level> levels() {
  std::vector<DataCache> caches = data_caches();
  if (caches.empty()) caches = {{1, 32 << 10}, {2, 512 << 10}};
  std::vector<Level> levels;
  int64_t previous = 0;
  for (const DataCache& cache : caches) {
    const int64_t share = std::max(cache.level <= 2 ? cache.bytes / 2 : cache.bytes / 4, 2 * previous);
    previous = cache.bytes;
    if (share < cache.bytes) levels.push_back({"L" + std::to_string(cache.level), share});
  }
  const int64_t dram = std::clamp<int64_t>(4 * caches.back().bytes, int64_t{64} << 20, int64_t{1} << 30);
  levels.push_back({"DRAM", std::min(dram, physical_memory_bytes() / 4)});
  for (Level& level : levels) level.bytes = level.bytes / 1024 * 1024;
  return levels;
}

double read_bandwidth(const RoofLoops& loops, int64_t bytes) {
  const size_t size = static_cast<size_t>(bytes);
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of a bandwidth buffer");
  auto* memory = static_cast<std::byte*>(mapping);
  madvise(memory, size, MADV_HUGEPAGE);            // the roof of the memory, not of the page tables
  std::fill(memory, memory + size, std::byte{1});  // untouched pages would all be the same zero page
  loops.read(memory, size);
  // About a megabyte between two looks at the clock: a small buffer is read several times, a large one in pieces.
  const size_t piece = std::min(size, kBytesPerLook);
  const size_t repeats = kBytesPerLook / piece;
  size_t place = 0;
  const double rate = best_rate([&] {
    for (size_t repeat = 0; repeat < repeats; ++repeat) {
      if (place + piece > size) place = 0;
      loops.read(memory + place, piece);
      place += piece;
    }
    return static_cast<double>(piece * repeats);
  });
  munmap(memory, size);
  return 1e9 * rate;
}

}  // namespace

Roofs measure_roofs_here(int threads) {
  const RoofLoops loops = roof_loops();
  Roofs roofs;
  roofs.threads = threads;
  roofs.peak_flops = peak_flops_one_core(loops);
  roofs.peak_flops_threads = threads > 1 ? peak_flops_together(loops, threads, roofs.peak_flops) : roofs.peak_flops;
  pin_to_current_cpu();  // not before: other threads would inherit it
  for (const Level& level : levels()) roofs.bandwidth.emplace_back(level.name, read_bandwidth(loops, level.bytes));
  return roofs;
}

}  // namespace hone
