// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/cones/projection.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One contact under Coulomb's law: open, γ = 0 and uₙ ≥ 0; stick, u = 0 and ‖γₜ‖ ≤ μ γₙ; slide,
/// uₙ = 0 and γₜ = −μ γₙ uₜ/‖uₜ‖.
template <RealScalar Scalar>
struct CoulombContact {
  Vector3<Scalar> impulse;   ///< γ [N·s]; a force [N] where the law links forces and velocities.
  Vector3<Scalar> velocity;  ///< u [m/s].
  ConeRegion region;         ///< stick, slide, or separate for an open contact.
  Scalar ratio;  ///< ‖uₜ‖/‖γₜ‖ of a sliding contact, else 0; a guess for the next like it.
};

namespace detail {

/// Eigenvalues and axes of a symmetric positive 2×2 matrix; the axes are (c, s) and (−s, c).
template <RealScalar Scalar>
struct TangentAxes {
  Scalar high, low;  ///< high ≥ low > 0; low is floored at the rounding of high.
  Scalar cosine, sine;

  TangentAxes() = default;
  CAROM_DEVICE TangentAxes(const Scalar& xx, const Scalar& xy, const Scalar& yy) noexcept {
    using std::abs, std::sqrt;
    const Scalar mean = (xx + yy) / 2, half = (xx - yy) / 2;
    const Scalar spread = sqrt(half * half + xy * xy);
    high = mean + spread;
    low = (xx * yy - xy * xy) / high;
    const Scalar floor = std::numeric_limits<Scalar>::epsilon() * high;
    if (!(low > floor)) low = floor;
    Scalar x = half + spread, y = xy;  // the first axis, by the sum that does not cancel
    if (half < Scalar(0)) {
      x = xy;
      y = spread - half;
    }
    const Scalar length = sqrt(x * x + y * y);
    cosine = length > Scalar(0) ? x / length : Scalar(1);
    sine = length > Scalar(0) ? y / length : Scalar(0);
  }
  CAROM_DEVICE void turn_in(const Scalar& x, const Scalar& y, Scalar (&out)[2]) const noexcept {
    out[0] = cosine * x + sine * y;
    out[1] = cosine * y - sine * x;
  }
};

/// The scalar equation behind a sliding contact: the tangential impulse x(α), x_i = ρ_i/(e_i + α
/// k_i), shrinks as α = ‖uₜ‖/‖γₜ‖ grows, the normal one is c + b·x, and μ (c + b·x) = ‖x‖ holds
/// between α = 0, where ‖x‖ is too large, and ∞, where it vanishes while c > 0 remains.
template <RealScalar Scalar>
struct SlidingEquation {
  Scalar rho[2], e[2], k[2], b[2];
  Scalar c;         ///< normal impulse without friction, > 0 when sliding is possible.
  Scalar friction;  ///< μ
  Scalar x[2];      ///< tangential impulse at the last α.
  Scalar normal;    ///< normal impulse there.
  Scalar value,
      slope;  ///< μ (c + b·x)/‖x‖ − 1, increasing where it is nearly linear, and its slope.
  Scalar noise;  ///< roundings in value.

  CAROM_DEVICE void evaluate(const Scalar& alpha) noexcept {
    using std::abs, std::sqrt;
    const Scalar i0 = Scalar(1) / (e[0] + alpha * k[0]), i1 = Scalar(1) / (e[1] + alpha * k[1]);
    x[0] = rho[0] * i0;
    x[1] = rho[1] * i1;
    normal = c + (b[0] * x[0] + b[1] * x[1]);
    const Scalar d0 = -k[0] * i0 * x[0], d1 = -k[1] * i1 * x[1];
    const Scalar square = x[0] * x[0] + x[1] * x[1];
    const Scalar inverse = Scalar(1) / sqrt(square);
    const Scalar share = friction * inverse;
    value = share * normal - Scalar(1);
    noise = share * (c + abs(b[0] * x[0]) + abs(b[1] * x[1]));
    slope =
        share * (b[0] * d0 + b[1] * d1 - normal * (x[0] * d0 + x[1] * d1) * (inverse * inverse));
  }

