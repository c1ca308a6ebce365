// SPDX-License-Identifier: MIT
// Rules that the operator families share: broadcasting, axes, walking over indices, and how they refuse.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generators/operators.h"

namespace hone {

/// Throws Error("operator <op>", problem, remedy).
[[noreturn]] void refuse(std::string_view op, std::string_view problem, std::string_view remedy);

/// "[1,64,56,56]".
std::string shape_text(const Shape& shape);

/// Output type, refused beyond 2^31-1 elements (Halide indexes with 32 bits).
TensorType checked_type(std::string_view op, DType dtype, Shape shape);

/// ONNX multidirectional broadcasting. Throws Error if the extents do not fit.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

/// Strides with which a dense operand is walked in step with a result: 0 where it is broadcast, result rank long.
Strides broadcast_strides(const Shape& operand, const Shape& result);

/// Counts negative axes from the end. Throws Error outside [-rank, rank).
int64_t checked_axis(std::string_view op, int64_t axis, size_t rank);

/// The same for normalise functions that serve several operators: an axis outside stays as it is, for infer (which is
/// told the operator's name) to refuse.
int64_t counted_axis(int64_t axis, size_t rank);

/// Non-negative, sorted; throws Error on doubles.
std::vector<int64_t> checked_axes(std::string_view op, std::vector<int64_t> axes, size_t rank);

/// Throws Error unless each value is within [low, high].
void check_range(std::string_view op, std::string_view attribute, std::span<const int64_t> values, int64_t low,
                 int64_t high);

/// Writable attribute of a node that has all its attributes.
int64_t& mutable_int(Attributes& attributes, std::string_view name);
std::string& mutable_string(Attributes& attributes, std::string_view name);
std::vector<int64_t>& mutable_ints(Attributes& attributes, std::string_view name);

/// Reduction length and FLOPs of operators that only move or choose data.
int64_t one_term(const Node& node, std::span<const TensorType> inputs);
double no_flops(const Node& node, std::span<const TensorType> inputs);

/// Calls body(offsets of up to N operands) for each index of `shape`, row-major; operand k steps by strides[k].
template <size_t N, typename Body>
void walk(const Shape& shape, const std::array<Strides, N>& strides, Body body) {
  const size_t rank = shape.size();
  if (element_count(shape) == 0) return;
  std::vector<int64_t> index(rank, 0);
  std::array<int64_t, N> offset{};
  for (;;) {
    body(offset);
    size_t d = rank;
    while (d > 0) {
      --d;
      for (size_t k = 0; k < N; ++k) offset[k] += strides[k][d];
      if (++index[d] < shape[d]) break;
      for (size_t k = 0; k < N; ++k) offset[k] -= strides[k][d] * shape[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (rank == 0) return;
  }
}

}  // namespace hone
