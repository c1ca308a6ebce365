// SPDX-License-Identifier: MIT
// Host tensors: the values of weights, inputs and outputs while a model is compiled or checked.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "generators/workload.h"

namespace hone {

/// Dense row-major tensor that owns its bytes.
struct Tensor {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;

  static Tensor zeros(DType dtype, Shape shape);
  TensorType type() const { return {dtype, shape}; }
  int64_t elements() const { return element_count(shape); }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  bool operator==(const Tensor&) const = default;
};

/// The number type of references and constant folding: every dtype is widened to double (i64 is exact to 2^53 and
/// saturates; f16/bf16 round to nearest even when narrowed).
struct ReferenceTensor {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<double> values;
};
ReferenceTensor widen(const Tensor& tensor);
Tensor narrow(const ReferenceTensor& tensor);

/// Physical (strided) storage of a tensor, as a kernel sees it, and back. Gaps are filled with 0xFF (NaN for floats).
std::vector<std::byte> to_physical(const Tensor& tensor, const Strides& strides);
Tensor from_physical(std::span<const std::byte> bytes, const TensorType& type, const Strides& strides);

/// max|a-b| / max|b| over the outputs; +inf if shapes differ, if one has a NaN where the other has none, or infinities
/// differ.
double relative_error(const Tensor& actual, const Tensor& expected);

/// Deterministic values for checking and timing a workload: standard normal floats (constants with fan-in scaling,
/// so that activations keep a sane scale), small integers. Same seed, same bytes on every machine.
std::vector<Tensor> make_arguments(const Workload& workload, uint64_t seed);

}  // namespace hone