  /// Takes a rounding's distance to the cone's surface out of the entry that is the larger one.
  CAROM_DEVICE void put_on_cone(Vector3<Scalar>& impulse) const noexcept {
    using std::sqrt;
    const Scalar tangent = sqrt(impulse(0) * impulse(0) + impulse(1) * impulse(1));
    if (friction > Scalar(1)) {
      impulse(2) = tangent / friction;
      return;
    }
    const Scalar onto = friction * impulse(2) / tangent;
    impulse(0) *= onto;
    impulse(1) *= onto;
  }

  /// Root where a tangent plane without preference would have it.
  [[nodiscard]] CAROM_DEVICE Scalar first_guess() const noexcept {
    using std::sqrt;
    const Scalar r0 = rho[0] * rho[0], r1 = rho[1] * rho[1];
    const Scalar inverse = Scalar(1) / (r0 + r1);
    const Scalar stiff = (e[0] * r0 + e[1] * r1) * inverse;
    const Scalar gain = (k[0] * r0 + k[1] * r1) * inverse;
    const Scalar pull = sqrt(r0 + r1) - friction * (b[0] * rho[0] + b[1] * rho[1]);
    const Scalar guess = (pull / (friction * c) - stiff) / gain;
    return guess > Scalar(0) && guess - guess == Scalar(0) ? guess : Scalar(0);
  }

  /// Solves for α by Newton's method inside a bracket; leaves x and the normal impulse there.
  /// @pre  c > 0, μ > 0, ρ ≠ 0, and value < 0 at α = 0.
  CAROM_DEVICE Scalar solve(const Scalar& guess) noexcept {
    using std::abs, std::sqrt;
    constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
    constexpr int limit = 200;
    Scalar low(0), high = std::numeric_limits<Scalar>::infinity();
    Scalar alpha = guess > Scalar(0) ? guess : first_guess();
    for (int iteration = 0; iteration < limit; ++iteration) {
      evaluate(alpha);
      if (abs(value) <= 2 * rounding * (Scalar(1) + noise)) break;
      (value < Scalar(0) ? low : high) = alpha;
      Scalar next = alpha - value / slope;
      if (abs(next - alpha) <= 2 * rounding * alpha) break;
      if (!(next > low && next < high)) {
        // Out of the bracket: halve it by digits, as α may have any magnitude.
        const Scalar scale = e[0] / k[0];
        if (!(high - high == Scalar(0))) {
          next = 8 * (alpha > scale ? alpha : scale);
        } else if (low > Scalar(0)) {
          next = sqrt(low) * sqrt(high);
          if (!(next > low && next < high)) break;
        } else {
          next = high > rounding * scale ? high / 16 : high / 2;
          if (!(next > Scalar(0))) break;
        }
      }
      alpha = next;
    }
    return alpha;
  }
};

}  // namespace detail

/// Coulomb's law at a contact whose velocity answers to impulses, u = W γ + r.
///
/// Built once from W, solved for any r; a solution always exists. Where several do (strong coupling
/// and friction), stick goes before open before slide.
/// @note  Real-time safe: no allocation, no exception; a sliding contact takes a few steps of a
///        bracketed Newton's method in one unknown.
/// @cite  bonnefon2011quartic, section 3, whose quartic equation is solved here in another form.
template <RealScalar Scalar>
class CoulombInverseMass {
 public:
  CoulombInverseMass() = default;
  /// @param inverse_mass  W [1/kg], symmetric positive definite; the lower triangle is read.
  CAROM_DEVICE explicit CoulombInverseMass(const SquareMatrix<Scalar, 3>& inverse_mass) noexcept
      : w_(inverse_mass) {
    const Scalar inverse = Scalar(1) / w_(2, 2);
    const Scalar x = w_(2, 0), y = w_(2, 1);
    axes_ = {w_(0, 0) - x * x * inverse, w_(1, 0) - x * y * inverse, w_(1, 1) - y * y * inverse};
    axes_.turn_in(-x * inverse, -y * inverse, b_);
  }

