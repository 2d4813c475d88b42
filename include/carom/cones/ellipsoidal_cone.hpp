// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "carom/cones/concepts.hpp"
#include "carom/cones/detail/power_of_two.hpp"

namespace carom::inline CAROM_ABI {

/// Cone whose section is an ellipsoid: ℱ = { γ : Σ (γ_i/μ_i)² ≤ γₙ², γₙ ≥ 0 }, the normal being
/// entry 2 and i running over the others in order. Dimension 3 is friction that differs by
/// direction; 4 adds a spinning moment, 6 the full wrench (force t₁, t₂, n; moment t₁, t₂, n).
template <RealScalar Scalar, int Dimension>
struct EllipsoidalCone {
  static_assert(Dimension >= 3, "the contact triple (t1, t2, n) comes first");
  using scalar_type = Scalar;
  static constexpr int dimension = Dimension;
  static constexpr int normal_index = 2;

  /// μ_i, ≥ 0: semi-axis per unit of normal; [-] for forces, [m] for moments.
  Vector<Scalar, Dimension - 1> friction;
};

/// Friction that differs between the two tangents.
template <RealScalar Scalar>
using EllipticCone = EllipsoidalCone<Scalar, 3>;

/// Tangents and spinning moment on one ellipsoid.
template <RealScalar Scalar>
using EllipsoidalTorsionalCone = EllipsoidalCone<Scalar, 4>;

/// Force and moment on one ellipsoid.
template <RealScalar Scalar>
using EllipsoidalRollingCone = EllipsoidalCone<Scalar, 6>;

namespace detail {

/// Most Newton steps the ellipsoid's scalar equation is given; 2 to 4 are usual.
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

  /// Entries c_i/(d_i + A_i z); a direction without friction holds nothing.
  [[nodiscard]] Tangent quotients(const Tangent& fixed, const Tangent& growing,
                                  const Scalar& z) const noexcept {
    Tangent x;
    for (Index i = 0; i < Size; ++i) {
      x(i) = load(i) == Scalar(0) ? Scalar(0) : Scalar(load(i) / (fixed(i) + growing(i) * z));
    }
    return x;
  }

  /// γ_i/μ_i at the multiplier found.
  [[nodiscard]] Tangent scaled_tangent() const noexcept {
    return quotients(axis, Tangent::Ones(), multiplier);
  }

  /// Both signs of cₙ lead to ‖c_i/(d_i + A_i z)‖ = |cₙ| with z ≥ 0: for cₙ > 0 by z = λ/(aₙ − λ),
  /// d_i = a_i/aₙ, A_i = 1 + d_i; for cₙ < 0 by z = 1/(λ − aₙ), d_i = 1, A_i = a_i + aₙ.
  void find_multiplier() noexcept {
    using std::abs;
    const Scalar target = abs(normal_load);
    constexpr Scalar negligible =
        std::numeric_limits<Scalar>::epsilon() * std::numeric_limits<Scalar>::epsilon();
    if (target <= negligible * load.norm()) {
      multiplier = normal_axis;
    } else if (normal_load > Scalar(0)) {
      const Tangent fixed = axis / normal_axis;
      const Scalar z = find_root(fixed, fixed.array() + Scalar(1), target);
      margin = normal_axis / (Scalar(1) + z);
      multiplier = z * margin;
    } else {
      const Scalar z = find_root(Tangent::Ones(), axis.array() + normal_axis, target);
      margin = -Scalar(1) / z;
      multiplier = normal_axis - margin;
    }
  }

