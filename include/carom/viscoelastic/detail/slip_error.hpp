// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/contact/detail/natural_map.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// By how much a contact misses Coulomb's law.
template <RealScalar Scalar>
struct SlipGap {
  Vector3<Scalar> gap;  ///< λ − P(λ − ρ (w + μ‖wₜ‖ n)) [N], 0 where the law holds.
  ConeRegion region;    ///< what the contact does by the argument of P.
};

/// Natural map of one contact.
/// @param force     λ [N].
/// @param velocity  w of its anchor [m/s].
/// @param friction  μ [-], ≥ 0.
/// @param gain      ρ [N·s/m], > 0: the size of the contact's block of G.
/// @return  gap infinite when a number is not finite.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  acary2018coulomb, section 3, the natural map of De Saxcé's form of the law.
template <RealScalar Scalar>
[[nodiscard]] SlipGap<Scalar> slip_gap(const Vector3<Scalar>& force,
                                       const Vector3<Scalar>& velocity, const Scalar& friction,
                                       const Scalar& gain) noexcept {
  const FrictionCone<Scalar> cone{friction};
  const Vector3<Scalar> step = gain * detail::law_velocity(FrictionLaw::coulomb, cone, velocity);
  SlipGap<Scalar> result;
  result.gap = detail::natural_map(cone, force, step, result.region);
  return result;
}

/// How far anchors that move with w are from Coulomb's law at all contacts: the natural maps of λ =
/// λ_avg + G w together, relative to the larger of ‖λ_avg‖ and ‖λ‖ [-]; 0 at a solution, infinite
/// when a number is not finite.
/// @param gain      G, 3n×3n [N·s/m], symmetric positive semidefinite.
/// @param average   λ_avg, 3n [N].
/// @param friction  μ, n [-], ≥ 0.
/// @param velocity  w, 3n [m/s].
/// @param force     takes λ, 3n [N].
/// @note  Real-time safe: no allocation, no exception, 9 n² products.
template <typename Matrix, typename Values1, typename Values2, typename Values3, typename Values4>
[[nodiscard]] auto slip_error(const Matrix& gain, const Values1& average, const Values2& friction,
                              const Values3& velocity, Values4& force) noexcept {
  using Scalar = typename Matrix::Scalar;
  using std::sqrt;
  force = average;
  force.noalias() += gain * velocity;
  Scalar squared(0);
  for (Index i = 0; i < friction.size(); ++i) {
    const Scalar size = gain.diagonal().template segment<3>(3 * i).sum() / 3;
    const SlipGap<Scalar> gap = slip_gap<Scalar>(
        force.template segment<3>(3 * i), velocity.template segment<3>(3 * i), friction(i), size);
    squared += gap.gap.squaredNorm();
  }
  if (!(squared > Scalar(0))) {
    return squared == Scalar(0) ? Scalar(0) : std::numeric_limits<Scalar>::infinity();
  }
  const Scalar relative = sqrt(squared) / (std::max)(Scalar(average.norm()), Scalar(force.norm()));
  return relative - relative == Scalar(0) ? relative : std::numeric_limits<Scalar>::infinity();
}

}  // namespace CAROM_ABI
}  // namespace carom
