// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include "carom/cones/concepts.hpp"
#include "carom/cones/detail/ellipsoid_section.hpp"
#include "carom/cones/detail/number_range.hpp"
#include "carom/cones/shared_normal_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Cone whose section is an ellipsoid: ℱ = { γ : Σ (γ_i/μ_i)² ≤ γₙ², γₙ ≥ 0 }. The normal is entry
/// 2, and i runs over the other entries in order. Dimension 3: friction that depends on the
/// direction. Dimension 4: also a spinning moment. Dimension 6: the full wrench (force t₁, t₂, n;
/// moment t₁, t₂, n).
template <RealScalar Scalar, int Dimension>
struct EllipsoidalCone {
  static_assert(Dimension >= 3, "the contact triple (t1, t2, n) comes first");
  using scalar_type = Scalar;
  static constexpr int dimension = Dimension;
  static constexpr int normal_index = 2;

  /// μ_i, ≥ 0: semi-axis per unit of normal; [-] for forces, [m] for moments.
  Vector<Scalar, Dimension - 1> friction;
};

/// Friction that is different in the two tangents.
template <RealScalar Scalar>
using EllipticCone = EllipsoidalCone<Scalar, 3>;

/// Tangents and spinning moment in one ellipsoid.
template <RealScalar Scalar>
using EllipsoidalTorsionalCone = EllipsoidalCone<Scalar, 4>;

/// Force and moment in one ellipsoid.
template <RealScalar Scalar>
using EllipsoidalRollingCone = EllipsoidalCone<Scalar, 6>;

namespace detail {

/// The type in which the section is computed: squares of μ R y leave the range of float.
template <typename Scalar>
using EllipsoidWork = std::conditional_t<std::is_same_v<Scalar, float>, double, Scalar>;

/// An ellipsoidal cone of any dimension, such that one function serves all of them.
struct EllipsoidLayout {
  int dimension;
};

/// The data of one projection, with y and R scaled to order one.
/// @tparam Room  the largest number of tangents.
template <typename Scalar, int Room = 5>
struct EllipsoidProjection {
  int tangent_count;
  Scalar friction[Room], weights[Room];
  EllipsoidSection<Scalar, Room> section;
  ConeRegion region = ConeRegion::slide;
  /// a slide that only sets the entries of directions without friction to zero
  bool only_drops = false;

  CAROM_DEVICE static constexpr int entry(int tangent) noexcept {
    return tangent < 2 ? tangent : tangent + 1;
  }

