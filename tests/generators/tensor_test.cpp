// SPDX-License-Identifier: MIT
#include "generators/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "operator_cases.h"

namespace hone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double round_trip(DType dtype, double value) {
  return widen(narrow({dtype, {}, {value}})).values[0];
}

TEST(Tensor, NarrowFloatsRoundToNearestEven) {
  EXPECT_EQ(round_trip(DType::f16, 1 + std::ldexp(1, -11)), 1.0);                        // tie, to even
  EXPECT_EQ(round_trip(DType::f16, 1 + 3 * std::ldexp(1, -11)), 1 + std::ldexp(1, -9));  // tie, to even
  EXPECT_EQ(round_trip(DType::f16, 1 + std::ldexp(1, -11) + 1e-9), 1 + std::ldexp(1, -10));
  EXPECT_EQ(round_trip(DType::f16, 65519.9), 65504);
  EXPECT_EQ(round_trip(DType::f16, 65520), kInfinity);
  EXPECT_EQ(round_trip(DType::f16, -std::ldexp(1, -24)), -std::ldexp(1, -24));  // smallest subnormal
  EXPECT_EQ(round_trip(DType::f16, std::ldexp(1, -25)), 0);
  EXPECT_EQ(round_trip(DType::f16, std::ldexp(1, -14) - std::ldexp(1, -26)), std::ldexp(1, -14));
  EXPECT_EQ(round_trip(DType::bf16, 1 + std::ldexp(1, -8)), 1.0);
  EXPECT_EQ(round_trip(DType::bf16, 1 + 3 * std::ldexp(1, -8)), 1 + std::ldexp(1, -6));
  EXPECT_EQ(round_trip(DType::bf16, 3.4e38), kInfinity);
  EXPECT_EQ(round_trip(DType::bf16, -3.3895313892515355e38), -3.3895313892515355e38);
  EXPECT_EQ(round_trip(DType::bf16, std::ldexp(1, -133)), std::ldexp(1, -133));
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_TRUE(std::isnan(round_trip(dtype, std::nan(""))));
    EXPECT_EQ(round_trip(dtype, -kInfinity), -kInfinity);
    EXPECT_TRUE(std::signbit(round_trip(dtype, -0.0)));
  }
}

TEST(Tensor, EveryHalfIsReadBack) {
  Tensor all = Tensor::zeros(DType::f16, {65536});
  for (int i = 0; i < 65536; ++i) all.as<uint16_t>()[static_cast<size_t>(i)] = static_cast<uint16_t>(i);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    all.dtype = dtype;
    const Tensor back = narrow(widen(all));
    const ReferenceTensor values = widen(all);
    for (size_t i = 0; i < 65536; ++i) {
      if (std::isnan(values.values[i])) continue;
      ASSERT_EQ(back.as<uint16_t>()[i], i) << name(dtype);
    }
  }
}

