// SPDX-License-Identifier: MIT
#include <HalideRuntime.h>

#include <algorithm>
#include <csetjmp>

#include "executor/environment.h"
#include "executor/kernel_call.h"

namespace hone {
namespace {

/// What this thread is doing for an Environment. Saved and restored around every kernel call and task, so that a hook
/// or an app's pool may start another one in between.
struct ThreadState {
  int slot = 0;               // index of the scratch arena
  bool in_task = false;       // inside a parallel loop
  jmp_buf* escape = nullptr;  // the innermost guard
};
thread_local ThreadState state;

/// One parallel loop, on the stack of the thread that owns it.
struct ParallelLoop {
  Environment::Task task;
  Environment* environment;
  int index;
  uint8_t* closure;
};

int run_task(void* argument) {
  auto* loop = static_cast<ParallelLoop*>(argument);
  return loop->task(loop->environment, loop->index, loop->closure);
}

}  // namespace

Environment::Environment(int threads, ThreadPool* pool, uint64_t scratch_hint_bytes) : pool_(pool), threads_(threads) {
  if (threads < 1) throw Error("cannot create a context", "it would have no thread", "ask for one or more threads");
  if (pool_ == nullptr && threads > 1) {
    own_pool_ = make_thread_pool(threads);
    pool_ = own_pool_.get();
  }
  threads_ = pool_ == nullptr ? 1 : std::min(threads, std::max(1, pool_->threads()));
  arenas_.reserve(static_cast<size_t>(threads_));
  for (int slot = 0; slot < threads_; ++slot) arenas_.emplace_back(scratch_hint_bytes);
}

uint64_t Environment::scratch_bytes() const {
  uint64_t bytes = 0;
  for (const ScratchArena& arena : arenas_) bytes += arena.peak_bytes();
  return bytes;
}

int Environment::run(std::span<const KernelCall> calls) {
  for (ScratchArena& arena : arenas_) arena.fit();
  error_.store(0, std::memory_order_relaxed);
  calls_ = calls;
  const int code = guarded(0, false, run_calls, this);
  const int recorded = error_.load(std::memory_order_relaxed);
  return recorded != 0 ? recorded : code;
}

int Environment::run_calls(void* environment) {
  auto& self = *static_cast<Environment*>(environment);
  for (self.position_ = 0; self.position_ < self.calls_.size(); ++self.position_) {
    const KernelCall& call = self.calls_[self.position_];
    const int code = call.kernel(call.arguments);
    if (code != 0) return code;
    if (const int recorded = self.error_.load(std::memory_order_relaxed); recorded != 0) return recorded;
  }
  return 0;
}

/// Runs `body` so that fail() below it comes back here. Nothing with a destructor may live in a frame that is skipped:
/// those are kernels (C) and the hone_* functions.
[[gnu::noinline]] int Environment::guarded(int slot, bool in_task, int (*body)(void*), void* argument) {
  CHECK(slot >= 0 && slot < threads_);
  ScratchArena& arena = arenas_[static_cast<size_t>(slot)];
  const void* const mark = arena.mark();
  const ThreadState outer = state;
  jmp_buf here;
  state = {.slot = slot, .in_task = in_task, .escape = &here};
  int code = _setjmp(here);  // no signal mask: that would be a system call each time
  if (code == 0) {
    code = body(argument);
  } else {
    arena.reset(mark);
  }
  state = outer;
  if (code != 0) {
    int none = 0;
    error_.compare_exchange_strong(none, code, std::memory_order_relaxed);
  }
  return code;
}

void Environment::fail(int code) {
  CHECK(state.escape != nullptr);  // a kernel was called without an Environment around it
  _longjmp(*state.escape, code);
}

void* Environment::allocate(size_t bytes) {
  void* memory = arenas_[static_cast<size_t>(state.slot)].take(bytes);
  if (memory == nullptr) fail(kOutOfMemory);
  return memory;
}

void Environment::free(void* pointer) {
  if (pointer != nullptr) arenas_[static_cast<size_t>(state.slot)].give(pointer);
}

void Environment::run_serially(Task task, int min, int extent, uint8_t* closure) {
  for (int i = 0; i < extent; ++i) {
    if (const int code = task(this, min + i, closure); code != 0) fail(code);
  }
}

void Environment::parallel_for(Task task, int min, int extent, uint8_t* closure) {
  if (threads_ == 1 || extent <= 1 || (state.in_task && !pool_->slots_are_threads())) {
    return run_serially(task, min, extent, closure);
  }
  struct Call {
    Environment* environment;
    Task task;
    int min;
    uint8_t* closure;
    const ThreadState* owner;  // its address is the thread's identity
    int owner_slot;            // -1: the pool's slots hold for the owner too
  } const call = {this, task, min, closure, &state, pool_->slots_are_threads() ? state.slot : -1};
  const auto body = [&call](int index, int slot) {
    Environment& self = *call.environment;
    if (self.error_.load(std::memory_order_relaxed) != 0) return;  // skip what is left of a failed run
    if (&state == call.owner && call.owner_slot >= 0) slot = call.owner_slot;
    ParallelLoop loop{call.task, call.environment, call.min + index, call.closure};
    self.guarded(slot, true, run_task, &loop);
  };
  pool_->parallel_for(extent, threads_, body);
  if (const int code = error_.load(std::memory_order_relaxed); code != 0) fail(code);
}

namespace {

class CheckedEnvironment final : public KernelEnvironment {
 public:
  CheckedEnvironment(int threads, ThreadPool* pool)
      : environment_(threads, pool), arguments_{environment_.user_context_argument()} {}

  int call(int (*kernel)(void** arguments), std::span<void* const> hosts) override {
    if (buffers_.size() != hosts.size()) {
      buffers_.assign(hosts.size(), halide_buffer_t{});
      arguments_.resize(1);
      for (halide_buffer_t& buffer : buffers_) arguments_.push_back(&buffer);
    }
    for (size_t i = 0; i < hosts.size(); ++i) buffers_[i].host = static_cast<uint8_t*>(hosts[i]);
    const KernelCall call{kernel, arguments_.data()};
    return environment_.run({&call, 1});
  }
  uint64_t scratch_bytes() const override { return environment_.scratch_bytes(); }

 private:
  Environment environment_;
  std::vector<halide_buffer_t> buffers_;
  std::vector<void*> arguments_;
};

}  // namespace

std::unique_ptr<KernelEnvironment> KernelEnvironment::create(int threads, ThreadPool* pool) {
  return std::make_unique<CheckedEnvironment>(threads, pool);
}

}  // namespace hone

// What bundling renames Halide's three symbols to. Never halide_*: an app may have Halide kernels of its own.
extern "C" {

void* hone_malloc(void* user_context, size_t bytes) {
  return static_cast<hone::Environment*>(user_context)->allocate(bytes);
}

void hone_free(void* user_context, void* pointer) {
  static_cast<hone::Environment*>(user_context)->free(pointer);
}

int hone_do_par_for(void* user_context, hone::Environment::Task task, int min, int extent, uint8_t* closure) {
  static_cast<hone::Environment*>(user_context)->parallel_for(task, min, extent, closure);
  return 0;
}
}
