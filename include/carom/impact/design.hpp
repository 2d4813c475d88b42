// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>

#include "carom/core/elementary.hpp"
#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/detail/minimum_norm_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Two contacts of a design: the result of a model for one choice of parameters and configuration.
template <RealScalar Scalar>
struct DesignPoint {
  MassMatrix<Scalar> mass;
  VectorX<Scalar> first_gradient;   ///< Dϕ of the first contact.
  VectorX<Scalar> second_gradient;  ///< Dϕ of the second contact.
  VectorX<Scalar> constraints;      ///< must vanish too: gaps, fixed lengths; may be empty.
};

/// ⟨u, v⟩ of the unit normals of a design's two contacts [-].
template <RealScalar Scalar>
[[nodiscard]] Scalar normal_product(const DesignPoint<Scalar>& point) {
  using std::sqrt;
  VectorX<Scalar> first = point.first_gradient, second = point.second_gradient;
  point.mass.apply_inverse(first);
  point.mass.apply_inverse(second);
  return point.first_gradient.dot(second) /
         sqrt(point.first_gradient.dot(first) * point.second_gradient.dot(second));
}

/// The m for which −cos(π/m) is nearest to a product of normals: that of the nearest unique design.
/// @param largest  largest m considered, ≥ 2: large m need many reflections.
template <RealScalar Scalar>
[[nodiscard]] int nearest_unique_label(const Scalar& product, int largest = 6) {
  CAROM_EXPECTS(largest >= 2);
  int nearest = 2;
  for (int m = 3; m <= largest; ++m) {
    const auto distance = [&](int k) {
      return std::abs(product + elementary::cos(std::numbers::pi_v<Scalar> / Scalar(k)));
    };
    if (distance(m) < distance(nearest)) nearest = m;
  }
  return nearest;
}

/// Nearest parameters and configuration for which two simultaneous impacts have one outcome: ⟨u,
/// v⟩ = −cos(π/m) subject to the model's constraints. The method is Newton's with steps of minimum
/// norm.
///
/// @param model  callable from VectorX (parameters and configuration) to DesignPoint.
/// @param x      start in, design out.
/// @param m      2 makes the normals orthogonal; see nearest_unique_label.
/// @return  residual: the largest of |⟨u, v⟩ + cos(π/m)| and the constraints.
/// @note  Cold: allocates.
/// @cite  seghete2014propagative, section VI (impact design), for any m instead of 2 only.
template <RealScalar Scalar, typename Model>
SolveReport<Scalar> find_unique_design(Model&& model, VectorX<Scalar>& x, int m = 2,
                                       const MinimumNormOptions<Scalar>& options = {}) {
  CAROM_EXPECTS(m >= 2);
  const Scalar target =
      m == 2 ? Scalar(0) : -elementary::cos(std::numbers::pi_v<Scalar> / Scalar(m));
  const auto residual = [&](const VectorX<Scalar>& at) {
    const DesignPoint<Scalar> point = model(at);
    VectorX<Scalar> values(1 + point.constraints.size());
    values << normal_product(point) - target, point.constraints;
    return values;
  };
  return find_nearest_root<Scalar>(residual, x, options);
}

}  // namespace CAROM_ABI
}  // namespace carom
