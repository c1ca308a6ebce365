// SPDX-License-Identifier: MIT
#include "schedules/conv2d_shape.h"

namespace hone {

Conv2dShape conv2d_shape(const Workload& workload, const Node& conv) {
  Conv2dShape shape;
  shape.input = conv.inputs[0];
  shape.weights = conv.inputs[1];
  shape.bias = conv.inputs.size() > 2 ? conv.inputs[2] : -1;
  const Shape& input = workload.type(shape.input).shape;
  const Shape& weights = workload.type(shape.weights).shape;
  const Shape& output = conv.outputs[0].shape;
  shape.batch = input[0], shape.in_channels = input[1], shape.height = input[2], shape.width = input[3];
  shape.out_channels = output[1], shape.out_height = output[2], shape.out_width = output[3];
  shape.kernel_y = weights[2], shape.kernel_x = weights[3];
  const std::vector<int64_t>& strides = ints_attribute(conv.attributes, "strides");
  const std::vector<int64_t>& dilations = ints_attribute(conv.attributes, "dilations");
  const std::vector<int64_t>& pads = ints_attribute(conv.attributes, "pads");
  shape.stride_y = strides[0], shape.stride_x = strides[1];
  shape.dilation_y = dilations[0], shape.dilation_x = dilations[1];
  shape.pad_top = pads[0], shape.pad_left = pads[1];
  shape.group = int_attribute(conv.attributes, "group");
  return shape;
}

}  // namespace hone
