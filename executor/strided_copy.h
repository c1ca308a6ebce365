// SPDX-License-Identifier: MIT
// StridedCopy: the plan's copy step, shaped like a kernel so that the run loop knows only kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/plan.h"

namespace hone {

class StridedCopy {
 public:
  /// Requires equal extents and dtypes.
  StridedCopy(const PlanView& from, const PlanView& to);
  void copy(const void* from, void* to) const;

  /// An argv kernel: {user context, source buffer, destination buffer, const StridedCopy*}.
  static int kernel(void** arguments);

 private:
  struct Dimension {
    int64_t extent;
    int64_t from_bytes, to_bytes;  // strides
  };
  void copy_dimension(size_t dimension, const std::byte* from, std::byte* to) const;
  void copy_row(const std::byte* from, std::byte* to) const;

  std::vector<Dimension> dimensions_;  // outermost first, adjacent ones joined; the row apart
  Dimension row_{};                    // dense on both sides if its strides are element_bytes_
  int64_t element_bytes_ = 0;
};

}  // namespace hone
