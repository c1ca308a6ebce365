// SPDX-License-Identifier: MIT
// ScratchArena: kernel scratch of one thread slot of one context, retained between runs. One thread uses it at a time,
// so there is no lock.
#pragma once

#include <cstddef>

namespace hone {

/// A stack of blocks that tolerates frees out of order (Halide frees where a buffer's last use is): a freed block goes
/// when everything above it has gone. A block that does not fit comes from the C heap but keeps its place in the
/// stack, so peak_bytes() is exactly the capacity that makes the next, equal call fit.
class alignas(64) ScratchArena {
 public:
  explicit ScratchArena(size_t expected_bytes = 0) : expected_(expected_bytes) {}
  ~ScratchArena();
  ScratchArena(ScratchArena&& other) noexcept;
  ScratchArena& operator=(ScratchArena&&) = delete;

  /// 64-byte aligned; null if there is no memory.
  void* take(size_t bytes);
  void give(void* pointer);

  /// What was taken after mark() is dropped by reset(): for calls that were abandoned midway.
  const void* mark() const { return last_; }
  void reset(const void* mark);

  /// Between calls, when nothing is taken: grows the capacity to the peak (first: to the expected bytes). Without
  /// memory it stays as it is.
  void fit();
  size_t peak_bytes() const { return peak_; }
  bool empty() const { return last_ == nullptr; }

 private:
  struct Block;
  void pop();

  std::byte* base_ = nullptr;
  size_t capacity_ = 0;
  size_t expected_;
  size_t peak_ = 0;
  Block* last_ = nullptr;
};

}  // namespace hone
