// SPDX-License-Identifier: MIT
// FakeThreadPool: an app's pool of the plainest kind: new threads for each loop, slots that mean nothing outside it.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "executor/executor.h"

namespace hone {

class FakeThreadPool final : public ThreadPool {
 public:
  explicit FakeThreadPool(int threads) : threads_(threads) {}
  int threads() const override { return threads_; }
  void parallel_for(int tasks, int threads, const std::function<void(int, int)>& body) override {
    ++loops;
    std::atomic<int> next{0};
    std::vector<std::thread> workers;
    for (int slot = 0; slot < threads; ++slot) {
      workers.emplace_back([&, slot] {
        for (int task; (task = next++) < tasks;) body(task, slot);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  std::atomic<int> loops{0};

 private:
  int threads_;
};

}  // namespace hone
