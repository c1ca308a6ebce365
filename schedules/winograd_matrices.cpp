// SPDX-License-Identifier: MIT
#include "schedules/winograd_matrices.h"

#include <cmath>

#include "executor/error.h"

namespace hone {
namespace {

/// Coefficients (lowest first) of the product of (x - a) over the points but `skip`.
std::vector<double> polynomial(const std::vector<double>& points, size_t skip) {
  std::vector<double> coefficients{1};
  for (size_t l = 0; l < points.size(); ++l) {
    if (l == skip) continue;
    std::vector<double> next(coefficients.size() + 1, 0);
    for (size_t k = 0; k < coefficients.size(); ++k) {
      next[k + 1] += coefficients[k];
      next[k] -= points[l] * coefficients[k];
    }
    coefficients = next;
  }
  return coefficients;
}

}  // namespace

WinogradMatrices winograd_matrices(int64_t m, int64_t r) {
  const std::vector<double> candidates{0, 1, -1, 2, -2, 0.5, -0.5};
  const size_t outputs = static_cast<size_t>(m), taps = static_cast<size_t>(r), n = outputs + taps - 1;
  CHECK(n >= 2 && n - 1 <= candidates.size());
  const std::vector<double> points(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n - 1));
  WinogradMatrices result;
  result.at.assign(outputs, std::vector<double>(n, 0));
  result.g.assign(n, std::vector<double>(taps, 0));
  result.bt.assign(n, std::vector<double>(n, 0));
  for (size_t j = 0; j + 1 < n; ++j) {
    double scale = 1;
    for (size_t l = 0; l + 1 < n; ++l) {
      if (l != j) scale *= points[j] - points[l];
    }
    for (size_t i = 0; i < outputs; ++i) result.at[i][j] = std::pow(points[j], static_cast<double>(i));
    for (size_t k = 0; k < taps; ++k) result.g[j][k] = std::pow(points[j], static_cast<double>(k)) / scale;
    const std::vector<double> row = polynomial(points, j);
    for (size_t k = 0; k < row.size(); ++k) result.bt[j][k] = row[k];
  }
  result.at[outputs - 1][n - 1] = 1;
  result.g[n - 1][taps - 1] = 1;
  const std::vector<double> last = polynomial(points, points.size());
  for (size_t k = 0; k < last.size(); ++k) result.bt[n - 1][k] = last[k];
  return result;
}

}  // namespace hone
