// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The point of the ball ‖x‖ ≤ radius that is nearest to z with weights w: x_i = w_i z_i/(w_i + λ)
/// with the least λ ≥ 0.
template <RealScalar Scalar>
struct WeightedBall {
  std::array<Scalar, 5> point{};
  Scalar multiplier{0};  ///< λ; zero inside
  bool inside = true;

  /// @param w, z    of `size` numbers, w > 0.
  /// @param radius  > 0.
  WeightedBall(int size, const std::array<Scalar, 5>& w, const std::array<Scalar, 5>& z,
               const Scalar& radius) noexcept
      : point(z) {
    using std::sqrt;
    Scalar squared(0);
    for (std::size_t i = 0; i < std::size_t(size); ++i) squared += z[i] * z[i];
    const Scalar norm = sqrt(squared);
    inside = norm <= radius;
    if (inside) return;
    // 1/‖x(λ)‖ is concave and increasing. Newton's method from λ = 0 increases monotonically to the
    // root, and needs one step if all weights are equal. The limit bounds the work. If it is
    // reached, the last point is outside the ball by the remaining error.
    constexpr int most = 60;
    // of the radius: within this error the point counts as on the sphere
    constexpr int roundings = 4;
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

/// The rows of a friction block in units of their μ, with their weights R μ². Rows without friction
/// are omitted.
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

/// The relation between impulses of a cone and velocities.
enum class FrictionLaw {
  coulomb,  ///< Signorini's and Coulomb's law: γ ⟂ ũ, ũ = u + Σ μ_b ‖u_b‖ n in the dual cone.
  convex,  ///< γ ⟂ u, u in the dual cone: a sliding contact separates with μ ‖uₜ‖.
};

/// The law as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(FrictionLaw law) noexcept {
  return law == FrictionLaw::coulomb ? "coulomb" : "convex";
}

/// Σ μ_b ‖u_b‖, De Saxcé's increment of the normal velocity; zero for rows between bounds.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  desaxce1998bipotential.
template <RealScalar Scalar>
[[nodiscard]] Scalar de_saxce_lift(const ImpulseSet<Scalar>& set,
                                   const RowNumbers<Scalar>& velocity) noexcept {
  using std::sqrt;
  Scalar lift(0);
  for (const detail::FrictionBlock<Scalar>& block : detail::FrictionBlocks<Scalar>(set)) {
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      const Scalar x = block.mu(k) * velocity(block.row(k));
      squared += x * x;
    }
    lift += sqrt(squared);
  }
  return lift;
}

/// ũ, De Saxcé's velocity: u with this increment added in the normal row. With it, Coulomb's law is
/// the complementarity γ ∈ ℱ, ũ ∈ ℱ*, γ·ũ = 0. It is u for rows between bounds.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  desaxce1998bipotential.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> de_saxce_velocity(const ImpulseSet<Scalar>& set,
                                                   const RowNumbers<Scalar>& velocity) noexcept {
  RowNumbers<Scalar> result = velocity;
  const int normal = detail::normal_row(set.shape);
  if (normal >= 0) result(normal) += de_saxce_lift(set, velocity);
  return result;
}

/// Coulomb's law as a map: γ = 𝒞(γ − a ∘ u) exactly if γ and u obey the law, for any a > 0 that is
/// equal in the rows of a block; where their μ differ, a must be proportional to μ².
///
/// The normal entry becomes max(yₙ, 0). The other rows become the nearest point of a disc whose
/// radius is set by this normal. Rows between bounds are clamped.
/// @param y  trial impulse, finite.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  alart1991mixed, (3.9), in impulses.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> coulomb_impulse(const ImpulseSet<Scalar>& set,
                                                 const RowNumbers<Scalar>& y) noexcept {
  using std::sqrt;
  if (set.shape == ImpulseShape::intervals) return nearest_impulse(set, y, y);
  const int n = detail::normal_row(set.shape);
  const RowNumbers<Scalar> shifted = detail::moved_by_shift(set, y, Scalar(1));
  RowNumbers<Scalar> impulse = RowNumbers<Scalar>::Zero();
  if (shifted(n) > Scalar(0)) {
    impulse(n) = shifted(n);
    for (const detail::FrictionBlock<Scalar>& block : detail::FrictionBlocks<Scalar>(set)) {
      Scalar squared(0);
      for (int k = 0; k < block.size; ++k) {
        const Scalar& mu = block.mu(k);
        const Scalar x = mu > Scalar(0) ? shifted(block.row(k)) / mu : Scalar(0);
        squared += x * x;
      }
      const Scalar norm = sqrt(squared);
      const Scalar share = norm > impulse(n) ? impulse(n) / norm : Scalar(1);
      for (int k = 0; k < block.size; ++k) {
        if (block.mu(k) > Scalar(0)) impulse(block.row(k)) = share * shifted(block.row(k));
      }
    }
  }
  return detail::moved_by_shift(set, impulse, Scalar(-1));
}

