// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The stopping rule of find_nearest_root().
template <RealScalar Scalar>
struct MinimumNormOptions {
  /// Bound on max |r_i| [unit of r], ≥ 0. The default is sixteen roundings of terms of size one. A
  /// smaller bound may be unreachable.
  Scalar tolerance = 16 * std::numeric_limits<Scalar>::epsilon();
  int iteration_limit = 50;  ///< ≥ 0. It bounds the work: near a root a few steps are enough.
  /// Relative step of the central differences [-], > 0. The cube root of the rounding unit balances
  /// truncation and round-off.
  Scalar difference_step = elementary::cbrt(std::numeric_limits<Scalar>::epsilon());
};

/// Root of fewer equations than unknowns near a given point. The method is Newton's with the
/// shortest possible step, x ← x − Jᵀ(J Jᵀ)⁻¹ r(x). The step is halved until it reduces ‖r‖.
///
/// @param residual  r(x), a callable from VectorX to VectorX. Its derivative is approximated by
///                  central differences. Near a root this does not reduce the accuracy of the root.
/// @param x         in: the start. Out: the root, or the point with the smallest residual.
/// @return  residual: max |r_i| at x; no_progress when J is rank-deficient or no step reduces ‖r‖.
/// @note  Cold: allocates.
template <RealScalar Scalar, typename Residual>
SolveReport<Scalar> find_nearest_root(Residual&& residual, VectorX<Scalar>& x,
                                      const MinimumNormOptions<Scalar>& options = {}) {
  using std::abs;
  SolveReport<Scalar> report;
  report.residual_target = options.tolerance;
  VectorX<Scalar> r = residual(x);
  const auto size_of = [](const VectorX<Scalar>& values) {
    return values.size() > 0 ? values.cwiseAbs().maxCoeff() : Scalar(0);
  };
  for (;; ++report.iterations) {
    report.residual = size_of(r);
    if (!r.allFinite()) {
      report.status = SolveStatus::not_finite;
      return report;
    }
    report.status = SolveStatus::converged;
    if (report.residual <= options.tolerance) return report;
    report.status = SolveStatus::iteration_limit;
    if (report.iterations >= options.iteration_limit) return report;

    MatrixX<Scalar> slope(r.size(), x.size());
    for (Index j = 0; j < x.size(); ++j) {
      const Scalar step = options.difference_step * (abs(x(j)) > Scalar(1) ? abs(x(j)) : Scalar(1));
      VectorX<Scalar> ahead = x, behind = x;
      ahead(j) += step;
      behind(j) -= step;
      slope.col(j) = (residual(ahead) - residual(behind)) / (ahead(j) - behind(j));
    }
    MatrixX<Scalar> normal = slope.lazyProduct(slope.transpose());
    VectorX<Scalar> multiplier = r;
    report.status = SolveStatus::no_progress;
    if (!factor_cholesky(normal.data(), r.size(), r.size())) return report;
    solve_lower(normal.data(), r.size(), r.size(), multiplier.data());
    solve_lower_transposed(normal.data(), r.size(), r.size(), multiplier.data());
    const VectorX<Scalar> full = -(slope.transpose().lazyProduct(multiplier));
    bool improved = false;
    constexpr double least_share = 1e-6;  // twenty halvings; a descent direction needs fewer
    for (Scalar share = 1; share > Scalar(least_share) && !improved; share /= 2) {
      const VectorX<Scalar> candidate = x + share * full;
      const VectorX<Scalar> there = residual(candidate);
      improved = there.allFinite() && there.norm() < r.norm();
      if (!improved) continue;
      x = candidate;
      r = there;
    }
    if (!improved) return report;
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
