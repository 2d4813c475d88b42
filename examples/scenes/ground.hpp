// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/compliance.hpp"
#include "carom/core/scalar.hpp"

namespace carom::examples {

/// The plane z = 0, what it is made of, and the gravity above it.
struct Ground {
  Vector3<double> gravity{0, 0, -9.81};  ///< [m/s²], in the frame of the plane.
  double friction = 0.5;                 ///< μ [-].
  double stiffness = 1e5;                ///< k [N/m].
  double dissipation_time = 0.02;        ///< τ_d [s].
  double relative_slip = 1e-3;           ///< σ [-].

  /// The contact of a point at height `gap` [m].
  [[nodiscard]] CompliantContact<double> contact(double gap) const noexcept {
    return {.gap = gap,
            .stiffness = stiffness,
            .dissipation_time = dissipation_time,
            .friction = friction,
            .near_rigid = 1,
            .relative_slip = relative_slip};
  }
};

/// Ground that falls away along x at an angle [rad].
[[nodiscard]] inline Ground make_incline(double angle, double gravity = 9.81) {
  Ground ground;
  ground.gravity = {gravity * std::sin(angle), 0, -gravity * std::cos(angle)};
  return ground;
}

}  // namespace carom::examples
