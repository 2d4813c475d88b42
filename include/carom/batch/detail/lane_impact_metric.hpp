// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_cholesky.hpp"
#include "carom/batch/detail/lane_impact_layout.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Changes of coordinates by the factor of a mass, or of its inverse, in place.
template <typename Cells>
struct LaneImpactMetric {
  ImpactPatternView pattern;
  Cells factor;

  using Number = decltype(Cells()[0]);

  /// Factors what is in the cells. False in lanes where it is not positive definite.
  [[nodiscard]] CAROM_DEVICE auto begin() const noexcept {
    if (!pattern.is_diagonal()) return factor_lanes(rows(), factor);
    auto definite = everywhere<Number>(true);
    for (int i = 0; i < rows().count; ++i) {
      definite = definite & (factor[i] > Number(0));
      factor.set(i, Number(1) / sqrt(factor[i]));
    }
    return definite;
  }
  /// A momentum p, or a gradient, becomes q.
  CAROM_DEVICE void take_momentum(const Cells& x) const noexcept {
    pattern.is_inverse() ? multiply_transposed(x) : solve(x);
  }
  /// q becomes a momentum p.
  CAROM_DEVICE void give_momentum(const Cells& x) const noexcept {
    pattern.is_inverse() ? solve_transposed(x) : multiply(x);
  }
  /// A velocity v becomes q.
  CAROM_DEVICE void take_velocity(const Cells& x) const noexcept {
    pattern.is_inverse() ? solve(x) : multiply_transposed(x);
  }
  /// q becomes a velocity v.
  CAROM_DEVICE void give_velocity(const Cells& x) const noexcept {
    pattern.is_inverse() ? multiply(x) : solve_transposed(x);
  }

 private:
  [[nodiscard]] CAROM_DEVICE LaneRows rows() const noexcept {
    return pattern.rows(pattern.coordinates);
  }
  CAROM_DEVICE void scale(const Cells& x, bool by_inverse) const noexcept {
    for (int i = 0; i < rows().count; ++i) {
      x.set(i, by_inverse ? x[i] * factor[i] : x[i] / factor[i]);
    }
  }
  CAROM_DEVICE void solve(const Cells& x) const noexcept {
    pattern.is_diagonal() ? scale(x, true) : solve_lanes(rows(), factor, x);
  }
  CAROM_DEVICE void solve_transposed(const Cells& x) const noexcept {
    pattern.is_diagonal() ? scale(x, true) : solve_lanes_transposed(rows(), factor, x);
  }
  /// x ← L x; the factor holds the inverses of its diagonal.
  CAROM_DEVICE void multiply(const Cells& x) const noexcept {
    if (pattern.is_diagonal()) return scale(x, false);
    for (int i = rows().count - 1; i >= 0; --i) {
      const Cells row = factor.from(rows().place[i]);
      Number sum = x[i] / row[i];
      for (int k = 0; k < i; ++k) sum += row[k] * x[k];
      x.set(i, sum);
    }
  }
  /// x ← Lᵀ x.
  CAROM_DEVICE void multiply_transposed(const Cells& x) const noexcept {
    if (pattern.is_diagonal()) return scale(x, false);
    for (int i = 0; i < rows().count; ++i) {
      const Cells row = factor.from(rows().place[i]);
      const Number xi = x[i];
      for (int k = 0; k < i; ++k) x.add(k, row[k] * xi);
      x.set(i, xi / row[i]);
    }
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
