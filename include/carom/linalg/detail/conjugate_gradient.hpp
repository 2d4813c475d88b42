// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The vectors a conjugate-gradient solve works on, each with as many numbers as the unknown.
template <RealScalar Scalar>
struct ConjugateGradientVectors {
  Scalar* solution;   ///< x, written
  Scalar* residual;   ///< b − H x; holds b before
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

/// Solves H x = b, H symmetric positive definite, from x = 0, until ‖b − H x‖ ≤ target.
///
/// Every iterate satisfies bᵀx > 0, so with b = −∇ℓ each is a direction of descent.
/// @param multiply      multiply(p, q) writes q = H p.
/// @param precondition  precondition(r, z) writes z = M⁻¹ r, M symmetric positive definite.
/// @note  Real-time safe when both are: no allocation, at most `limit` products.
/// @cite  hestenes1952methods.
template <RealScalar Scalar, typename Multiply, typename Precondition>
[[nodiscard]] ConjugateGradientReport<Scalar> conjugate_gradient(
    const ConjugateGradientVectors<Scalar>& vectors, const Scalar& target, int limit,
    Multiply&& multiply, Precondition&& precondition) noexcept {
  using std::sqrt;
  using Map = Eigen::Map<VectorX<Scalar>>;
  Map x(vectors.solution, vectors.size), r(vectors.residual, vectors.size),
      p(vectors.direction, vectors.size), q(vectors.product, vectors.size);
  x.setZero();
  ConjugateGradientReport<Scalar> report{0, sqrt(r.squaredNorm()), true};
  precondition(vectors.residual, vectors.direction);
  Scalar rho = r.dot(p);
  while (report.residual > target && report.iterations < limit) {
    multiply(vectors.direction, vectors.product);
    const Scalar curvature = p.dot(q);
    if (!(curvature > Scalar(0)) || !(rho > Scalar(0))) break;  // round-off, or not definite
    const Scalar step = rho / curvature;
    x += step * p;
    r -= step * q;
    ++report.iterations;
    report.residual = sqrt(r.squaredNorm());
    precondition(vectors.residual, vectors.product);
    const Scalar next = r.dot(q);
    p = q + (next / rho) * p;
    rho = next;
  }
  report.usable = report.iterations > 0 && x.allFinite();
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
