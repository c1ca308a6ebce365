// SPDX-License-Identifier: MIT
#include "generators/window.h"

#include <algorithm>

#include "generators/shape_rules.h"

namespace hone {
namespace {

constexpr int64_t kMaxWindow = 1 << 20;  // of kernel, stride, pad and dilation: products fit in 64 bits

void require_length(std::string_view op, std::string_view attribute, size_t length, size_t expected) {
  if (length != expected) {
    refuse(op, "attribute '" + std::string(attribute) + "' has " + std::to_string(length) + " values",
           "the input's shape asks for " + std::to_string(expected));
  }
}

size_t spatial_rank(std::string_view op, const Shape& input) {
  if (input.size() != 3 && input.size() != 4) {
    refuse(op, "its input has the shape " + shape_text(input), "supported: one or two spatial dimensions, [N,C,(H,)W]");
  }
  return input.size() - 2;
}

bool has_dilations(const Attributes& attributes) {
  return attributes.contains("dilations");
}

}  // namespace

void normalise_window(std::string_view op, Attributes& attributes, const Shape& input) {
  const size_t rank = spatial_rank(op, input);
  std::vector<int64_t>& strides = mutable_ints(attributes, "strides");
  std::vector<int64_t>& pads = mutable_ints(attributes, "pads");
  std::string& auto_pad = mutable_string(attributes, "auto_pad");
  if (strides.empty()) strides.assign(rank, 1);
  if (has_dilations(attributes) && ints_attribute(attributes, "dilations").empty()) {
    mutable_ints(attributes, "dilations").assign(rank, 1);
  }
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "VALID" && auto_pad != "NOTSET" && !auto_pad.empty()) {
    refuse(op, "auto_pad is '" + auto_pad + "'", "supported: NOTSET, VALID, SAME_UPPER, SAME_LOWER");
  }
  if (pads.empty() || same || auto_pad == "VALID") pads.assign(2 * rank, 0);
  const std::vector<WindowDim> window = window_of(op, attributes, input);
  for (size_t i = 0; same && i < rank; ++i) {
    const int64_t extent = input[i + 2];
    const int64_t outputs = (extent + window[i].stride - 1) / window[i].stride;
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * window[i].stride + window[i].reach() - extent);
    const int64_t small = total / 2;
    pads[i] = auto_pad == "SAME_UPPER" ? small : total - small;
    pads[i + rank] = total - pads[i];
  }
  auto_pad = "NOTSET";
}

std::vector<WindowDim> window_of(std::string_view op, const Attributes& attributes, const Shape& input) {
  const size_t rank = spatial_rank(op, input);
  const std::vector<int64_t>& kernel = ints_attribute(attributes, "kernel_shape");
  const std::vector<int64_t>& strides = ints_attribute(attributes, "strides");
  const std::vector<int64_t>& pads = ints_attribute(attributes, "pads");
  const std::vector<int64_t> ones(rank, 1);
  const std::vector<int64_t>& dilations = has_dilations(attributes) ? ints_attribute(attributes, "dilations") : ones;
  require_length(op, "kernel_shape", kernel.size(), rank);
  require_length(op, "strides", strides.size(), rank);
  require_length(op, "dilations", dilations.size(), rank);
  require_length(op, "pads", pads.size(), 2 * rank);
  check_range(op, "kernel_shape", kernel, 1, kMaxWindow);
  check_range(op, "strides", strides, 1, kMaxWindow);
  check_range(op, "dilations", dilations, 1, kMaxWindow);
  check_range(op, "pads", pads, 0, kMaxWindow);
  std::vector<WindowDim> window;
  for (size_t i = 0; i < rank; ++i) window.push_back({kernel[i], strides[i], dilations[i], pads[i], pads[i + rank]});
  return window;
}

int64_t window_output(std::string_view op, const WindowDim& window, int64_t extent, bool ceil_mode) {
  const int64_t room = extent + window.pad_begin + window.pad_end - window.reach();
  if (room < 0) {
    refuse(op,
           "its window reaches over " + std::to_string(window.reach()) + " elements, input and pads have " +
               std::to_string(extent + window.pad_begin + window.pad_end),
           "use a larger input or a smaller kernel");
  }
  int64_t outputs = room / window.stride + 1;
  const bool hangs_over = ceil_mode && room % window.stride != 0;
  if (hangs_over && outputs * window.stride < extent + window.pad_begin) ++outputs;
  return outputs;
}

}  // namespace hone
