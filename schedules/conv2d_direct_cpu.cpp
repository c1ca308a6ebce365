// SPDX-License-Identifier: MIT
// Direct convolution (group 1) with the register tile of register_tile.h: 1x1, 3x3, stems, any stride and dilation.
// Two forms of the pixel loop, chosen by the knob `rows`:
//   0  rows and columns fused into one pixel index, so that tiles run over row ends; padding through a padded copy;
//   1  tiles within a row; taps that fall into the padding are skipped, by the bounds of the ky loop and, because the
//      ends of a row are loop partitions of their own, at compile time for kx. oneDNN's brgconv skips the same way.
#include <algorithm>

#include "executor/error.h"
#include "schedules/conv2d_shape.h"
#include "schedules/epilogue.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"
#include "schedules/packing.h"
#include "schedules/register_tile.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

constexpr int64_t kMaxUnrolled = 900;  // vector multiply-adds; above, LLVM needs seconds (measured: 900 take about 1 s)

TileExtents fused_extents(const Conv2dShape& s) {
  return {s.out_channels, s.out_pixels(), s.in_channels * s.kernel_y * s.kernel_x, s.in_channels};
}

/// Tiles of one row are counted as pixels; skipped taps are taken off in modelled_rows_cycles.
TileExtents row_extents(const Conv2dShape& s) {
  return {s.out_channels, s.out_width, s.in_channels * s.kernel_y * s.kernel_x, s.in_channels};
}

/// Share of the taps that lie inside the input, per dimension.
double inside_share(int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t in) {
  int64_t inside = 0;
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t i = o * stride + k * dilation - pad;
      inside += i >= 0 && i < in;
    }
  }
  return static_cast<double>(inside) / static_cast<double>(out * kernel);
}

class Conv2dDirectCpu final : public Implementation {
 public:
  std::string_view name() const override { return "conv2d_direct_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "direct convolution, register tile over packed weights"; }

  Support supports(const Workload& workload, const DeviceInfo&) const override {
    const AnchorMatch match = match_anchor(workload, {"Conv"});
    if (match.anchor == nullptr) return {false, match.reason};
    if (workload.type(match.anchor->inputs[0]).shape.size() != 4) return {false, "is not two-dimensional"};
    const Conv2dShape s = conv2d_shape(workload, *match.anchor);
    if (s.group != 1) return {false, "is a grouped convolution"};
    if (!workload.arguments[static_cast<size_t>(s.weights)].constant) return {false, "the weights are not constant"};
    return {true, ""};
  }

  SearchSpace space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const override;
  std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                   std::span<const Tensor> constants) const override;
  KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const override;
};

double modelled_config_cycles(const Config& config, const Conv2dShape& s) {
  const RegisterTile tile = RegisterTile::of(config);
  const bool pointwise = s.kernel_y * s.kernel_x * s.stride_x * s.stride_y == 1;
  if (config.at("rows") == 0) {
    const double copy =
        s.has_padding() ? static_cast<double>(s.in_channels * s.padded_height() * s.padded_width()) / 8 : 0;
    return modelled_cycles(tile, fused_extents(s), !pointwise) + copy;
  }
  const double share = inside_share(s.out_height, s.kernel_y, s.stride_y, s.dilation_y, s.pad_top, s.height) *
                       inside_share(s.out_width, s.kernel_x, s.stride_x, s.dilation_x, s.pad_left, s.width);
  // Wide kernels make much code of a row's two ends: 7x7 stride 2 takes 3.27 ms by rows, 2.68 fused (Zen 3).
  const double ends = s.kernel_x > 3 ? 1.25 : 1;
  return modelled_cycles(tile, row_extents(s), false) * static_cast<double>(s.out_height) * share * ends;
}

