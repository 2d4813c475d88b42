// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/cones/detail/sliding.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The convex law at a contact whose velocity depends on its impulse by u = W γ + r: γ minimises ½
/// γᵀ W γ + rᵀγ over the friction cone. Then γ ⟂ u, and u is in the dual cone. The law is a
/// projection onto the cone in a metric that need not be diagonal.
///
/// The constructor needs only W; solve() then accepts any r. The solution is unique.
/// @note  Real-time safe: no allocation, no exception; a sliding contact needs a few steps of a
///        bracketed Newton's method in one unknown.
template <RealScalar Scalar>
class ConvexInverseMass {
 public:
  ConvexInverseMass() = default;
  /// @param inverse_mass  W [1/kg], symmetric positive definite; the lower triangle is read.
  CAROM_DEVICE explicit ConvexInverseMass(const SquareMatrix<Scalar, 3>& inverse_mass) noexcept
      : w_(inverse_mass), axes_(w_(0, 0), w_(1, 0), w_(1, 1)), schur_(detail::schur_axes(w_)) {
    axes_.turn_in(w_(2, 0), w_(2, 1), coupling_);
  }

  /// @param free_velocity  r = u for γ = 0 [m/s], finite.
  /// @param friction  μ [-], ≥ 0.
  /// @param guess     ratio ‖uₜ‖/‖γₜ‖ of a similar contact, or 0.
  /// @return  a sliding contact has uₙ = μ ‖uₜ‖.
  [[nodiscard]] CAROM_DEVICE ContactOutcome<Scalar> solve(
      const Vector3<Scalar>& free_velocity, const Scalar& friction,
      const Scalar& guess = Scalar(0)) const noexcept {
    using std::sqrt;
    const Vector3<Scalar>& r = free_velocity;
    const Scalar slip = sqrt(r(0) * r(0) + r(1) * r(1));
    if (friction * slip <= r(2)) {
      return {Vector3<Scalar>::Zero(), r, ConeRegion::separate, Scalar(0)};
    }
    const Scalar inverse = Scalar(1) / w_(2, 2), c = -r(2) * inverse;
    Scalar held[2];
    schur_.turn_in(-(r(0) + w_(2, 0) * c), -(r(1) + w_(2, 1) * c), held);
    held[0] /= schur_.high;
    held[1] /= schur_.low;
    const Scalar x = schur_.cosine * held[0] - schur_.sine * held[1];
    const Scalar y = schur_.sine * held[0] + schur_.cosine * held[1];
    const Scalar normal = c - (w_(2, 0) * x + w_(2, 1) * y) * inverse;
    if (sqrt(x * x + y * y) <= friction * normal) {
      return {{x, y, normal}, Vector3<Scalar>::Zero(), ConeRegion::stick, Scalar(0)};
    }
    if (!(friction > Scalar(0))) {
      const Vector3<Scalar> u(r(0) + w_(2, 0) * c, r(1) + w_(2, 1) * c, Scalar(0));
      return {{Scalar(0), Scalar(0), c}, u, ConeRegion::slide, Scalar(0)};
    }
    return slide(r, friction, guess);
  }

 private:
  [[nodiscard]] CAROM_DEVICE ContactOutcome<Scalar> slide(const Vector3<Scalar>& r,
                                                          const Scalar& friction,
                                                          const Scalar& guess) const noexcept {
    using std::abs, std::sqrt;
    detail::ConvexSlidingEquation<Scalar> equation{
        {}, {axes_.high, axes_.low}, {coupling_[0], coupling_[1]}, w_(2, 2), r(2), friction};
    axes_.turn_in(-r(0), -r(1), equation.rho);
    equation.solve(guess);
    const Scalar length =
        Scalar(1) / sqrt(equation.x[0] * equation.x[0] + equation.x[1] * equation.x[1]);
    Scalar cosine = (axes_.cosine * equation.x[0] - axes_.sine * equation.x[1]) * length;
    Scalar sine = (axes_.sine * equation.x[0] + axes_.cosine * equation.x[1]) * length;
    Surface at = on_surface(r, friction, cosine, sine);
    // Newton's method for the direction, with uₜ parallel to γₜ, removes the rounding error of the
    // scalar equation. Each step must reduce the error, and the count of steps is small and
    // bounded. A larger turn [rad] is not a rounding error, and the curvature is then not accurate.
    // Other values were not measured.
    constexpr int steps = 3;
    constexpr double largest_turn = 0.1;
    for (int step = 0; step < steps; ++step) {
      const Scalar turn = at.across / at.curvature;
      if (!(abs(turn) < Scalar(largest_turn)) || !(abs(at.across) > at.rounding)) break;
      const Scalar scale = Scalar(1) / sqrt(Scalar(1) + turn * turn);
      const Scalar next_cosine = (cosine + turn * sine) * scale;
      const Scalar next_sine = (sine - turn * cosine) * scale;
      const Surface next = on_surface(r, friction, next_cosine, next_sine);
      if (!(abs(next.across) < abs(at.across))) break;
      cosine = next_cosine;
      sine = next_sine;
      at = next;
    }
    const Scalar tangent = friction * at.normal;
    const Scalar speed = at.speed > Scalar(0) ? at.speed : Scalar(0);
    // The larger entry of u in uₙ = μ ‖uₜ‖ is the more accurate one.
    const Scalar risen = at.rise > Scalar(0) ? at.rise : Scalar(0);
    const Scalar slip = friction > Scalar(1) ? risen / friction : speed;
    return {{tangent * cosine, tangent * sine, at.normal},
            {-slip * cosine, -slip * sine, friction > Scalar(1) ? risen : friction * slip},
            ConeRegion::slide,
            tangent > Scalar(0) ? speed / tangent : Scalar(0)};
  }

