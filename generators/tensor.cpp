// SPDX-License-Identifier: MIT
// Conversions between dtypes and double, physical layouts, comparison, and the values kernels are checked with.
#include "generators/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "executor/error.h"
#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

double from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

/// Rounds straight from double, to nearest even: going through float would round twice.
uint16_t to_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  if (magnitude < std::ldexp(1, -14)) return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  const int exponent = std::ilogb(magnitude);
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // 1024..2048
  return sign | static_cast<uint16_t>(((exponent + 15) << 10) + (mantissa - 1024));
}

double from_bfloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t to_bfloat(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7fc0;
  if (magnitude >= std::ldexp(511, 119)) return sign | 0x7f80;  // halfway between the largest number and 2^128
  const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -126, -126);
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 7 - exponent)));  // 0..256
  return sign | static_cast<uint16_t>(((exponent + 126) << 7) + mantissa);
}

template <typename T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  // The largest double below 2^63 is exact; at 2^63 and above the maximum is meant.
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// Calls body(converter from T to double, converter back, T{}) for the storage type of a dtype.
template <typename Body>
void with_storage(DType dtype, Body body) {
  const auto plain = [](auto value) { return static_cast<double>(value); };
  switch (dtype) {
    case DType::f32:
      return body(
          plain, [](double v) { return static_cast<float>(v); }, float{});
    case DType::f64:
      return body(
          plain, [](double v) { return v; }, double{});
    case DType::f16:
      return body(from_half, to_half, uint16_t{});
    case DType::bf16:
      return body(from_bfloat, to_bfloat, uint16_t{});
    case DType::i8:
      return body(plain, to_integer<int8_t>, int8_t{});
    case DType::u8:
      return body(plain, to_integer<uint8_t>, uint8_t{});
    case DType::i16:
      return body(plain, to_integer<int16_t>, int16_t{});
    case DType::u16:
      return body(plain, to_integer<uint16_t>, uint16_t{});
    case DType::i32:
      return body(plain, to_integer<int32_t>, int32_t{});
    case DType::u32:
      return body(plain, to_integer<uint32_t>, uint32_t{});
    case DType::i64:
      return body(plain, to_integer<int64_t>, int64_t{});
    case DType::u64:
      return body(plain, to_integer<uint64_t>, uint64_t{});
    case DType::boolean:
      return body([](uint8_t v) { return v ? 1.0 : 0.0; }, [](double v) { return uint8_t{v != 0}; }, uint8_t{});
  }
  check_failed("dtype is one of DType", __FILE__, __LINE__);
}

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Sum of four uniforms, scaled to variance 1: close to a normal, and exact on every machine (no libm).
double next_normal(uint64_t& state) {
  const uint64_t bits = next_random(state);
  const auto sum =
      static_cast<int64_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
  return static_cast<double>(sum - 2 * 0xffff) * (1.7320508075688772 / 65536.0);
}

bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

/// What the first reader of an argument needs its values to be.
struct ValueRule {
  double scale = 1;       // of floats
  double shift = 0;       // of floats
  bool positive = false;  // variances
  int64_t below = 0;      // indices lie in [0, below) if it is not 0
};

ValueRule value_rule(const Workload& workload, int argument) {
  ValueRule rule;
  for (const Node& node : workload.nodes) {
    const auto found = std::find(node.inputs.begin(), node.inputs.end(), argument);
    if (found == node.inputs.end()) continue;
    const auto position = found - node.inputs.begin();
    std::vector<TensorType> types;
    for (const int input : node.inputs) types.push_back(input < 0 ? TensorType{} : workload.type(input));
    if (node.op == "Gather" && position == 1) {
      rule.below = types[0].shape[static_cast<size_t>(int_attribute(node.attributes, "axis"))];
    }
    // A sum of values around zero may cancel to nearly nothing, and any rounding is large beside that.
    const bool sums = node.op.starts_with("Reduce") || node.op.ends_with("Pool");
    rule.shift = sums ? 1 : 0;
    rule.positive = node.op == "BatchNormalization" && position == 4;
    const Operator* op = find_operator(node.op);
    CHECK(op != nullptr);
    if (workload.arguments[static_cast<size_t>(argument)].constant && op->kind == OperatorKind::anchor &&
        position > 0 && types[static_cast<size_t>(position)].shape.size() >= 2) {
      const auto terms = static_cast<double>(std::max<int64_t>(op->reduction_length(node, types), 1));
      rule.scale = std::sqrt(2.0 / terms);  // sqrt is exactly rounded everywhere
    }
    break;
  }
  return rule;
}