SearchSpace Conv2dDirectCpu::space(const Workload& workload, const DeviceInfo& device,
                                   const TuningContext& context) const {
  const Conv2dShape s = conv2d_shape(workload, *match_anchor(workload, {"Conv"}).anchor);
  SearchSpace space;
  space.implementation = name();
  space.version = version();
  add_tile_params(space, fused_extents(s), device);
  const bool output_fuses = pixels_fuse(workload.type(workload.outputs[0].value).shape, workload.outputs[0].strides);
  const bool padded = s.has_padding();
  space.params.push_back({"rows", !output_fuses ? std::vector<int64_t>{1}
                                  : padded      ? std::vector<int64_t>{0, 1}
                                                : std::vector<int64_t>{0}});
  if (context.threads > 1) space.params.push_back({"parallel", {0, 1}});
  // Rows that a tile doesn't divide are only for outputs whose rows don't fuse.
  space.constraints.push_back({"row tiles", [s, output_fuses](const Config& c) {
                                 return c.at("rows") == 0 || !output_fuses || s.out_width % c.at("xr") == 0;
                               }});
  // A kernel so wide that no tile stays within the budget still gets its smallest ones.
  const int64_t least = 8 * 3 * s.kernel_x * (s.in_channels <= 4 ? s.in_channels : 1);
  space.constraints.push_back({"unrolled code", [s, budget = std::max(kMaxUnrolled, least)](const Config& c) {
                                 const int64_t tile = c.at("nv") * c.at("xr") * c.at("ku");
                                 return tile * (c.at("rows") == 0 ? 1 : 3 * s.kernel_x) <= budget;
                               }});
  space.default_config = best_modelled_tile(space, default_block(fused_extents(s), device, context.threads),
                                            [&](const Config& config) { return modelled_config_cycles(config, s); });
  return space;
}

std::vector<PackedConstant> Conv2dDirectCpu::pack(const Workload& workload, const Config& config,
                                                  std::span<const Tensor> constants) const {
  const Conv2dShape s = conv2d_shape(workload, *match_anchor(workload, {"Conv"}).anchor);
  const int64_t block = RegisterTile::of(config).channels();
  const int64_t taps = s.kernel_y * s.kernel_x;
  std::vector<PackedConstant> packed;
  int argument = workload.input_count();
  for (const Tensor& constant : constants) {
    if (argument == s.weights) {
      const auto at = [&](int64_t o, int64_t i) {  // i counts [ky][kx][ci]; ONNX has [co][ci][ky][kx]
        return (o * s.in_channels + i % s.in_channels) * taps + i / s.in_channels;
      };
      packed.push_back(pack_panels(constant, s.out_channels, s.in_channels * taps, block, at, "weights [ky][kx][ci]"));
    } else {
      packed.push_back(argument == s.bias ? pack_vector(constant, block) : pack_dense(constant));
    }
    ++argument;
  }
  return packed;
}

/// Builds one kernel; the members are what its steps share.
class Conv2dKernel {
 public:
  Conv2dKernel(const Workload& workload, const Config& config, const DeviceInfo& device)
      : workload_(workload),
        match_(match_anchor(workload, {"Conv"})),
        s_(conv2d_shape(workload, *match_.anchor)),
        tile_(RegisterTile::of(config)),
        rows_(config.at("rows") != 0),
        arguments_(workload),
        fused_(workload.arguments.size(), false),
        input_lanes_(device.float_lanes()) {
    const int64_t panels = (s_.out_channels + tile_.channels() - 1) / tile_.channels();
    const Shape packed{panels, s_.kernel_y, s_.kernel_x, s_.in_channels, tile_.channels()};
    arguments_.view_as(s_.weights, packed, dense_strides(packed));
    packed_bias_ = s_.bias >= 0 && workload.arguments[static_cast<size_t>(s_.bias)].constant;
    if (packed_bias_) arguments_.view_as(s_.bias, {panels * tile_.channels()}, {1});
    const Shape& out = workload.type(workload.outputs[0].value).shape;
    for (int k = 0; !rows_ && k < workload.input_count(); ++k) {
      const Shape& shape = workload.type(k).shape;
      if (k == s_.input && !reads_linearly()) continue;
      const bool same_pixels =
          shape.size() >= 2 && shape[shape.size() - 1] == out[3] && shape[shape.size() - 2] == out[2];
      if (same_pixels) fused_[static_cast<size_t>(k)] = arguments_.fuse_pixels(k);
    }
  }

