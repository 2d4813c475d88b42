// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/cones/detail/sliding.hpp"
#include "carom/cones/projection.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Coulomb's law at a contact whose velocity depends on its impulse by u = W γ + r.
///
/// The constructor needs only W; solve() then accepts any r. A solution always exists. If there are
/// several (strong coupling and friction), stick is preferred to open, and open to slide.
///
/// The steps: (1) compute the impulse for u = 0; if it is in the cone, the contact sticks. (2) If
/// c = −rₙ/W_nn ≤ 0, the contact is open. (3) Otherwise it slides, and SlidingEquation is solved
/// for α = ‖uₜ‖/‖γₜ‖.
/// @note  Real-time safe: no allocation, no exception; a sliding contact needs a few steps of a
///        bracketed Newton's method in one unknown.
/// @cite  bonnefon2011quartic, section 3, whose quartic equation is solved here in another form.
template <RealScalar Scalar>
class CoulombInverseMass {
 public:
  CoulombInverseMass() = default;
  /// @param inverse_mass  W [1/kg], symmetric positive definite; the lower triangle is read.
  CAROM_DEVICE explicit CoulombInverseMass(const SquareMatrix<Scalar, 3>& inverse_mass) noexcept
      : w_(inverse_mass), axes_(detail::schur_axes(w_)) {
    const Scalar inverse = Scalar(1) / w_(2, 2);
    axes_.turn_in(-w_(2, 0) * inverse, -w_(2, 1) * inverse, b_);
  }

  /// @param free_velocity  r = u for γ = 0 [m/s], finite.
  /// @param friction  μ [-], ≥ 0.
  /// @param guess     ratio ‖uₜ‖/‖γₜ‖ of a similar contact, or 0.
  [[nodiscard]] CAROM_DEVICE ContactOutcome<Scalar> solve(
      const Vector3<Scalar>& free_velocity, const Scalar& friction,
      const Scalar& guess = Scalar(0)) const noexcept {
    using std::sqrt;
    const Vector3<Scalar>& r = free_velocity;
    const Scalar c = -r(2) / w_(2, 2);
    detail::SlidingEquation<Scalar> slide{
        {}, {axes_.high, axes_.low}, {1, 1}, {b_[0], b_[1]}, c, friction, {}, {}, {}, {}, {}};
    axes_.turn_in(-(r(0) + w_(2, 0) * c), -(r(1) + w_(2, 1) * c), slide.rho);
    const Scalar x0 = slide.rho[0] / axes_.high, x1 = slide.rho[1] / axes_.low;
    const Scalar sticking = c + b_[0] * x0 + b_[1] * x1;
    if (sqrt(x0 * x0 + x1 * x1) <= friction * sticking) {
      return {axes_.turn_out(x0, x1, sticking), Vector3<Scalar>::Zero(), ConeRegion::stick,
              Scalar(0)};
    }
    if (!(c > Scalar(0))) return {Vector3<Scalar>::Zero(), r, ConeRegion::separate, Scalar(0)};
    if (!(friction > Scalar(0))) {
      const Vector3<Scalar> u(r(0) + w_(2, 0) * c, r(1) + w_(2, 1) * c, Scalar(0));
      return {{Scalar(0), Scalar(0), c}, u, ConeRegion::slide, Scalar(0)};
    }
    const Scalar alpha = slide.solve(guess);
    Vector3<Scalar> impulse = axes_.turn_out(slide.x[0], slide.x[1], slide.normal);
    slide.put_on_cone(impulse);
    return {
        impulse, {-alpha * impulse(0), -alpha * impulse(1), Scalar(0)}, ConeRegion::slide, alpha};
  }

 private:
  SquareMatrix<Scalar, 3> w_;
  detail::TangentAxes<Scalar> axes_;  ///< of W's Schur complement in the tangents
  Scalar b_[2];                       ///< −W_nt/W_nn in these axes
};

