// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/variational/spatial_body.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// A twist (turning; motion of the point at o) or a wrench and momentum (about o; linear).
template <RealScalar Scalar>
struct Screw {
  Vector3<Scalar> angular = Vector3<Scalar>::Zero(), linear = Vector3<Scalar>::Zero();

  [[nodiscard]] Scalar dot(const Screw& b) const noexcept {
    return angular.dot(b.angular) + linear.dot(b.linear);
  }
  Screw& operator+=(const Screw& b) noexcept {
    angular += b.angular;
    linear += b.linear;
    return *this;
  }
  /// Twist of a twist, a × b.
  [[nodiscard]] Screw cross(const Screw& b) const noexcept {
    return {detail::cross(angular, b.angular),
            detail::cross(angular, b.linear) + detail::cross(linear, b.angular)};
  }
  /// Momentum moved by a twist, a ×* p.
  [[nodiscard]] Screw cross_momentum(const Screw& p) const noexcept {
    return {detail::cross(angular, p.angular) + detail::cross(linear, p.linear),
            detail::cross(angular, p.linear)};
  }
};

/// Inertia about o along the world's axes.
template <RealScalar Scalar>
struct SpatialInertia {
  Scalar mass = 0;
  Vector3<Scalar> moment = Vector3<Scalar>::Zero();                   ///< Σ m c [kg·m]
  SquareMatrix<Scalar, 3> turning = SquareMatrix<Scalar, 3>::Zero();  ///< about o [kg·m²]

  SpatialInertia& operator+=(const SpatialInertia& b) noexcept {
    mass += b.mass;
    moment += b.moment;
    turning += b.turning;
    return *this;
  }
  [[nodiscard]] Screw<Scalar> operator*(const Screw<Scalar>& s) const noexcept {
    return {turning * s.angular + detail::cross(moment, s.linear),
            mass * s.linear + detail::cross(s.angular, moment)};
  }
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
