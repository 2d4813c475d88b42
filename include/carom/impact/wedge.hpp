// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/nonnegative_least_squares.hpp"

namespace carom::inline CAROM_ABI {

namespace detail {

/// G x, contacts that repeat others left out.
template <RealScalar Scalar>
void multiply_gram(const ImpactProblem<Scalar>& problem, const VectorX<Scalar>& x,
                   VectorX<Scalar>& result) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    result(i) = x(i);
    for (const auto& [other, product] : problem.neighbours(i)) result(i) += product * x(other);
  }
}

}  // namespace detail

/// Whether some motion opens every contact at once: a w with ⟨w, u_i⟩ > 0 for all i.
///
/// Then every admissible sequence of reflections is finite. Otherwise Σ c_i u_i = 0 for some
/// c ≥ 0, c ≠ 0 (Gordan): the body is wedged, and reflections go on for ever.
/// A w is looked for as Σ x_i u_i with G x = 1 by conjugate gradients, which ends as soon as G x >
/// 0; where that fails, non-negative least squares of the normals decides.
/// @note  Cold: allocates, throws std::invalid_argument for a problem that is not prepared().
template <RealScalar Scalar>
[[nodiscard]] bool has_interior(const ImpactProblem<Scalar>& problem) {
  using std::sqrt;
  problem.require_prepared();
  const Index count = problem.contact_count();
  if (count == 0) return true;
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  const Scalar margin = sqrt(rounding);
  const Scalar product_error = (64 + Scalar(count)) * rounding;  // of G x, in units of max |x|
  VectorX<Scalar> x = VectorX<Scalar>::Zero(count);
  VectorX<Scalar> residual = VectorX<Scalar>::Ones(count), product(count);
  VectorX<Scalar> direction = residual;
  Scalar rest = residual.squaredNorm();
  for (Index iteration = 0; iteration < 2 * count + 10 && rest > Scalar(0); ++iteration) {
    detail::multiply_gram(problem, direction, product);
    const Scalar curvature = direction.dot(product);
    if (!(curvature > rounding * direction.squaredNorm())) break;
    const Scalar step = rest / curvature;
    x += step * direction;
    residual -= step * product;
    if (residual.maxCoeff() < Scalar(1) - margin) {  // G x = 1 − residual > 0: checked afresh
      detail::multiply_gram(problem, x, product);
      if (product.minCoeff() > product_error * x.cwiseAbs().maxCoeff()) return true;
    }
    const Scalar next = residual.squaredNorm();
    direction = residual + (next / rest) * direction;
    rest = next;
  }
  // Distance of the origin from the normals' convex hull: min ½‖Σ c_i u_i‖² − Σ c_i over c ≥ 0 is
  // −½/distance², without a minimum when the origin is inside. A unit weight on the sum bounds it:
  // min ½ cᵀ(G + 11ᵀ)c − 1ᵀc has Σ c_i u_i = 0 exactly when the body is wedged.
  const MatrixX<Scalar> weighted = problem.gram() + MatrixX<Scalar>::Ones(count, count);
  NonnegativeLeastSquares<Scalar> squares;
  squares.prepare(count);
  VectorX<Scalar> weights(count);
  const VectorX<Scalar> linear = -VectorX<Scalar>::Ones(count);
  static_cast<void>(squares.solve(weighted, linear, weights));
  detail::multiply_gram(problem, weights, product);
  return weights.dot(product) > 64 * rounding * weights.squaredNorm();
}

}  // namespace carom::inline CAROM_ABI
