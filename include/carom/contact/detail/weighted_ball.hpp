// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The point of the ball ‖x‖ ≤ radius that is nearest to z by weights w, x_i = w_i z_i/(w_i + λ),
/// with the least λ ≥ 0.
template <RealScalar Scalar>
struct WeightedBall {
  std::array<Scalar, 5> point{};
  Scalar multiplier{0};  ///< λ; zero inside
  bool inside = true;

  /// @param w, z  of `size` numbers, w > 0.
  WeightedBall(int size, const std::array<Scalar, 5>& w, const std::array<Scalar, 5>& z,
               const Scalar& radius) noexcept
      : point(z) {
    using std::sqrt;
    Scalar squared(0);
    for (std::size_t i = 0; i < std::size_t(size); ++i) squared += z[i] * z[i];
    const Scalar norm = sqrt(squared);
    inside = norm <= radius;
    if (inside) return;
    if (!(radius > Scalar(0))) {
      point = {};
      multiplier = std::numeric_limits<Scalar>::infinity();
      return;
    }
    // 1/‖x(λ)‖ is concave and increasing: Newton's method from λ = 0 rises to the root, and
    // arrives at once where all weights are equal. The limit bounds the work; the last point is
    // then outside by what is left.
    constexpr int most = 60;
    constexpr int roundings = 4;  // of the radius, that count as on the sphere
    for (int k = 0; k < most; ++k) {
      Scalar length(0), slope(0);
      for (std::size_t i = 0; i < std::size_t(size); ++i) {
        point[i] = w[i] * z[i] / (w[i] + multiplier);
        length += point[i] * point[i];
        slope += point[i] * point[i] / (w[i] + multiplier);
      }
      const Scalar over = sqrt(length) / radius - Scalar(1);
      if (!(over > roundings * std::numeric_limits<Scalar>::epsilon())) break;
      multiplier += over * length / slope;
    }
  }
};

/// The rows of a friction block in units of their μ, with their weights R μ²; rows without friction
/// are left out.
template <RealScalar Scalar>
struct ScaledFriction {
  int size = 0;
  std::array<int, 5> rows{};
  std::array<Scalar, 5> mu{}, weights{}, trial{};

  ScaledFriction(const FrictionBlock<Scalar>& block, const RowNumbers<Scalar>& regularization,
                 const RowNumbers<Scalar>& y) noexcept {
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;
      const std::size_t to = std::size_t(size++);
      rows[to] = block.row(k);
      mu[to] = block.mu(k);
      weights[to] = regularization(block.row(k)) * mu[to] * mu[to];
      trial[to] = y(block.row(k)) / mu[to];
    }
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
