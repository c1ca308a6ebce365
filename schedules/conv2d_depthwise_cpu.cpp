// SPDX-License-Identifier: MIT
// Depthwise convolution (multiplier 1) over channels-innermost tensors: vectors of channels times a tile of xr x yr
// pixels in registers, taps along x unrolled so that neighbouring pixels share their loads. Padding costs nothing but
// code: the ends of rows and columns are loop partitions of their own.
#include <algorithm>

#include "executor/error.h"
#include "schedules/conv2d_shape.h"
#include "schedules/epilogue.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"
#include "schedules/packing.h"
#include "schedules/window_axis.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

constexpr int64_t kMaxUnrolled = 320;  // vector multiply-adds of one partition; up to nine partitions are compiled

class Conv2dDepthwiseCpu final : public Implementation {
 public:
  std::string_view name() const override { return "conv2d_depthwise_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "depthwise convolution, vectors of channels x pixel tile"; }

  Support supports(const Workload& workload, const DeviceInfo&) const override {
    const AnchorMatch match = match_anchor(workload, {"Conv"});
    if (match.anchor == nullptr) return {false, match.reason};
    if (workload.type(match.anchor->inputs[0]).shape.size() != 4) return {false, "is not two-dimensional"};
    const Conv2dShape s = conv2d_shape(workload, *match.anchor);
    if (!s.is_depthwise()) return {false, "is not depthwise with multiplier 1"};
    if (!workload.arguments[static_cast<size_t>(s.weights)].constant) return {false, "the weights are not constant"};
    const bool innermost = workload.arguments[static_cast<size_t>(s.input)].strides[1] == 1;
    if (!innermost || workload.outputs[0].strides[1] != 1) return {false, "channels are not innermost"};
    return {true, ""};
  }

  SearchSpace space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const override;
  std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                   std::span<const Tensor> constants) const override;
  KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const override;
};

std::vector<int64_t> up_to(std::vector<int64_t> values, int64_t limit) {
  std::erase_if(values, [&](int64_t v) { return v > std::max<int64_t>(1, limit); });
  return values;
}

/// The largest value of a knob's domain that is at most `limit`.
int64_t largest_up_to(const SearchSpace& space, std::string_view name, int64_t limit) {
  int64_t largest = 1;
  for (const TunableParam& param : space.params) {
    if (param.name != name) continue;
    for (const int64_t value : param.values) {
      if (value <= limit) largest = value;
    }
  }
  return largest;
}

/// All taps unrolled; 4x2 pixels share loads best at stride 1, narrow rows take one tile, stride 2 has little to share.
/// Measured (Zen 3, one core, peak 97 GFLOP/s, weights cold): 32@112 70 to 75, 144@56 57, 576@14 58, 960@7 59,
/// 5x5 240@28 72; stride 2 is bound by loads: 96@112 37, 192@28 37, 5x5 672@14 54.
Config default_point(const SearchSpace& space, const Conv2dShape& s) {
  Config config{space.implementation, space.version, {}};
  for (const TunableParam& param : space.params) config.values[param.name] = param.values.front();
  if (config.values.contains("parallel")) config.values["parallel"] = 1;
  const bool strided = s.stride_x * s.stride_y > 1;
  int64_t xr = 4, yr = 2;
  if (strided && s.kernel_x <= 3) xr = 2;
  if ((strided && s.kernel_x > 3) || s.out_width <= 7 || s.out_height == 1) xr = 7, yr = 1;
  config.values["xr"] = std::min(xr, largest_up_to(space, "xr", s.out_width));
  config.values["yr"] = yr;
  const int64_t taps = s.kernel_x * s.kernel_y;
  config.values["unroll_y"] = config.at("xr") * yr * taps <= kMaxUnrolled ? 1 : 0;
  return config;
}

