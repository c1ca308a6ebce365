// SPDX-License-Identifier: MIT
// Winograd convolution F(m x m, 3x3), m = 2, 4 or 6, for stride 1: (m+2)^2 small matrix products over transformed tiles
// instead of 9 m^2 multiplications an output. Per strip of tile rows: transform all input channels; per block of output
// channels: products, inverse transform, epilogue.
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016); matrices by Cook-Toom. Error
// class: about ten times that of direct summation for m = 4 and 6, so Accuracy::strict leaves only m = 2.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "executor/error.h"
#include "schedules/conv2d_shape.h"
#include "schedules/epilogue.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"
#include "schedules/packing.h"
#include "schedules/winograd_matrices.h"

namespace hone {
namespace {

using Halide::clamp;
using Halide::Expr;
using Halide::Func;
using Halide::mux;
using Halide::RDom;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

int64_t round_up_division(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

class Conv2dWinogradCpu final : public Implementation {
 public:
  std::string_view name() const override { return "conv2d_winograd_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "Winograd F(m x m, 3x3) convolution, stride 1"; }
  Support supports(const Workload& workload, const DeviceInfo& device) const override;
  SearchSpace space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const override;
  std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                   std::span<const Tensor> constants) const override;
  KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const override;
};

int64_t lanes_of(int64_t channels, const DeviceInfo& device) {
  int64_t lanes = device.float_lanes();
  while (lanes > 4 && channels % lanes != 0) lanes /= 2;
  return lanes;
}

constexpr int64_t kMaxTransformedBytes = 64 << 20;

int64_t transformed_bytes(const Conv2dShape& s, int64_t m) {
  return (m + 2) * (m + 2) * s.in_channels * s.out_channels * 4;
}

Support Conv2dWinogradCpu::supports(const Workload& workload, const DeviceInfo& device) const {
  const AnchorMatch match = match_anchor(workload, {"Conv"});
  if (match.anchor == nullptr) return {false, match.reason};
  if (workload.type(match.anchor->inputs[0]).shape.size() != 4) return {false, "is not two-dimensional"};
  const Conv2dShape s = conv2d_shape(workload, *match.anchor);
  if (s.kernel_y != 3 || s.kernel_x != 3) return {false, "the kernel is not 3x3"};
  if (s.stride_y * s.stride_x * s.dilation_y * s.dilation_x != 1) return {false, "has a stride or dilation"};
  if (s.group != 1) return {false, "is a grouped convolution"};
  if (!workload.arguments[static_cast<size_t>(s.weights)].constant) return {false, "the weights are not constant"};
  const bool innermost = workload.arguments[static_cast<size_t>(s.input)].strides[1] == 1;
  if (!innermost || workload.outputs[0].strides[1] != 1) return {false, "channels are not innermost"};
  const bool whole =
      s.in_channels % lanes_of(s.in_channels, device) == 0 && s.out_channels % lanes_of(s.out_channels, device) == 0;
  if (!whole || s.in_channels < 8) return {false, "channels are too few or no whole vectors"};
  if (transformed_bytes(s, 2) > kMaxTransformedBytes) return {false, "the transformed weights would be too large"};
  if (s.out_height < 4 || s.out_width < 4) return {false, "the map is smaller than a tile"};
  return {true, ""};
}

/// Tiles that a strip of `rows` tile rows has, and the number of strips.
struct Strips {
  int64_t tiles_x, tiles_y, rows;
  Strips(const Conv2dShape& s, int64_t m, int64_t tile_rows)
      : tiles_x(round_up_division(s.out_width, m)),
        tiles_y(round_up_division(s.out_height, m)),
        rows(tile_rows == 0 ? tiles_y : std::min(tile_rows, tiles_y)) {}
  int64_t tiles() const { return tiles_x * rows; }
};

/// Relative cost of a point, in cycles of a core with two 8-lane FMA units. Picks the default: measured (Zen 3, one
/// core) F4 nv2 xr4 tyb2 0.81 ms for 64@56, F4 nv2 xr6 1.2 for 128@28 cold, F2 1.9 for 256@14 cold; direct 2.5 to 2.8.
double modelled_cycles(const Conv2dShape& s, const Config& c, int64_t l2_bytes) {
  const int64_t n = c.at("m") + 2;
  const Strips strips(s, c.at("m"), c.at("tyb"));
  const double passes = static_cast<double>(round_up_division(strips.tiles_y, strips.rows));
  const double tiles = static_cast<double>(round_up_division(strips.tiles(), c.at("xr")) * c.at("xr"));
  const double vectors = static_cast<double>(c.at("nv")), pixels = static_cast<double>(c.at("xr"));
  const double in = static_cast<double>(s.in_channels), out = static_cast<double>(s.out_channels);
  const double positions = static_cast<double>(n * n);
  // Full chains of the FMA units, with a little for more of them where the rest is equal.
  const double idle = (std::max({vectors * pixels, vectors + pixels, 8.0}) + 0.2) / (vectors * pixels);
  const double transforms = 1 + 10.0 * static_cast<double>(n) * (1 / in + 1 / out);
  const double products = passes * tiles * positions * in * out / 16 * idle * transforms;
  // Weights come from memory once at four bytes a cycle, then from the last-level cache at ten.
  const double weights = positions * in * out * (1 + 0.4 * (passes - 1));
  const double strip_elements = tiles * positions * in;
  const bool fits = strip_elements * 8 <= static_cast<double>(l2_bytes);
  const double blocks = out / static_cast<double>(c.at("vl") * c.at("nv"));
  return products + weights + (fits ? 0 : 0.4 * passes * strip_elements * blocks);
}

SearchSpace Conv2dWinogradCpu::space(const Workload& workload, const DeviceInfo& device,
                                     const TuningContext& context) const {
  const Conv2dShape s = conv2d_shape(workload, *match_anchor(workload, {"Conv"}).anchor);
  SearchSpace space;
  space.implementation = name();
  space.version = version();
  const int64_t lanes = lanes_of(s.out_channels, device);
  std::vector<int64_t> vectors{1, 2, 3, 4};
  std::erase_if(vectors, [&](int64_t nv) { return s.out_channels / lanes % nv != 0; });
  std::vector<int64_t> unrolls{1, 2, 4};
  std::erase_if(unrolls, [&](int64_t ku) { return s.in_channels % ku != 0; });
  space.params = {{"ku", unrolls},
                  {"m", context.accuracy == Accuracy::strict ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 4, 6}},
                  {"nv", vectors},
                  {"tile_major", {0, 1}},
                  {"tyb", {0, 1, 2, 4, 7}},
                  {"vl", {lanes}},
                  {"xr", {2, 3, 4, 5, 6, 7, 8, 10, 12, 14}}};
  if (context.threads > 1) space.params.push_back({"parallel", {0, 1}});
  const int64_t registers = device.vector_registers;
  space.constraints.push_back({"registers", [registers](const Config& c) {
                                 return c.at("nv") * c.at("xr") + c.at("nv") + 1 <= registers &&
                                        c.at("nv") * c.at("xr") >= 4;
                               }});
  space.constraints.push_back(
      {"strips", [s](const Config& c) { return c.at("tyb") < round_up_division(s.out_height, c.at("m")); }});
  space.constraints.push_back(
      {"tile fits the map", [s](const Config& c) { return c.at("m") <= s.out_width && c.at("m") <= s.out_height; }});
  // Weights grow 1.8, 4 and 7 times. Cold, F6 loses from 256 channels on and F4 from 512 (Zen 3), and a bundle should
  // not grow for it.
  space.constraints.push_back({"transformed weights", [s](const Config& c) {
                                 const int64_t limits[] = {kMaxTransformedBytes, 10 << 20, 5 << 20};
                                 return transformed_bytes(s, c.at("m")) <= limits[c.at("m") / 2 - 1];
                               }});
  // More than the L1 ways of rows that lie a multiple of 4 KB apart evict each other: 4 to 8 times slower.
  space.constraints.push_back({"cache ways", [s](const Config& c) {
                                 const bool aliases = (s.in_channels * 4) % 4096 == 0;
                                 return !(aliases && c.at("xr") > 8);
                               }});
  space.default_config = {std::string(name()), version(), {}};
  for (const TunableParam& param : space.params) space.default_config.values[param.name] = param.values.front();
  if (context.threads > 1) space.default_config.values["parallel"] = 1;
  double best = 0;
  Config config = space.default_config;
  for (const int64_t m : {2, 4, 6}) {
    for (const int64_t nv : vectors) {
      for (const int64_t rows : {0, 1, 2, 4, 7}) {
        for (const int64_t xr : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14}) {
          config.values["m"] = m, config.values["nv"] = nv, config.values["tyb"] = rows, config.values["xr"] = xr;
          if (!space.violation(config).empty()) continue;
          const double cost = modelled_cycles(s, config, device.l2_bytes);
          if (best != 0 && cost >= best) continue;
          best = cost;
          space.default_config = config;
        }
      }
    }
  }
  CHECK(best != 0);
  return space;
}

/// U[co/cb][xi][nu][ci][cb] = G w G^T, in double.
PackedConstant pack_transformed(const Tensor& weights, const Conv2dShape& s, int64_t block, int64_t m) {
  const Matrix g = winograd_matrices(m).g;
  const int64_t n = m + 2;
  const std::span<const float> w = weights.as<float>();
  std::vector<float> u(static_cast<size_t>(s.out_channels * n * n * s.in_channels));
  for (int64_t co = 0; co < s.out_channels; ++co) {
    for (int64_t ci = 0; ci < s.in_channels; ++ci) {
      const float* kernel = &w[static_cast<size_t>((co * s.in_channels + ci) * 9)];
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (size_t y = 0; y < 3; ++y) {
            for (size_t x = 0; x < 3; ++x) {
              sum +=
                  g[static_cast<size_t>(i)][y] * static_cast<double>(kernel[y * 3 + x]) * g[static_cast<size_t>(j)][x];
            }
          }
          const int64_t at = (((co / block) * n * n + i * n + j) * s.in_channels + ci) * block + co % block;
          u[static_cast<size_t>(at)] = static_cast<float>(sum);
        }
      }
    }
  }
  PackedConstant packed;
  packed.bytes.resize(u.size() * sizeof(float));
  std::memcpy(packed.bytes.data(), u.data(), packed.bytes.size());
  packed.descriptor =
      "Winograd F" + std::to_string(m) + " weights [xi][nu][ci] in panels of " + std::to_string(block) + " f32";
  return packed;
}

