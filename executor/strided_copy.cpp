// SPDX-License-Identifier: MIT
#include "executor/strided_copy.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hone {
namespace {

template <typename Element>
void copy_elements(int64_t count, const std::byte* from, int64_t from_bytes, std::byte* to, int64_t to_bytes) {
  for (int64_t i = 0; i < count; ++i) {
    Element element;  // by memcpy: an app's buffer may be unaligned
    std::memcpy(&element, from + i * from_bytes, sizeof element);
    std::memcpy(to + i * to_bytes, &element, sizeof element);
  }
}

}  // namespace

StridedCopy::StridedCopy(const PlanView& from, const PlanView& to) : element_bytes_(element_bytes(from.dtype)) {
  bool empty = false;
  for (size_t d = 0; d < from.extents.size(); ++d) {
    empty = empty || from.extents[d] == 0;
    if (from.extents[d] == 1) continue;
    const Dimension next{from.extents[d], from.strides[d] * element_bytes_, to.strides[d] * element_bytes_};
    // In descending order of the destination's strides: sequential writes; reads may jump.
    const auto smaller = [&next](const Dimension& other) { return std::abs(other.to_bytes) < std::abs(next.to_bytes); };
    dimensions_.insert(std::find_if(dimensions_.begin(), dimensions_.end(), smaller), next);
  }
  if (empty || dimensions_.empty()) {
    dimensions_.clear();
    row_ = {empty ? 0 : 1, element_bytes_, element_bytes_};
    return;
  }
  for (size_t d = dimensions_.size() - 1; d > 0; --d) {
    const Dimension inner = dimensions_[d];
    Dimension& outer = dimensions_[d - 1];
    if (outer.from_bytes != inner.extent * inner.from_bytes || outer.to_bytes != inner.extent * inner.to_bytes)
      continue;
    outer = {outer.extent * inner.extent, inner.from_bytes, inner.to_bytes};
    dimensions_.erase(dimensions_.begin() + static_cast<std::ptrdiff_t>(d));
  }
  row_ = dimensions_.back();
  dimensions_.pop_back();
}

void StridedCopy::copy(const void* from, void* to) const {
  if (row_.extent == 0) return;  // nothing to copy, and the pointers may be null
  copy_dimension(0, static_cast<const std::byte*>(from), static_cast<std::byte*>(to));
}

void StridedCopy::copy_dimension(size_t dimension, const std::byte* from, std::byte* to) const {
  if (dimension == dimensions_.size()) return copy_row(from, to);
  const Dimension& d = dimensions_[dimension];
  for (int64_t i = 0; i < d.extent; ++i) copy_dimension(dimension + 1, from + i * d.from_bytes, to + i * d.to_bytes);
}

void StridedCopy::copy_row(const std::byte* from, std::byte* to) const {
  if (row_.from_bytes == element_bytes_ && row_.to_bytes == element_bytes_) {
    std::memmove(to, from, static_cast<size_t>(row_.extent * element_bytes_));
    return;
  }
  switch (element_bytes_) {
    case 1:
      return copy_elements<uint8_t>(row_.extent, from, row_.from_bytes, to, row_.to_bytes);
    case 2:
      return copy_elements<uint16_t>(row_.extent, from, row_.from_bytes, to, row_.to_bytes);
    case 4:
      return copy_elements<uint32_t>(row_.extent, from, row_.from_bytes, to, row_.to_bytes);
    default:
      return copy_elements<uint64_t>(row_.extent, from, row_.from_bytes, to, row_.to_bytes);
  }
}

int StridedCopy::kernel(void** arguments) {
  const auto* from = static_cast<const halide_buffer_t*>(arguments[1]);
  const auto* to = static_cast<const halide_buffer_t*>(arguments[2]);
  static_cast<const StridedCopy*>(arguments[3])->copy(from->host, to->host);
  return 0;
}

}  // namespace hone