SearchSpace Conv2dDepthwiseCpu::space(const Workload& workload, const DeviceInfo& device,
                                      const TuningContext& context) const {
  const Conv2dShape s = conv2d_shape(workload, *match_anchor(workload, {"Conv"}).anchor);
  SearchSpace space;
  space.implementation = name();
  space.version = version();
  int64_t lanes = device.float_lanes();
  while (lanes > 4 && s.out_channels % lanes != 0 && s.out_channels % (lanes / 2) == 0) lanes /= 2;
  std::vector<int64_t> vectors{1};
  if (s.out_channels % (2 * lanes) == 0) vectors.push_back(2);
  space.params = {{"nv", vectors},
                  {"order", {0, 1}},
                  {"unroll_y", {0, 1}},
                  {"vl", {lanes}},
                  {"xr", up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 14}, s.out_width)},
                  {"yr", up_to({1, 2, 4}, s.out_height)}};
  if (context.threads > 1) space.params.push_back({"parallel", {0, 1}});
  const int64_t registers = device.vector_registers;
  space.constraints.push_back({"registers", [registers](const Config& c) {
                                 // Weights and inputs need about six: on 16 registers 7x2 is slower than 7x1 by a
                                 // third.
                                 return c.at("nv") * c.at("xr") * c.at("yr") + 6 <= registers;
                               }});
  space.constraints.push_back({"unrolled code", [s](const Config& c) {
                                 const int64_t taps = s.kernel_x * (c.at("unroll_y") != 0 ? s.kernel_y : 1);
                                 return c.at("nv") * c.at("xr") * c.at("yr") * taps <= kMaxUnrolled;
                               }});
  space.default_config = default_point(space, s);
  CHECK(space.violation(space.default_config).empty());
  return space;
}

std::vector<PackedConstant> Conv2dDepthwiseCpu::pack(const Workload& workload, const Config& config,
                                                     std::span<const Tensor> constants) const {
  const Conv2dShape s = conv2d_shape(workload, *match_anchor(workload, {"Conv"}).anchor);
  const int64_t block = config.at("vl") * config.at("nv"), taps = s.kernel_y * s.kernel_x;
  std::vector<PackedConstant> packed;
  int argument = workload.input_count();
  for (const Tensor& constant : constants) {
    if (argument == s.weights) {
      const auto at = [&](int64_t channel, int64_t tap) { return channel * taps + tap; };
      packed.push_back(pack_panels(constant, s.out_channels, taps, block, at, "weights [ky][kx]"));
    } else {
      packed.push_back(argument == s.bias ? pack_vector(constant, block) : pack_dense(constant));
    }
    ++argument;
  }
  return packed;
}

/// Builds one kernel; the members are what its steps share.
class DepthwiseKernel {
 public:
  DepthwiseKernel(const Workload& workload, const Config& config)
      : workload_(workload),
        config_(config),
        match_(match_anchor(workload, {"Conv"})),
        s_(conv2d_shape(workload, *match_.anchor)),
        lanes_(static_cast<int>(config.at("vl"))),
        block_(static_cast<int>(config.at("vl") * config.at("nv"))),
        arguments_(workload) {
    const int64_t panels = (s_.out_channels + block_ - 1) / block_;
    const Shape packed{panels, s_.kernel_y, s_.kernel_x, block_};
    arguments_.view_as(s_.weights, packed, dense_strides(packed));
    packed_bias_ = s_.bias >= 0 && workload.arguments[static_cast<size_t>(s_.bias)].constant;
    if (packed_bias_) arguments_.view_as(s_.bias, {panels * block_}, {1});
  }

  KernelPipeline build() {
    define();
    schedule();
    const Shape& shape = workload_.type(workload_.outputs[0].value).shape;
    const Strides& strides = workload_.outputs[0].strides;
    bake_output(output_, {shape[0], shape[2], shape[3], shape[1]}, {strides[0], strides[2], strides[3], strides[1]});
    return {Halide::Pipeline(output_), arguments_.list()};
  }

 private:
  Expr input_value() const;
  void define();
  void schedule();

  const Workload& workload_;
  const Config& config_;
  AnchorMatch match_;
  Conv2dShape s_;
  int lanes_, block_;
  KernelArguments arguments_;
  bool packed_bias_ = false;
  Var c_{"c"}, x_{"x"}, y_{"y"}, n_{"n"};
  RDom r_;
  Func accumulator_{"accumulator"}, output_{"output"};
};