  KernelPipeline build();

 private:
  bool reads_linearly() const {
    return s_.kernel_y * s_.kernel_x * s_.stride_y * s_.stride_x == 1 && !s_.has_padding();
  }
  Expr load(int argument, std::vector<Expr> index) const;
  Expr input_value(const Expr& channel, const Expr& tap_x, const Expr& tap_y);
  Expr padded_value(const Expr& channel, const Expr& column, const Expr& row) const;
  void define();
  void schedule();
  void schedule_padded_copy(Var level);
  void bake_result();

  const Workload& workload_;
  AnchorMatch match_;
  Conv2dShape s_;
  RegisterTile tile_;
  bool rows_;
  KernelArguments arguments_;
  std::vector<bool> fused_;  // per argument: its last two dimensions are viewed as one pixel dimension
  bool packed_bias_ = false;
  int input_lanes_;
  Var c_{"c"}, x_{"x"}, y_{"y"}, n_{"n"};  // x is the pixel index unless rows_
  RDom r_;
  Func accumulator_{"accumulator"}, padded_{"padded"}, output_{"output"};
};

Expr Conv2dKernel::load(int argument, std::vector<Expr> index) const {
  if (fused_[static_cast<size_t>(argument)]) {
    index.erase(index.begin());
    index[0] = x_;
  }
  return arguments_.load(argument, index);
}

/// The input inside, zero outside; the clamped index never leaves the buffer and folds away where it is known inside.
Expr Conv2dKernel::padded_value(const Expr& channel, const Expr& column, const Expr& row) const {
  const int width = static_cast<int>(s_.width), height = static_cast<int>(s_.height);
  const Expr inside = column >= 0 && column < width && row >= 0 && row < height;
  const Expr value = arguments_.load(s_.input, {clamp(column, 0, width - 1), clamp(row, 0, height - 1), channel, n_});
  return select(inside, value, 0.0f);
}

Expr Conv2dKernel::input_value(const Expr& channel, const Expr& tap_x, const Expr& tap_y) {
  const int stride_x = static_cast<int>(s_.stride_x), stride_y = static_cast<int>(s_.stride_y);
  const Expr left = tap_x * static_cast<int>(s_.dilation_x) - static_cast<int>(s_.pad_left);
  const Expr top = tap_y * static_cast<int>(s_.dilation_y) - static_cast<int>(s_.pad_top);
  if (rows_) {
    const int width = static_cast<int>(s_.width);
    const Expr column = x_ * stride_x + left;
    // The where clause of the reduction keeps rows inside; the clamp, which folds away, tells Halide's bounds so.
    const Expr row = clamp(y_ * stride_y + top, 0, static_cast<int>(s_.height) - 1);
    const Expr value = arguments_.load(s_.input, {clamp(column, 0, width - 1), row, channel, n_});
    return select(likely(column >= 0) && likely(column < width), value, 0.0f);
  }
  // A last tile that the pixels don't fill repeats the last pixel; its results are not stored.
  const int pixels = static_cast<int>(s_.out_pixels()), out_width = static_cast<int>(s_.out_width);
  const Expr pixel = pixels % tile_.pixels == 0 ? Expr(x_) : min(x_, pixels - 1);
  if (fused_[static_cast<size_t>(s_.input)]) return arguments_.load(s_.input, {pixel, channel, n_});
  const Expr column = (pixel % out_width) * stride_x + left, row = (pixel / out_width) * stride_y + top;
  if (!s_.has_padding()) return arguments_.load(s_.input, {column, row, channel, n_});
  return padded_(channel, column + static_cast<int>(s_.pad_left), row + static_cast<int>(s_.pad_top), n_);
}