  template <typename Given>
  CAROM_DEVICE EllipsoidProjection(int dimension, const Given* given_friction,
                                   const Given* given_weights, const Given* given_y) noexcept
      : tangent_count(dimension - 1) {
    expect_positive_and_finite(dimension, given_weights, given_y);
    const PowerOfTwo<Scalar> weight_scale(-largest_exponent(given_weights, dimension));
    const PowerOfTwo<Scalar> scale(-largest_exponent(given_y, dimension));
    const Scalar normal = scale.times(static_cast<Scalar>(given_y[2]));
    typename EllipsoidSection<Scalar, Room>::Tangent reach;  // y_i/μ_i
    bool drops = false;
    section.size = tangent_count;
    for (int i = 0; i < tangent_count; ++i) {
      CAROM_EXPECTS(given_friction[i] >= Given(0));
      const Scalar y_i = scale.times(static_cast<Scalar>(given_y[entry(i)]));
      friction[i] = static_cast<Scalar>(given_friction[i]);
      weights[i] = weight_scale.times(static_cast<Scalar>(given_weights[entry(i)]));
      drops = drops || (friction[i] == Scalar(0) && y_i != Scalar(0));
      reach[i] = friction[i] == Scalar(0) ? Scalar(0) : Scalar(y_i / friction[i]);
      section.axis[i] = friction[i] * friction[i] * weights[i];
      section.load[i] = friction[i] * weights[i] * y_i;
    }
    section.normal_axis = weight_scale.times(static_cast<Scalar>(given_weights[2]));
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

  /// Writes the nearest point.
  /// @param given  the original y.
  template <typename Given>
  CAROM_DEVICE void write_point(const Given* given, Given* point) const noexcept {
    const int dimension = tangent_count + 1;
    for (int i = 0; i < dimension; ++i) {
      point[i] = region == ConeRegion::separate ? Given(0) : given[i];
    }
    if (region != ConeRegion::slide) return;
    if (only_drops) {
      for (int i = 0; i < tangent_count; ++i) {
        if (friction[i] == Scalar(0)) point[entry(i)] = Given(0);
      }
      return;
    }
    const int exponent = largest_exponent(given, dimension);
    const auto x = section.scaled_tangent();
    for (int i = 0; i < tangent_count; ++i) {
      point[entry(i)] = static_cast<Given>(shifted(friction[i] * x[i], exponent));
    }
    point[2] = static_cast<Given>(shifted(section.norm_of(x), exponent));
  }

  /// Writes dP/dy, entry (i, j) to slope[i + step j].
  template <typename Given>
  CAROM_DEVICE void write_slope(int step, Given* slope) const noexcept {
    const auto at = [&](int i, int j) -> Given& { return slope[i + step * j]; };
    for (int j = 0; j <= tangent_count; ++j) {
      for (int i = 0; i <= tangent_count; ++i) {
        at(i, j) = Given(i == j && region != ConeRegion::separate ? 1 : 0);
      }
    }
    if (region != ConeRegion::slide) return;
    if (only_drops) {
      for (int i = 0; i < tangent_count; ++i) {
        if (friction[i] == Scalar(0)) at(entry(i), entry(i)) = Given(0);
      }
      return;
    }
    const auto r = section.response();
    Scalar normal_share(0);
    for (int j = 0; j < tangent_count; ++j) {
      const Scalar softened = r.direction[j] * r.compliance[j];  // D⁻¹ b
      const Scalar drive = friction[j] * weights[j];             // μ_j R_j
      const Scalar rise = softened * drive / r.stiffness;        // dγₙ/dy_j
      at(2, entry(j)) = static_cast<Given>(rise);
      for (int i = 0; i < tangent_count; ++i) {
        Scalar dx = -(r.direction[i] * r.compliance[i]) * (section.margin * rise);
        if (i == j) dx += r.compliance[j] * drive;
        at(entry(i), entry(j)) = static_cast<Given>(friction[i] * dx);
      }
      at(entry(j), 2) =
          static_cast<Given>(friction[j] * softened * (section.normal_axis / r.stiffness));
      normal_share += r.direction[j] * softened;
    }
    at(2, 2) = static_cast<Given>(normal_share * (section.normal_axis / r.stiffness));
  }
};

/// Calls act with the EllipsoidProjection of y, computed in a wider type if the numbers require it.
template <int Entries, typename Scalar, typename Act>
CAROM_DEVICE void with_projection(const EllipsoidLayout& cone, const Scalar* friction,
                                  const Scalar* weights, const Scalar* y, const Act& act) noexcept {
  constexpr int room = Entries - 1;
  if constexpr (std::is_same_v<Scalar, double>) {
    if (!has_moderate_range(cone.dimension - 1, friction, cone.dimension, weights)) [[unlikely]] {
      using Wide = typename WiderScalar<Scalar>::type;
      return act(EllipsoidProjection<Wide, room>(cone.dimension, friction, weights, y));
    }
  }
  act(EllipsoidProjection<EllipsoidWork<Scalar>, room>(cone.dimension, friction, weights, y));
}

}  // namespace detail

/// Whether γ is in the cone: ‖(γ_i/μ_i)‖ ≤ γₙ. In a direction without friction γ must be zero.
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

/// Whether u is in the dual cone { u : ‖(μ_i u_i)‖ ≤ uₙ }, up to slack [unit of u].
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
[[nodiscard]] CAROM_DEVICE ConeProjection<Scalar, Dimension> project(
    const EllipsoidalCone<Scalar, Dimension>& cone, const Vector<Scalar, Dimension>& weights,
    const Vector<Scalar, Dimension>& y) noexcept {
  ConeProjection<Scalar, Dimension> result;
  result.region = detail::write_nearest<detail::entry_room<EllipsoidalCone<Scalar, Dimension>>>(
      detail::EllipsoidLayout{Dimension}, cone.friction.data(), weights.data(), y.data(),
      result.point.data());
  return result;
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
  SquareMatrix<Scalar, Dimension> slope;
  detail::write_slope<detail::entry_room<EllipsoidalCone<Scalar, Dimension>>>(
      detail::EllipsoidLayout{Dimension}, cone.friction.data(), weights.data(), y.data(), Dimension,
      slope.data());
  return slope;
}

}  // namespace CAROM_ABI
}  // namespace carom
