// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Largest count of Newton steps for the ellipsoid's scalar equation; 2 to 4 steps are usual.
inline constexpr int ellipsoid_step_limit = 24;

/// The Lagrange multiplier of the surface constraint. It determines the nearest point.
///
/// The problem: minimise ½ Σ R_i (γ_i − y_i)² + ½ Rₙ (γₙ − yₙ)² subject to Σ (γ_i/μ_i)² = γₙ².
///
/// Notation: a_i = μ_i² R_i, c_i = μ_i R_i y_i, aₙ = Rₙ, cₙ = Rₙ yₙ, λ is the multiplier. At the
/// nearest point γ_i = μ_i c_i/(a_i + λ), γₙ = ‖c_i/(a_i + λ)‖ and (aₙ − λ) γₙ = cₙ. The last two
/// equations are one scalar equation for λ. find_multiplier() substitutes z for λ such that z ≥ 0,
/// and find_root() solves for z by Newton's method.
/// @tparam Room  the largest number of tangents.
template <typename Scalar, int Room>
struct EllipsoidSection {
  struct Tangent {
    Scalar numbers[Room];
    [[nodiscard]] CAROM_DEVICE Scalar& operator[](int i) noexcept { return numbers[i]; }
    [[nodiscard]] CAROM_DEVICE const Scalar& operator[](int i) const noexcept { return numbers[i]; }
  };
  int size;               ///< count of tangents
  Tangent axis;           ///< a_i
  Tangent load;           ///< c_i
  Scalar normal_axis;     ///< aₙ
  Scalar normal_load;     ///< cₙ
  Scalar multiplier = 0;  ///< λ
  Scalar margin = 0;      ///< aₙ − λ, computed without cancellation
  int steps = 0;

  /// Entries n_i/(d_i + A_i z). An entry is 0 where the divisor is 0, that is, in a direction
  /// without friction at z = 0.
  [[nodiscard]] CAROM_DEVICE Tangent quotients(const Tangent& numerator, const Tangent& fixed,
                                               const Tangent& growing,
                                               const Scalar& z) const noexcept {
    Tangent x;
    for (int i = 0; i < size; ++i) {
      const Scalar resistance = fixed[i] + growing[i] * z;
      x[i] = resistance == Scalar(0) ? Scalar(0) : Scalar(numerator[i] / resistance);
    }
    return x;
  }
  [[nodiscard]] CAROM_DEVICE Tangent ones() const noexcept {
    Tangent x;
    for (int i = 0; i < size; ++i) x[i] = Scalar(1);
    return x;
  }
  [[nodiscard]] CAROM_DEVICE Scalar norm_of(const Tangent& x) const noexcept {
    using std::sqrt;
    Scalar squared(0);
    for (int i = 0; i < size; ++i) squared += x[i] * x[i];
    return sqrt(squared);
  }

  /// γ_i/μ_i at the computed multiplier.
  [[nodiscard]] CAROM_DEVICE Tangent scaled_tangent() const noexcept {
    return quotients(load, axis, ones(), multiplier);
  }

  /// The parts of the derivative.
  struct Response {
    Tangent direction;   ///< b = x/‖x‖, x_i = γ_i/μ_i
    Tangent compliance;  ///< q_i = 1/(a_i + λ)
    Scalar stiffness;    ///< 1 + (aₙ − λ) Σ b_i² q_i = Σ b_i² (a_i + aₙ) q_i > 0
  };

  [[nodiscard]] CAROM_DEVICE Response response() const noexcept {
    Response r;
    r.compliance = quotients(ones(), axis, ones(), multiplier);
    Tangent x;
    for (int i = 0; i < size; ++i) x[i] = load[i] * r.compliance[i];
    const Scalar norm = norm_of(x);
    r.stiffness = Scalar(0);
    for (int i = 0; i < size; ++i) {
      const Scalar b = x[i] / norm;
      r.direction[i] = b;
      r.stiffness += b * b * (axis[i] + normal_axis) * r.compliance[i];
    }
    return r;
  }

  /// For both signs of cₙ the equation is ‖c_i/(d_i + A_i z)‖ = |cₙ| with z ≥ 0. For cₙ > 0:
  /// z = λ/(aₙ − λ), d_i = a_i/aₙ, A_i = 1 + d_i. For cₙ < 0: z = 1/(λ − aₙ), d_i = 1,
  /// A_i = a_i + aₙ.
  /// @return whether λ is finite. It is not finite if the load is within a rounding of the polar
  ///         cone.
  [[nodiscard]] CAROM_DEVICE bool find_multiplier() noexcept {
    using std::abs;
    const Scalar target = abs(normal_load);
    const Scalar negligible =  // no constant where long double is a pair of doubles
        std::numeric_limits<Scalar>::epsilon() * std::numeric_limits<Scalar>::epsilon();
    const Scalar level = norm_of(quotients(load, axis, ones(), normal_axis));  // γₙ at λ = aₙ
    if (target <= negligible * (normal_axis * level)) {
      // λ = aₙ − cₙ/γₙ to first order. The correction matters only for the derivatives of dual
      // numbers.
      margin = normal_load / level;
      multiplier = normal_axis - margin;
    } else if (normal_load > Scalar(0)) {
      Tangent fixed, growing;
      for (int i = 0; i < size; ++i) {
        fixed[i] = axis[i] / normal_axis;
        growing[i] = fixed[i] + Scalar(1);
      }
      const Scalar z = find_root(fixed, growing, target);
      margin = normal_axis / (Scalar(1) + z);
      multiplier = z * margin;
    } else {
      Tangent growing;
      for (int i = 0; i < size; ++i) growing[i] = axis[i] + normal_axis;
      const Scalar z = find_root(ones(), growing, target);
      if (z == Scalar(0)) return false;
      margin = -Scalar(1) / z;
      multiplier = normal_axis - margin;
    }
    return true;
  }

  /// Newton's method on the inverse of the norm, which is concave and nearly linear in z. The start
  /// is the root of its asymptote, which is to the left of the wanted root. From the left each step
  /// goes to the right. The iteration ends when a step no longer increases z, or at the step limit.
  [[nodiscard]] CAROM_DEVICE Scalar find_root(const Tangent& fixed, const Tangent& growing,
                                              const Scalar& target) noexcept {
    using std::abs;
    Tangent limit;
    for (int i = 0; i < size; ++i) limit[i] = load[i] / growing[i];
    const Scalar limit_norm = norm_of(limit);
    Scalar offset(0);
    for (int i = 0; i < size; ++i) {
      const Scalar share = limit[i] / limit_norm;
      offset += share * share * (fixed[i] / growing[i]);
    }
    Scalar z = limit_norm / target - offset;
    if (!(z > Scalar(0))) z = Scalar(0);
    for (; steps < ellipsoid_step_limit; ++steps) {
      const Tangent x = quotients(load, fixed, growing, z);
      const Scalar norm = norm_of(x);
      Scalar bend = 0;
      for (int i = 0; i < size; ++i) {
        if (x[i] == Scalar(0)) continue;
        bend += (x[i] / norm) * (x[i] / norm) * growing[i] / (fixed[i] + growing[i] * z);
      }
      const Scalar move = (norm - target) / target / bend;
      // Only the first step can go to the left, if rounding placed the start to the right of the
      // root.
      if (steps > 0 && !(move > Scalar(0))) break;
      z = z + move > Scalar(0) ? Scalar(z + move) : Scalar(0);
      if (abs(move) <= 4 * std::numeric_limits<Scalar>::epsilon() * z) break;
    }
    return z;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
