// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "carom/cones/concepts.hpp"
#include "carom/cones/detail/ellipsoid_section.hpp"
#include "carom/cones/detail/expect_valid.hpp"
#include "carom/cones/detail/power_of_two.hpp"
#include "carom/cones/detail/wider_scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

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

/// The type the section is computed in: squares of μ R y leave the range of float.
template <typename Scalar>
using EllipsoidWork = std::conditional_t<std::is_same_v<Scalar, float>, double, Scalar>;

/// Everything that one projection needs, with y and R brought to order one.
template <typename Scalar, int Dimension>
struct EllipsoidProjection {
  static constexpr int tangent_count = Dimension - 1;
  std::array<Scalar, std::size_t(tangent_count)> friction, weights;
  EllipsoidSection<Scalar, tangent_count> section;
  ConeRegion region = ConeRegion::slide;
  bool only_drops = false;  ///< slide that only loses the entries of directions without friction

  CAROM_DEVICE static constexpr int entry(int tangent) noexcept {
    return tangent < 2 ? tangent : tangent + 1;
  }

  template <typename Given>
  CAROM_DEVICE EllipsoidProjection(const EllipsoidalCone<Given, Dimension>& cone,
                                   const Vector<Given, Dimension>& given_weights,
                                   const Vector<Given, Dimension>& given_y) noexcept {
    expect_positive_and_finite(given_weights, given_y);
    const PowerOfTwo<Scalar> weight_scale(-largest_exponent(given_weights));
    const PowerOfTwo<Scalar> scale(-largest_exponent(given_y));
    const Scalar normal = scale.times(static_cast<Scalar>(given_y(2)));
    typename EllipsoidSection<Scalar, tangent_count>::Tangent reach;  // y_i/μ_i
    bool drops = false;
    for (int k = 0; k < tangent_count; ++k) {
      CAROM_EXPECTS(cone.friction(k) >= Given(0));
      const auto i = std::size_t(k);
      const Scalar y_i = scale.times(static_cast<Scalar>(given_y(entry(k))));
      friction[i] = static_cast<Scalar>(cone.friction(k));
      weights[i] = weight_scale.times(static_cast<Scalar>(given_weights(entry(k))));
      drops = drops || (friction[i] == Scalar(0) && y_i != Scalar(0));
      reach[i] = friction[i] == Scalar(0) ? Scalar(0) : Scalar(y_i / friction[i]);
      section.axis[i] = friction[i] * friction[i] * weights[i];
      section.load[i] = friction[i] * weights[i] * y_i;
    }
    section.normal_axis = weight_scale.times(static_cast<Scalar>(given_weights(2)));
    section.normal_load = section.normal_axis * normal;
    if (normal >= Scalar(0) && section.norm_of(reach) <= normal) {
      region = drops ? ConeRegion::slide : ConeRegion::stick;
      only_drops = drops;
      if (drops && normal == Scalar(0)) region = ConeRegion::separate;
    } else if (section.norm_of(section.load) + section.normal_load <= Scalar(0) ||
               !section.find_multiplier()) {
      region = ConeRegion::separate;
    }
  }
};

}  // namespace detail

/// Whether γ lies in the cone: ‖(γ_i/μ_i)‖ ≤ γₙ. In a direction without friction γ must be zero.
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

