// SPDX-License-Identifier: MIT
// mmap with a guard page on either side.
#include "profiler/guarded_buffer.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace hone {
namespace {

constexpr std::byte kCanary{0xA5};

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

GuardedBuffer::GuardedBuffer(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t aligned = round_up(bytes, kAlignment);
  const size_t accessible = std::max(round_up(aligned, page), page);
  mapping_bytes_ = accessible + 2 * page;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of a kernel argument");
  mapping_ = static_cast<std::byte*>(mapping);
  accessible_ = {mapping_ + page, accessible};
  if (mprotect(accessible_.data(), accessible, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(mapping_, mapping_bytes_);
    throw std::system_error(error, std::generic_category(), "mprotect of a kernel argument");
  }
  // Small pages, as the executor's file mapping of weights has them.
  madvise(accessible_.data(), accessible, MADV_NOHUGEPAGE);
  bytes_ = accessible_.subspan(accessible - aligned, bytes);
  std::fill(accessible_.data(), bytes_.data(), kCanary);
  std::fill(bytes_.data() + bytes_.size(), accessible_.data() + accessible_.size(), kCanary);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      accessible_(other.accessible_),
      bytes_(other.bytes_) {}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

bool GuardedBuffer::surroundings_intact() const {
  const auto is_canary = [](std::byte value) { return value == kCanary; };
  return std::all_of(accessible_.data(), bytes_.data(), is_canary) &&
         std::all_of(bytes_.data() + bytes_.size(), accessible_.data() + accessible_.size(), is_canary);
}

void GuardedBuffer::make_read_only() {
  if (mprotect(accessible_.data(), accessible_.size(), PROT_READ) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect of a kernel argument");
  }
}

}  // namespace hone
