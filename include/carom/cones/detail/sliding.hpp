// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

/// @file
/// The scalar equation of a sliding contact in α = ‖uₜ‖/‖γₜ‖, for Coulomb's law and for the convex
/// law, in the axes of a tangential block; and the search for its root.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Eigenvalues and axes of a symmetric positive 2×2 matrix; the axes are (c, s) and (−s, c).
template <RealScalar Scalar>
struct TangentAxes {
  Scalar high, low;  ///< high ≥ low > 0; low is at least the rounding of high
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
    Scalar x = half + spread, y = xy;  // the first axis, from the sum without cancellation
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
  /// The inverse rotation, with a normal entry in addition.
  [[nodiscard]] CAROM_DEVICE Vector3<Scalar> turn_out(const Scalar& x, const Scalar& y,
                                                      const Scalar& normal) const noexcept {
    return {cosine * x - sine * y, sine * x + cosine * y, normal};
  }
};

/// The axes of W's Schur complement in the tangents, W_tt − W_tn W_nn⁻¹ W_nt.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE TangentAxes<Scalar> schur_axes(
    const SquareMatrix<Scalar, 3>& w) noexcept {
  const Scalar inverse = Scalar(1) / w(2, 2), x = w(2, 0), y = w(2, 1);
  return {w(0, 0) - x * x * inverse, w(1, 0) - x * y * inverse, w(1, 1) - y * y * inverse};
}

/// Constants of the scalar equations of a sliding contact, SlidingEquation and
/// ConvexSlidingEquation. They are pure numbers [-]. Other values were not measured.
struct SlidingTuning {
  /// Largest count of evaluations, which bounds the work. Newton's method needs a few. Bisections
  /// of the logarithm alone need some 65 in double.
  static constexpr int evaluation_limit = 200;
  /// The equation is solved if its value is at most this count of roundings of its terms, or a step
  /// is at most this count of roundings of α [ε]. One rounding may be unreachable.
  static constexpr int roundings = 2;
  /// Without an upper end of the bracket, α is multiplied by `rise`. Without a lower end, α is
  /// divided by `fall_parts`. The root may be decades away.
  static constexpr int rise = 8, fall_parts = 16;
};

/// Finds the root α > 0 of the equation of a sliding contact by Newton's method inside a bracket.
///
/// The value f(α) of the equation is negative below the root and positive above it. In each round:
/// (1) evaluate f and replace the lower or the upper end of the bracket by α; (2) compute the
/// Newton step α − f/f′; (3) if the step is outside the bracket, use √(low · high) instead, or
/// multiply or divide α by a constant while an end of the bracket is missing. The search ends if
/// |f| or the step is at the level of rounding, or after the evaluation limit.
/// @param equation  evaluate(α) writes value = f(α), slope = f′(α), and noise, the size of the
///                  terms whose sum is f.
/// @param guess     start of the search, ≥ 0.
/// @param least, largest  values of α from which the search decreases and increases without a
///                        bracket.
template <RealScalar Scalar, typename Equation>
[[nodiscard]] CAROM_DEVICE Scalar find_sliding_ratio(Equation& equation, const Scalar& guess,
                                                     const Scalar& least,
                                                     const Scalar& largest) noexcept {
  using std::abs, std::sqrt;
  using Tuning = SlidingTuning;
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  Scalar low(0), high = std::numeric_limits<Scalar>::infinity(), alpha = guess;
  for (int iteration = 0; iteration < Tuning::evaluation_limit; ++iteration) {
    equation.evaluate(alpha);
    if (abs(equation.value) <= Tuning::roundings * rounding * equation.noise) break;
    (equation.value < Scalar(0) ? low : high) = alpha;
    Scalar next = alpha - equation.value / equation.slope;
    if (abs(next - alpha) <= Tuning::roundings * rounding * alpha) break;
    if (!(next > low && next < high)) {
      // The step left the bracket. Halve the bracket in its logarithm, because α may have any size.
      if (!(high - high == Scalar(0))) {
        next = Tuning::rise * (alpha > largest ? alpha : largest);
      } else if (low > Scalar(0)) {
        next = sqrt(low) * sqrt(high);
        if (!(next > low && next < high)) break;
      } else {
        next = high > rounding * least ? high / Tuning::fall_parts : high / 2;
        if (!(next > Scalar(0))) break;
      }
    }
    alpha = next;
  }
  return alpha;
}

