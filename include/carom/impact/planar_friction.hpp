// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One planar contact with friction at the instant of impact, in contact space (t, n).
///
/// Impulses change its velocity by u⁺ = u⁻ + W P, W = J M⁻¹ Jᵀ symmetric positive definite.
template <RealScalar Scalar>
struct PlanarImpact {
  SquareMatrix<Scalar, 2> inverse_mass;  ///< W [1/kg].
  Vector<Scalar, 2> velocity;            ///< u⁻ = (uₜ, uₙ) [m/s].
  Scalar friction;                       ///< μ [-], ≥ 0.
  Scalar restitution;                    ///< e [-], in [0, 1].
};

namespace detail {

/// The impact as a process over the growing normal impulse: slip, stick, compression, restitution.
///
/// In one mode, κ = dPₜ/dPₙ is constant and both velocities are linear in Pₙ.
template <RealScalar Scalar>
struct RouthCourse {
  const PlanarImpact<Scalar>& contact;
  Vector<Scalar, 2> velocity;
  Vector<Scalar, 2> impulse = Vector<Scalar, 2>::Zero();
  Scalar ratio = 0;  ///< κ
  bool sticks = false;

  explicit RouthCourse(const PlanarImpact<Scalar>& given) noexcept
      : contact(given), velocity(given.velocity) {
    choose_mode();
  }

  /// Slope of a velocity component over the normal impulse.
  [[nodiscard]] Scalar slope(int component) const noexcept {
    return contact.inverse_mass(component, 1) + ratio * contact.inverse_mass(component, 0);
  }

  /// In slip, friction opposes the slip. At rest the contact sticks if friction is sufficient;
  /// otherwise it slips in the direction in which Pₙ drives it.
  void choose_mode() noexcept {
    using std::abs;
    const auto& w = contact.inverse_mass;
    const Scalar holding = -w(0, 1) / w(0, 0);
    sticks = velocity(0) == Scalar(0) && abs(holding) <= contact.friction;
    const Scalar direction = velocity(0) != Scalar(0) ? velocity(0) : w(0, 1);
    ratio = sticks ? holding : direction > Scalar(0) ? -contact.friction : contact.friction;
  }

  /// Normal impulse until slip stops; infinite if it does not stop.
  [[nodiscard]] Scalar until_slip_stops() const noexcept {
    const Scalar rate = slope(0);
    const bool slows = !sticks && velocity(0) * rate < Scalar(0);
    return slows ? Scalar(-velocity(0) / rate) : std::numeric_limits<Scalar>::infinity();
  }

  void advance(const Scalar& step, bool slip_stops) noexcept {
    velocity += step * Vector<Scalar, 2>(slope(0), slope(1));
    impulse += step * Vector<Scalar, 2>(ratio, Scalar(1));
    if (!slip_stops) return;
    velocity(0) = Scalar(0);
    choose_mode();
  }
};

}  // namespace detail

