// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/elementary.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Stretch e = p − p₀ of a spring-damper with a constant force during a time t: B e′ = −(λ + K e),
/// so e(t) = −λ/K + (e(0) + λ/K) exp(−K t/B).
///
/// The anchor of a sliding contact is computed from the stretch at which the spring-damper has the
/// force λ: p₀ = p − e.
/// @param stretch  e(0) [m].
/// @param force    λ [N].
/// @param stiffness  K [N/m], ≥ 0; without a spring e changes by −λ t/B.
/// @param damping  B [N·s/m], ≥ 0; without a damper e = −λ/K immediately.
/// @param time     t [s], ≥ 0.
/// @return  e(t) [m]; e(0) when K and B are both zero.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] Scalar slip_stretch(const Scalar& stretch, const Scalar& force,
                                  const Scalar& stiffness, const Scalar& damping,
                                  const Scalar& time) noexcept {
  using elementary::exp, elementary::expm1;
  if (!(stiffness > Scalar(0))) {
    return damping > Scalar(0) ? stretch - force * time / damping : stretch;
  }
  const Scalar rest = -force / stiffness;
  if (!(damping > Scalar(0))) return rest;
  const Scalar decay = stiffness * time / damping;
  return decay < Scalar(0.5) ? stretch + (stretch - rest) * expm1(-decay)
                             : rest + (stretch - rest) * exp(-decay);
}

namespace detail {

/// Partial derivatives of slip_stretch() by its arguments.
template <RealScalar Scalar>
struct SlipStretchDerivative {
  Scalar by_stretch = 0, by_force = 0, by_stiffness = 0, by_damping = 0, by_time = 0;
};

/// (1 − e⁻ˣ)/x and (1 − e⁻ˣ − x e⁻ˣ)/x² for x ≥ 0, by series where the differences would lose
/// digits.
template <RealScalar Scalar>
void decay_quotients(const Scalar& x, Scalar& first, Scalar& second) noexcept {
  using elementary::exp, elementary::expm1;
  if (x > Scalar(0.5)) {
    const Scalar decay = exp(-x);
    first = (Scalar(1) - decay) / x;
    second = (first - decay) / x;
    return;
  }
  // Σ (−x)ʲ/(j + 1)! and Σ (−x)ʲ (j + 1)/(j + 2)!: after 16 terms the error is 2⁻¹⁶/17! at x = ½.
  Scalar term(1);
  first = Scalar(1);
  second = Scalar(0.5);
  for (int j = 1; j < 16; ++j) {
    term *= -x / Scalar(j + 1);
    first += term;
    second += term * Scalar(j + 1) / Scalar(j + 2);
  }
}

/// Differentiates e(t) = e E − λ t/B (1 − E)/x, with x = K t/B and E = e⁻ˣ; arguments as in
/// slip_stretch().
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] SlipStretchDerivative<Scalar> slip_stretch_derivative(const Scalar& stretch,
                                                                    const Scalar& force,
                                                                    const Scalar& stiffness,
                                                                    const Scalar& damping,
                                                                    const Scalar& time) noexcept {
  using elementary::exp;
  SlipStretchDerivative<Scalar> by;
  if (!(damping > Scalar(0))) {
    if (!(stiffness > Scalar(0))) {
      by.by_stretch = Scalar(1);
      return by;
    }
    by.by_force = -Scalar(1) / stiffness;
    by.by_stiffness = force / stiffness / stiffness;
    return by;
  }
  const Scalar span = time / damping, x = stiffness * span, decay = exp(-x);
  Scalar first, second;
  decay_quotients(x, first, second);
  const Scalar pull = (stiffness * stretch + force) * decay;
  by.by_stretch = decay;
  by.by_force = -span * first;
  by.by_stiffness = -stretch * decay * span + force * second * span * span;
  by.by_damping = pull * span / damping;
  by.by_time = -pull / damping;
  return by;
}

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