  /// The best impulse on one ray of the cone's surface.
  struct Surface {
    Scalar normal;     ///< γₙ
    Scalar speed;      ///< of uₜ opposite to γₜ
    Scalar rise;       ///< uₙ
    Scalar across;     ///< uₜ perpendicular to γₜ, zero at the solution
    Scalar curvature;  ///< d across/dθ
    Scalar rounding;   ///< rounding error of across
  };
  [[nodiscard]] CAROM_DEVICE Surface on_surface(const Vector3<Scalar>& r, const Scalar& friction,
                                                const Scalar& cosine,
                                                const Scalar& sine) const noexcept {
    using std::abs;
    const Scalar d0 = friction * cosine, d1 = friction * sine;
    const Scalar xx = w_(0, 0), xy = w_(1, 0), yy = w_(1, 1), nx = w_(2, 0), ny = w_(2, 1);
    const Scalar wd0 = xx * d0 + xy * d1 + nx, wd1 = xy * d0 + yy * d1 + ny;
    const Scalar wdn = nx * d0 + ny * d1 + w_(2, 2);
    const Scalar metric = d0 * wd0 + d1 * wd1 + wdn, pull = -(r(0) * d0 + r(1) * d1 + r(2));
    const Scalar normal = metric > Scalar(0) && pull > Scalar(0) ? pull / metric : Scalar(0);
    const Scalar u0 = r(0) + normal * wd0, u1 = r(1) + normal * wd1;
    const Scalar across = u1 * cosine - u0 * sine, along = u0 * cosine + u1 * sine;
    // d/dθ of across = t⊥·(W d γₙ + r), with d′ = μ t⊥; γₙ depends on θ too.
    const Scalar bent =
        friction * (xx * sine * sine - 2 * xy * sine * cosine + yy * cosine * cosine);
    const Scalar turned = wd1 * cosine - wd0 * sine;
    const Scalar pull_slope = -friction * (r(1) * cosine - r(0) * sine);
    const Scalar normal_slope =
        metric > Scalar(0) ? (pull_slope - 2 * friction * turned * normal) / metric : Scalar(0);
    const Scalar size = normal * (abs(wd0) + abs(wd1)) + abs(r(0)) + abs(r(1));
    return {normal,
            -along,
            r(2) + normal * wdn,
            across,
            normal * bent - along + normal_slope * turned,
            std::numeric_limits<Scalar>::epsilon() * size};
  }

  SquareMatrix<Scalar, 3> w_;
  detail::TangentAxes<Scalar> axes_;   ///< of W's tangential block
  detail::TangentAxes<Scalar> schur_;  ///< of its Schur complement
  Scalar coupling_[2];                 ///< W_tn in the axes of W_tt
};

/// The convex law at a contact whose force depends on the motion of its anchor by λ = l + G w: w
/// minimises ½ wᵀ G w + lᵀw over the dual cone. Then λ ⟂ w, and λ is in the friction cone.
///
/// The dual of a friction cone with coefficient μ is the friction cone with coefficient 1/μ. The
/// problem is therefore that of ConvexInverseMass with W = G and r = l; force and motion change
/// places.
template <RealScalar Scalar>
class ConvexGain {
 public:
  ConvexGain() = default;
  /// @param gain  G [N·s/m], symmetric positive definite; the lower triangle is read.
  CAROM_DEVICE explicit ConvexGain(const SquareMatrix<Scalar, 3>& gain) noexcept
      : smooth_(gain), rough_(gain) {}

  /// @param held   l = λ for w = 0 [N], finite.
  /// @param friction  μ [-], ≥ 0. Outside [ε, 1/ε] the nearer bound is used; ε is the rounding of
  ///                  the type.
  /// @param guess     ratio ‖wₜ‖/‖λₜ‖ of a similar contact, or 0.
  /// @return  λ as impulse, w as velocity; a sliding contact has wₙ = μ ‖wₜ‖.
  [[nodiscard]] CAROM_DEVICE ContactOutcome<Scalar> solve(
      const Vector3<Scalar>& held, const Scalar& friction,
      const Scalar& guess = Scalar(0)) const noexcept {
    using std::sqrt;
    // Without friction both laws are equal, and the dual cone is a half space.
    if (!(friction > Scalar(0))) return smooth_.solve(held, friction);
    const Scalar tangent = sqrt(held(0) * held(0) + held(1) * held(1));
    if (tangent <= friction * held(2)) {
      return {held, Vector3<Scalar>::Zero(), ConeRegion::stick, Scalar(0)};
    }
    constexpr Scalar least = std::numeric_limits<Scalar>::epsilon(), most = Scalar(1) / least;
    const Scalar seen = friction < least ? least : friction > most ? most : friction;
    const ContactOutcome<Scalar> dual =
        rough_.solve(held, Scalar(1) / seen, guess > Scalar(0) ? Scalar(1) / guess : Scalar(0));
    const ConeRegion region = dual.region == ConeRegion::stick      ? ConeRegion::separate
                              : dual.region == ConeRegion::separate ? ConeRegion::stick
                                                                    : ConeRegion::slide;
    return {dual.velocity, dual.impulse, region,
            dual.ratio > Scalar(0) ? Scalar(1) / dual.ratio : Scalar(0)};
  }

  [[nodiscard]] CAROM_DEVICE const SquareMatrix<Scalar, 3>& gain() const noexcept {
    return smooth_.gain();
  }

 private:
  CoulombGain<Scalar> smooth_;       ///< solves contacts without friction
  ConvexInverseMass<Scalar> rough_;  ///< with W = G, on the dual cone
};

}  // namespace CAROM_ABI
}  // namespace carom