/// Impulse of a planar contact with Coulomb friction by Routh's method, with Stronge's energetic
/// restitution: the work of the normal impulse in restitution is −e² times that in compression.
///
/// It never creates energy, for any slip. It is equal to Newton's restitution if the slip does not
/// change its direction, or if tangent and normal are not coupled.
/// @pre   W symmetric positive definite, μ ≥ 0, e in [0, 1].
/// @return  P = (Pₜ, Pₙ) [N·s]; zero when the contact does not close (uₙ ≥ 0).
/// @note  Real-time safe: at most five modes, no allocation, no exception.
/// @cite  stronge1990rigid
template <RealScalar Scalar>
[[nodiscard]] Vector<Scalar, 2> routh_impulse(const PlanarImpact<Scalar>& contact) noexcept {
  CAROM_EXPECTS(contact.friction >= Scalar(0));
  CAROM_EXPECTS(contact.restitution >= Scalar(0) && contact.restitution <= Scalar(1));
  detail::RouthCourse<Scalar> course(contact);
  Scalar work = 0;  // of the normal impulse so far, ≤ 0
  for (int mode = 0; mode < 4 && course.velocity(1) < Scalar(0); ++mode) {  // compression
    const Scalar slope = course.slope(1);
    const Scalar until_rest = slope > Scalar(0) ? Scalar(-course.velocity(1) / slope)
                                                : std::numeric_limits<Scalar>::infinity();
    const Scalar until_stop = course.until_slip_stops();
    const Scalar step = (std::min)(until_rest, until_stop);
    if (!(step < std::numeric_limits<Scalar>::infinity())) break;
    work += step * (course.velocity(1) + step * slope / 2);
    course.advance(step, until_stop <= until_rest);
    if (until_rest <= until_stop) course.velocity(1) = Scalar(0);
  }
  using std::sqrt;
  Scalar owed = -contact.restitution * contact.restitution * work;
  for (int mode = 0; mode < 4 && owed > Scalar(0); ++mode) {  // restitution
    const Scalar slope = course.slope(1);
    const Scalar speed = course.velocity(1);
    // speed·P + slope·P²/2 = owed, in a form in which small speeds and slopes lose no digits.
    const Scalar root = sqrt((std::max)(Scalar(0), speed * speed + 2 * slope * owed));
    const Scalar until_paid = 2 * owed / (speed + root);
    const Scalar until_stop = course.until_slip_stops();
    const Scalar step = (std::min)(until_paid, until_stop);
    owed = until_paid <= until_stop ? Scalar(0) : Scalar(owed - step * (speed + step * slope / 2));
    course.advance(step, until_stop < until_paid);
  }
  return course.impulse;
}

/// Impulse of a planar contact by Moreau's law: (1 + e) times the plastic impulse, which is the
/// projection onto the friction cone in the metric, argmin ½ PᵀWP + uᵀP over |Pₜ| ≤ μ Pₙ.
///
/// It never gains energy, for any coupling. A sliding contact separates with uₙ = μ |uₜ|, as in the
/// convex law.
/// @pre   W symmetric positive definite, μ ≥ 0, e in [0, 1].
/// @return  P = (Pₜ, Pₙ) [N·s].
/// @note  Real-time safe: constant work, no allocation, no exception.
/// @cite  moreau1988unilateral
template <RealScalar Scalar>
[[nodiscard]] Vector<Scalar, 2> moreau_impulse(const PlanarImpact<Scalar>& contact) noexcept {
  CAROM_EXPECTS(contact.friction >= Scalar(0));
  CAROM_EXPECTS(contact.restitution >= Scalar(0) && contact.restitution <= Scalar(1));
  using std::abs;
  const auto& w = contact.inverse_mass;
  const auto& u = contact.velocity;
  const Scalar determinant = w(0, 0) * w(1, 1) - w(0, 1) * w(1, 0);
  Vector<Scalar, 2> plastic(-(w(1, 1) * u(0) - w(0, 1) * u(1)) / determinant,
                            -(w(0, 0) * u(1) - w(1, 0) * u(0)) / determinant);
  // outside the cone: the solution is on an edge
  if (abs(plastic(0)) > contact.friction * plastic(1)) {
    plastic.setZero();
    Scalar lowest = 0;
    for (const Scalar side : {contact.friction, -contact.friction}) {
      const Vector<Scalar, 2> edge(side, Scalar(1));
      const Scalar pull = edge.dot(u);
      const Scalar resistance = edge.dot(w * edge);
      const Scalar cost = -pull * pull / (2 * resistance);
      if (!(pull < Scalar(0)) || !(cost < lowest)) continue;
      lowest = cost;
      plastic = (-pull / resistance) * edge;
    }
  }
  return (Scalar(1) + contact.restitution) * plastic;
}

}  // namespace CAROM_ABI
}  // namespace carom
