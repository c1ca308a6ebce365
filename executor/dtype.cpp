// SPDX-License-Identifier: MIT
#include "executor/dtype.h"

#include <array>

namespace hone {
namespace {

struct Entry {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<Entry, 14> kEntries = {{{"?", 0},
                                             {"f32", 4},
                                             {"f64", 8},
                                             {"f16", 2},
                                             {"bf16", 2},
                                             {"i8", 1},
                                             {"u8", 1},
                                             {"i16", 2},
                                             {"u16", 2},
                                             {"i32", 4},
                                             {"u32", 4},
                                             {"i64", 8},
                                             {"u64", 8},
                                             {"bool", 1}}};

const Entry& entry(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return kEntries[index < kEntries.size() ? index : 0];
}

}  // namespace

int64_t element_bytes(DType dtype) {
  return entry(dtype).bytes;
}

std::string_view name(DType dtype) {
  return entry(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 1; i < kEntries.size(); ++i) {
    if (kEntries[i].name == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace hone
