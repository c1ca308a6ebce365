// SPDX-License-Identifier: MIT
#include "tests/schedules/workload_cases.h"

#include "tests/schedules/workload_sketch.h"

namespace hone {
namespace {

using enum MemoryOrder;
using Ints = std::vector<int64_t>;

struct ConvNumbers {
  int64_t batch = 1, ci = 8, h = 7, w = 7, co = 16, ky = 3, kx = 3;
  Ints strides{1, 1}, pads{1, 1, 1, 1}, dilations{1, 1};
  int64_t group = 1;
  MemoryOrder in = channels_last, out = channels_last;
};

enum class Epilogue { none, relu, residual, broadcast_chain, hard_swish };

Workload conv(const ConvNumbers& n, Epilogue epilogue = Epilogue::none, bool bias = true) {
  WorkloadSketch s;
  const int x = s.input({n.batch, n.ci, n.h, n.w}, n.in);
  const auto extent = [&](int64_t in, size_t d, int64_t k) {
    return (in + n.pads[d] + n.pads[d + 2] - (k - 1) * n.dilations[d] - 1) / n.strides[d] + 1;
  };
  const Shape output{n.batch, n.co, extent(n.h, 0, n.ky), extent(n.w, 1, n.kx)};
  const int residual = epilogue == Epilogue::residual ? s.input(output, channels_last_gaps) : -1;
  const int gate = epilogue == Epilogue::broadcast_chain ? s.input({n.batch, n.co, 1, 1}) : -1;
  const int row = epilogue == Epilogue::broadcast_chain ? s.input({output[2], output[3]}) : -1;
  const int w = s.constant({n.co, n.ci / n.group, n.ky, n.kx});
  const int b = bias ? s.constant({n.co}) : -1;
  const int shift = epilogue == Epilogue::broadcast_chain ? s.constant({n.co, 1, 1}) : -1;
  int value = s.node("Conv", bias ? std::vector<int>{x, w, b} : std::vector<int>{x, w},
                     {{"strides", n.strides}, {"pads", n.pads}, {"dilations", n.dilations}, {"group", n.group}});
  if (epilogue == Epilogue::relu) value = s.node("Relu", {value});
  if (epilogue == Epilogue::hard_swish) value = s.node("HardSwish", {value});
  if (epilogue == Epilogue::residual) value = s.node("Relu", {s.node("Add", {residual, value})});
  if (epilogue == Epilogue::broadcast_chain) {
    const int gated = s.node("Mul", {value, s.node("Sigmoid", {s.node("Add", {gate, shift})})});
    value = s.node("Sub", {s.node("Add", {gated, row}), value});
  }
  s.output(value, n.out);
  return s.workload();
}

}  // namespace

std::vector<WorkloadCase> convolution_cases() {
  return {
      {"one_by_one_pixel", conv({.ci = 5, .h = 1, .w = 1, .co = 7, .ky = 1, .kx = 1, .pads = {0, 0, 0, 0}})},
      {"pointwise_49_pixels", conv({.ci = 16, .co = 24, .ky = 1, .kx = 1, .pads = {0, 0, 0, 0}}, Epilogue::residual)},
      {"pointwise_one_pixel_more_than_a_tile",
       conv({.ci = 13, .h = 5, .w = 5, .co = 64, .ky = 1, .kx = 1, .pads = {0, 0, 0, 0}}, Epilogue::relu)},
      {"pointwise_stride_2",
       conv({.ci = 24, .h = 14, .w = 13, .co = 40, .ky = 1, .kx = 1, .strides = {2, 2}, .pads = {0, 0, 0, 0}})},
      {"stem_of_a_dense_image",
       conv({.ci = 3, .h = 23, .w = 19, .co = 32, .strides = {2, 2}, .in = dense}, Epilogue::hard_swish)},
      {"stem_7x7", conv({.ci = 3,
                         .h = 20,
                         .w = 20,
                         .co = 17,
                         .ky = 7,
                         .kx = 7,
                         .strides = {2, 2},
                         .pads = {3, 3, 3, 3},
                         .in = dense})},
      {"three_by_three_14", conv({.ci = 12, .h = 14, .w = 14, .co = 32}, Epilogue::residual)},
      {"three_by_three_prime_row", conv({.ci = 7, .h = 6, .w = 13, .co = 8}, Epilogue::broadcast_chain)},
      {"three_by_three_no_padding",
       conv({.ci = 8, .h = 9, .w = 11, .co = 20, .pads = {0, 0, 0, 0}}, Epilogue::relu, false)},
      {"batch_of_three", conv({.batch = 3, .ci = 8, .h = 5, .w = 6, .co = 16}, Epilogue::broadcast_chain)},
      {"five_by_three_dilated_asymmetric",
       conv({.ci = 4, .h = 12, .w = 15, .co = 9, .ky = 5, .kx = 3, .pads = {3, 0, 1, 4}, .dilations = {2, 3}})},
      {"stride_larger_than_kernel",
       conv({.ci = 8, .h = 17, .w = 16, .co = 16, .ky = 2, .kx = 2, .strides = {3, 4}, .pads = {0, 1, 1, 0}})},
      {"one_output_channel", conv({.ci = 9, .h = 8, .w = 8, .co = 1})},
      {"one_input_channel", conv({.ci = 1, .h = 8, .w = 10, .co = 8}, Epilogue::relu)},
      {"dense_output", conv({.ci = 8, .h = 7, .w = 6, .co = 10, .in = dense, .out = dense}, Epilogue::relu)},
      {"gaps_between_pixels",
       conv({.ci = 8, .h = 7, .w = 9, .co = 11, .in = channels_last_gaps, .out = channels_last_gaps})},
      {"crop_to_crop", conv({.ci = 8, .h = 6, .w = 17, .co = 8, .in = channels_last_crop, .out = channels_last_crop},
                            Epilogue::residual)},
      {"pointwise_from_crop",
       conv({.ci = 8, .h = 6, .w = 7, .co = 24, .ky = 1, .kx = 1, .pads = {0, 0, 0, 0}, .in = channels_last_crop},
            Epilogue::broadcast_chain)},
      {"pointwise_to_crop",
       conv({.ci = 8, .h = 6, .w = 7, .co = 24, .ky = 1, .kx = 1, .pads = {0, 0, 0, 0}, .out = channels_last_crop},
            Epilogue::relu)},
      {"row_shorter_than_a_tile", conv({.ci = 8, .h = 9, .w = 2, .co = 24})},
      {"winograd_ragged", conv({.ci = 16, .h = 11, .w = 13, .co = 24}, Epilogue::residual)},
      {"winograd_deep", conv({.ci = 96, .h = 12, .w = 12, .co = 16}, Epilogue::relu)},
      {"winograd_batch_gaps",
       conv({.batch = 2, .ci = 8, .h = 9, .w = 7, .co = 8, .in = channels_last_gaps, .out = channels_last_gaps},
            Epilogue::broadcast_chain)},
      {"winograd_asymmetric", conv({.ci = 8, .h = 8, .w = 9, .co = 48, .pads = {0, 2, 1, 0}}, Epilogue::none, false)},
      {"grouped", conv({.ci = 6, .h = 5, .w = 5, .co = 4, .group = 2}, Epilogue::relu)},
  };
}

std::vector<WorkloadCase> depthwise_cases() {
  const auto depthwise = [](int64_t channels, int64_t h, int64_t w, int64_t k, int64_t stride, Ints pads) {
    return ConvNumbers{.ci = channels,
                       .h = h,
                       .w = w,
                       .co = channels,
                       .ky = k,
                       .kx = k,
                       .strides = {stride, stride},
                       .pads = std::move(pads),
                       .group = channels};
  };
  ConvNumbers dilated = depthwise(8, 11, 12, 3, 1, {2, 2, 2, 2});
  dilated.dilations = {2, 2};
  ConvNumbers batch = depthwise(16, 5, 5, 3, 1, {1, 1, 1, 1});
  batch.batch = 2;
  ConvNumbers gaps = depthwise(16, 6, 7, 3, 1, {1, 1, 1, 1});
  gaps.in = gaps.out = channels_last_gaps;
  ConvNumbers planar = depthwise(4, 6, 7, 3, 1, {1, 1, 1, 1});
  planar.in = planar.out = dense;
  return {
      {"depthwise_14", conv(depthwise(24, 14, 14, 3, 1, {1, 1, 1, 1}), Epilogue::relu)},
      {"depthwise_7", conv(depthwise(16, 7, 7, 3, 1, {1, 1, 1, 1}), Epilogue::residual)},
      {"depthwise_odd_channels", conv(depthwise(13, 9, 8, 3, 1, {1, 1, 1, 1}), Epilogue::hard_swish)},
      {"depthwise_few_channels", conv(depthwise(3, 6, 5, 3, 1, {1, 1, 1, 1}))},
      {"depthwise_stride_2_no_bias", conv(depthwise(32, 15, 13, 3, 2, {1, 1, 1, 1}), Epilogue::relu, false)},
      {"depthwise_5x5_stride_2_same", conv(depthwise(12, 14, 14, 5, 2, {1, 1, 2, 2}), Epilogue::broadcast_chain)},
      {"depthwise_7x7", conv(depthwise(8, 9, 10, 7, 1, {3, 3, 3, 3}))},
      {"depthwise_no_padding", conv(depthwise(20, 10, 11, 3, 1, {0, 0, 0, 0}))},
      {"depthwise_window_larger_than_input", conv(depthwise(8, 2, 3, 5, 1, {2, 2, 2, 2}))},
      {"depthwise_dilated", conv(dilated)},
      {"depthwise_batch", conv(batch, Epilogue::broadcast_chain)},
      {"depthwise_gaps", conv(gaps)},
      {"depthwise_dense", conv(planar)},
  };
}

namespace {

Workload matmul(Shape a, Shape b, bool constant_b, bool epilogue) {
  WorkloadSketch s;
  const int x = s.input(std::move(a));
  const int64_t columns = b.back();
  const int y = constant_b ? s.constant(std::move(b)) : s.input(std::move(b));
  const int bias = epilogue && constant_b ? s.constant({columns}) : -1;
  int value = s.node("MatMul", {x, y});
  if (bias >= 0) value = s.node("Add", {bias, value});
  if (epilogue) value = s.node("Relu", {value});
  s.output(value);
  return s.workload();
}

Workload gemm(Shape a, Shape b, Shape c, Attributes attributes, bool residual) {
  WorkloadSketch s;
  const int x = s.input(std::move(a));
  const int64_t rows =
      int64_t(attributes.contains("transA") ? s.workload().type(x).shape[1] : s.workload().type(x).shape[0]);
  const int64_t columns = attributes.contains("transB") ? b[0] : b[1];
  const int other = residual ? s.input({rows, columns}) : -1;
  const int y = s.constant(std::move(b)), z = s.constant(std::move(c));
  int value = s.node("Gemm", {x, y, z}, std::move(attributes));
  if (residual) value = s.node("Mul", {value, other});
  s.output(value);
  return s.workload();
}

}  // namespace

std::vector<WorkloadCase> matmul_cases() {
  return {
      {"matmul_one_row", matmul({1, 37}, {37, 41}, true, true)},
      {"matmul_one_row_classifier", matmul({1, 64}, {64, 1000}, true, false)},
      {"matmul_5x7x9", matmul({5, 7}, {7, 9}, true, false)},
      {"matmul_tile_tails", matmul({13, 24}, {24, 50}, true, true)},
      {"matmul_batch_as_rows", matmul({2, 3, 4, 5}, {5, 17}, true, true)},
      {"matmul_computed", matmul({6, 10}, {10, 19}, false, true)},
      {"matmul_computed_batches", matmul({2, 3, 7, 8}, {2, 3, 8, 11}, false, false)},
      {"matmul_broadcast_batches", matmul({2, 1, 7, 8}, {3, 8, 11}, false, false)},
      {"matmul_constant_batch", matmul({3, 4, 5}, {3, 5, 6}, true, false)},
      {"gemm_plain", gemm({3, 8}, {8, 16}, {16}, {}, false)},
      {"gemm_everything", gemm({9, 5}, {21, 9}, {5, 1},
                               {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}}, true)},
      {"gemm_one_row_transposed", gemm({1, 40}, {10, 40}, {10}, {{"transB", int64_t{1}}}, false)},
  };
}

