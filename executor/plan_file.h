// SPDX-License-Identifier: MIT
// Reading NAME.hone: the bytes are described in plan_format.h, and nothing in them is trusted.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "executor/plan.h"

namespace hone {

struct DecodedPlan {
  Plan plan;
  std::span<const std::byte> weights;  // part of the bytes that were decoded
};

/// `file` is the whole file; `path` is for messages only. Throws Error if it is damaged, truncated or of another
/// version. All that plan_problem() can find is found here.
DecodedPlan decode_plan(std::span<const std::byte> file, const std::string& path);

/// A file's bytes, read-only and private, in memory before the constructor returns: without MAP_POPULATE the first
/// run would pay a page fault per 4 KB of weights.
class MappedFile {
 public:
  /// Throws Error if it cannot be opened or mapped.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace hone
