// SPDX-License-Identifier: MIT
// Transform matrices of Winograd's minimal filtering F(m, r), by Cook-Toom interpolation at the usual points.
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

using Matrix = std::vector<std::vector<double>>;  // rows

struct WinogradMatrices {
  Matrix at;  // m x n: output transform
  Matrix g;   // n x r: weights
  Matrix bt;  // n x n: input
};

/// F(m, r) with n = m + r - 1; m in {2, 4, 6} for r = 3. Points 0, 1, -1, 2, -2, 1/2, -1/2, infinity in this order:
/// powers of two keep most of the multiplications exact.
WinogradMatrices winograd_matrices(int64_t m, int64_t r = 3);

}  // namespace hone
