// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/cones/shared_normal_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Coulomb cone of a planar contact: ℱ = { (γₜ, γₙ) ∈ ℝ² : |γₜ| ≤ μ γₙ }.
template <RealScalar Scalar>
struct PlanarCone {
  using scalar_type = Scalar;
  static constexpr int dimension = 2;
  static constexpr int normal_index = 1;
  static constexpr std::array<ConeBlock, 1> blocks{{{0, 1}}};

  Scalar friction;  ///< μ [-], ≥ 0.
};

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr std::array<Scalar, 1> bounds(
    const PlanarCone<Scalar>& cone) noexcept {
  return {cone.friction};
}

}  // namespace CAROM_ABI
}  // namespace carom
