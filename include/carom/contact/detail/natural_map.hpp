// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/core/detail/plain_loops.hpp"

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
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  Vector3<Scalar> map;  // first the argument of P
  write_difference(impulse.data(), step.data(), 3, map.data());
  region = ConeRegion::separate;
  if (!all_finite(map.data(), 3)) return {infinity, infinity, infinity};
  const auto nearest = project(cone, ContactWeights<Scalar>{Scalar(1), Scalar(1)}, map);
  region = nearest.region;
  write_difference(impulse.data(), nearest.point.data(), 3, map.data());
  return map;
}
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> natural_map(const ImpulseSet<Scalar>& set,
                                             const RowNumbers<Scalar>& impulse,
                                             const RowNumbers<Scalar>& step) noexcept {
  RowNumbers<Scalar> map;  // first the argument of P
  write_difference(impulse.data(), step.data(), 6, map.data());
  const bool finite = all_finite(map.data(), 6);
  if (finite) {
    const RowNumbers<Scalar> nearest = nearest_impulse_unweighted(set, map);
    write_difference(impulse.data(), nearest.data(), 6, map.data());
  }
  for (Index r = 0; !finite && r < 6; ++r) map(r) = std::numeric_limits<Scalar>::infinity();
  return map;
}

/// Squared natural map of one block, in impulses times the inverse mass w [1/kg]; infinite where a
/// number is not finite.
template <RealScalar Scalar>
[[nodiscard]] Scalar natural_map_squared(FrictionLaw law, const ImpulseSet<Scalar>& set,
                                         const RowNumbers<Scalar>& impulse,
                                         const RowNumbers<Scalar>& velocity,
                                         const Scalar& inverse_mass) noexcept {
  RowNumbers<Scalar> step = law_velocity(law, set, velocity);
  for (Index r = 0; r < 6; ++r) step(r) /= inverse_mass;
  RowNumbers<Scalar> map = natural_map(set, impulse, step);
  for (Index r = 0; r < 6; ++r) map(r) *= inverse_mass;
  return dot(map.data(), map.data(), 6);
}
template <RealScalar Scalar>
[[nodiscard]] Scalar natural_map_squared(FrictionLaw law, const FrictionCone<Scalar>& cone,
                                         const Vector3<Scalar>& impulse,
                                         const Vector3<Scalar>& velocity,
                                         const Scalar& inverse_mass) noexcept {
  ConeRegion region{};
  Vector3<Scalar> step = law_velocity(law, cone, velocity);
  for (Index r = 0; r < 3; ++r) step(r) /= inverse_mass;
  Vector3<Scalar> map = natural_map(cone, impulse, step, region);
  for (Index r = 0; r < 3; ++r) map(r) *= inverse_mass;
  return dot(map.data(), map.data(), 3);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
