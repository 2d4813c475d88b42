// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <numbers>

#include "carom/cones/shared_normal_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Four-sided pyramid { γ ∈ ℝ³ : |γ_t₁| ≤ m γₙ, |γ_t₂| ≤ m γₙ } with faces normal to the tangents.
/// The weights of the two tangents may be different.
template <RealScalar Scalar>
struct FrictionPyramid {
  using scalar_type = Scalar;
  static constexpr int dimension = 3;
  static constexpr int normal_index = 2;
  static constexpr std::array<ConeBlock, 2> blocks{{{0, 1}, {1, 1}}};

  Scalar half_width;  ///< m [-], ≥ 0: bound on each tangent per unit of normal.
};

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr std::array<Scalar, 2> bounds(
    const FrictionPyramid<Scalar>& cone) noexcept {
  return {cone.half_width, cone.half_width};
}

/// The pyramid inside the friction cone. It touches the cone at its edges: m = μ/√2.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr FrictionPyramid<Scalar> make_inner_pyramid(
    Scalar friction) noexcept {
  return {friction * std::numbers::sqrt2_v<Scalar> / 2};
}

/// The pyramid around the friction cone. It touches the cone at its faces: m = μ.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr FrictionPyramid<Scalar> make_outer_pyramid(
    Scalar friction) noexcept {
  return {friction};
}

}  // namespace CAROM_ABI
}  // namespace carom
