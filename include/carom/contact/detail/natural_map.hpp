// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/contact/coulomb_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// ũ of a law: De Saxcé's velocity under Coulomb's, u itself under the convex one.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> law_velocity(FrictionLaw law, const ImpulseSet<Scalar>& set,
                                              const RowNumbers<Scalar>& velocity) noexcept {
  return law == FrictionLaw::coulomb ? de_saxce_velocity(set, velocity) : velocity;
}
/// The same for three rows of a friction cone.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> law_velocity(FrictionLaw law, const FrictionCone<Scalar>& cone,
                                           const Vector3<Scalar>& velocity) noexcept {
  Vector3<Scalar> moved = velocity;
  if (law == FrictionLaw::coulomb) moved(2) += de_saxce_lift(cone, velocity);
  return moved;
}

/// The natural map of one block, γ − P(γ − s): zero exactly when γ is in the set and s obeys the
/// law with it. s is ũ times a mobility > 0, equal in all rows, which makes it an impulse. Infinite
/// where a number is not finite.
/// @param region  written: the region of the argument of P.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> natural_map(const FrictionCone<Scalar>& cone,
                                          const Vector3<Scalar>& impulse,
                                          const Vector3<Scalar>& step,
                                          ConeRegion& region) noexcept {
  const Vector3<Scalar> trial = impulse - step;
  region = ConeRegion::separate;
  if (!trial.allFinite()) {
    return Vector3<Scalar>::Constant(std::numeric_limits<Scalar>::infinity());
  }
  const auto nearest = project(cone, ContactWeights<Scalar>{Scalar(1), Scalar(1)}, trial);
  region = nearest.region;
  return impulse - nearest.point;
}
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> natural_map(const ImpulseSet<Scalar>& set,
                                             const RowNumbers<Scalar>& impulse,
                                             const RowNumbers<Scalar>& step) noexcept {
  const RowNumbers<Scalar> trial = impulse - step;
  if (!trial.allFinite()) {
    return RowNumbers<Scalar>::Constant(std::numeric_limits<Scalar>::infinity());
  }
  const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
  return impulse - nearest_impulse(set, ones, trial);
}

/// Squared natural map of one block, in impulses times the inverse mass w [1/kg]; infinite where a
/// number is not finite.
template <RealScalar Scalar>
[[nodiscard]] Scalar natural_map_squared(FrictionLaw law, const ImpulseSet<Scalar>& set,
                                         const RowNumbers<Scalar>& impulse,
                                         const RowNumbers<Scalar>& velocity,
                                         const Scalar& inverse_mass) noexcept {
  const RowNumbers<Scalar> step = law_velocity(law, set, velocity) / inverse_mass;
  return (natural_map(set, impulse, step) * inverse_mass).squaredNorm();
}
template <RealScalar Scalar>
[[nodiscard]] Scalar natural_map_squared(FrictionLaw law, const FrictionCone<Scalar>& cone,
                                         const Vector3<Scalar>& impulse,
                                         const Vector3<Scalar>& velocity,
                                         const Scalar& inverse_mass) noexcept {
  ConeRegion region{};
  const Vector3<Scalar> step = law_velocity(law, cone, velocity) / inverse_mass;
  return (natural_map(cone, impulse, step, region) * inverse_mass).squaredNorm();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
