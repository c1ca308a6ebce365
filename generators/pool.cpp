// SPDX-License-Identifier: MIT
// MaxPool and AveragePool (ceil_mode, dilations, count_include_pad), GlobalMaxPool and GlobalAveragePool.
// Padding never wins a maximum, and enters an average only where count_include_pad says so.
#include <algorithm>
#include <cmath>
#include <limits>

#include "generators/operators.h"
#include "generators/shape_rules.h"
#include "generators/window.h"

namespace hone {
namespace {

void normalise(Attributes& attributes, int, std::span<const TensorType> inputs) {
  // The storage order concerns the second output (indices), which hone does not compute.
  const bool maximum = attributes.contains("storage_order");
  if (maximum) mutable_int(attributes, "storage_order") = 0;
  normalise_window(maximum ? "MaxPool" : "AveragePool", attributes, inputs[0].shape);
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const std::vector<WindowDim> window = window_of(node.op, node.attributes, input);
  Shape output = {input[0], input[1]};
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i].pad_begin >= window[i].reach() || window[i].pad_end >= window[i].reach()) {
      refuse(node.op, "a pad is as large as the window", "pads must be smaller than the kernel");
    }
    output.push_back(window_output(node.op, window[i], input[i + 2], int_attribute(node.attributes, "ceil_mode") != 0));
  }
  return {checked_type(node.op, inputs[0].dtype, std::move(output))};
}

std::vector<TensorType> infer_global(const Node& node, std::span<const TensorType> inputs) {
  Shape output = inputs[0].shape;
  if (output.size() < 3)
    refuse(node.op, "its input has the shape " + shape_text(output), "supported: [N,C,spatial...]");
  std::fill(output.begin() + 2, output.end(), 1);
  return {checked_type(node.op, inputs[0].dtype, std::move(output))};
}

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}

/// Taps of one window in one dimension: inside the input, and inside the padded input (for count_include_pad; taps that
/// only ceil_mode made are in neither).
struct Taps {
  int64_t begin, end, padded;
  Taps(const WindowDim& window, int64_t output, int64_t extent) {
    const int64_t start = output * window.stride - window.pad_begin;
    begin = start >= 0 ? 0 : (-start + window.dilation - 1) / window.dilation;
    end = start >= extent ? begin : std::min(window.kernel, (extent - 1 - start) / window.dilation + 1);
    padded = std::min(window.kernel, (extent + window.pad_end - 1 - start) / window.dilation + 1);
  }
};

double pool_window(const Node& node, const double* plane, int64_t width, const WindowDim& rows,
                   const WindowDim& columns, int64_t y, int64_t x, const Taps& y_taps, const Taps& x_taps) {
  const bool maximum = node.op == "MaxPool";
  double value = maximum ? -std::numeric_limits<double>::infinity() : 0;
  for (int64_t ky = y_taps.begin; ky < y_taps.end; ++ky) {
    const double* row = plane + (y * rows.stride - rows.pad_begin + ky * rows.dilation) * width;
    for (int64_t kx = x_taps.begin; kx < x_taps.end; ++kx) {
      const double element = row[x * columns.stride - columns.pad_begin + kx * columns.dilation];
      value = maximum ? larger(value, element) : value + element;
    }
  }
  if (maximum) return value;
  const bool include_pad = int_attribute(node.attributes, "count_include_pad") != 0;
  const int64_t count =
      include_pad ? y_taps.padded * x_taps.padded : (y_taps.end - y_taps.begin) * (x_taps.end - x_taps.begin);
  return value / static_cast<double>(count);
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape& shape = inputs[0].shape;
  std::vector<WindowDim> window = window_of(node.op, node.attributes, shape);
  if (window.size() == 1) window.insert(window.begin(), WindowDim{});
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  const int64_t in_height = shape.size() == 4 ? shape[2] : 1;
  const int64_t in_width = shape.back();
  const int64_t height = shape.size() == 4 ? output.shape[2] : 1;
  const int64_t width = output.shape.back();
  output.values.reserve(static_cast<size_t>(element_count(output.shape)));
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
    const double* from = inputs[0].values.data() + plane * in_height * in_width;
    for (int64_t y = 0; y < height; ++y) {
      const Taps y_taps(window[0], y, in_height);
      for (int64_t x = 0; x < width; ++x) {
        output.values.push_back(
            pool_window(node, from, in_width, window[0], window[1], y, x, y_taps, Taps(window[1], x, in_width)));
      }
    }
  }
  return {std::move(output)};
}

std::vector<ReferenceTensor> reference_global(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape& shape = inputs[0].shape;
  const int64_t plane = element_count(Shape(shape.begin() + 2, shape.end()));
  const bool maximum = node.op == "GlobalMaxPool";
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
    const double* from = inputs[0].values.data() + i * plane;
    double value = maximum ? -std::numeric_limits<double>::infinity() : 0;
    for (int64_t k = 0; k < plane; ++k) value = maximum ? larger(value, from[k]) : value + from[k];
    output.values.push_back(maximum ? value : value / static_cast<double>(plane));
  }
  return {std::move(output)};
}

int64_t window_terms(const Node& node, std::span<const TensorType>) {
  return element_count(ints_attribute(node.attributes, "kernel_shape"));
}

int64_t plane_terms(const Node&, std::span<const TensorType> inputs) {
  return element_count(Shape(inputs[0].shape.begin() + 2, inputs[0].shape.end()));
}

double window_flops(const Node& node, std::span<const TensorType> inputs) {
  return static_cast<double>(element_count(node.outputs[0].shape)) * static_cast<double>(window_terms(node, inputs));
}

double plane_flops(const Node&, std::span<const TensorType> inputs) {
  return static_cast<double>(element_count(inputs[0].shape));
}

std::vector<AttributeSpec> window_attributes(AttributeSpec own) {
  using Ints = std::vector<int64_t>;
  return {{"auto_pad", std::string("NOTSET")},
          {"ceil_mode", int64_t{0}},
          {"dilations", Ints{}},
          {"kernel_shape", Ints{}, true},
          {"pads", Ints{}},
          {"strides", Ints{}},
          std::move(own)};
}

Operator windowed(std::string_view name, AttributeSpec own) {
  return {name,      OperatorKind::anchor, 1,           1, window_attributes(std::move(own)), normalise, infer,
          reference, window_flops,         window_terms};
}

Operator global(std::string_view name) {
  return {name, OperatorKind::anchor, 1, 1, {}, nullptr, infer_global, reference_global, plane_flops, plane_terms};
}

}  // namespace

std::vector<Operator> pool_operators() {
  return {windowed("MaxPool", {"storage_order", int64_t{0}}),
          windowed("AveragePool", {"count_include_pad", int64_t{0}}), global("GlobalMaxPool"),
          global("GlobalAveragePool")};
}

}  // namespace hone
