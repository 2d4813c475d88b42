// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/cones/detail/sliding_tuning.hpp"
#include "carom/core/scalar.hpp"

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
  Scalar noise = 0;             ///< size of the terms that add up to value.

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

  /// The root of a contact whose block is the same in all tangential directions.
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
    using Tuning = SlidingTuning;
    Scalar low(0), high = std::numeric_limits<Scalar>::infinity();
    Scalar alpha = guess > Scalar(0) ? guess : first_guess();
    for (int iteration = 0; iteration < Tuning::evaluation_limit; ++iteration) {
      evaluate(alpha);
      if (abs(value) <= Tuning::roundings * rounding * noise) break;
      (value > Scalar(0) ? low : high) = alpha;
      Scalar next = alpha - value / slope;
      if (abs(next - alpha) <= Tuning::roundings * rounding * alpha) break;
      if (!(next > low && next < high)) {
        // The step left the bracket, which is then halved in its logarithm: α may have any size.
        if (!(high - high == Scalar(0))) {
          next = Tuning::rise * (alpha > e[1] ? alpha : e[1]);
        } else if (low > Scalar(0)) {
          next = sqrt(low) * sqrt(high);
          if (!(next > low && next < high)) break;
        } else {
          next = high > rounding * e[0] ? high / Tuning::fall_parts : high / 2;
          if (!(next > Scalar(0))) break;
        }
      }
      alpha = next;
    }
    if (alpha > Scalar(0)) find_direction(alpha);
  }

  /// Finds the direction again by ‖γₜ‖ = μ γₙ instead of the normal row, as S and N may both
  /// vanish.
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
