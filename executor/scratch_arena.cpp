// SPDX-License-Identifier: MIT
#include "executor/scratch_arena.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "executor/error.h"

namespace hone {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;  // a page-aligned base: the same cache sets in every process

}  // namespace

/// Lies before its bytes; as large as the alignment, so that these are aligned.
struct alignas(64) ScratchArena::Block {
  Block* previous;
  size_t end;  // in the stack, whether or not it fits in the capacity
  bool on_heap;
  bool freed;
};

ScratchArena::~ScratchArena() {
  reset(nullptr);
  std::free(base_);
}

ScratchArena::ScratchArena(ScratchArena&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      expected_(other.expected_),
      peak_(std::exchange(other.peak_, 0)),
      last_(std::exchange(other.last_, nullptr)) {}

void* ScratchArena::take(size_t bytes) {
  const size_t start = last_ == nullptr ? 0 : last_->end;
  size_t size = 0, end = 0;
  if (__builtin_add_overflow(bytes, sizeof(Block) + kAlignment - 1, &size)) return nullptr;
  size = size / kAlignment * kAlignment;
  if (__builtin_add_overflow(start, size, &end)) return nullptr;
  const bool on_heap = end > capacity_;
  void* memory = on_heap ? std::aligned_alloc(kAlignment, size) : base_ + start;
  if (memory == nullptr) return nullptr;
  last_ = new (memory) Block{.previous = last_, .end = end, .on_heap = on_heap, .freed = false};
  peak_ = std::max(peak_, end);
  return last_ + 1;
}

void ScratchArena::give(void* pointer) {
  static_cast<Block*>(pointer)[-1].freed = true;
  while (last_ != nullptr && last_->freed) pop();
}

void ScratchArena::reset(const void* mark) {
  while (last_ != mark) pop();
}

void ScratchArena::pop() {
  CHECK(last_ != nullptr);
  Block* top = std::exchange(last_, last_->previous);
  if (top->on_heap) std::free(top);
}

void ScratchArena::fit() {
  const size_t wanted = std::max(peak_, std::exchange(expected_, 0));
  if (wanted <= capacity_ || !empty() || wanted > SIZE_MAX - kPage) return;
  std::free(base_);
  capacity_ = (wanted + kPage - 1) / kPage * kPage;
  base_ = static_cast<std::byte*>(std::aligned_alloc(kPage, capacity_));
  if (base_ == nullptr) capacity_ = 0;
}

}  // namespace hone
