// SPDX-License-Identifier: MIT
// The numbers of a two-dimensional convolution, read once from its Workload.
#pragma once

#include <cstdint>

#include "generators/workload.h"

namespace hone {

struct Conv2dShape {
  int64_t batch = 1, in_channels = 1, height = 1, width = 1;
  int64_t out_channels = 1, out_height = 1, out_width = 1;
  int64_t kernel_y = 1, kernel_x = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0, group = 1;
  int input = 0, weights = 1, bias = -1;  // argument ids; bias -1: none

  int64_t out_pixels() const { return out_height * out_width; }
  /// Extents of the input that the taps reach, padding included.
  int64_t padded_height() const { return (out_height - 1) * stride_y + (kernel_y - 1) * dilation_y + 1; }
  int64_t padded_width() const { return (out_width - 1) * stride_x + (kernel_x - 1) * dilation_x + 1; }
  /// Whether any tap lies outside the input.
  bool has_padding() const {
    return pad_top > 0 || pad_left > 0 || padded_height() - pad_top > height || padded_width() - pad_left > width;
  }
  bool is_depthwise() const { return group > 1 && group == in_channels && out_channels == in_channels; }
};

/// Requires an inferred Conv node with a rank-4 input.
Conv2dShape conv2d_shape(const Workload& workload, const Node& conv);

}  // namespace hone
