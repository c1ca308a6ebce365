// SPDX-License-Identifier: MIT
// Points of a union of search spaces by number: counting, decoding and drawing without materialising the product.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/config.h"

namespace hone {

/// Numbers the points of all spaces one after the other, each in mixed radix (the last parameter varies fastest).
/// Constraints are not applied: a number may decode to an invalid Config.
class SpacePoints {
 public:
  explicit SpacePoints(std::vector<SearchSpace> spaces);
  uint64_t count() const { return total_; }
  Config decode(uint64_t index) const;  // requires index < count()
  bool valid(uint64_t index) const;
  /// The default of each space, in order; duplicates removed.
  const std::vector<Config>& defaults() const { return defaults_; }

 private:
  size_t space_of(uint64_t& index) const;

  std::vector<SearchSpace> spaces_;
  std::vector<uint64_t> sizes_;
  std::vector<Config> defaults_;
  uint64_t total_ = 0;
};

}  // namespace hone