/// d𝒞/dy. It is not symmetric if a contact slides. On a boundary it is one generalised derivative.
/// It is zero beyond the rows of the set.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> coulomb_slope(const ImpulseSet<Scalar>& set,
                                                    const RowNumbers<Scalar>& y) noexcept {
  using std::sqrt;
  SquareMatrix<Scalar, 6> slope = SquareMatrix<Scalar, 6>::Zero();
  if (set.shape == ImpulseShape::intervals) {
    for (int i = 0; i < set.rows; ++i) {
      if (detail::is_between(set.lower(i), y(i), set.upper(i))) slope(i, i) = Scalar(1);
    }
    return slope;
  }
  const int n = detail::normal_row(set.shape);
  const RowNumbers<Scalar> shifted = detail::moved_by_shift(set, y, Scalar(1));
  if (!(shifted(n) > Scalar(0))) return slope;
  slope(n, n) = Scalar(1);
  for (const detail::FrictionBlock<Scalar>& block : detail::FrictionBlocks<Scalar>(set)) {
    std::array<Scalar, 5> along{};  // in units of μ
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;
      Scalar& x = along[std::size_t(k)];
      x = shifted(block.row(k)) / block.mu(k);
      squared += x * x;
    }
    const Scalar norm = sqrt(squared);
    const bool slides = norm > shifted(n);
    const Scalar share = slides ? shifted(n) / norm : Scalar(1);
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;
      const int row = block.row(k);
      slope(row, row) += share;
      if (!slides) continue;
      const Scalar direction = along[std::size_t(k)] / norm;
      slope(row, n) = block.mu(k) * direction;
      for (int l = 0; l < block.size; ++l) {
        if (!(block.mu(l) > Scalar(0))) continue;
        slope(row, block.row(l)) -=
            share * block.mu(k) * direction * (along[std::size_t(l)] / norm) / block.mu(l);
      }
    }
  }
  return slope;
}

/// Coulomb's law of a compliant contact: γ for y = R⁻¹(v̂ − J v). The normal entry becomes max(yₙ,
/// 0). The other rows become the nearest point, in the metric R, of the disc for this normal. Rows
/// between bounds are clamped.
/// @param regularization  R, > 0 in the set's rows.
/// @note  Real-time safe: no allocation, no exception, bounded work.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> coulomb_impulse(const ImpulseSet<Scalar>& set,
                                                 const RowNumbers<Scalar>& regularization,
                                                 const RowNumbers<Scalar>& y) noexcept {
  if (set.shape == ImpulseShape::intervals) return nearest_impulse(set, regularization, y);
  const int n = detail::normal_row(set.shape);
  const RowNumbers<Scalar> shifted = detail::moved_by_shift(set, y, Scalar(1));
  RowNumbers<Scalar> impulse = RowNumbers<Scalar>::Zero();
  if (shifted(n) > Scalar(0)) {
    impulse(n) = shifted(n);
    for (const detail::FrictionBlock<Scalar>& block : detail::FrictionBlocks<Scalar>(set)) {
      const detail::ScaledFriction<Scalar> rows(block, regularization, shifted);
      const detail::WeightedBall<Scalar> ball(rows.size, rows.weights, rows.trial, impulse(n));
      for (std::size_t k = 0; k < std::size_t(rows.size); ++k) {
        impulse(rows.rows[k]) = rows.mu[k] * ball.point[k];
      }
    }
  }
  return detail::moved_by_shift(set, impulse, Scalar(-1));
}

/// G = (d𝒞/dy) R⁻¹ of the function above. It is not symmetric if a contact slides. On a boundary it
/// is one generalised derivative. It is zero beyond the rows of the set.
/// @note  Real-time safe: no allocation, no exception, bounded work.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> coulomb_curvature(const ImpulseSet<Scalar>& set,
                                                        const RowNumbers<Scalar>& regularization,
                                                        const RowNumbers<Scalar>& y) noexcept {
  if (set.shape == ImpulseShape::intervals) return impulse_curvature(set, regularization, y);
  SquareMatrix<Scalar, 6> g = SquareMatrix<Scalar, 6>::Zero();
  const int n = detail::normal_row(set.shape);
  const RowNumbers<Scalar> shifted = detail::moved_by_shift(set, y, Scalar(1));
  if (!(shifted(n) > Scalar(0))) return g;
  g(n, n) = Scalar(1) / regularization(n);
  for (const detail::FrictionBlock<Scalar>& block : detail::FrictionBlocks<Scalar>(set)) {
    const detail::ScaledFriction<Scalar> rows(block, regularization, shifted);
    const detail::WeightedBall<Scalar> ball(rows.size, rows.weights, rows.trial, shifted(n));
    // x = W z/(W + λ) with ‖x‖ = γₙ: dx = (W + λ)⁻¹ (W dz − x dλ), x·dx = γₙ dγₙ.
    std::array<Scalar, 5> along{};  // (W + λ)⁻¹ x
    Scalar bend(0);
    for (std::size_t k = 0; k < std::size_t(rows.size); ++k) {
      along[k] = ball.point[k] / (rows.weights[k] + ball.multiplier);
      bend += ball.point[k] * along[k];
    }
    for (std::size_t k = 0; k < std::size_t(rows.size); ++k) {
      const int row = rows.rows[k];
      const Scalar mu2 = rows.mu[k] * rows.mu[k];
      g(row, row) = mu2 / (rows.weights[k] + ball.multiplier);  // W/(W + λ) R⁻¹
      if (ball.inside || !(bend > Scalar(0))) continue;
      g(row, n) = rows.mu[k] * along[k] / bend * shifted(n) / regularization(n);
      for (std::size_t l = 0; l < std::size_t(rows.size); ++l) {
        g(row, rows.rows[l]) -= rows.mu[k] * along[k] * along[l] * rows.mu[l] / bend;
      }
    }
  }
  return g;
}

}  // namespace CAROM_ABI
}  // namespace carom
