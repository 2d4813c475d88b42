// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/cones/coulomb_contact.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// The scalar equation behind a contact that slides under the convex law. With α = ‖uₜ‖/‖γₜ‖ and
/// D = diag(1, 1, −μ²) the impulse is γ(α) = −(W + α D)⁻¹ r, on the cone's surface. In the axes of
/// W_tt it is M/S tangentially and N/S normally; γᵀDγ decreases until S vanishes, and times α²
/// increases from there, so that sgn(S) ‖M‖ − μ N changes its sign once, from + to −, at the
/// solution.
template <RealScalar Scalar>
struct ConvexSlidingEquation {
  Scalar rho[2], e[2], w[2];  ///< −rₜ, W_tt and W_tn in the axes of W_tt.
  Scalar stiff;               ///< W_nn
  Scalar load;                ///< r_n
  Scalar friction;            ///< μ
  Scalar x[2] = {0, 0};       ///< sgn(S) M at the last α, along γₜ.
  Scalar value = 0, slope = 0;  ///< (e₀ + α)(sgn(S) ‖M‖ − μ N), about linear in α, and its slope.
  Scalar noise = 0;             ///< size of what value is the sum of.

  CAROM_DEVICE void evaluate(const Scalar& alpha) noexcept {
    using std::abs, std::sqrt;
    const Scalar i0 = Scalar(1) / (e[0] + alpha), i1 = Scalar(1) / (e[1] + alpha);
    const Scalar a0 = w[0] * i0, a1 = w[1] * i1, b0 = rho[0] * i0, b1 = rho[1] * i1;
    const Scalar square = friction * friction, damped = stiff - alpha * square;
    const Scalar s = damped - (w[0] * a0 + w[1] * a1);
    const Scalar normal = -load - (w[0] * b0 + w[1] * b1);
    const Scalar ds = a0 * a0 + a1 * a1 - square, dn = a0 * b0 + a1 * b1;
    const Scalar sign = s < Scalar(0) ? Scalar(-1) : Scalar(1);
    x[0] = sign * (b0 * s - a0 * normal);
    x[1] = sign * (b1 * s - a1 * normal);
    const Scalar length = sqrt(x[0] * x[0] + x[1] * x[1]);
    const Scalar d0 = sign * (b0 * ds - a0 * dn) - i0 * x[0];
    const Scalar d1 = sign * (b1 * ds - a1 * dn) - i1 * x[1];
    const Scalar grown = length > Scalar(0) ? sign * (x[0] * d0 + x[1] * d1) / length : Scalar(0);
    const Scalar gap = sign * length - friction * normal, scale = e[0] + alpha;
    value = scale * gap;
    slope = gap + scale * (grown - friction * dn);
    const Scalar size = abs(load) + abs(w[0] * b0) + abs(w[1] * b1);
    noise = scale * ((abs(b0) + abs(b1)) * (stiff + alpha * square) +
                     (abs(a0) + abs(a1) + friction) * size);
  }

  /// Root where a tangent plane without preference would have it.
  [[nodiscard]] CAROM_DEVICE Scalar first_guess() const noexcept {
    using std::sqrt;
    const Scalar r0 = rho[0] * rho[0], r1 = rho[1] * rho[1];
    const Scalar length = sqrt(r0 + r1), inverse = Scalar(1) / length;
    const Scalar soft = (e[0] * r0 + e[1] * r1) * inverse * inverse;
    const Scalar pull = stiff + friction * (w[0] * rho[0] + w[1] * rho[1]) * inverse;
    const Scalar guess =
        (pull + load * friction * soft * inverse) / (friction * (friction - load * inverse));
    return guess > Scalar(0) && guess - guess == Scalar(0) ? guess : Scalar(0);
  }

  /// Solves for α by Newton's method inside a bracket; leaves the direction of γₜ in x.
  /// @pre  μ > 0, and the contact neither sticks nor is open.
  CAROM_DEVICE void solve(const Scalar& guess) noexcept {
    using std::abs, std::sqrt;
    constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
    constexpr int limit = 200;
    Scalar low(0), high = std::numeric_limits<Scalar>::infinity();
    Scalar alpha = guess > Scalar(0) ? guess : first_guess();
    for (int iteration = 0; iteration < limit; ++iteration) {
      evaluate(alpha);
      if (abs(value) <= 2 * rounding * noise) break;
      (value > Scalar(0) ? low : high) = alpha;
      Scalar next = alpha - value / slope;
      if (abs(next - alpha) <= 2 * rounding * alpha) break;
      if (!(next > low && next < high)) {
        // Out of the bracket: halve it by digits, as α may have any magnitude.
        if (!(high - high == Scalar(0))) {
          next = 8 * (alpha > e[1] ? alpha : e[1]);
        } else if (low > Scalar(0)) {
          next = sqrt(low) * sqrt(high);
          if (!(next > low && next < high)) break;
        } else {
          next = high > rounding * e[0] ? high / 16 : high / 2;
          if (!(next > Scalar(0))) break;
        }
      }
      alpha = next;
    }
    if (alpha > Scalar(0)) find_direction(alpha);
  }