namespace {

Workload pool(const std::string& op, Shape shape, Attributes attributes, bool relu = false,
              MemoryOrder order = channels_last) {
  WorkloadSketch s;
  int value = s.node(op, {s.input(std::move(shape), order)}, std::move(attributes));
  if (relu) value = s.node("Relu", {value});
  const bool planes = s.workload().type(value).shape.size() == 4;
  s.output(value, planes ? order : dense);
  return s.workload();
}

Attributes window(int64_t k, int64_t stride, Ints pads) {
  return {{"kernel_shape", Ints{k, k}}, {"strides", Ints{stride, stride}}, {"pads", std::move(pads)}};
}

}  // namespace

std::vector<WorkloadCase> pool_cases() {
  Attributes include = window(3, 2, {1, 0, 1, 2});
  include["count_include_pad"] = int64_t{1};
  Attributes ceil = window(2, 2, {0, 0, 0, 0});
  ceil["ceil_mode"] = int64_t{1};
  return {
      {"max_3x3_stride_2", pool("MaxPool", {1, 16, 12, 13}, window(3, 2, {1, 1, 1, 1}), true)},
      {"max_odd_channels", pool("MaxPool", {2, 11, 6, 6}, window(2, 2, {0, 0, 0, 0}))},
      {"max_ceil", pool("MaxPool", {1, 8, 7, 7}, ceil)},
      {"max_dense", pool("MaxPool", {1, 3, 9, 8}, window(3, 1, {1, 1, 1, 1}), false, dense)},
      {"average_excluding_pad", pool("AveragePool", {1, 20, 9, 9}, window(3, 2, {1, 1, 1, 1}))},
      {"average_including_pad", pool("AveragePool", {1, 8, 9, 10}, include)},
      {"global_average", pool("GlobalAveragePool", {1, 40, 7, 7}, {}, true)},
      {"global_average_odd", pool("GlobalAveragePool", {3, 13, 5, 4}, {})},
      {"global_max", pool("GlobalMaxPool", {1, 24, 3, 5}, {})},
      {"mean_of_planes", pool("ReduceMean", {1, 24, 6, 5}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{1}}})},
      {"mean_of_planes_flat", pool("ReduceMean", {2, 17, 6, 5}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}})},
      {"mean_of_rows_guarded_vectors",
       pool("ReduceMean", {1, 40, 11, 6}, {{"axes", Ints{2}}, {"keepdims", int64_t{1}}}, true)},
      {"max_of_rows", pool("ReduceMax", {5, 6, 19}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}, false, dense)},
      {"sum_of_the_innermost",
       pool("ReduceSum", {5, 6, 19}, {{"axes", Ints{2}}, {"keepdims", int64_t{0}}}, false, dense)},
      {"min_of_all", pool("ReduceMin", {4, 5}, {{"keepdims", int64_t{0}}}, false, dense)},
  };
}

