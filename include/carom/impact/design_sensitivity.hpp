// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/elementary.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/impact/design.hpp"
#include "carom/impact/outcomes.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivatives of the ambiguity of a double impact by the design.
template <RealScalar Scalar>
struct DesignSensitivity {
  Scalar product = 0;                ///< ⟨u, v⟩ [-].
  Scalar indeterminacy = 0;          ///< ξ [-].
  VectorX<Scalar> product_gradient;  ///< ∂⟨u, v⟩/∂x [1/unit of x].
  /// ∂ξ/∂x [1/unit of x]; one-sided where ξ has a kink, as at each unique design.
  VectorX<Scalar> indeterminacy_gradient;
};

namespace detail {

/// ξ of the two contacts of a design.
template <RealScalar Scalar>
[[nodiscard]] Scalar design_indeterminacy(const DesignPoint<Scalar>& point,
                                          const VectorX<Scalar>& velocity) {
  ImpactProblem<Scalar> problem(point.mass.size());
  problem.add_contact(point.mass, point.first_gradient);
  problem.add_contact(point.mass, point.second_gradient);
  problem.prepare();
  return enumerate_outcomes(problem, point.mass, point.mass.momentum(velocity)).indeterminacy;
}

}  // namespace detail

/// Gradients of ⟨u, v⟩ and of the indeterminacy ξ with respect to the parameters and the
/// configuration of a design, by finite differences. They show the influence of each parameter.
///
/// Differences are central, except where ξ vanishes at x. There ξ increases on both sides like an
/// absolute value, and the forward difference is the slope of this increase.
///
/// @param model     callable from VectorX (parameters and configuration) to DesignPoint.
/// @param x         the design.
/// @param velocity  v⁻ [unit of the configuration/s], constant while x varies.
/// @throws std::invalid_argument  as ImpactProblem::add_contact and enumerate_outcomes.
/// @note  Cold: allocates. Accurate to about two thirds of the digits.
/// @cite  seghete2014propagative, section VI (impact design).
template <RealScalar Scalar, typename Model>
[[nodiscard]] DesignSensitivity<Scalar> design_sensitivity(Model&& model, const VectorX<Scalar>& x,
                                                           const VectorX<Scalar>& velocity) {
  using elementary::cbrt, std::abs;
  const Scalar relative_step = cbrt(std::numeric_limits<Scalar>::epsilon());
  DesignSensitivity<Scalar> result;
  const DesignPoint<Scalar> here = model(x);
  result.product = normal_product(here);
  result.indeterminacy = detail::design_indeterminacy(here, velocity);
  result.product_gradient.resize(x.size());
  result.indeterminacy_gradient.resize(x.size());
  const bool unique = result.indeterminacy <= relative_step * relative_step;
  for (Index i = 0; i < x.size(); ++i) {
    const Scalar step = relative_step * (abs(x(i)) > Scalar(1) ? abs(x(i)) : Scalar(1));
    VectorX<Scalar> ahead = x, behind = x;
    ahead(i) += step;
    behind(i) -= step;
    const DesignPoint<Scalar> after = model(ahead), before = model(behind);
    const Scalar width = ahead(i) - behind(i);
    result.product_gradient(i) = (normal_product(after) - normal_product(before)) / width;
    const Scalar rise = detail::design_indeterminacy(after, velocity);
    result.indeterminacy_gradient(i) =
        unique ? (rise - result.indeterminacy) / (ahead(i) - x(i))
               : (rise - detail::design_indeterminacy(before, velocity)) / width;
  }
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
