// SPDX-License-Identifier: MIT
// Memory for a kernel's arguments that notices what is read or written beside it: the buffer ends at an inaccessible
// page, and the bytes around it carry a pattern. Sanitizers cannot do this: kernels are machine code of another
// compiler.
#pragma once

#include <cstddef>
#include <span>

namespace hone {

class GuardedBuffer {
 public:
  static constexpr size_t kAlignment = 64;  // what the executor gives to kernels

  /// Throws std::system_error when memory runs out.
  explicit GuardedBuffer(size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  /// Aligned to 64 bytes. Up to 63 bytes lie between the end and the inaccessible page, by that alignment.
  std::span<std::byte> bytes() const { return bytes_; }
  /// False once a byte before the buffer (up to a page) or between its end and the guard has changed.
  bool surroundings_intact() const;
  /// From here on a write is a SIGSEGV.
  void make_read_only();

 private:
  std::byte* mapping_ = nullptr;  // guard page, accessible pages, guard page
  size_t mapping_bytes_ = 0;
  std::span<std::byte> accessible_;
  std::span<std::byte> bytes_;
};

}  // namespace hone