  /// Newton on the inverse of the norm, which is concave and nearly linear in z. The root of its
  /// asymptote lies left of the root sought, and from the left every step goes right.
  [[nodiscard]] Scalar find_root(const Tangent& fixed, const Tangent& growing,
                                 const Scalar& target) noexcept {
    using std::abs;
    const Tangent limit = load.cwiseQuotient(growing);
    const Scalar limit_norm = limit.norm();
    const Tangent share = limit / limit_norm;
    Scalar z = limit_norm / target - share.cwiseAbs2().dot(fixed.cwiseQuotient(growing));
    if (!(z > Scalar(0))) z = Scalar(0);
    for (; steps < ellipsoid_step_limit; ++steps) {
      const Tangent x = quotients(fixed, growing, z);
      const Scalar norm = x.norm();
      Scalar bend = 0;
      for (Index i = 0; i < Size; ++i) {
        if (load(i) == Scalar(0)) continue;
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

/// The type the section is computed in: squares of μ R y leave the range of float.
template <typename Scalar>
using EllipsoidWork = std::conditional_t<std::is_same_v<Scalar, float>, double, Scalar>;

/// Everything one projection needs, with y and R brought to order one.
template <typename Scalar, int Dimension>
struct EllipsoidProjection {
  static constexpr int tangent_count = Dimension - 1;
  Vector<Scalar, tangent_count> friction;
  Vector<Scalar, tangent_count> weights;
  EllipsoidSection<Scalar, tangent_count> section;
  ConeRegion region = ConeRegion::slide;
  bool only_drops = false;  ///< slide that only loses the entries of directions without friction

  static constexpr int entry(int tangent) noexcept { return tangent < 2 ? tangent : tangent + 1; }

  template <typename Given>
  EllipsoidProjection(const EllipsoidalCone<Given, Dimension>& cone,
                      const Vector<Given, Dimension>& given_weights,
                      const Vector<Given, Dimension>& given_y) noexcept
      : friction(cone.friction.template cast<Scalar>()) {
    CAROM_EXPECTS((cone.friction.array() >= Given(0)).all());
    CAROM_EXPECTS((given_weights.array() > Given(0)).all());
    CAROM_EXPECTS(given_y.allFinite());
    const Vector<Scalar, Dimension> full_weights =
        shifted(Vector<Scalar, Dimension>(given_weights.template cast<Scalar>()),
                -largest_exponent(given_weights));
    const Vector<Scalar, Dimension> y = shifted(
        Vector<Scalar, Dimension>(given_y.template cast<Scalar>()), -largest_exponent(given_y));
    const Scalar normal = y(2);
    Vector<Scalar, tangent_count> reach;  // y_i/μ_i
    bool drops = false;
    for (int i = 0; i < tangent_count; ++i) {
      const Scalar& y_i = y(entry(i));
      weights(i) = full_weights(entry(i));
      drops = drops || (friction(i) == Scalar(0) && y_i != Scalar(0));
      reach(i) = friction(i) == Scalar(0) ? Scalar(0) : Scalar(y_i / friction(i));
      section.axis(i) = friction(i) * friction(i) * weights(i);
      section.load(i) = friction(i) * weights(i) * y_i;
    }
    section.normal_axis = full_weights(2);
    section.normal_load = full_weights(2) * normal;
    if (normal >= Scalar(0) && reach.norm() <= normal) {
      region = drops ? ConeRegion::slide : ConeRegion::stick;
      only_drops = drops;
      if (drops && normal == Scalar(0)) region = ConeRegion::separate;
    } else if (section.load.norm() + section.normal_load <= Scalar(0)) {
      region = ConeRegion::separate;
    } else {
      section.find_multiplier();
    }
  }
};

}  // namespace detail

/// Whether γ lies in the cone: ‖(γ_i/μ_i)‖ ≤ γₙ. A direction without friction must hold nothing.
/// @param slack  absolute allowance, on γₙ and on every γ_i [unit of γ], ≥ 0.
template <RealScalar Scalar, int Dimension>
[[nodiscard]] bool contains(const EllipsoidalCone<Scalar, Dimension>& cone,
                            const Vector<Scalar, Dimension>& impulse, Scalar slack = 0) noexcept {
  using std::abs;
  Vector<Scalar, Dimension - 1> reach;
  for (int i = 0; i < Dimension - 1; ++i) {
    Scalar excess = abs(impulse(i < 2 ? i : i + 1)) - slack;
    if (!(excess > Scalar(0))) excess = Scalar(0);
    if (excess > Scalar(0) && cone.friction(i) == Scalar(0)) return false;
    reach(i) = excess > Scalar(0) ? Scalar(excess / cone.friction(i)) : Scalar(0);
  }
  return impulse(2) >= -slack && reach.stableNorm() <= impulse(2) + slack;
}

/// Whether u lies in the dual cone { u : ‖(μ_i u_i)‖ ≤ uₙ }, up to slack [unit of u].
template <RealScalar Scalar, int Dimension>
[[nodiscard]] bool in_dual(const EllipsoidalCone<Scalar, Dimension>& cone,
                           const Vector<Scalar, Dimension>& u, Scalar slack = 0) noexcept {
  Vector<Scalar, Dimension - 1> reach;
  for (int i = 0; i < Dimension - 1; ++i) reach(i) = cone.friction(i) * u(i < 2 ? i : i + 1);
  return reach.stableNorm() <= u(2) + slack;
}

/// Projection in the metric R = diag(weights), any positive weights, by one scalar equation.
/// @pre   friction ≥ 0, weights > 0, y finite.
/// @note  Real-time safe: no allocation, no exception, bounded work (monotone Newton, ≤ 24 steps,
///        none when all μ_i² R_i agree).
/// @cite  docs/derivations/cones.md
template <RealScalar Scalar, int Dimension>
[[nodiscard]] ConeProjection<Scalar, Dimension> project(
    const EllipsoidalCone<Scalar, Dimension>& cone, const Vector<Scalar, Dimension>& weights,
    const Vector<Scalar, Dimension>& y) noexcept {
  const detail::EllipsoidProjection<detail::EllipsoidWork<Scalar>, Dimension> k(cone, weights, y);
  if (k.region == ConeRegion::stick) return {y, k.region};
  if (k.region == ConeRegion::separate) return {Vector<Scalar, Dimension>::Zero(), k.region};
  ConeProjection<Scalar, Dimension> result{y, k.region};
  if (k.only_drops) {
    for (int i = 0; i < k.tangent_count; ++i) {
      if (cone.friction(i) == Scalar(0)) result.point(k.entry(i)) = Scalar(0);
    }
    return result;
  }
  const int exponent = detail::largest_exponent(y);
  const auto x = k.section.scaled_tangent();
  for (int i = 0; i < k.tangent_count; ++i) {
    result.point(k.entry(i)) = static_cast<Scalar>(detail::shifted(k.friction(i) * x(i), exponent));
  }
  result.point(2) = static_cast<Scalar>(detail::shifted(x.norm(), exponent));
  return result;
}

/// Derivative of that projection, by differentiating its optimality conditions.
///
/// Notation: b = x/‖x‖ with x_i = γ_i/μ_i, D = diag(a_i + λ), m = aₙ − λ. Then
/// (D + m b bᵀ) dx = μ R dy_t + b Rₙ dyₙ, dγ_i = μ_i dx_i, dγₙ = b·dx (Sherman–Morrison for dx).
template <RealScalar Scalar, int Dimension>
[[nodiscard]] SquareMatrix<Scalar, Dimension> projection_derivative(
    const EllipsoidalCone<Scalar, Dimension>& cone, const Vector<Scalar, Dimension>& weights,
    const Vector<Scalar, Dimension>& y) noexcept {
  using Work = detail::EllipsoidWork<Scalar>;
  using Tangent = Vector<Work, Dimension - 1>;
  const detail::EllipsoidProjection<Work, Dimension> k(cone, weights, y);
  if (k.region == ConeRegion::separate) return SquareMatrix<Scalar, Dimension>::Zero();
  SquareMatrix<Scalar, Dimension> slope = SquareMatrix<Scalar, Dimension>::Identity();
  if (k.region == ConeRegion::stick) return slope;
  if (k.only_drops) {
    for (int i = 0; i < k.tangent_count; ++i) {
      if (cone.friction(i) == Scalar(0)) slope(k.entry(i), k.entry(i)) = Scalar(0);
    }
    return slope;
  }
  const Work& margin = k.section.margin;
  const Tangent x = k.section.scaled_tangent();
  const Tangent b = x / x.norm();
  const Tangent stretch = (k.section.axis.array() + k.section.multiplier).inverse();  // D⁻¹
  const Tangent softened = b.cwiseProduct(stretch);
  const Work reduction = margin / (Work(1) + margin * b.dot(softened));
  const auto write_column = [&](const Tangent& direct, int j) {  // direct = D⁻¹ (right-hand side)
    const Tangent dx = direct - softened * (reduction * b.dot(direct));
    for (int i = 0; i < k.tangent_count; ++i) {
      slope(k.entry(i), j) = static_cast<Scalar>(k.friction(i) * dx(i));
    }
    slope(2, j) = static_cast<Scalar>(b.dot(dx));
  };
  for (int j = 0; j < k.tangent_count; ++j) {
    Tangent direct = Tangent::Zero();
    direct(j) = k.friction(j) * k.weights(j) * stretch(j);
    write_column(direct, k.entry(j));
  }
  write_column(softened * k.section.normal_axis, 2);
  return slope;
}

}  // namespace carom::inline CAROM_ABI