std::vector<WorkloadCase> pointwise_cases() {
  const auto chain = [](Shape a, Shape b, Shape c, MemoryOrder order) {
    WorkloadSketch s;
    const int x = s.input(std::move(a), order), y = s.input(std::move(b)), z = s.constant(std::move(c));
    s.output(s.node("Clip", {s.node("Add", {s.node("Mul", {x, y}), z})}, {{"min", -1.0}, {"max", 1.0}}), order);
    return s.workload();
  };
  WorkloadSketch scalar;
  scalar.output(scalar.node("Tanh", {scalar.node("Neg", {scalar.input({})})}));
  WorkloadSketch rank6;
  const int wide = rank6.input({2, 1, 3, 2, 1, 5}), narrow = rank6.input({4, 1, 2, 3, 1});
  rank6.output(rank6.node("Add", {wide, narrow}));
  WorkloadSketch layouts;
  const int planes = layouts.input({1, 10, 5, 6}, dense), pixels = layouts.input({1, 10, 5, 6}, channels_last);
  layouts.output(layouts.node("Sub", {planes, pixels}), channels_last);
  WorkloadSketch chosen;
  const int left = chosen.input({7, 9}), right = chosen.input({9});
  chosen.output(chosen.node("Where", {chosen.node("Greater", {left, right}), left, chosen.node("Exp", {right})}));
  WorkloadSketch integers;
  const int big = integers.input({3, 20}, dense, DType::i64), one = integers.constant({1}, DType::i64);
  integers.output(integers.node("Add", {big, one}));
  WorkloadSketch converted;
  converted.output(converted.node("Cast", {converted.input({70})}, {{"to", int64_t{6}}}));
  return {
      {"squeeze_excite", chain({1, 24, 7, 6}, {1, 24, 1, 1}, {24, 1, 1}, channels_last)},
      {"one_long_loop", chain({3, 5, 70}, {3, 5, 70}, {1}, dense)},
      {"inner_broadcast", chain({6, 33}, {6, 1}, {33}, dense)},
      {"short_rows", chain({9, 3}, {9, 3}, {3}, dense)},
      {"channel_gaps", chain({2, 12, 3, 3}, {12, 3, 3}, {1, 1, 3}, channels_last_gaps)},
      {"scalar", scalar.workload()},
      {"rank_6", rank6.workload()},
      {"two_layouts", layouts.workload()},
      {"comparison", chosen.workload()},
      {"integers", integers.workload()},
      {"cast", converted.workload()},
  };
}