namespace detail {

template <typename Scalar, typename Work, int Dimension>
[[nodiscard]] CAROM_DEVICE ConeProjection<Scalar, Dimension> nearest_point(
    const EllipsoidProjection<Work, Dimension>& k, const Vector<Scalar, Dimension>& y) noexcept {
  if (k.region == ConeRegion::stick) return {y, k.region};
  if (k.region == ConeRegion::separate) return {Vector<Scalar, Dimension>::Zero(), k.region};
  ConeProjection<Scalar, Dimension> result{y, k.region};
  if (k.only_drops) {
    for (int i = 0; i < k.tangent_count; ++i) {
      if (k.friction[std::size_t(i)] == Work(0)) result.point(k.entry(i)) = Scalar(0);
    }
    return result;
  }
  const int exponent = largest_exponent(y);
  const auto x = k.section.scaled_tangent();
  for (int i = 0; i < k.tangent_count; ++i) {
    const auto place = std::size_t(i);
    result.point(k.entry(i)) = static_cast<Scalar>(shifted(k.friction[place] * x[place], exponent));
  }
  result.point(2) = static_cast<Scalar>(shifted(k.section.norm_of(x), exponent));
  return result;
}

template <typename Scalar, typename Work, int Dimension>
[[nodiscard]] CAROM_DEVICE SquareMatrix<Scalar, Dimension> slope_of(
    const EllipsoidProjection<Work, Dimension>& k) noexcept {
  if (k.region == ConeRegion::separate) return SquareMatrix<Scalar, Dimension>::Zero();
  SquareMatrix<Scalar, Dimension> slope = SquareMatrix<Scalar, Dimension>::Identity();
  if (k.region == ConeRegion::stick) return slope;
  if (k.only_drops) {
    for (int i = 0; i < k.tangent_count; ++i) {
      if (k.friction[std::size_t(i)] == Work(0)) slope(k.entry(i), k.entry(i)) = Scalar(0);
    }
    return slope;
  }
  const auto r = k.section.response();
  const auto write = [&](int row, int column, const Work& value) {
    slope(row, column) = static_cast<Scalar>(value);
  };
  Work normal_share(0);
  for (int j = 0; j < k.tangent_count; ++j) {
    const auto at = std::size_t(j);
    const Work softened = r.direction[at] * r.compliance[at];  // D⁻¹ b
    const Work drive = k.friction[at] * k.weights[at];         // μ_j R_j
    const Work rise = softened * drive / r.stiffness;          // dγₙ/dy_j
    write(2, k.entry(j), rise);
    for (int i = 0; i < k.tangent_count; ++i) {
      const auto to = std::size_t(i);
      Work dx = -(r.direction[to] * r.compliance[to]) * (k.section.margin * rise);
      if (i == j) dx += r.compliance[at] * drive;
      write(k.entry(i), k.entry(j), k.friction[to] * dx);
    }
    write(k.entry(j), 2, k.friction[at] * softened * (k.section.normal_axis / r.stiffness));
    normal_share += r.direction[at] * softened;
  }
  write(2, 2, normal_share * (k.section.normal_axis / r.stiffness));
  return slope;
}

}  // namespace detail

/// Projection in the metric R = diag(weights), any positive weights, by one scalar equation.
/// @pre   friction ≥ 0, weights > 0, y finite.
/// @note  Real-time safe: no allocation, no exception, bounded work (monotone Newton, ≤ 24 steps,
///        none when all μ_i² R_i agree).
/// @cite  docs/derivations/cones.md
template <RealScalar Scalar, int Dimension>
[[nodiscard]] CAROM_DEVICE ConeProjection<Scalar, Dimension> project(
    const EllipsoidalCone<Scalar, Dimension>& cone, const Vector<Scalar, Dimension>& weights,
    const Vector<Scalar, Dimension>& y) noexcept {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (!detail::has_moderate_range(cone.friction, weights)) [[unlikely]] {
      return detail::nearest_point(
          detail::EllipsoidProjection<long double, Dimension>(cone, weights, y), y);
    }
  }
  using Work = detail::EllipsoidWork<Scalar>;
  return detail::nearest_point(detail::EllipsoidProjection<Work, Dimension>(cone, weights, y), y);
}

/// Derivative of that projection, by differentiating its optimality conditions.
///
/// Notation: b = x/‖x‖ with x_i = γ_i/μ_i, D = diag(a_i + λ), m = aₙ − λ. Then
/// (D + m b bᵀ) dx = μ R dy_t + b Rₙ dyₙ, dγ_i = μ_i dx_i, dγₙ = b·dx (Sherman–Morrison for dx,
/// whose denominator 1 + m bᵀD⁻¹b is Σ b_i² (a_i + aₙ)/(a_i + λ), a sum without cancellation).
template <RealScalar Scalar, int Dimension>
[[nodiscard]] CAROM_DEVICE SquareMatrix<Scalar, Dimension> projection_derivative(
    const EllipsoidalCone<Scalar, Dimension>& cone, const Vector<Scalar, Dimension>& weights,
    const Vector<Scalar, Dimension>& y) noexcept {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (!detail::has_moderate_range(cone.friction, weights)) [[unlikely]] {
      return detail::slope_of<Scalar>(
          detail::EllipsoidProjection<long double, Dimension>(cone, weights, y));
    }
  }
  using Work = detail::EllipsoidWork<Scalar>;
  return detail::slope_of<Scalar>(detail::EllipsoidProjection<Work, Dimension>(cone, weights, y));
}

}  // namespace CAROM_ABI
}  // namespace carom
