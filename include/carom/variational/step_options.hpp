// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The points at which the Lagrangian is evaluated: at q_α = (1−α) q₀ + α q₁ with the velocity
/// (q₁ − q₀)/h, or with half the weight at each of q_α and q_{1−α}.
template <RealScalar Scalar>
struct Quadrature {
  Scalar alpha = Scalar(1) / 2;  ///< α [-], in [0, 1]; ½ is the midpoint, which has order 2.
  bool symmetric = false;        ///< Both nodes; self-adjoint and of order 2 for each α.

  /// One node in the middle; implicit. The default: exact energy for linear systems.
  [[nodiscard]] static constexpr Quadrature midpoint() noexcept { return {}; }
  /// One node at α; order 1 unless α = ½. α = 0 is the symplectic Euler method.
  [[nodiscard]] static constexpr Quadrature rectangle(Scalar alpha) noexcept {
    return {alpha, false};
  }
  /// Störmer-Verlet: both ends; explicit where the mass matrix is constant, stable for ωh < 2.
  [[nodiscard]] static constexpr Quadrature verlet() noexcept { return {Scalar(0), true}; }
  /// Both nodes, any α.
  [[nodiscard]] static constexpr Quadrature symmetric_rectangle(Scalar alpha) noexcept {
    return {alpha, true};
  }
};

/// Options of Newton's method for a step.
template <RealScalar Scalar>
struct StepOptions {
  Quadrature<Scalar> quadrature;
  /// The iteration ends if its correction is at most this share of the largest coordinate [-], ≥ 0.
  /// With four roundings, energy and momenta are accurate to the last digits. A larger tolerance
  /// saves an iteration.
  Scalar tolerance = 4 * std::numeric_limits<Scalar>::epsilon();
  int iteration_limit = 30;  ///< Newton iterations of one solve, ≥ 1; two or three are usual.
};

}  // namespace CAROM_ABI
}  // namespace carom