  /// @param free_velocity  r = u without impulse [m/s], finite.
  /// @param friction  μ [-], ≥ 0.
  /// @param guess     ratio ‖uₜ‖/‖γₜ‖ of a like contact, or 0.
  [[nodiscard]] CAROM_DEVICE CoulombContact<Scalar> solve(
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
      return {turn_out(x0, x1, sticking), Vector3<Scalar>::Zero(), ConeRegion::stick, Scalar(0)};
    }
    if (!(c > Scalar(0))) return {Vector3<Scalar>::Zero(), r, ConeRegion::separate, Scalar(0)};
    if (!(friction > Scalar(0))) {
      const Vector3<Scalar> u(r(0) + w_(2, 0) * c, r(1) + w_(2, 1) * c, Scalar(0));
      return {{Scalar(0), Scalar(0), c}, u, ConeRegion::slide, Scalar(0)};
    }
    const Scalar alpha = slide.solve(guess);
    Vector3<Scalar> impulse = turn_out(slide.x[0], slide.x[1], slide.normal);
    slide.put_on_cone(impulse);
    return {
        impulse, {-alpha * impulse(0), -alpha * impulse(1), Scalar(0)}, ConeRegion::slide, alpha};
  }

 private:
  [[nodiscard]] CAROM_DEVICE Vector3<Scalar> turn_out(const Scalar& x0, const Scalar& x1,
                                                      const Scalar& normal) const noexcept {
    return {axes_.cosine * x0 - axes_.sine * x1, axes_.sine * x0 + axes_.cosine * x1, normal};
  }

  SquareMatrix<Scalar, 3> w_;
  detail::TangentAxes<Scalar> axes_;  ///< of W's Schur complement in the tangents
  Scalar b_[2];                       ///< −W_nt/W_nn in these axes
};

/// Coulomb's law at a contact whose force answers to the motion of its anchor, λ = l + G w.
///
/// The same law as CoulombInverseMass with W = G⁻¹ and r = −W l, without the inverse: a sliding
/// contact needs G's tangential part alone.
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

  /// @param held   l = λ of an anchor at rest [N], finite.
  /// @param friction  μ [-], ≥ 0.
  /// @param guess     ratio ‖wₜ‖/‖λₜ‖ of a like contact, or 0.
  /// @return  λ as impulse, w as velocity.
  [[nodiscard]] CAROM_DEVICE CoulombContact<Scalar> solve(
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
    const Vector3<Scalar> w = turn_out(w0, w1, Scalar(0));
    if (!rough) return {{Scalar(0), Scalar(0), slide.c}, w, ConeRegion::slide, alpha};
    Vector3<Scalar> force = turn_out(slide.x[0], slide.x[1], slide.normal);
    slide.put_on_cone(force);
    return {force, w, ConeRegion::slide, alpha};
  }

  [[nodiscard]] CAROM_DEVICE const SquareMatrix<Scalar, 3>& gain() const noexcept { return g_; }

 private:
  [[nodiscard]] CAROM_DEVICE Vector3<Scalar> turn_out(const Scalar& x0, const Scalar& x1,
                                                      const Scalar& normal) const noexcept {
    return {axes_.cosine * x0 - axes_.sine * x1, axes_.sine * x0 + axes_.cosine * x1, normal};
  }

  /// λ = 0: w = −G⁻¹ l.
  [[nodiscard]] CAROM_DEVICE CoulombContact<Scalar> open(
      const detail::SlidingEquation<Scalar>& slide) const noexcept {
    const Scalar normal = -slide.c / (g_(2, 2) - (b_[0] * coupling_[0] + b_[1] * coupling_[1]));
    const Scalar w0 = -(slide.rho[0] + coupling_[0] * normal) / axes_.high;
    const Scalar w1 = -(slide.rho[1] + coupling_[1] * normal) / axes_.low;
    return {Vector3<Scalar>::Zero(), turn_out(w0, w1, normal), ConeRegion::separate, Scalar(0)};
  }

  SquareMatrix<Scalar, 3> g_;
  detail::TangentAxes<Scalar> axes_;  ///< of G's tangential block
  Scalar coupling_[2];                ///< G_nt in these axes
  Scalar b_[2];                       ///< G_nt G_tt⁻¹
};

}  // namespace CAROM_ABI
}  // namespace carom
