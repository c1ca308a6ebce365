// SPDX-License-Identifier: MIT
// RowHash: SHA-256 over the content of a row. Rows carry it so that `hone db check` finds a damaged value and so that
// the same row in two databases is recognised when they are merged; it therefore covers no row id, only content.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone {

/// Each field is preceded by its type and length, so that neighbouring fields cannot trade characters.
class RowHash {
 public:
  explicit RowHash(std::string_view table);
  ~RowHash();
  RowHash& text(std::string_view value);
  RowHash& blob(std::span<const std::byte> value);
  RowHash& integer(int64_t value);
  RowHash& real(double value);  // by its bits
  RowHash& integer(const std::optional<int64_t>& value) { return value ? integer(*value) : null(); }
  RowHash& real(const std::optional<double>& value) { return value ? real(*value) : null(); }
  RowHash& null();
  /// 64 hex digits. May be called once.
  std::string hex();

 private:
  void field(char type, const void* bytes, size_t size);

  struct Digest;
  std::unique_ptr<Digest> digest_;
};

}  // namespace hone
