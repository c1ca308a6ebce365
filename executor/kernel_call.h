// SPDX-License-Identifier: MIT
// KernelEnvironment: what a kernel sees as its user_context (scratch arenas, threads, error slot). A Context owns one;
// hone-runner uses one directly to time single kernels under exactly the conditions of the shipped executor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "executor/executor.h"

namespace hone {

class KernelEnvironment {
 public:
  /// `pool` may be null (an own one is made if threads > 1). Scratch is retained between calls.
  static std::unique_ptr<KernelEnvironment> create(int threads, ThreadPool* pool = nullptr);
  virtual ~KernelEnvironment() = default;
  /// Calls an argv-style kernel with buffers of which only `host` is set (kernels bake in everything else).
  /// Returns 0 or the code that the kernel's environment recorded (-11: out of memory). Kernels themselves always
  /// return 0.
  virtual int call(int (*kernel)(void** arguments), std::span<void* const> hosts) = 0;
  virtual uint64_t scratch_bytes() const = 0;  // high-water mark over all slots together
};

}  // namespace hone
