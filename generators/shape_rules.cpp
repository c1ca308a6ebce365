// SPDX-License-Identifier: MIT
#include "generators/shape_rules.h"

#include <algorithm>
#include <limits>

#include "executor/error.h"

namespace hone {
namespace {

template <typename T>
T& mutable_attribute(Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(std::string(name));
  CHECK(found != attributes.end());
  T* value = std::get_if<T>(&found->second);
  CHECK(value != nullptr);
  return *value;
}

}  // namespace

void refuse(std::string_view op, std::string_view problem, std::string_view remedy) {
  throw Error("operator " + std::string(op), problem, remedy);
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  return text + "]";
}

TensorType checked_type(std::string_view op, DType dtype, Shape shape) {
  const bool negative = std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
  if (negative) refuse(op, "its output would have the shape " + shape_text(shape), "check the input shapes");
  if (element_count(shape) > std::numeric_limits<int32_t>::max()) {
    refuse(op, "its output " + shape_text(shape) + " has more than 2^31-1 elements", "use a smaller input shape");
  }
  return {dtype, std::move(shape)};
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t left = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const int64_t right = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (left != right && left != 1 && right != 1) {
      refuse(op, "shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast", "check the input shapes");
    }
    result[i] = left == 1 ? right : left;
  }
  return result;
}

Strides broadcast_strides(const Shape& operand, const Shape& result) {
  CHECK(operand.size() <= result.size());
  const Strides dense = dense_strides(operand);
  Strides strides(result.size(), 0);
  const size_t missing = result.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) strides[missing + i] = operand[i] == 1 ? 0 : dense[i];
  return strides;
}

int64_t checked_axis(std::string_view op, int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    refuse(op, "axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank),
           "use an axis from -rank to rank-1");
  }
  return axis < 0 ? axis + signed_rank : axis;
}

int64_t counted_axis(int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  return axis < 0 && axis >= -signed_rank ? axis + signed_rank : axis;
}

std::vector<int64_t> checked_axes(std::string_view op, std::vector<int64_t> axes, size_t rank) {
  for (int64_t& axis : axes) axis = checked_axis(op, axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    refuse(op, "an axis is listed twice", "list each axis once");
  }
  return axes;
}

void check_range(std::string_view op, std::string_view attribute, std::span<const int64_t> values, int64_t low,
                 int64_t high) {
  for (const int64_t value : values) {
    if (value < low || value > high) {
      refuse(op, "attribute '" + std::string(attribute) + "' has the value " + std::to_string(value),
             "supported: " + std::to_string(low) + " to " + std::to_string(high));
    }
  }
}

int64_t& mutable_int(Attributes& attributes, std::string_view name) {
  return mutable_attribute<int64_t>(attributes, name);
}
std::string& mutable_string(Attributes& attributes, std::string_view name) {
  return mutable_attribute<std::string>(attributes, name);
}
std::vector<int64_t>& mutable_ints(Attributes& attributes, std::string_view name) {
  return mutable_attribute<std::vector<int64_t>>(attributes, name);
}

int64_t one_term(const Node&, std::span<const TensorType>) {
  return 1;
}
double no_flops(const Node&, std::span<const TensorType>) {
  return 0;
}

}  // namespace hone
