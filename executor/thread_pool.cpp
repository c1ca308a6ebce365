// SPDX-License-Identifier: MIT
// The executor's own thread pool. Loops form a stack; workers join the newest one that has tasks left; a loop's owner
// works on its own loop only and then waits for those who joined: so nested loops cannot deadlock, and no more scratch
// is in use than threads times nesting depth.
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "executor/text.h"

namespace hone {
namespace {

/// How long a thread polls before it sleeps. Waking a sleeper costs about as much as a small kernel runs (10-50 us),
/// and serial steps between parallel ones last that long.
constexpr std::chrono::microseconds kPollTime{100};

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on most cores
#endif
}

struct Loop {
  const std::function<void(int, int)>& body;
  const int tasks;
  const int threads;
  std::atomic<int> next{0};   // first task that nobody took
  std::atomic<int> users{0};  // workers inside; raised under the pool's mutex while the loop is on the stack
  Loop* below = nullptr;

  bool has_tasks() const { return next.load(std::memory_order_relaxed) < tasks; }
  void work(int slot) {
    for (int task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) body(task, slot);
  }
};

class StackPool final : public ThreadPool {
 public:
  explicit StackPool(int threads);
  ~StackPool() override { stop(); }

  int threads() const override { return static_cast<int>(workers_.size()) + 1; }
  bool slots_are_threads() const override { return true; }
  void parallel_for(int tasks, int threads, const std::function<void(int task, int slot)>& body) override;

 private:
  void serve(int slot);
  void stop();
  Loop* joinable(int slot) const;
  void remove(Loop& loop);
  void wait_for_users(Loop& loop);
  template <typename Condition>
  bool poll(const Condition& condition) const;

  const bool may_poll_;
  std::mutex mutex_;
  std::condition_variable work_arrived_, users_left_;
  Loop* newest_ = nullptr;             // guarded by mutex_
  int sleeping_workers_ = 0;           // guarded by mutex_
  int sleeping_owners_ = 0;            // guarded by mutex_
  std::atomic<uint32_t> arrivals_{0};  // changes with every new loop and at the end; raised under mutex_
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

/// Which pool this thread works for, and as which slot.
struct Worker {
  const StackPool* pool = nullptr;
  int slot = 0;
};
thread_local Worker worker;

int usable_cores() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// More threads than cores: who polls takes the core from who works.
StackPool::StackPool(int threads) : may_poll_(threads <= usable_cores()) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the app's signals are for the app's threads
  try {
    workers_.reserve(static_cast<size_t>(threads) - 1);
    for (int slot = 1; slot < threads; ++slot) workers_.emplace_back([this, slot] { serve(slot); });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    stop();
    throw Error(concatenate({"cannot start ", decimal(threads), " threads"}), error.what(),
                "use fewer threads or raise the limit (ulimit -u)");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void StackPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++arrivals_;
  }
  work_arrived_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

Loop* StackPool::joinable(int slot) const {
  for (Loop* loop = newest_; loop != nullptr; loop = loop->below) {
    if (slot < loop->threads && loop->has_tasks()) return loop;
  }
  return nullptr;
}

void StackPool::remove(Loop& loop) {
  Loop** link = &newest_;
  while (*link != &loop) link = &(*link)->below;
  *link = loop.below;
}

template <typename Condition>
bool StackPool::poll(const Condition& condition) const {
  if (!may_poll_) return condition();
  const auto end = std::chrono::steady_clock::now() + kPollTime;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (condition()) return true;
      pause_briefly();
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    sched_yield();
  }
}

void StackPool::serve(int slot) {
  worker = {this, slot};
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (Loop* loop = joinable(slot)) {
      loop->users.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      loop->work(slot);
      lock.lock();
      // The owner may destroy the loop as soon as the last user has left.
      const bool last = loop->users.fetch_sub(1, std::memory_order_release) == 1;
      if (last && sleeping_owners_ > 0) users_left_.notify_all();
      continue;
    }
    const uint32_t seen = arrivals_.load();
    const auto changed = [this, seen] { return arrivals_.load(std::memory_order_acquire) != seen; };
    lock.unlock();
    const bool arrived = poll(changed);
    lock.lock();
    if (arrived) continue;
    ++sleeping_workers_;
    work_arrived_.wait(lock, changed);
    --sleeping_workers_;
  }
}

void StackPool::wait_for_users(Loop& loop) {
  const auto all_left = [&loop] { return loop.users.load(std::memory_order_acquire) == 0; };
  if (poll(all_left)) return;
  std::unique_lock lock(mutex_);
  ++sleeping_owners_;
  users_left_.wait(lock, all_left);
  --sleeping_owners_;
}

void StackPool::parallel_for(int tasks, int threads, const std::function<void(int task, int slot)>& body) {
  const int slot = worker.pool == this && worker.slot < threads ? worker.slot : 0;
  Loop loop{.body = body, .tasks = tasks, .threads = threads};
  if (tasks <= 1 || threads <= 1 || workers_.empty()) return loop.work(slot);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    loop.below = std::exchange(newest_, &loop);
    arrivals_.fetch_add(1, std::memory_order_release);
    wake = sleeping_workers_ > 0;
  }
  if (wake) work_arrived_.notify_all();
  loop.work(slot);
  {
    const std::lock_guard lock(mutex_);
    remove(loop);
  }
  wait_for_users(loop);
}

}  // namespace

std::unique_ptr<ThreadPool> make_thread_pool(int threads) {
  if (threads < 1) throw Error("cannot make a thread pool", "it would have no thread", "ask for one or more threads");
  return std::make_unique<StackPool>(threads);
}

}  // namespace hone