/// The scalar equation of a sliding contact under Coulomb's law.
///
/// From uₙ = 0 the normal impulse is c + b·x, and from uₜ = −α γₜ the tangential impulse is x(α)
/// with x_i = ρ_i/(e_i + α k_i) in the axes of the tangential block. ‖x‖ decreases as α = ‖uₜ‖/‖γₜ‖
/// increases. The equation is μ (c + b·x) = ‖x‖. At α = 0 its right side is too large. As α → ∞ the
/// right side goes to zero and the left side to μ c > 0. A root is therefore in between.
template <RealScalar Scalar>
struct SlidingEquation {
  /// Coefficients of the equation: ρ, e, k and b.
  Scalar rho[2], e[2], k[2], b[2];
  Scalar c;         ///< normal impulse without friction, > 0 if sliding is possible.
  Scalar friction;  ///< μ
  Scalar x[2];      ///< tangential impulse at the last α.
  Scalar normal;    ///< normal impulse at the last α.
  Scalar value,
      slope;  ///< μ (c + b·x)/‖x‖ − 1, increasing and nearly linear in α, and its derivative.
  Scalar noise;  ///< size of the terms whose sum is the value.

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
    noise = Scalar(1) + share * (c + abs(b[0] * x[0]) + abs(b[1] * x[1]));
    slope =
        share * (b[0] * d0 + b[1] * d1 - normal * (x[0] * d0 + x[1] * d1) * (inverse * inverse));
  }

  /// Moves an impulse that is within a rounding of the cone's surface to the surface. The larger
  /// entry does not change.
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

  /// The root for a contact whose block is the same in all tangential directions.
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

  /// Solves for α by Newton's method inside a bracket. Afterwards x and the normal impulse are
  /// those at α.
  /// @pre  c > 0, μ > 0, ρ ≠ 0, and value < 0 at α = 0.
  CAROM_DEVICE Scalar solve(const Scalar& guess) noexcept {
    const Scalar scale = e[0] / k[0];
    return find_sliding_ratio(*this, guess > Scalar(0) ? guess : first_guess(), scale, scale);
  }
};

/// The scalar equation of a sliding contact under the convex law.
///
/// With α = ‖uₜ‖/‖γₜ‖ and D = diag(1, 1, −μ²), the impulse is γ(α) = −(W + α D)⁻¹ r, on the cone's
/// surface. In the axes of W_tt its tangential part is M/S and its normal part is N/S. γᵀDγ
/// decreases until S vanishes, and α² γᵀDγ increases from there. Therefore μ N − sgn(S) ‖M‖ changes
/// its sign once, from − to +, at the solution.
template <RealScalar Scalar>
struct ConvexSlidingEquation {
  Scalar rho[2], e[2], w[2];  ///< −rₜ, W_tt and W_tn in the axes of W_tt.
  Scalar stiff;               ///< W_nn
  Scalar load;                ///< r_n
  Scalar friction;            ///< μ
  Scalar x[2] = {0, 0};       ///< sgn(S) M at the last α, along γₜ.
  /// (e₀ + α)(μ N − sgn(S) ‖M‖), nearly linear in α, and its derivative.
  Scalar value = 0, slope = 0;
  Scalar noise = 0;  ///< size of the terms whose sum is the value.

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
    const Scalar gap = friction * normal - sign * length, scale = e[0] + alpha;
    value = scale * gap;
    slope = gap + scale * (friction * dn - grown);
    const Scalar size = abs(load) + abs(w[0] * b0) + abs(w[1] * b1);
    noise = scale * ((abs(b0) + abs(b1)) * (stiff + alpha * square) +
                     (abs(a0) + abs(a1) + friction) * size);
  }

  /// The root for a contact whose block is the same in all tangential directions.
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

  /// Solves for α by Newton's method inside a bracket. Afterwards x has the direction of γₜ.
  /// @pre  μ > 0, and the contact neither sticks nor is open.
  CAROM_DEVICE void solve(const Scalar& guess) noexcept {
    const Scalar start = guess > Scalar(0) ? guess : first_guess();
    const Scalar alpha = find_sliding_ratio(*this, start, e[0], e[1]);
    if (alpha > Scalar(0)) find_direction(alpha);
  }

  /// Computes the direction again from ‖γₜ‖ = μ γₙ instead of the normal row, because S and N may
  /// both vanish.
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
}  // namespace CAROM_ABI
}  // namespace carom