void Conv2dKernel::define() {
  const int block = static_cast<int>(tile_.channels());
  r_ = RDom(0, static_cast<int>(s_.in_channels), 0, static_cast<int>(s_.kernel_x), 0, static_cast<int>(s_.kernel_y));
  if (!rows_ && s_.has_padding()) {
    padded_(c_, x_, y_, n_) = padded_value(c_, x_ - static_cast<int>(s_.pad_left), y_ - static_cast<int>(s_.pad_top));
  }
  if (rows_) {
    const Expr row =
        y_ * static_cast<int>(s_.stride_y) + r_.z * static_cast<int>(s_.dilation_y) - static_cast<int>(s_.pad_top);
    r_.where(row >= 0 && row < static_cast<int>(s_.height));
  }
  std::vector<Var> at{c_, x_, y_, n_};
  if (!rows_) at.erase(at.begin() + 2);
  accumulator_(at) = packed_bias_ ? arguments_.load(s_.bias, {c_}) : Expr(0.0f);
  accumulator_(at) +=
      arguments_.load(s_.weights, {c_ % block, r_.x, r_.y, r_.z, c_ / block}) * input_value(r_.x, r_.y, r_.z);
  const int out_width = static_cast<int>(s_.out_width);
  const std::vector<Expr> index{rows_ ? Expr(x_) : x_ % out_width, rows_ ? Expr(y_) : x_ / out_width, c_, n_};
  Expr value = accumulator_(std::vector<Expr>(at.begin(), at.end()));
  const LoadArgument loader = [&](int argument, const std::vector<Expr>& i) { return load(argument, i); };
  if (s_.bias >= 0 && !packed_bias_) value += load(s_.bias, {c_});
  output_(at) = epilogue_expr(workload_, match_.value, value, index, loader);
}

void Conv2dKernel::schedule_padded_copy(Var level) {
  if (rows_ || !s_.has_padding()) return;
  if (tile_.block > 1) {
    padded_.compute_at(output_, level);
  } else {
    padded_.compute_root();
    if (tile_.parallel) padded_.parallel(y_);
  }
  // Copied as the input lies in memory: channels innermost, or columns for a dense image.
  const Strides& strides = workload_.arguments[static_cast<size_t>(s_.input)].strides;
  if (strides[1] == 1 && s_.in_channels >= input_lanes_) {
    padded_.vectorize(c_, input_lanes_, Halide::TailStrategy::GuardWithIf);
  } else if (strides[3] == 1) {
    padded_.reorder(x_, y_, c_, n_)
        .reorder_storage(x_, y_, c_, n_)
        .vectorize(x_, input_lanes_, Halide::TailStrategy::GuardWithIf);
  }
}

void Conv2dKernel::schedule() {
  std::vector<Var> rest{y_, n_};
  if (!rows_) rest.erase(rest.begin());
  const TileExtents extents = rows_ ? row_extents(s_) : fused_extents(s_);
  const TileLoops loops = tile_output(output_, c_, x_, rest, extents, tile_);
  std::vector<RVar> unrolled;
  if (rows_) unrolled.push_back(r_.y);
  hold_in_registers(accumulator_, c_, x_, {r_.x, r_.y, r_.z}, unrolled, output_, loops.pixel_tile, tile_);
  schedule_padded_copy(loops.pixel_block);
  if (tile_.parallel) output_.parallel(tile_.block == 0 ? loops.channel_block : loops.pixel_block);
}

void Conv2dKernel::bake_result() {
  const Shape& shape = workload_.type(workload_.outputs[0].value).shape;
  const Strides& strides = workload_.outputs[0].strides;
  if (rows_) {
    bake_output(output_, {shape[0], shape[2], shape[3], shape[1]}, {strides[0], strides[2], strides[3], strides[1]});
  } else {
    bake_output(output_, {shape[0], s_.out_pixels(), shape[1]}, {strides[0], pixel_stride(shape, strides), strides[1]});
  }
}

KernelPipeline Conv2dKernel::build() {
  define();
  schedule();
  bake_result();
  return {Halide::Pipeline(output_), arguments_.list()};
}

KernelPipeline Conv2dDirectCpu::build(const Workload& workload, const Config& config, const DeviceInfo& device) const {
  return Conv2dKernel(workload, config, device).build();
}

}  // namespace

const Implementation* conv2d_direct_cpu() {
  static const Conv2dDirectCpu implementation;
  return &implementation;
}

}  // namespace hone
