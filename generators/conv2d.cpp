// SPDX-License-Identifier: MIT
// Conv: one or two spatial dimensions, groups (depthwise too), asymmetric pads, dilations, optional bias.
#include <algorithm>

#include "generators/operators.h"
#include "generators/shape_rules.h"
#include "generators/window.h"

namespace hone {
namespace {

void check_inputs(const Shape& input, const Shape& weights, int64_t group) {
  if (input.size() != weights.size() || (input.size() != 3 && input.size() != 4)) {
    refuse("Conv", "input " + shape_text(input) + " and weights " + shape_text(weights) + " do not fit",
           "supported: [N,C,(H,)W] and [M,C/group,(kH,)kW]");
  }
  if (group < 1 || weights[0] % group != 0 || weights[1] < 1 || weights[1] > input[1] || input[1] % weights[1] != 0 ||
      input[1] / weights[1] != group) {
    refuse("Conv",
           "group " + std::to_string(group) + " does not fit the input " + shape_text(input) + " and weights " +
               shape_text(weights),
           "input channels must be group * weight channels, output channels a multiple of group");
  }
}

void normalise(Attributes& attributes, int, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const Shape& weights = inputs[1].shape;
  check_inputs(input, weights, int_attribute(attributes, "group"));
  std::vector<int64_t>& kernel = mutable_ints(attributes, "kernel_shape");
  if (kernel.empty()) kernel.assign(weights.begin() + 2, weights.end());
  normalise_window("Conv", attributes, input);
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  const Shape& input = inputs[0].shape;
  const Shape& weights = inputs[1].shape;
  check_inputs(input, weights, int_attribute(node.attributes, "group"));
  const std::vector<WindowDim> window = window_of("Conv", node.attributes, input);
  Shape output = {input[0], weights[0]};
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i].kernel != weights[i + 2]) {
      refuse("Conv", "kernel_shape differs from the weights' " + shape_text(weights), "make them equal");
    }
    output.push_back(window_output("Conv", window[i], input[i + 2]));
  }
  if (inputs.size() > 2 && node.inputs[2] >= 0 && inputs[2].shape != Shape{weights[0]}) {
    refuse("Conv", "its bias has the shape " + shape_text(inputs[2].shape), "it must be " + shape_text({weights[0]}));
  }
  return {checked_type("Conv", inputs[0].dtype, std::move(output))};
}

/// A plane with one row if the convolution has one spatial dimension.
struct Plane {
  int64_t height, width;
  explicit Plane(const Shape& shape) : height(shape.size() == 4 ? shape[2] : 1), width(shape.back()) {}
  int64_t size() const { return height * width; }
};

/// First and one past the last output whose tap at `offset` lies inside [0, extent).
struct Inside {
  int64_t begin, end;
  Inside(const WindowDim& window, int64_t tap, int64_t extent, int64_t outputs) {
    const int64_t offset = tap * window.dilation - window.pad_begin;
    begin = offset >= 0 ? 0 : (-offset + window.stride - 1) / window.stride;
    end = offset >= extent ? 0 : std::min(outputs, (extent - 1 - offset) / window.stride + 1);
  }
};

/// Adds one input plane times one kernel to an output plane. The innermost loop runs over a row: it vectorises.
void accumulate_plane(const double* input, Plane in, const double* kernel, const WindowDim& rows,
                      const WindowDim& columns, double* output, Plane out) {
  for (int64_t ky = 0; ky < rows.kernel; ++ky) {
    const Inside y_range(rows, ky, in.height, out.height);
    for (int64_t kx = 0; kx < columns.kernel; ++kx) {
      const Inside x_range(columns, kx, in.width, out.width);
      const double weight = kernel[ky * columns.kernel + kx];
      for (int64_t y = y_range.begin; y < y_range.end; ++y) {
        const double* from = input + (y * rows.stride + ky * rows.dilation - rows.pad_begin) * in.width +
                             kx * columns.dilation - columns.pad_begin;
        double* to = output + y * out.width;
        for (int64_t x = x_range.begin; x < x_range.end; ++x) to[x] += weight * from[x * columns.stride];
      }
    }
  }
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape& shape = inputs[0].shape;
  const Shape& weights = inputs[1].shape;
  std::vector<WindowDim> window = window_of("Conv", node.attributes, shape);
  if (window.size() == 1) window.insert(window.begin(), WindowDim{});
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  output.values.resize(static_cast<size_t>(element_count(output.shape)));
  const Plane in(shape);
  const Plane out(output.shape);
  const int64_t taps = window[0].kernel * window[1].kernel;
  const int64_t group = int_attribute(node.attributes, "group");
  const bool bias = inputs.size() > 2 && node.inputs[2] >= 0;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t co = 0; co < weights[0]; ++co) {
      double* to = output.values.data() + (n * weights[0] + co) * out.size();
      std::fill(to, to + out.size(), bias ? inputs[2].values[static_cast<size_t>(co)] : 0.0);
      const int64_t first = co / (weights[0] / group) * weights[1];
      for (int64_t ci = 0; ci < weights[1]; ++ci) {
        accumulate_plane(inputs[0].values.data() + (n * shape[1] + first + ci) * in.size(), in,
                         inputs[1].values.data() + (co * weights[1] + ci) * taps, window[0], window[1], to, out);
      }
    }
  }
  return {std::move(output)};
}

int64_t reduction_length(const Node&, std::span<const TensorType> inputs) {
  const Shape& weights = inputs[1].shape;
  return element_count(Shape(weights.begin() + 1, weights.end()));
}

double count_flops(const Node& node, std::span<const TensorType> inputs) {
  return 2.0 * static_cast<double>(element_count(node.outputs[0].shape)) *
         static_cast<double>(reduction_length(node, inputs));
}

}  // namespace

std::vector<Operator> conv2d_operators() {
  using Ints = std::vector<int64_t>;
  return {{"Conv",
           OperatorKind::anchor,
           2,
           3,
           {{"auto_pad", std::string("NOTSET")},
            {"dilations", Ints{}},
            {"group", int64_t{1}},
            {"kernel_shape", Ints{}},
            {"pads", Ints{}},
            {"strides", Ints{}}},
           normalise,
           infer,
           reference,
           count_flops,
           reduction_length}};
}

}  // namespace hone