TEST(Tensor, IntegersSaturate) {
  EXPECT_EQ(round_trip(DType::i8, 200), 127);
  EXPECT_EQ(round_trip(DType::i8, -200), -128);
  EXPECT_EQ(round_trip(DType::u8, -3), 0);
  EXPECT_EQ(round_trip(DType::i32, 1e20), 2147483647);
  EXPECT_EQ(narrow({DType::i64, {1}, {std::ldexp(1, 63)}}).as<int64_t>()[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(narrow({DType::i64, {1}, {-1e30}}).as<int64_t>()[0], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(narrow({DType::u64, {1}, {1e30}}).as<uint64_t>()[0], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(narrow({DType::i64, {1}, {9007199254740992.0}}).as<int64_t>()[0], 9007199254740992);
  EXPECT_EQ(round_trip(DType::boolean, 7), 1);
}

TEST(Tensor, PhysicalLayoutsGoThereAndBack) {
  Workload workload = one_node("Relu", {}, {{DType::f32, {2, 3, 4, 5}}});
  const Tensor tensor = make_arguments(workload, 5)[0];
  const Strides padded = {100, 1, 24, 4};
  const std::vector<std::byte> bytes = to_physical(tensor, padded);
  EXPECT_EQ(bytes.size(), static_cast<size_t>(physical_elements(tensor.shape, padded)) * 4);
  EXPECT_EQ(from_physical(bytes, tensor.type(), padded), tensor);
  const auto* floats = reinterpret_cast<const float*>(bytes.data());
  EXPECT_EQ(floats[0], tensor.as<float>()[0]);
  EXPECT_EQ(floats[1], tensor.as<float>()[20]);  // the next channel
  EXPECT_TRUE(std::isnan(floats[3]));            // padding
}

TEST(Tensor, RelativeErrorIsOfTheLargestElement) {
  const auto tensor = [](std::vector<double> values) {
    const auto count = static_cast<int64_t>(values.size());
    return narrow({DType::f64, {count}, std::move(values)});
  };
  EXPECT_DOUBLE_EQ(relative_error(tensor({1, 2, 3.5}), tensor({1, 2, 4})), 0.125);
  EXPECT_EQ(relative_error(tensor({0, 0}), tensor({0, 0})), 0);
  EXPECT_EQ(relative_error(tensor({1e-9, 0}), tensor({0, 0})), kInfinity);
  EXPECT_EQ(relative_error(tensor({std::nan(""), 1}), tensor({0, 1})), kInfinity);
  EXPECT_EQ(relative_error(tensor({0, 1}), tensor({std::nan(""), 1})), kInfinity);
  EXPECT_EQ(relative_error(tensor({std::nan(""), 1}), tensor({std::nan(""), 1})), 0);
  EXPECT_EQ(relative_error(tensor({kInfinity, 1}), tensor({kInfinity, 1})), 0);
  EXPECT_EQ(relative_error(tensor({kInfinity, 1}), tensor({-kInfinity, 1})), kInfinity);
  EXPECT_EQ(relative_error(tensor({kInfinity, 1}), tensor({5, 1})), kInfinity);
  EXPECT_EQ(relative_error(tensor({1, 2}), tensor({1})), kInfinity);
}

TEST(MakeArguments, SameSeedSameBytes) {
  const Workload workload =
      one_node("Conv", {}, {{DType::f32, {1, 8, 5, 5}}, {DType::f32, {4, 8, 3, 3}}, {DType::f32, {4}}});
  EXPECT_EQ(make_arguments(workload, 1), make_arguments(workload, 1));
  EXPECT_NE(make_arguments(workload, 1), make_arguments(workload, 2));
  // Integer arithmetic and one multiplication: these are the same on every machine.
  const Tensor first = make_arguments(workload, 1)[0];
  EXPECT_EQ(first.as<float>()[0], 1.6193575859069824f);
  EXPECT_EQ(first.as<float>()[199], 0.767656683921814f);
}

TEST(MakeArguments, ValuesSuitTheOperators) {
  const auto moments = [](const Tensor& tensor) {
    double sum = 0, squares = 0;
    for (const double value : widen(tensor).values) sum += value, squares += value * value;
    const auto count = static_cast<double>(tensor.elements());
    return std::pair(sum / count, squares / count);
  };
  const Workload conv = one_node("Conv", {}, {{DType::f32, {1, 32, 20, 20}}, {DType::f32, {64, 32, 3, 3}}});
  const std::vector<Tensor> tensors = make_arguments(conv, 7);
  EXPECT_NEAR(moments(tensors[0]).first, 0, 0.05);
  EXPECT_NEAR(moments(tensors[0]).second, 1, 0.05);
  EXPECT_NEAR(moments(tensors[1]).second, 2.0 / (32 * 9), 0.001);

  const Workload gather = one_node("Gather", {}, {{DType::f32, {3, 4}}, {DType::i64, {100}}}, 2);
  for (const double index : widen(make_arguments(gather, 7)[1]).values) EXPECT_TRUE(index >= 0 && index < 3);
  const Workload norm = one_node(
      "BatchNormalization", {},
      {{DType::f32, {1, 50, 2}}, {DType::f32, {50}}, {DType::f32, {50}}, {DType::f32, {50}}, {DType::f32, {50}}});
  for (const double variance : widen(make_arguments(norm, 7)[4]).values) EXPECT_GT(variance, 0);
  const Workload logic = one_node("Not", {}, {{DType::boolean, {100}}});
  const Tensor truths = make_arguments(logic, 7)[0];
  for (const uint8_t truth : truths.as<uint8_t>()) EXPECT_LE(truth, 1);
}

}  // namespace
}  // namespace hone
