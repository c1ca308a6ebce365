// SPDX-License-Identifier: MIT
// Environment: what `user_context` points to inside a kernel, behind KernelEnvironment (kernel_call.h) and Context. The
// three functions that kernels leave undefined are served from it: hone_malloc, hone_free, hone_do_par_for.
//
// Kernels are built without asserts: they return 0 whatever happens and have no unwind tables. So a failure inside one
// (no memory, a failed task) is recorded in the error slot and leaves the kernel by longjmp to the guard around it; the
// guard drops the scratch of what was abandoned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/executor.h"
#include "executor/scratch_arena.h"

namespace hone {

inline constexpr int kOutOfMemory = -11;  // halide_error_code_out_of_memory

struct KernelCall {
  int (*kernel)(void** arguments);
  void** arguments;
};

class Environment {
 public:
  using Task = int (*)(void* user_context, int index, uint8_t* closure);

  /// Throws Error if threads < 1 or threads cannot be started.
  Environment(int threads, ThreadPool* pool, uint64_t scratch_hint_bytes = 0);

  /// Calls kernels in order until one fails. Returns 0, or the code that was recorded first; position() is then the
  /// index of the call that failed.
  int run(std::span<const KernelCall> calls);
  size_t position() const { return position_; }
  uint64_t scratch_bytes() const;
  /// The address of a variable that holds the user_context: an argv kernel's first argument.
  void* user_context_argument() { return &self_; }

  // For the functions that kernels call.
  void* allocate(size_t bytes);
  void free(void* pointer);
  void parallel_for(Task task, int min, int extent, uint8_t* closure);

 private:
  int guarded(int slot, bool in_task, int (*body)(void*), void* argument);
  [[noreturn]] void fail(int code);
  void run_serially(Task task, int min, int extent, uint8_t* closure);
  static int run_calls(void* environment);

  std::unique_ptr<ThreadPool> own_pool_;
  ThreadPool* pool_;
  int threads_;
  void* self_ = this;
  std::span<const KernelCall> calls_;
  size_t position_ = 0;
  std::atomic<int> error_{0};
  std::vector<ScratchArena> arenas_;  // one a thread slot
};

}  // namespace hone