double argument_value(DType dtype, const ValueRule& rule, uint64_t& state) {
  if (rule.below > 0) return static_cast<double>(next_random(state) % static_cast<uint64_t>(rule.below));
  if (is_float(dtype)) {
    const double value = next_normal(state) * rule.scale + rule.shift;
    return rule.positive ? std::fabs(value) + 0.5 : value;
  }
  const auto small = static_cast<double>(next_random(state) % 9);
  if (dtype == DType::boolean) return small < 5 ? 0 : 1;
  const bool is_signed = dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64;
  return is_signed ? small - 4 : small;
}

}  // namespace

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  tensor.bytes.resize(static_cast<size_t>(tensor.elements() * element_bytes(dtype)));
  return tensor;
}

ReferenceTensor widen(const Tensor& tensor) {
  ReferenceTensor result{tensor.dtype, tensor.shape, std::vector<double>(static_cast<size_t>(tensor.elements()))};
  with_storage(tensor.dtype, [&](auto from, auto, auto zero) {
    const auto values = tensor.as<decltype(zero)>();
    CHECK(values.size() == result.values.size());
    for (size_t i = 0; i < values.size(); ++i) result.values[i] = from(values[i]);
  });
  return result;
}

Tensor narrow(const ReferenceTensor& tensor) {
  Tensor result = Tensor::zeros(tensor.dtype, tensor.shape);
  with_storage(tensor.dtype, [&](auto, auto to, auto zero) {
    const auto values = result.as<decltype(zero)>();
    CHECK(values.size() == tensor.values.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = to(tensor.values[i]);
  });
  return result;
}

std::vector<std::byte> to_physical(const Tensor& tensor, const Strides& strides) {
  const auto size = static_cast<size_t>(element_bytes(tensor.dtype));
  std::vector<std::byte> bytes(static_cast<size_t>(physical_elements(tensor.shape, strides)) * size, std::byte{0xff});
  walk<2>(tensor.shape, {dense_strides(tensor.shape), strides}, [&](const std::array<int64_t, 2>& offset) {
    std::memcpy(bytes.data() + static_cast<size_t>(offset[1]) * size,
                tensor.bytes.data() + static_cast<size_t>(offset[0]) * size, size);
  });
  return bytes;
}

Tensor from_physical(std::span<const std::byte> bytes, const TensorType& type, const Strides& strides) {
  const auto size = static_cast<size_t>(element_bytes(type.dtype));
  CHECK(bytes.size() >= static_cast<size_t>(physical_elements(type.shape, strides)) * size);
  Tensor tensor = Tensor::zeros(type.dtype, type.shape);
  walk<2>(type.shape, {dense_strides(type.shape), strides}, [&](const std::array<int64_t, 2>& offset) {
    std::memcpy(tensor.bytes.data() + static_cast<size_t>(offset[0]) * size,
                bytes.data() + static_cast<size_t>(offset[1]) * size, size);
  });
  return tensor;
}

double relative_error(const Tensor& actual, const Tensor& expected) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (actual.shape != expected.shape) return infinite;
  const ReferenceTensor a = widen(actual);
  const ReferenceTensor b = widen(expected);
  double difference = 0;
  double magnitude = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double x = a.values[i];
    const double y = b.values[i];
    if (std::isnan(x) != std::isnan(y)) return infinite;
    if (std::isnan(x)) continue;
    if (std::isinf(x) || std::isinf(y)) {
      if (x != y) return infinite;
      continue;
    }
    difference = std::max(difference, std::fabs(x - y));
    magnitude = std::max(magnitude, std::fabs(y));
  }
  if (difference == 0) return 0;
  return magnitude == 0 ? infinite : difference / magnitude;
}

std::vector<Tensor> make_arguments(const Workload& workload, uint64_t seed) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < workload.arguments.size(); ++i) {
    const TensorType& type = workload.arguments[i].type;
    const ValueRule rule = value_rule(workload, static_cast<int>(i));
    uint64_t state = seed * 0x2545f4914f6cdd1dull + i;  // an own stream each: a changed shape leaves the others alone
    next_random(state);
    ReferenceTensor values{type.dtype, type.shape, std::vector<double>(static_cast<size_t>(element_count(type.shape)))};
    for (double& value : values.values) value = argument_value(type.dtype, rule, state);
    tensors.push_back(narrow(values));
  }
  return tensors;
}

}  // namespace hone
