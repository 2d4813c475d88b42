// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Most Newton steps for the ellipsoid's scalar equation; 2 to 4 are usual.
inline constexpr int ellipsoid_step_limit = 24;

/// The multiplier of the surface constraint, and with it the nearest point.
///
/// Notation: a_i = μ_i² R_i, c_i = μ_i R_i y_i, aₙ = Rₙ, cₙ = Rₙ yₙ. At the nearest point
/// γ_i = μ_i c_i/(a_i + λ), γₙ = ‖c_i/(a_i + λ)‖ and (aₙ − λ) γₙ = cₙ.
template <typename Scalar, int Size>
struct EllipsoidSection {
  using Tangent = Vector<Scalar, Size>;
  Tangent axis;           ///< a_i
  Tangent load;           ///< c_i
  Scalar normal_axis;     ///< aₙ
  Scalar normal_load;     ///< cₙ
  Scalar multiplier = 0;  ///< λ
  Scalar margin = 0;      ///< aₙ − λ, free of cancellation
  int steps = 0;

  /// Entries n_i/(d_i + A_i z); 0 where the divisor is 0, in a direction without friction at z = 0.
  [[nodiscard]] CAROM_DEVICE static Tangent quotients(const Tangent& numerator,
                                                      const Tangent& fixed, const Tangent& growing,
                                                      const Scalar& z) noexcept {
    Tangent x;
    for (Index i = 0; i < Size; ++i) {
      const Scalar resistance = fixed(i) + growing(i) * z;
      x(i) = resistance == Scalar(0) ? Scalar(0) : Scalar(numerator(i) / resistance);
    }
    return x;
  }

  /// γ_i/μ_i at the multiplier found.
  [[nodiscard]] CAROM_DEVICE Tangent scaled_tangent() const noexcept {
    return quotients(load, axis, Tangent::Ones(), multiplier);
  }

  /// The parts of the derivative.
  struct Response {
    Tangent direction;   ///< b = x/‖x‖, x_i = γ_i/μ_i
    Tangent compliance;  ///< q_i = 1/(a_i + λ)
    Scalar stiffness;    ///< 1 + (aₙ − λ) Σ b_i² q_i = Σ b_i² (a_i + aₙ) q_i > 0
  };

  [[nodiscard]] CAROM_DEVICE Response response() const noexcept {
    Response r;
    const Tangent ones = Tangent::Ones();
    r.compliance = quotients(ones, axis, ones, multiplier);
    const Tangent x = load.cwiseProduct(r.compliance);
    r.direction = x / x.norm();
    r.stiffness = Scalar(0);
    for (Index i = 0; i < Size; ++i) {
      r.stiffness += r.direction(i) * r.direction(i) * (axis(i) + normal_axis) * r.compliance(i);
    }
    return r;
  }

  /// Both signs of cₙ lead to ‖c_i/(d_i + A_i z)‖ = |cₙ| with z ≥ 0: for cₙ > 0 by z = λ/(aₙ − λ),
  /// d_i = a_i/aₙ, A_i = 1 + d_i; for cₙ < 0 by z = 1/(λ − aₙ), d_i = 1, A_i = a_i + aₙ.
  /// @return whether λ is finite; it is not where the load is a rounding off the polar cone.
  [[nodiscard]] CAROM_DEVICE bool find_multiplier() noexcept {
    using std::abs;
    const Scalar target = abs(normal_load);
    constexpr Scalar negligible =
        std::numeric_limits<Scalar>::epsilon() * std::numeric_limits<Scalar>::epsilon();
    const Scalar level =
        quotients(load, axis, Tangent::Ones(), normal_axis).norm();  // γₙ at λ = aₙ
    if (target <= negligible * (normal_axis * level)) {
      // λ = aₙ − cₙ/γₙ to first order: the correction matters to slopes of dual numbers alone.
      margin = normal_load / level;
      multiplier = normal_axis - margin;
    } else if (normal_load > Scalar(0)) {
      const Tangent fixed = axis / normal_axis;
      const Scalar z = find_root(fixed, fixed.array() + Scalar(1), target);
      margin = normal_axis / (Scalar(1) + z);
      multiplier = z * margin;
    } else {
      const Scalar z = find_root(Tangent::Ones(), axis.array() + normal_axis, target);
      if (z == Scalar(0)) return false;
      margin = -Scalar(1) / z;
      multiplier = normal_axis - margin;
    }
    return true;
  }

  /// Newton's method on the inverse of the norm, which is concave and nearly linear in z. The root
  /// of its asymptote lies left of the root sought, and from the left every step goes right.
  [[nodiscard]] CAROM_DEVICE Scalar find_root(const Tangent& fixed, const Tangent& growing,
                                              const Scalar& target) noexcept {
    using std::abs;
    const Tangent limit = load.cwiseQuotient(growing);
    const Scalar limit_norm = limit.norm();
    const Tangent share = limit / limit_norm;
    Scalar z = limit_norm / target - share.cwiseAbs2().dot(fixed.cwiseQuotient(growing));
    if (!(z > Scalar(0))) z = Scalar(0);
    for (; steps < ellipsoid_step_limit; ++steps) {
      const Tangent x = quotients(load, fixed, growing, z);
      const Scalar norm = x.norm();
      Scalar bend = 0;
      for (Index i = 0; i < Size; ++i) {
        if (x(i) == Scalar(0)) continue;
        bend += (x(i) / norm) * (x(i) / norm) * growing(i) / (fixed(i) + growing(i) * z);
      }
      const Scalar move = (norm - target) / target / bend;
      // Only the first step can go left, from a start that rounding put right of the root.
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
