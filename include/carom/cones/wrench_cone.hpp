// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/cones/shared_normal_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Friction of a patch with spinning resistance; tangents and spin have separate bounds: { (t₁, t₂,
/// n, s) : ‖(t₁, t₂)‖ ≤ μ n, |s| ≤ μₛ n }, where s is the moment about the normal.
template <RealScalar Scalar>
struct TorsionalCone {
  using scalar_type = Scalar;
  static constexpr int dimension = 4;
  static constexpr int normal_index = 2;
  static constexpr std::array<ConeBlock, 2> blocks{{{0, 2}, {3, 1}}};

  Scalar friction;            ///< μ [-], ≥ 0.
  Scalar torsional_friction;  ///< μₛ [m], ≥ 0: largest spinning moment per unit of normal force.
};

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr std::array<Scalar, 2> bounds(
    const TorsionalCone<Scalar>& cone) noexcept {
  return {cone.friction, cone.torsional_friction};
}

/// Friction of a contact with spinning and rolling resistance. The entries are the wrench (force
/// t₁, t₂, n, then moment about t₁, t₂, n): ‖(f₁, f₂)‖ ≤ μ fₙ, ‖(m₁, m₂)‖ ≤ μᵣ fₙ, |mₙ| ≤ μₛ fₙ.
template <RealScalar Scalar>
struct RollingCone {
  using scalar_type = Scalar;
  static constexpr int dimension = 6;
  static constexpr int normal_index = 2;
  static constexpr std::array<ConeBlock, 3> blocks{{{0, 2}, {3, 2}, {5, 1}}};

  Scalar friction;          ///< μ [-], ≥ 0.
  Scalar rolling_friction;  ///< μᵣ [m], ≥ 0: largest rolling moment per unit of normal force.
  Scalar torsional_friction;  ///< μₛ [m], ≥ 0: largest spinning moment per unit of normal force.
};

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr std::array<Scalar, 3> bounds(
    const RollingCone<Scalar>& cone) noexcept {
  return {cone.friction, cone.rolling_friction, cone.torsional_friction};
}

/// Friction of a contact with rolling resistance that spins freely. The entries are (force t₁, t₂,
/// n, then moment about t₁, t₂): ‖(f₁, f₂)‖ ≤ μ fₙ, ‖(m₁, m₂)‖ ≤ μᵣ fₙ.
/// @cite acary2021rolling, where it is the cone of Coulomb's friction with rolling resistance.
template <RealScalar Scalar>
struct SpinlessRollingCone {
  using scalar_type = Scalar;
  static constexpr int dimension = 5;
  static constexpr int normal_index = 2;
  static constexpr std::array<ConeBlock, 2> blocks{{{0, 2}, {3, 2}}};

  Scalar friction;          ///< μ [-], ≥ 0.
  Scalar rolling_friction;  ///< μᵣ [m], ≥ 0: largest rolling moment per unit of normal force.
};

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr std::array<Scalar, 2> bounds(
    const SpinlessRollingCone<Scalar>& cone) noexcept {
  return {cone.friction, cone.rolling_friction};
}

}  // namespace CAROM_ABI
}  // namespace carom
