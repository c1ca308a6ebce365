// SPDX-License-Identifier: MIT
// Threads: nested loops, several contexts and pools at once, failures inside pool threads. Also the program to build
// with -fsanitize=thread.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "executor/environment.h"
#include "executor/kernel_call.h"
#include "tests/fakes/fake_bundle.h"
#include "tests/fakes/fake_thread_pool.h"

namespace hone {
namespace {

constexpr int kRows = 32, kColumns = 16;

/// Reaches a task as Halide's closure does.
struct Closure {
  const float* in;
  float* out;
  int row;
};

int scale_one(void*, int index, uint8_t* closure) {
  const auto* c = reinterpret_cast<Closure*>(closure);
  c->out[c->row * kColumns + index] = 2 * c->in[c->row * kColumns + index];
  return 0;
}
/// A row by way of scratch: two blocks freed out of order.
int scale_row(void* context, int row, uint8_t* closure) {
  const auto* c = reinterpret_cast<Closure*>(closure);
  auto* first = static_cast<float*>(hone_malloc(context, kColumns * sizeof(float)));
  auto* second = static_cast<float*>(hone_malloc(context, kColumns * sizeof(float)));
  for (int i = 0; i < kColumns; ++i) first[i] = c->in[row * kColumns + i];
  for (int i = 0; i < kColumns; ++i) second[i] = 2 * first[i];
  hone_free(context, first);
  for (int i = 0; i < kColumns; ++i) c->out[row * kColumns + i] = second[i];
  hone_free(context, second);
  return 0;
}
/// A row by a loop of its own, with scratch that stays taken meanwhile.
int scale_row_nested(void* context, int row, uint8_t* closure) {
  Closure inner = *reinterpret_cast<Closure*>(closure);
  inner.row = row;
  auto* scratch = static_cast<float*>(hone_malloc(context, kColumns * sizeof(float)));
  for (int i = 0; i < kColumns; ++i) scratch[i] = static_cast<float>(row);
  const int code = hone_do_par_for(context, scale_one, 0, kColumns, reinterpret_cast<uint8_t*>(&inner));
  for (int i = 0; i < kColumns; ++i) inner.out[row * kColumns + i] += scratch[i] - static_cast<float>(row);
  hone_free(context, scratch);
  return code;
}
int fail_in_the_middle(void* context, int row, uint8_t*) {
  auto* scratch = static_cast<float*>(hone_malloc(context, 64));
  if (row == kRows / 2) hone_malloc(context, SIZE_MAX / 2);  // does not come back
  hone_free(context, scratch);
  return 0;
}
int fail_in_nested(void* context, int, uint8_t* closure) {
  hone_malloc(context, 1000);
  return hone_do_par_for(context, fail_in_the_middle, 0, kRows, closure);
}
int task_returns_code(void*, int row, uint8_t*) {
  return row == 3 ? -5 : 0;
}

template <int (*task)(void*, int, uint8_t*)>
int kernel(void** arguments) {
  Closure closure{host<float>(arguments, 1), host<float>(arguments, 2), 0};
  auto* scratch = hone_malloc(user_context(arguments), 256);
  hone_do_par_for(user_context(arguments), task, 0, kRows, reinterpret_cast<uint8_t*>(&closure));
  hone_free(user_context(arguments), scratch);
  return 0;
}
constexpr Kernel kGood[] = {kernel<scale_row>, kernel<scale_row_nested>};
constexpr Kernel kOutOfMemoryKernels[] = {kernel<fail_in_the_middle>, kernel<fail_in_nested>};

/// Buffers of one caller.
struct Caller {
  std::vector<float> in, out;
  explicit Caller(float start) : in(kRows * kColumns), out(in.size()) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = start + static_cast<float>(i);
  }
  int call(KernelEnvironment& environment, Kernel function) {
    std::fill(out.begin(), out.end(), -1.f);
    void* const hosts[] = {in.data(), out.data()};
    return environment.call(function, hosts);
  }
  bool right() const {
    for (size_t i = 0; i < in.size(); ++i) {
      if (out[i] != 2 * in[i]) return false;
    }
    return true;
  }
};

TEST(KernelEnvironment, EveryKindOfPoolGivesTheSameResult) {
  FakeThreadPool app_pool(3);
  const auto shared = make_thread_pool(3);
  const std::pair<int, ThreadPool*> kinds[] = {{1, nullptr},   {2, nullptr},      {4, nullptr},     {3, &app_pool},
                                               {1, &app_pool}, {3, shared.get()}, {2, shared.get()}};
  for (const auto& [threads, pool] : kinds) {
    const auto environment = KernelEnvironment::create(threads, pool);
    Caller caller(1);
    for (int run = 0; run < 20; ++run) {
      for (const Kernel function : kGood) {
        ASSERT_EQ(caller.call(*environment, function), 0);
        ASSERT_TRUE(caller.right()) << threads;
      }
    }
  }
  EXPECT_GT(app_pool.loops, 0);
}

TEST(KernelEnvironment, FailureInsideATaskIsReportedAndForgotten) {
  FakeThreadPool app_pool(3);
  const std::pair<int, ThreadPool*> kinds[] = {{1, nullptr}, {2, nullptr}, {4, nullptr}, {3, &app_pool}};
  for (const auto& [threads, pool] : kinds) {
    const auto environment = KernelEnvironment::create(threads, pool);
    Caller caller(1);
    for (int run = 0; run < 20; ++run) {
      for (const Kernel function : kOutOfMemoryKernels) ASSERT_EQ(caller.call(*environment, function), -11);
      ASSERT_EQ(caller.call(*environment, kernel<task_returns_code>), -5);
      for (const Kernel function : kGood) {
        ASSERT_EQ(caller.call(*environment, function), 0);
        ASSERT_TRUE(caller.right()) << threads;
      }
    }
  }
}

TEST(KernelEnvironment, AKernelMayHaveNoBuffers) {
  const auto environment = KernelEnvironment::create(1);
  const Kernel take_and_give = [](void** arguments) {
    hone_free(user_context(arguments), hone_malloc(user_context(arguments), 10));
    return 0;
  };
  EXPECT_EQ(environment->call(take_and_give, {}), 0);
  EXPECT_EQ(environment->scratch_bytes(), 128u);
}

TEST(KernelEnvironment, ScratchStopsGrowing) {
  const auto environment = KernelEnvironment::create(1);
  Caller caller(1);
  for (int run = 0; run < 3; ++run) {
    caller.call(*environment, kGood[0]);
    // The kernel's own block and two of a row, each with a header.
    EXPECT_EQ(environment->scratch_bytes(), (256u + 64) + 2 * (kColumns * sizeof(float) + 64));
  }
}

/// Each context keeps to its own scratch, error and threads while others run: four callers, two pools, one of them
/// failing every other call.
TEST(KernelEnvironment, FourCallersAtOnce) {
  const auto shared = make_thread_pool(4), other = make_thread_pool(2);
  const std::pair<int, ThreadPool*> kinds[] = {
      {4, shared.get()}, {3, shared.get()}, {1, shared.get()}, {2, other.get()}};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    threads.emplace_back([&, i] {
      const auto environment = KernelEnvironment::create(kinds[i].first, kinds[i].second);
      Caller caller(static_cast<float>(1000 * i));
      for (int run = 0; run < 50; ++run) {
        for (const Kernel function : kGood) {
          if (caller.call(*environment, function) != 0 || !caller.right()) ++wrong;
        }
        if (i % 2 == 1 && caller.call(*environment, kOutOfMemoryKernels[run % 2]) != -11) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// An app may run contexts from inside the pool that they use.
TEST(KernelEnvironment, CallersThatAreThePoolsOwnThreads) {
  const auto pool = make_thread_pool(4);
  std::atomic<int> wrong{0};
  pool->parallel_for(12, 4, [&](int task, int) {
    const auto environment = KernelEnvironment::create(2, pool.get());
    Caller caller(static_cast<float>(task));
    for (const Kernel function : kGood) {
      if (caller.call(*environment, function) != 0 || !caller.right()) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Context, OneModelManyContexts) {
  PlanBuilder builder(kRows * kColumns);
  builder.step(0, {builder.input(), builder.output()});
  const FakeBundle bundle(builder, {kernel<scale_row_nested>});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto context = Context::create(bundle.model, {.threads = 1 + i % 3});
      Caller caller(static_cast<float>(i));
      context->set_input(0, caller.in.data());
      context->set_output(0, caller.out.data());
      for (int run = 0; run < 50; ++run) {
        context->run();
        if (!caller.right()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, RunsEachTaskOnceOnAFreeSlot) {
  for (const int threads : {1, 2, 4, 7}) {
    const auto pool = make_thread_pool(threads);
    EXPECT_EQ(pool->threads(), threads);
    for (const int limit : {1, 2, threads}) {
      std::vector<std::atomic<int>> runs(100), busy(static_cast<size_t>(threads));
      std::atomic<int> clashes{0};
      pool->parallel_for(100, limit, [&](int task, int slot) {
        ++runs[static_cast<size_t>(task)];
        if (slot < 0 || slot >= limit || busy[static_cast<size_t>(slot)]++ != 0) ++clashes;
        std::this_thread::yield();
        --busy[static_cast<size_t>(slot)];
      });
      for (const auto& count : runs) ASSERT_EQ(count, 1);
      EXPECT_EQ(clashes, 0);
    }
    pool->parallel_for(0, threads, [](int, int) { ADD_FAILURE(); });
  }
  EXPECT_THROW(make_thread_pool(0), Error);
}

TEST(ThreadPool, SleepingWorkersWakeUp) {
  const auto pool = make_thread_pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than workers poll
    std::atomic<int> sum{0};
    std::set<std::thread::id> seen;
    std::mutex mutex;
    pool->parallel_for(3, 3, [&](int task, int) {
      sum += task;
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(sum, 3);
    EXPECT_GE(seen.size(), 1u);
  }
}

TEST(ThreadPool, ThreeLevelsOfNesting) {
  const auto pool = make_thread_pool(4);
  std::atomic<int> leaves{0};
  pool->parallel_for(5, 4, [&](int, int) {
    pool->parallel_for(5, 4, [&](int, int) { pool->parallel_for(5, 4, [&](int, int) { ++leaves; }); });
  });
  EXPECT_EQ(leaves, 125);
}

TEST(ScratchArena, AbandonedBlocksAreDropped) {
  ScratchArena arena(1024);
  arena.fit();
  void* kept = arena.take(100);
  const void* mark = arena.mark();
  ASSERT_NE(arena.take(200), nullptr);
  ASSERT_NE(arena.take(100000), nullptr);  // does not fit: from the heap
  arena.reset(mark);
  arena.give(kept);
  EXPECT_TRUE(arena.empty());
  arena.fit();
  void* large = arena.take(100000);
  std::memset(large, 1, 100000);
  arena.give(large);
  EXPECT_TRUE(arena.empty());
}

TEST(ScratchArena, RefusesWhatNoMachineHas) {
  ScratchArena arena;
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 64, SIZE_MAX / 2}) EXPECT_EQ(arena.take(bytes), nullptr);
  EXPECT_TRUE(arena.empty());
  EXPECT_EQ(arena.peak_bytes(), 0u);
}

TEST(ScratchArena, BlocksAreAlignedAndDisjoint) {
  ScratchArena arena;
  std::vector<std::pair<std::byte*, size_t>> blocks;
  for (const size_t size : {1u, 64u, 65u, 1000u, 0u, 3u}) {
    blocks.emplace_back(static_cast<std::byte*>(arena.take(size)), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().first) % 64, 0u);
    std::memset(blocks.back().first, static_cast<int>(blocks.size()), size);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t j = 0; j < blocks[i].second; ++j) ASSERT_EQ(blocks[i].first[j], std::byte(i + 1));
  }
  for (const size_t i : {2u, 0u, 5u, 1u, 3u, 4u}) arena.give(blocks[i].first);
  EXPECT_TRUE(arena.empty());
}

}  // namespace
}  // namespace hone