Expr DepthwiseKernel::input_value() const {
  const WindowAxis x{s_.width, s_.out_width, s_.kernel_x, s_.stride_x, s_.dilation_x, s_.pad_left, config_.at("xr")};
  const WindowAxis y{s_.height, s_.out_height, s_.kernel_y, s_.stride_y, s_.dilation_y, s_.pad_top, config_.at("yr")};
  const WindowAxis channels{.in = s_.out_channels, .out = s_.out_channels, .tile = block_};
  const Expr column = x.tap(x_, r_.x), row = y.tap(y_, r_.y);
  const Expr value = arguments_.load(s_.input, {x.clamped(column), y.clamped(row), channels.clamped(c_), n_});
  Expr inside;
  x.require_inside(column, inside);
  y.require_inside(row, inside);
  return inside.defined() ? select(inside, value, 0.0f) : value;
}

void DepthwiseKernel::define() {
  r_ = RDom(0, static_cast<int>(s_.kernel_x), 0, static_cast<int>(s_.kernel_y));
  accumulator_(c_, x_, y_, n_) = packed_bias_ ? arguments_.load(s_.bias, {c_}) : Expr(0.0f);
  accumulator_(c_, x_, y_, n_) += arguments_.load(s_.weights, {c_ % block_, r_.x, r_.y, c_ / block_}) * input_value();
  const LoadArgument loader = [&](int argument, const std::vector<Expr>& i) { return arguments_.load(argument, i); };
  Expr value = accumulator_(c_, x_, y_, n_);
  if (s_.bias >= 0 && !packed_bias_) value += arguments_.load(s_.bias, {c_});
  output_(c_, x_, y_, n_) = epilogue_expr(workload_, match_.value, value, {x_, y_, c_, n_}, loader);
}

void DepthwiseKernel::schedule() {
  const auto tail = [](int64_t extent, int64_t factor) {
    return extent % factor == 0 ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
  };
  const int xr = static_cast<int>(config_.at("xr")), yr = static_cast<int>(config_.at("yr"));
  Var cb("cb"), cv("cv"), cl("cl"), ci("ci"), xt("xt"), xi("xi"), yt("yt"), yi("yi");
  output_.split(c_, cb, ci, block_, tail(s_.out_channels, block_))
      .split(ci, cv, cl, lanes_)
      .split(x_, xt, xi, xr, tail(s_.out_width, xr))
      .split(y_, yt, yi, yr, tail(s_.out_height, yr));
  const bool channels_outer = config_.at("order") != 0;
  if (channels_outer) {
    output_.reorder(cl, cv, xi, yi, xt, yt, cb, n_);
  } else {
    output_.reorder(cl, cv, xi, yi, cb, xt, yt, n_);
  }
  output_.vectorize(cl).unroll(cv).unroll(xi).unroll(yi);
  if (config_.values.contains("parallel") && config_.at("parallel") != 0) output_.parallel(channels_outer ? cb : yt);
  accumulator_.compute_at(output_, channels_outer ? xt : cb)
      .store_in(Halide::MemoryType::Stack)
      .bound_extent(c_, block_)
      .bound_extent(x_, xr)
      .bound_extent(y_, yr)
      .vectorize(c_, lanes_)
      .unroll(c_)
      .unroll(x_)
      .unroll(y_);
  Halide::Stage update = accumulator_.update();
  update.reorder(c_, x_, y_, r_.x, r_.y).unroll(r_.x).vectorize(c_, lanes_).unroll(c_).unroll(x_).unroll(y_);
  if (config_.at("unroll_y") != 0) update.unroll(r_.y);
}

KernelPipeline Conv2dDepthwiseCpu::build(const Workload& workload, const Config& config, const DeviceInfo&) const {
  return DepthwiseKernel(workload, config).build();
}

}  // namespace

const Implementation* conv2d_depthwise_cpu() {
  static const Conv2dDepthwiseCpu implementation;
  return &implementation;
}

}  // namespace hone
