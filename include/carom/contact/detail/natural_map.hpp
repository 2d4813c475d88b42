// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/core/detail/plain_loops.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The row of a friction cone's normal. It corresponds to normal_row() of a shape.
template <RealScalar Scalar>
[[nodiscard]] constexpr int normal_of(const FrictionCone<Scalar>&) noexcept {
  return 2;
}
template <RealScalar Scalar>
[[nodiscard]] constexpr int normal_of(const ImpulseSet<Scalar>& set) noexcept {
  return normal_row(set.shape);
}

/// P(y) with equal weights.
/// @param region  written for a friction cone: the region of y.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> nearest_of(const FrictionCone<Scalar>& cone, const Vector3<Scalar>& y,
                                         ConeRegion& region) noexcept {
  const auto nearest = project(cone, ContactWeights<Scalar>{Scalar(1), Scalar(1)}, y);
  region = nearest.region;
  return nearest.point;
}
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> nearest_of(const ImpulseSet<Scalar>& set,
                                            const RowNumbers<Scalar>& y,
                                            ConeRegion& /*region*/) noexcept {
  return nearest_impulse_unweighted(set, y);
}

/// ũ of a law: De Saxcé's velocity for Coulomb's law, u for the convex law.
/// @param set  an ImpulseSet with six rows, or a FrictionCone with three; in the functions below
///             too.
template <typename Set, typename Rows>
[[nodiscard]] Rows law_velocity(FrictionLaw law, const Set& set, const Rows& velocity) noexcept {
  Rows moved = velocity;
  const int normal = normal_of(set);
  if (law == FrictionLaw::coulomb && normal >= 0) moved(normal) += de_saxce_lift(set, velocity);
  return moved;
}

/// The natural map of one block, γ − P(γ − s). It is zero exactly if γ is in the set and s obeys
/// the law with it. s is ũ divided by a number > 0 [1/kg] that is equal in all rows, which makes it
/// an impulse. It is infinite if a number is not finite.
/// @param region  written for a friction cone: the region of the argument of P.
template <typename Set, typename Rows>
[[nodiscard]] Rows natural_map(const Set& set, const Rows& impulse, const Rows& step,
                               ConeRegion& region) noexcept {
  using Scalar = typename Rows::Scalar;
  Rows map;  // first: the argument of P
  write_difference(impulse.data(), step.data(), map.size(), map.data());
  region = ConeRegion::separate;
  if (all_finite(map.data(), map.size())) {
    const Rows nearest = nearest_of(set, map, region);
    write_difference(impulse.data(), nearest.data(), map.size(), map.data());
  } else {
    for (Index r = 0; r < map.size(); ++r) map(r) = std::numeric_limits<Scalar>::infinity();
  }
  return map;
}

/// Squared natural map of one block, in impulses multiplied by the inverse mass w [1/kg]. It is
/// infinite if a number is not finite.
template <typename Set, typename Rows>
[[nodiscard]] auto natural_map_squared(FrictionLaw law, const Set& set, const Rows& impulse,
                                       const Rows& velocity,
                                       const typename Rows::Scalar& inverse_mass) noexcept {
  ConeRegion region{};
  Rows step = law_velocity(law, set, velocity);
  for (Index r = 0; r < step.size(); ++r) step(r) /= inverse_mass;
  Rows map = natural_map(set, impulse, step, region);
  for (Index r = 0; r < map.size(); ++r) map(r) *= inverse_mass;
  return dot(map.data(), map.data(), map.size());
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
