// SPDX-License-Identifier: MIT
// One spatial dimension of a sliding window (depthwise convolution, pooling), and safe indices into its input.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <cstdint>

namespace hone {

struct WindowAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
  int64_t tile = 1;  // outputs are computed in whole tiles: the last may hang over

  int64_t highest() const { return ((out + tile - 1) / tile * tile - 1) * stride + (kernel - 1) * dilation - pad; }
  bool leaves() const { return pad > 0 || highest() >= in; }

  Halide::Expr tap(const Halide::Expr& output, const Halide::Expr& offset) const {
    return output * static_cast<int>(stride) + offset * static_cast<int>(dilation) - static_cast<int>(pad);
  }
  /// `index` clamped into the input where it could leave it; likely() makes the clamp vanish from inner tiles.
  Halide::Expr clamped(const Halide::Expr& index) const {
    return leaves() ? clamp(likely(index), 0, static_cast<int>(in) - 1) : index;
  }
  /// Adds to `condition` (undefined: always true) that `index` lies inside.
  void require_inside(const Halide::Expr& index, Halide::Expr& condition) const {
    const auto require = [&](const Halide::Expr& term) {
      condition = condition.defined() ? condition && likely(term) : likely(term);
    };
    if (pad > 0) require(index >= 0);
    if (highest() >= in) require(index < static_cast<int>(in));
  }
};

}  // namespace hone