/// Coulomb's law at a contact whose force depends on the motion of its anchor by λ = l + G w.
///
/// The law is that of CoulombInverseMass with W = G⁻¹ and r = −W l, but the inverse is not
/// computed. A sliding contact needs only the tangential part of G.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
class CoulombGain {
 public:
  CoulombGain() = default;
  /// @param gain  G [N·s/m], symmetric positive definite; the lower triangle is read.
  CAROM_DEVICE explicit CoulombGain(const SquareMatrix<Scalar, 3>& gain) noexcept : g_(gain) {
    axes_ = {g_(0, 0), g_(1, 0), g_(1, 1)};
    axes_.turn_in(g_(2, 0), g_(2, 1), coupling_);
    b_[0] = coupling_[0] / axes_.high;
    b_[1] = coupling_[1] / axes_.low;
  }

  /// @param held   l = λ for w = 0 [N], finite.
  /// @param friction  μ [-], ≥ 0.
  /// @param guess     ratio ‖wₜ‖/‖λₜ‖ of a similar contact, or 0.
  /// @return  λ as impulse, w as velocity.
  [[nodiscard]] CAROM_DEVICE ContactOutcome<Scalar> solve(
      const Vector3<Scalar>& held, const Scalar& friction,
      const Scalar& guess = Scalar(0)) const noexcept {
    using std::sqrt;
    const Scalar tangent = sqrt(held(0) * held(0) + held(1) * held(1));
    if (tangent <= friction * held(2)) {
      return {held, Vector3<Scalar>::Zero(), ConeRegion::stick, Scalar(0)};
    }
    detail::SlidingEquation<Scalar> slide{
        {}, {1, 1}, {axes_.high, axes_.low}, {b_[0], b_[1]}, {}, friction, {}, {}, {}, {}, {}};
    axes_.turn_in(held(0), held(1), slide.rho);
    slide.c = held(2) - (b_[0] * slide.rho[0] + b_[1] * slide.rho[1]);
    if (!(slide.c > Scalar(0))) return open(slide);
    const bool rough = friction > Scalar(0);
    // Without friction the tangential force vanishes: w = −G_tt⁻¹ l_t.
    Scalar w0 = -slide.rho[0] / axes_.high, w1 = -slide.rho[1] / axes_.low;
    Scalar alpha(0);
    if (rough) {
      alpha = slide.solve(guess);
      w0 = -alpha * slide.x[0];
      w1 = -alpha * slide.x[1];
    }
    const Vector3<Scalar> w = axes_.turn_out(w0, w1, Scalar(0));
    if (!rough) return {{Scalar(0), Scalar(0), slide.c}, w, ConeRegion::slide, alpha};
    Vector3<Scalar> force = axes_.turn_out(slide.x[0], slide.x[1], slide.normal);
    slide.put_on_cone(force);
    return {force, w, ConeRegion::slide, alpha};
  }

  [[nodiscard]] CAROM_DEVICE const SquareMatrix<Scalar, 3>& gain() const noexcept { return g_; }

 private:
  /// Open contact, λ = 0: w = −G⁻¹ l.
  [[nodiscard]] CAROM_DEVICE ContactOutcome<Scalar> open(
      const detail::SlidingEquation<Scalar>& slide) const noexcept {
    const Scalar normal = -slide.c / (g_(2, 2) - (b_[0] * coupling_[0] + b_[1] * coupling_[1]));
    const Scalar w0 = -(slide.rho[0] + coupling_[0] * normal) / axes_.high;
    const Scalar w1 = -(slide.rho[1] + coupling_[1] * normal) / axes_.low;
    return {Vector3<Scalar>::Zero(), axes_.turn_out(w0, w1, normal), ConeRegion::separate,
            Scalar(0)};
  }

  SquareMatrix<Scalar, 3> g_;
  detail::TangentAxes<Scalar> axes_;  ///< of G's tangential block
  Scalar coupling_[2];                ///< G_nt in these axes
  Scalar b_[2];                       ///< G_nt G_tt⁻¹
};

}  // namespace CAROM_ABI
}  // namespace carom
