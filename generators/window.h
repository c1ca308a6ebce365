// SPDX-License-Identifier: MIT
// Sliding windows over spatial dimensions, shared by convolution and pooling: ONNX's spellings reduced to one form.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "generators/workload.h"

namespace hone {

/// One spatial dimension, outermost first. `pad_end` may be negative only after ceil_mode trimming: never here.
struct WindowDim {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
};

/// Fills "strides", "dilations" (if the operator has it) and "pads" of one to two spatial dimensions and resolves
/// "auto_pad" to NOTSET. Requires "kernel_shape" to be filled. `input` is [N, C, spatial...].
void normalise_window(std::string_view op, Attributes& attributes, const Shape& input);

/// Reads and checks a normalised window. Throws Error on lists of the wrong length or values without meaning.
std::vector<WindowDim> window_of(std::string_view op, const Attributes& attributes, const Shape& input);

/// Extent of the output; with `ceil_mode` a last window may hang over the end, but must start inside input or left
/// padding (ONNX 1.16's wording of what PyTorch and ONNX Runtime do).
int64_t window_output(std::string_view op, const WindowDim& window, int64_t extent, bool ceil_mode = false);

}  // namespace hone
