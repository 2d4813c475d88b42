// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/core/scalar.hpp"

namespace carom::examples {

/// A slender block that rocks from corner to corner without sliding, seen mirrored while it stands
/// on the other corner: q ≥ 0 is the tilt about the corner it stands on [rad], and each impact
/// passes it to the other corner.
///
/// Notation: R distance from a corner to the centre, α = atan(width/height) the tilt at which the
/// block balances; L = ⅔ m R² v² − m g R cos(α − q).
/// @cite  housner1963behavior, eqs. (1) and (6)
struct RockingBlock {
  using scalar_type = double;
  double width = 0.2;     ///< [m], > 0
  double height = 1;      ///< [m], > 0
  double mass = 1;        ///< [kg], > 0
  double gravity = 9.81;  ///< [m/s²], ≥ 0

  [[nodiscard]] double radius() const noexcept { return std::hypot(width, height) / 2; }
  [[nodiscard]] double balance_angle() const noexcept { return std::atan2(width, height); }
  /// Turning rate after an impact relative to the one before, 1 − 3/2 sin²α; none where the block
  /// is so squat that it would turn back.
  [[nodiscard]] double rate_ratio() const noexcept {
    const double sine = std::sin(balance_angle());
    return std::max(0.0, 1 - 1.5 * sine * sine);
  }

  [[nodiscard]] Index size() const noexcept { return 1; }
  [[nodiscard]] Index gap_count() const noexcept { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    const double r = radius();
    return 2.0 / 3.0 * mass * r * r * (v(0) * v(0)) -
           mass * gravity * r * cos(balance_angle() - q(0));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
  }
};

}  // namespace carom::examples