std::vector<PackedConstant> Conv2dWinogradCpu::pack(const Workload& workload, const Config& config,
                                                    std::span<const Tensor> constants) const {
  const Conv2dShape s = conv2d_shape(workload, *match_anchor(workload, {"Conv"}).anchor);
  std::vector<PackedConstant> packed;
  int argument = workload.input_count();
  for (const Tensor& constant : constants) {
    if (argument++ == s.weights) {
      packed.push_back(pack_transformed(constant, s, config.at("vl") * config.at("nv"), config.at("m")));
    } else {
      packed.push_back(pack_dense(constant));
    }
  }
  return packed;
}

/// sum of k[q] * f(q), leaving out zeros and multiplications by one.
Expr linear(const std::vector<double>& k, const std::function<Expr(int)>& f) {
  Expr sum;
  for (size_t q = 0; q < k.size(); ++q) {
    if (k[q] == 0) continue;
    const Expr value = f(static_cast<int>(q));
    const Expr term = k[q] == 1 ? value : k[q] == -1 ? -value : value * static_cast<float>(k[q]);
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

/// Row `index` of `matrix` times f, as one expression for an index that unrolling makes constant.
Expr row_of(const Expr& index, const Matrix& matrix, const std::function<Expr(int)>& f) {
  std::vector<Expr> rows;
  for (const std::vector<double>& row : matrix) rows.push_back(linear(row, f));
  return mux(index, rows);
}

/// Builds one kernel; the members are what its steps share. Notation of the paper: V transformed input, U weights, M
/// products; b counts the n*n positions of a tile.
class WinogradKernel {
 public:
  WinogradKernel(const Workload& workload, const Config& config)
      : workload_(workload),
        config_(config),
        match_(match_anchor(workload, {"Conv"})),
        s_(conv2d_shape(workload, *match_.anchor)),
        m_(static_cast<int>(config.at("m"))),
        n_(m_ + 2),
        lanes_(static_cast<int>(config.at("vl"))),
        block_(static_cast<int>(config.at("vl") * config.at("nv"))),
        strips_(s_, m_, config.at("tyb")),
        matrices_(winograd_matrices(m_)),
        arguments_(workload) {
    const Shape u{s_.out_channels / block_, n_ * n_, s_.in_channels, block_};
    arguments_.view_as(s_.weights, u, dense_strides(u));
  }

  KernelPipeline build(const DeviceInfo& device) {
    define_input();
    define_products();
    schedule_output();
    schedule_products();
    schedule_input(static_cast<int>(lanes_of(s_.in_channels, device)));
    const Shape& shape = workload_.type(workload_.outputs[0].value).shape;
    const Strides& strides = workload_.outputs[0].strides;
    bake_output(output_, {shape[0], shape[2], shape[3], shape[1]}, {strides[0], strides[2], strides[3], strides[1]});
    return {Halide::Pipeline(output_), arguments_.list()};
  }

 private:
  void define_input();
  void define_products();
  void schedule_output();
  void schedule_products();
  void schedule_input(int input_lanes);

  const Workload& workload_;
  const Config& config_;
  AnchorMatch match_;
  Conv2dShape s_;
  int m_, n_, lanes_, block_;
  Strips strips_;
  WinogradMatrices matrices_;
  KernelArguments arguments_;
  Var c_{"c"}, x_{"x"}, y_{"y"}, t_{"t"}, b_{"b"}, i_{"i"}, j_{"j"}, xi_{"xi"}, nu_{"nu"}, g_{"g"};
  Var strip_{"strip"}, block_loop_{"cob"}, vector_{"cv"};
  RDom r_;
  Func padded_{"padded"}, rows_{"rows"}, v_{"v"}, accumulator_{"accumulator"}, products_{"products"};
  Func columns_{"columns"}, tile_{"tile"}, output_{"output"};
};

void WinogradKernel::define_input() {
  const int width = static_cast<int>(s_.width), height = static_cast<int>(s_.height);
  const Expr inside = x_ >= 0 && x_ < width && y_ >= 0 && y_ < height;
  padded_(c_, x_, y_, g_) =
      select(inside, arguments_.load(s_.input, {clamp(x_, 0, width - 1), clamp(y_, 0, height - 1), c_, g_}), 0.0f);
  const int tiles_x = static_cast<int>(strips_.tiles_x);
  const int left = static_cast<int>(s_.pad_left), top = static_cast<int>(s_.pad_top);
  rows_(c_, j_, nu_, t_, g_) = row_of(nu_, matrices_.bt, [&](int q) {
    return padded_(c_, (t_ % tiles_x) * m_ + j_ - left, (t_ / tiles_x) * m_ + q - top, g_);
  });
  v_(c_, t_, xi_, nu_, g_) = row_of(xi_, matrices_.bt, [&](int q) { return rows_(c_, q, nu_, t_, g_); });
}

void WinogradKernel::define_products() {
  r_ = RDom(0, static_cast<int>(s_.in_channels));
  accumulator_(c_, t_, b_, g_) = 0.0f;
  accumulator_(c_, t_, b_, g_) +=
      arguments_.load(s_.weights, {c_ % block_, r_.x, b_, c_ / block_}) * v_(r_.x, t_, b_ % n_, b_ / n_, g_);
  products_(c_, t_, b_, g_) = accumulator_(c_, t_, b_, g_);
  columns_(c_, i_, xi_, t_, g_) = row_of(i_, matrices_.at, [&](int q) { return products_(c_, t_, xi_ + n_ * q, g_); });
  tile_(c_, i_, j_, t_, g_) = row_of(j_, matrices_.at, [&](int q) { return columns_(c_, i_, q, t_, g_); });
  const int tiles_x = static_cast<int>(strips_.tiles_x);
  Expr value = tile_(c_, y_ % m_, x_ % m_, x_ / m_ + tiles_x * (y_ / m_), g_);
  const LoadArgument loader = [&](int argument, const std::vector<Expr>& i) { return arguments_.load(argument, i); };
  if (s_.bias >= 0) value += arguments_.load(s_.bias, {c_});
  output_(c_, x_, y_, g_) = epilogue_expr(workload_, match_.value, value, {x_, y_, c_, g_}, loader);
}

void WinogradKernel::schedule_output() {
  const auto tail = [](bool divides) { return divides ? TailStrategy::RoundUp : TailStrategy::GuardWithIf; };
  Var tx("tx"), ty("ty"), px("px"), py("py"), row("row"), lane("cl"), in_block("ci");
  const int rows = static_cast<int>(strips_.rows);
  output_.split(x_, tx, px, m_, tail(s_.out_width % m_ == 0))
      .split(y_, ty, py, m_, tail(s_.out_height % m_ == 0))
      .split(ty, strip_, row, rows, tail(strips_.tiles_y % rows == 0))
      .split(c_, block_loop_, in_block, block_)
      .split(in_block, vector_, lane, lanes_)
      .reorder({lane, px, py, vector_, tx, row, block_loop_, strip_, g_})
      .vectorize(lane)
      .unroll(px)
      .unroll(py);
  // Partitions of ragged maps would copy the whole nest, up to eight times over; a guarded store costs nothing.
  for (const Var& loop : {tx, row, strip_}) output_.partition(loop, Halide::Partition::Never);
  if (config_.values.contains("parallel") && config_.at("parallel") != 0) {
    output_.parallel(rows == strips_.tiles_y ? block_loop_ : strip_);
  }
  columns_.compute_at(output_, vector_)
      .store_in(Halide::MemoryType::Stack)
      .reorder(c_, i_, xi_)
      .vectorize(c_, lanes_)
      .unroll(xi_)
      .unroll(i_);
  tile_.compute_at(output_, vector_)
      .store_in(Halide::MemoryType::Stack)
      .reorder(c_, j_, i_)
      .vectorize(c_, lanes_)
      .unroll(i_)
      .unroll(j_);
}

void WinogradKernel::schedule_products() {
  const int xr = static_cast<int>(config_.at("xr")), ku = static_cast<int>(config_.at("ku"));
  Var tiles("to"), tile("tu");
  products_.compute_at(output_, block_loop_)
      .store_in(Halide::MemoryType::Heap)
      .bound_extent(c_, block_)
      .split(t_, tiles, tile, xr, TailStrategy::RoundUp)
      .reorder(c_, tile, tiles, b_)
      .vectorize(c_, lanes_)
      .unroll(c_)
      .unroll(tile)
      .reorder_storage(c_, b_, t_, g_);
  accumulator_.compute_at(products_, tiles)
      .store_in(Halide::MemoryType::Stack)
      .bound_extent(c_, block_)
      .bound_extent(t_, xr)
      .vectorize(c_, lanes_)
      .unroll(c_)
      .unroll(t_);
  RVar outer("ro"), inner("ri");
  accumulator_.update()
      .split(r_.x, outer, inner, ku)
      .reorder(c_, t_, inner, outer)
      .unroll(inner)
      .vectorize(c_, lanes_)
      .unroll(c_)
      .unroll(t_);
}

void WinogradKernel::schedule_input(int input_lanes) {
  Var vectors("vv"), lane("vl");
  v_.compute_at(output_, strip_)
      .store_in(Halide::MemoryType::Heap)
      .split(c_, vectors, lane, input_lanes)
      .reorder({lane, xi_, nu_, vectors, t_})
      .vectorize(lane)
      .unroll(xi_)
      .unroll(nu_);
  if (config_.at("tile_major") != 0) v_.reorder_storage(c_, xi_, nu_, t_, g_);
  rows_.compute_at(v_, vectors)
      .store_in(Halide::MemoryType::Stack)
      .reorder(c_, nu_, j_, t_)
      .vectorize(c_, input_lanes)
      .unroll(nu_)
      .unroll(j_);
  padded_.compute_at(output_, strip_).store_in(Halide::MemoryType::Heap).vectorize(c_, input_lanes);
}

KernelPipeline Conv2dWinogradCpu::build(const Workload& workload, const Config& config,
                                        const DeviceInfo& device) const {
  return WinogradKernel(workload, config).build(device);
}

}  // namespace

const Implementation* conv2d_winograd_cpu() {
  static const Conv2dWinogradCpu implementation;
  return &implementation;
}

}  // namespace hone
