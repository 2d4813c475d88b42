// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
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

/// An error divided by the scale of the quantity: infinite if the scale has overflowed, the error
/// itself if the scale is zero.
template <RealScalar Scalar>
[[nodiscard]] Scalar relative_error(const Scalar& error, const Scalar& scale) noexcept {
  if (!is_finite(scale)) return std::numeric_limits<Scalar>::infinity();
  return scale > Scalar(0) ? error / scale : error;
}

/// The size of the numbers of some blocks, by which their errors are measured: of an island where
/// a system has scales, else of the whole problem.
template <RealScalar Scalar>
struct Yardstick {
  FrictionLaw law;
  Scalar load;          ///< ‖q‖ [m/s]
  Scalar inverse_mass;  ///< w, the mean diagonal of W + R; 1 for 0 [1/kg]
};

/// Sums over blocks from which a yardstick is made.
template <RealScalar Scalar>
struct YardstickSums {
  Scalar diagonal = 0;      ///< of W + R, R = 0 where blocks are rigid
  Scalar load_squared = 0;  ///< ‖q‖², q = J v* − v̂
  Scalar rows = 0;

  YardstickSums& operator+=(const YardstickSums& other) noexcept {
    diagonal += other.diagonal;
    load_squared += other.load_squared;
    rows += other.rows;
    return *this;
  }
  /// @param moved     J v* of a block's rows.
  /// @param softened  whether rigid blocks count with the R that they have for solvers that need
  ///                  one.
  /// @return  the sum of the diagonal of its own W [1/kg].
  template <typename Block>
  Scalar add(const Block& block, const typename Block::Rows& moved,
             bool softened = false) noexcept {
    const auto softness = block.regularization();
    for (int r = 0; r < block.rows(); ++r) {
      const Scalar load = moved(r) - block.bias_velocity()(r);
      load_squared += load * load;
      if (softened || !block.law().rigid) diagonal += softness(r);
    }
    const Scalar trace = block.own_trace();
    diagonal += trace;
    rows += Scalar(block.rows());
    return trace;
  }
  [[nodiscard]] Yardstick<Scalar> yardstick(FrictionLaw law) const noexcept {
    using std::sqrt;
    return {law, sqrt(load_squared), diagonal > Scalar(0) ? diagonal / rows : Scalar(1)};
  }
};

/// What the natural map error is made of; the sums of islands add up.
template <RealScalar Scalar>
struct MapSums {
  Scalar map = 0;         ///< squared norm of the natural map times w [m²/s²]
  Scalar impulses = 0;    ///< ‖γ‖² [N²·s²]
  Scalar velocities = 0;  ///< ‖u‖² [m²/s²]

  MapSums& operator+=(const MapSums& other) noexcept {
    map += other.map;
    impulses += other.impulses;
    velocities += other.velocities;
    return *this;
  }
  /// Adds a block's part. @return  its part of the map.
  template <typename Set, typename Rows>
  Scalar add(const Yardstick<Scalar>& yardstick, const Set& set, const Rows& impulse,
             const Rows& velocity) noexcept {
    const Scalar part =
        natural_map_squared(yardstick.law, set, impulse, velocity, yardstick.inverse_mass);
    map += part;
    impulses += dot(impulse.data(), impulse.data(), impulse.size());
    velocities += dot(velocity.data(), velocity.data(), velocity.size());
    return part;
  }
  /// The natural map error by a yardstick [-]; infinite where a number is not finite.
  [[nodiscard]] Scalar error(const Yardstick<Scalar>& yardstick) const noexcept {
    using std::sqrt;
    const Scalar scale =
        (std::max)({yardstick.load, Scalar(yardstick.inverse_mass * sqrt(impulses)),
                    Scalar(sqrt(velocities))});
    const Scalar result = relative_error(Scalar(sqrt(map)), scale);
    return is_finite(result) ? result : std::numeric_limits<Scalar>::infinity();
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
