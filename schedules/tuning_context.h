// SPDX-License-Identifier: MIT
// TuningContext: the circumstances a schedule is chosen for. (workload, device, context) is the tuning key.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace hone {

enum class Accuracy { strict, fp32 };  // strict: no algorithm with a larger error class than direct summation
std::string_view name(Accuracy accuracy);

struct TuningContext {
  int threads = 1;
  bool cold_weights = true;  // constants come from memory, as between two runs of a large model
  Accuracy accuracy = Accuracy::fp32;
  auto operator<=>(const TuningContext&) const = default;

  /// "threads=1 weights=cold accuracy=fp32": identity in the database.
  std::string canonical() const;
  static TuningContext parse(std::string_view text);  // throws Error
};

}  // namespace hone
