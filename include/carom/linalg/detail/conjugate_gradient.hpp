// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/core/detail/plain_loops.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The vectors of a conjugate-gradient solve. Each has as many numbers as the unknown.
template <RealScalar Scalar>
struct ConjugateGradientVectors {
  Scalar* solution;   ///< x, written
  Scalar* residual;   ///< b − H x; the caller writes b here before the solve
  Scalar* direction;  ///< scratch
  Scalar* product;    ///< scratch
  Index size;
};

/// How a conjugate-gradient solve ended.
template <RealScalar Scalar>
struct ConjugateGradientReport {
  int iterations;
  Scalar residual;  ///< ‖b − H x‖
  bool usable;      ///< whether x is a finite point from which bᵀx > 0 can be expected
};

/// Solves H x = b by preconditioned conjugate gradients, H symmetric positive definite. The
/// iteration starts at x = 0 and ends when ‖b − H x‖ ≤ target.
///
/// Every iterate satisfies bᵀx > 0. With b = −∇ℓ, each iterate is therefore a descent direction of
/// ℓ.
/// @param multiply      multiply(p, q) writes q = H p.
/// @param precondition  precondition(r, z) writes z = M⁻¹ r, M symmetric positive definite.
/// @note  Real-time safe when both callables are: no allocation, at most `limit` products.
/// @cite  hestenes1952methods.
template <RealScalar Scalar, typename Multiply, typename Precondition>
[[nodiscard]] ConjugateGradientReport<Scalar> conjugate_gradient(
    const ConjugateGradientVectors<Scalar>& vectors, const Scalar& target, int limit,
    Multiply&& multiply, Precondition&& precondition) noexcept {
  using std::sqrt;
  Scalar *const x = vectors.solution, *const r = vectors.residual;
  Scalar *const p = vectors.direction, *const q = vectors.product;
  const Index size = vectors.size;
  std::fill_n(x, size, Scalar(0));
  ConjugateGradientReport<Scalar> report{0, sqrt(detail::long_dot(r, r, size)), true};
  precondition(r, p);
  Scalar rho = detail::long_dot(r, p, size);
  while (report.residual > target && report.iterations < limit) {
    multiply(p, q);
    const Scalar curvature = detail::long_dot(p, q, size);
    // round-off, or H is not positive definite
    if (!(curvature > Scalar(0)) || !(rho > Scalar(0))) break;
    const Scalar step = rho / curvature;
    detail::add_multiple(step, p, size, x);
    detail::add_multiple(-step, q, size, r);
    ++report.iterations;
    report.residual = sqrt(detail::long_dot(r, r, size));
    precondition(r, q);
    const Scalar next = detail::long_dot(r, q, size);
    const Scalar beta = next / rho;
    for (Index i = 0; i < size; ++i) p[i] = q[i] + beta * p[i];
    rho = next;
  }
  report.usable = report.iterations > 0 && detail::all_finite(x, size);
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
