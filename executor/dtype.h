// SPDX-License-Identifier: MIT
// Element types of tensors, shared by everything from the ONNX importer to the shipped executor.
// The numeric values are stored in bundles and databases: never renumber, only append.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hone {

enum class DType : uint8_t {
  f32 = 1,
  f64 = 2,
  f16 = 3,
  bf16 = 4,
  i8 = 5,
  u8 = 6,
  i16 = 7,
  u16 = 8,
  i32 = 9,
  u32 = 10,
  i64 = 11,
  u64 = 12,
  boolean = 13,  // one byte, 0 or 1
};

/// Bytes of one element; 0 for a value that is no DType (hostile input).
int64_t element_bytes(DType dtype);

/// "f32", "i64", "bool", ...; "?" for a value that is no DType.
std::string_view name(DType dtype);

/// Inverse of name(); empty if unknown.
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace hone