std::vector<WorkloadCase> other_cases() {
  WorkloadSketch softmax;
  softmax.output(softmax.node("Softmax", {softmax.input({3, 4, 19})}, {{"axis", int64_t{2}}}));
  WorkloadSketch columns;
  columns.output(columns.node("Softmax", {columns.input({3, 12, 5})}, {{"axis", int64_t{1}}}));
  WorkloadSketch transposed;
  transposed.output(transposed.node("Transpose", {transposed.input({2, 9, 5, 11})}, {{"perm", Ints{0, 2, 3, 1}}}));
  WorkloadSketch joined;
  const int first = joined.input({2, 3, 4}), second = joined.input({2, 5, 4});
  joined.output(joined.node("Concat", {first, second}, {{"axis", int64_t{1}}}));
  WorkloadSketch two_outputs;
  const int x = two_outputs.input({5, 18});
  const int relu = two_outputs.node("Relu", {x});
  two_outputs.output(relu);
  two_outputs.output(two_outputs.node("ReduceSum", {relu}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}));
  WorkloadSketch prologue;  // a pointwise node before the anchor: only the generic schedule takes it
  const int image = prologue.input({1, 4, 6, 6}, channels_last);
  const int weights = prologue.constant({8, 4, 3, 3});
  prologue.output(prologue.node("Conv", {prologue.node("Relu", {image}), weights}), channels_last);
  WorkloadSketch line;
  const int signal = line.input({2, 3, 21}), taps = line.constant({5, 3, 4});
  line.output(line.node("Conv", {signal, taps}, {{"strides", Ints{2}}, {"pads", Ints{1, 2}}}));
  return {
      {"softmax_rows", softmax.workload()},    {"softmax_columns", columns.workload()},
      {"transpose", transposed.workload()},    {"concat", joined.workload()},
      {"two_outputs", two_outputs.workload()}, {"pointwise_before_the_anchor", prologue.workload()},
      {"convolution_1d", line.workload()},
  };
}

}  // namespace hone
