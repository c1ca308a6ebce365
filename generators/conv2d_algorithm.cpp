// SPDX-License-Identifier: MIT
// Direct convolution over one or two spatial dimensions, any groups. Windows outside the input read zeros.
#include "generators/algorithm_parts.h"
#include "generators/algorithms.h"
#include "generators/window.h"

namespace hone {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

Func conv2d_algorithm(const AlgorithmRequest& request) {
  const Shape& input = request.types[0].shape;
  const Shape& weights = request.types[1].shape;
  const std::vector<WindowDim> window = window_of("Conv", request.node.attributes, input);
  const int64_t outputs_per_group = weights[0] / int_attribute(request.node.attributes, "group");

  Halide::Region taps;  // kernel innermost first, then input channels of the group
  for (size_t i = window.size(); i-- > 0;) taps.emplace_back(0, integer(window[i].kernel));
  taps.emplace_back(0, integer(weights[1]));
  const Halide::RDom r(taps, "r");
  const Expr channel = r[static_cast<int>(window.size())];

  const std::vector<Var> vars = index_vars(input.size());
  const Expr output_channel = vars[1];
  const Expr group = outputs_per_group == weights[0] ? Expr(0) : output_channel / integer(outputs_per_group);
  Index from = {vars[0], group * integer(weights[1]) + channel};
  Index weight_index = {output_channel, channel};
  Expr inside = Halide::Internal::const_true();
  for (size_t i = 0; i < window.size(); ++i) {
    const WindowDim& dim = window[i];
    const Expr tap = r[static_cast<int>(window.size() - 1 - i)];
    const Expr position = vars[i + 2] * integer(dim.stride) + tap * integer(dim.dilation) - integer(dim.pad_begin);
    const int64_t extent = input[i + 2];
    if (dim.pad_begin > 0) inside = inside && position >= 0;
    if (dim.pad_end > 0) inside = inside && position < integer(extent);
    from.push_back(dim.pad_begin > 0 || dim.pad_end > 0 ? within(position, extent) : position);
    weight_index.push_back(tap);
  }

  const Halide::Type type = sum_type(request, halide_type(request.types[0].dtype));
  Func sum("sum");
  at(sum, as_index(vars)) =
      request.has_input(2) ? cast(type, read(request.inputs[2], {output_channel})) : Halide::Internal::make_zero(type);
  const Expr element = cast(type, read(request.inputs[0], from));
  const bool padded = !Halide::Internal::is_const_one(inside);
  at(sum, as_index(vars)) += cast(type, read(request.inputs[1], weight_index)) *
                             (padded ? select(inside, element, Halide::Internal::make_zero(type)) : element);
  request.stages.push_back(sum);
  return define(request, vars, read(sum, as_index(vars)));
}

}  // namespace hone
