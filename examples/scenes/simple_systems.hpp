// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/scalar.hpp"

/// @file
/// Mechanical systems of textbooks, each a Lagrangian written once for any number type.
namespace carom::examples {

/// A ball that falls on a floor at height zero; q is its lowest point's height [m].
struct BouncingBall {
  using scalar_type = double;
  double mass = 1;        ///< [kg]
  double gravity = 9.81;  ///< [m/s²]

  [[nodiscard]] Index size() const noexcept { return 1; }
  [[nodiscard]] Index gap_count() const noexcept { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return mass / 2 * (v(0) * v(0)) - mass * gravity * q(0);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
  }
};

/// A point mass on a massless rod; q is the angle from hanging down [rad].
struct PointPendulum {
  using scalar_type = double;
  double length = 1, mass = 1, gravity = 9.81;  ///< [m], [kg], [m/s²]

  [[nodiscard]] Index size() const noexcept { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    return mass * length * length / 2 * (v(0) * v(0)) + mass * gravity * length * cos(q(0));
  }
};

/// Two point masses on massless rods, one hung from the other; angles from hanging down, both to
/// the vertical [rad].
struct PointDoublePendulum {
  using scalar_type = double;
  double upper_length = 1, lower_length = 1, upper_mass = 1, lower_mass = 1;  ///< [m], [kg]
  double gravity = 9.81;                                                      ///< [m/s²]

  [[nodiscard]] Index size() const noexcept { return 2; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    const double both = upper_mass + lower_mass;
    const double a = upper_length, b = lower_length;
    return both * a * a / 2 * (v(0) * v(0)) + lower_mass * b * b / 2 * (v(1) * v(1)) +
           lower_mass * a * b * (v(0) * v(1)) * cos(q(0) - q(1)) + both * gravity * a * cos(q(0)) +
           lower_mass * gravity * b * cos(q(1));
  }
};

/// A mass on a spring.
struct SpringMass {
  using scalar_type = double;
  double mass = 1, stiffness = 1;  ///< [kg], [N/m]

  [[nodiscard]] Index size() const noexcept { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return mass / 2 * (v(0) * v(0)) - stiffness / 2 * (q(0) * q(0));
  }
};

/// A unit mass in the plane drawn to the origin by 1/r, so that G M = 1.
struct KeplerOrbit {
  using scalar_type = double;

  [[nodiscard]] Index size() const noexcept { return 2; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::sqrt;
    return (v(0) * v(0) + v(1) * v(1)) / 2.0 + 1.0 / sqrt(q(0) * q(0) + q(1) * q(1));
  }
};

}  // namespace carom::examples