  /// The direction again, by ‖γₜ‖ = μ γₙ in the place of the normal row: S and N may both vanish.
  CAROM_DEVICE void find_direction(const Scalar& alpha) noexcept {
    using std::sqrt;
    const Scalar i0 = Scalar(1) / (e[0] + alpha), i1 = Scalar(1) / (e[1] + alpha);
    const Scalar a0 = w[0] * i0, a1 = w[1] * i1, b0 = rho[0] * i0, b1 = rho[1] * i1;
    const Scalar q = friction * friction - (a0 * a0 + a1 * a1);
    if (!(q > Scalar(0))) return;
    // 1/γₙ = s is the root of ‖s b − a‖ = μ with s > 0.
    const Scalar length = b0 * b0 + b1 * b1, half = a0 * b0 + a1 * b1;
    if (!(length > Scalar(0))) return;
    const Scalar root = sqrt(half * half + q * length);
    const Scalar s = half > Scalar(0) ? (half + root) / length : q / (root - half);
    x[0] = s * b0 - a0;
    x[1] = s * b1 - a1;
  }
};

}  // namespace detail

/// The convex law at a contact whose velocity answers to impulses, u = W γ + r: γ minimises
/// ½ γᵀ W γ + rᵀγ over the friction cone, so that γ ⟂ u with u in the dual cone. A projection onto
/// the cone in a metric that need not be diagonal.
///
/// Built once from W, solved for any r; the solution is unique.
/// @note  Real-time safe: no allocation, no exception; a sliding contact takes a few steps of a
///        bracketed Newton's method in one unknown.
template <RealScalar Scalar>
class ConvexInverseMass {
 public:
  ConvexInverseMass() = default;
  /// @param inverse_mass  W [1/kg], symmetric positive definite; the lower triangle is read.
  CAROM_DEVICE explicit ConvexInverseMass(const SquareMatrix<Scalar, 3>& inverse_mass) noexcept
      : w_(inverse_mass), axes_(w_(0, 0), w_(1, 0), w_(1, 1)) {
    const Scalar inverse = Scalar(1) / w_(2, 2);
    const Scalar x = w_(2, 0), y = w_(2, 1);
    schur_ = {w_(0, 0) - x * x * inverse, w_(1, 0) - x * y * inverse, w_(1, 1) - y * y * inverse};
    axes_.turn_in(x, y, coupling_);
  }

  /// @param free_velocity  r = u without impulse [m/s], finite.
  /// @param friction  μ [-], ≥ 0.
  /// @param guess     ratio ‖uₜ‖/‖γₜ‖ of a like contact, or 0.
  /// @return  a sliding contact has uₙ = μ ‖uₜ‖.
  [[nodiscard]] CAROM_DEVICE CoulombContact<Scalar> solve(
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
  [[nodiscard]] CAROM_DEVICE CoulombContact<Scalar> slide(const Vector3<Scalar>& r,
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
    for (int step = 0; step < 3; ++step) {  // Newton's method for the direction: uₜ along γₜ
      const Scalar turn = at.across / at.curvature;
      if (!(abs(turn) < Scalar(0.1)) || !(abs(at.across) > at.rounding)) break;
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
    return {{tangent * cosine, tangent * sine, at.normal},
            {-speed * cosine, -speed * sine, friction * speed},
            ConeRegion::slide,
            tangent > Scalar(0) ? speed / tangent : Scalar(0)};
  }

  /// The best impulse on one line of the cone's surface.
  struct Surface {
    Scalar normal;     ///< γₙ
    Scalar speed;      ///< of uₜ against γₜ
    Scalar across;     ///< uₜ across γₜ, zero at the solution
    Scalar curvature;  ///< d across/dθ
    Scalar rounding;   ///< in across
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
    // d/dθ of across = t⊥·(W d γₙ + r), with d′ = μ t⊥ and γₙ following.
    const Scalar bent =
        friction * (xx * sine * sine - 2 * xy * sine * cosine + yy * cosine * cosine);
    const Scalar turned = wd1 * cosine - wd0 * sine;
    const Scalar pull_slope = -friction * (r(1) * cosine - r(0) * sine);
    const Scalar normal_slope =
        metric > Scalar(0) ? (pull_slope - 2 * friction * turned * normal) / metric : Scalar(0);
    const Scalar size = normal * (abs(wd0) + abs(wd1)) + abs(r(0)) + abs(r(1));
    return {normal, -along, across, normal * bent - along + normal_slope * turned,
            std::numeric_limits<Scalar>::epsilon() * size};
  }

  SquareMatrix<Scalar, 3> w_;
  detail::TangentAxes<Scalar> axes_;   ///< of W's tangential block
  detail::TangentAxes<Scalar> schur_;  ///< of its Schur complement
  Scalar coupling_[2];                 ///< W_tn in the axes of W_tt
};

}  // namespace CAROM_ABI
}  // namespace carom
