// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Stretch e = p − p₀ of a spring-damper that carries a constant force for a while:
/// B e′ = −(λ + K e), so e(t) = −λ/K + (e(0) + λ/K) exp(−K t/B).
///
/// Where a contact slides, its anchor follows from the stretch that the force allows: p₀ = p − e.
/// @param stretch  e(0) [m].
/// @param force    λ [N].
/// @param stiffness  K [N/m], ≥ 0; without a spring e moves by −λ t/B.
/// @param damping  B [N·s/m], ≥ 0; without a damper e = −λ/K at once.
/// @param time     t [s], ≥ 0.
/// @return  e(t) [m]; e(0) when K and B are both zero.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] Scalar slip_stretch(const Scalar& stretch, const Scalar& force,
                                  const Scalar& stiffness, const Scalar& damping,
                                  const Scalar& time) noexcept {
  using std::exp, std::expm1;
  if (!(stiffness > Scalar(0))) {
    return damping > Scalar(0) ? stretch - force * time / damping : stretch;
  }
  const Scalar rest = -force / stiffness;
  if (!(damping > Scalar(0))) return rest;
  const Scalar decay = stiffness * time / damping;
  return decay < Scalar(0.5) ? stretch + (stretch - rest) * expm1(-decay)
                             : rest + (stretch - rest) * exp(-decay);
}

}  // namespace CAROM_ABI
}  // namespace carom
