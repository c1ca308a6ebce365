// SPDX-License-Identifier: MIT
// The executor's C++ interface: a Model is immutable and may be shared by threads; a Context belongs to one caller at a
// time. Nothing is process-global: several models, contexts and pools live in one program. The C interface is hone.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "executor/error.h"
#include "executor/plan.h"

/// The generated table of kernel entry points; its layout is fixed (docs/reference/bundle.md).
extern "C" struct hone_kernel_table {
  uint32_t magic;    // 0x454e4f48 "HONE"
  uint32_t version;  // 1
  uint64_t count;
  int (*kernels[])(void** arguments);
};

namespace hone {

/// Runs `body(task, slot)` for each task in [0, tasks), on at most `threads` threads; slot < threads is unique among
/// the tasks of this loop that run at the same time. Returns when all are done. `body` never throws. An app adapts its
/// own pool to this.
class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  virtual int threads() const = 0;
  virtual void parallel_for(int tasks, int threads, const std::function<void(int task, int slot)>& body) = 0;
  /// True if each of the pool's threads has one slot >= 1 for good, so that loops may be nested: a loop's caller counts
  /// as the slot it already has. Otherwise the executor runs a loop inside a task on that task's thread alone.
  virtual bool slots_are_threads() const { return false; }
};
std::unique_ptr<ThreadPool> make_thread_pool(int threads);

class Model {
 public:
  /// Maps `plan_file` and checks it, its hash, the table and this CPU. Throws Error naming the file.
  static std::shared_ptr<const Model> load(const hone_kernel_table& table, const std::string& plan_file);
  virtual ~Model() = default;
  virtual const Plan& plan() const = 0;
  virtual const hone_kernel_table& kernels() const = 0;
  /// The mapped weight section, 64-byte aligned.
  virtual std::span<const std::byte> weights() const = 0;
};

/// Called around each step, on the thread that called run(). Tensor data is reached through Context::view_data.
struct StepHooks {
  std::function<void(int step)> before = nullptr;
  std::function<void(int step)> after = nullptr;
};

struct ContextOptions {
  int threads = 1;
  ThreadPool* pool = nullptr;  // null: the context makes its own (none for one thread)
};

class Context {
 public:
  static std::unique_ptr<Context> create(std::shared_ptr<const Model> model, const ContextOptions& options = {});
  virtual ~Context() = default;
  virtual const Model& model() const = 0;
  /// Buffers with the extents and strides of plan().views[plan().inputs[i].view]; they stay the caller's and must live
  /// until run() returns. 64-byte alignment is not required. Unset outputs get buffers that the context owns.
  virtual void set_input(int index, const void* data) = 0;
  virtual void set_output(int index, void* data) = 0;
  virtual const void* output(int index) const = 0;
  virtual void set_hooks(StepHooks hooks) = 0;
  /// Throws Error on a missing input or a kernel error (out of memory), with the step's name and nodes.
  virtual void run() = 0;
  /// Address of a view's first element during run() (from a hook) or after it.
  virtual const void* view_data(uint32_t view) const = 0;
  /// High-water mark of kernel scratch, all thread slots together, since creation.
  virtual uint64_t scratch_bytes() const = 0;
};

}  // namespace hone
