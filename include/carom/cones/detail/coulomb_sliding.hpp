// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/cones/detail/sliding_tuning.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

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

  /// Moves an impulse that is a rounding away from the cone's surface onto it, by its larger entry.
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

  /// The root of a contact whose block is the same in all tangential directions.
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
    using Tuning = SlidingTuning;
    Scalar low(0), high = std::numeric_limits<Scalar>::infinity();
    Scalar alpha = guess > Scalar(0) ? guess : first_guess();
    for (int iteration = 0; iteration < Tuning::evaluation_limit; ++iteration) {
      evaluate(alpha);
      if (abs(value) <= Tuning::roundings * rounding * (Scalar(1) + noise)) break;
      (value < Scalar(0) ? low : high) = alpha;
      Scalar next = alpha - value / slope;
      if (abs(next - alpha) <= Tuning::roundings * rounding * alpha) break;
      if (!(next > low && next < high)) {
        // The step left the bracket, which is then halved in its logarithm: α may have any size.
        const Scalar scale = e[0] / k[0];
        if (!(high - high == Scalar(0))) {
          next = Tuning::rise * (alpha > scale ? alpha : scale);
        } else if (low > Scalar(0)) {
          next = sqrt(low) * sqrt(high);
          if (!(next > low && next < high)) break;
        } else {
          next = high > rounding * scale ? high / Tuning::fall_parts : high / 2;
          if (!(next > Scalar(0))) break;
        }
      }
      alpha = next;
    }
    return alpha;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
