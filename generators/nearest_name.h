// SPDX-License-Identifier: MIT
// "did you mean": the known name closest to a mistyped one, for every message about an unknown operator, device, node,
// option, pass or subcommand.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// Levenshtein distance, by characters.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

/// The candidate with the smallest distance (the first of equals), or empty if there are none.
template <typename Names>
std::string nearest_name(std::string_view name, const Names& candidates) {
  std::string best;
  size_t best_distance = std::string_view::npos;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(name, std::string_view(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = std::string(candidate);
    }
  }
  return best;
}

}  // namespace hone
