// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include "carom/cones/concepts.hpp"
#include "carom/cones/detail/power_of_two.hpp"

namespace carom::inline CAROM_ABI {

/// Consecutive entries of a vector whose norm the shared normal entry bounds.
struct ConeBlock {
  int start;
  int size;
};

// clang-format off

/// A cone whose blocks are each bounded by a multiple of one normal entry:
/// ℱ = { γ : ‖γ_b‖ ≤ μ_b γₙ for every block b }. Planar cone, pyramid, half line and the decoupled
/// torsional and rolling cones are of this kind. The functions below serve them all.
template <typename Cone>
concept SharedNormalCone =
    RealScalar<typename Cone::scalar_type> &&
    requires(const Cone& cone) {
      { Cone::normal_index } -> std::convertible_to<int>;
      { Cone::blocks.size() } -> std::convertible_to<std::size_t>;
      { bounds(cone)[0] } -> std::convertible_to<typename Cone::scalar_type>;
    };

// clang-format on

namespace detail {

/// Nearest value of the shared normal, and which blocks it pulls inwards.
///
/// The optimality condition in γₙ is piecewise linear and increasing; blocks join the sliding set
/// in the order of ‖y_b‖/μ_b, the largest first, until the next one would lie inside.
template <SharedNormalCone Cone>
struct SharedNormal {
  using Scalar = typename Cone::scalar_type;
  static constexpr std::size_t block_count = Cone::blocks.size();

  std::array<Scalar, block_count> norm{};  ///< ‖y_b‖
  std::array<bool, block_count> slides{};  ///< whether ‖y_b‖ > μ_b γₙ
  Scalar resistance;                       ///< Rₙ + Σ μ_b² R_b over sliding blocks
  Scalar drive;  ///< Rₙ yₙ + Σ μ_b R_b ‖y_b‖ over sliding blocks
  ConeRegion region = ConeRegion::stick;

  SharedNormal(const Cone& cone, const SetVector<Cone>& weights, const SetVector<Cone>& y) noexcept
      : resistance(weights(Cone::normal_index)),
        drive(weights(Cone::normal_index) * y(Cone::normal_index)) {
    const auto mu = bounds(cone);
    std::array<std::size_t, block_count> order{};
    std::array<Scalar, block_count> width{};  // μ_b, but one where ‖y_b‖ = 0: 0/0 counts as 0
    for (std::size_t b = 0; b < block_count; ++b) {
      norm[b] = y.segment(Cone::blocks[b].start, Cone::blocks[b].size).norm();
      width[b] = norm[b] == Scalar(0) ? Scalar(1) : mu[b];
      std::size_t place = b;  // insertion by ‖y_b‖/μ_b, descending, compared without division
      for (; place > 0 && norm[b] * width[order[place - 1]] > norm[order[place - 1]] * width[b];
           --place) {
        order[place] = order[place - 1];
      }
      order[place] = b;
    }
    for (const std::size_t b : order) {
      if (norm[b] * resistance <= mu[b] * drive) break;  // ‖y_b‖ ≤ μ_b γₙ
      const Scalar weight = weights(Cone::blocks[b].start);
      slides[b] = true;
      region = ConeRegion::slide;
      resistance += mu[b] * mu[b] * weight;
      drive += mu[b] * weight * norm[b];
    }
    const bool at_apex = region == ConeRegion::slide && !(drive > Scalar(0));
    if (at_apex || drive < Scalar(0)) region = ConeRegion::separate;
  }
};

/// Brings y and R to order one, which changes the projection by the same factor and not at all.
template <SharedNormalCone Cone>
[[nodiscard]] SharedNormal<Cone> scaled_shared_normal(const Cone& cone,
                                                      const SetVector<Cone>& weights,
                                                      const SetVector<Cone>& y,
                                                      int y_exponent) noexcept {
  CAROM_EXPECTS((weights.array() > typename Cone::scalar_type(0)).all());
  CAROM_EXPECTS(y.allFinite());
  for ([[maybe_unused]] const auto& mu : bounds(cone)) {
    CAROM_EXPECTS(mu >= typename Cone::scalar_type(0));
  }
  for ([[maybe_unused]] const ConeBlock& block : Cone::blocks) {
    CAROM_EXPECTS((weights.segment(block.start, block.size).array() == weights(block.start)).all());
  }
  return SharedNormal<Cone>(cone, shifted(weights, -largest_exponent(weights)),
                            shifted(y, -y_exponent));
}

}  // namespace detail

/// Whether γ lies in the cone, each inequality up to slack [unit of γ].
template <SharedNormalCone Cone>
[[nodiscard]] bool contains(const Cone& cone, const SetVector<Cone>& impulse,
                            typename Cone::scalar_type slack = 0) noexcept {
  const auto mu = bounds(cone);
  const auto& normal = impulse(Cone::normal_index);
  bool inside = normal >= -slack;
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    const auto [start, size] = Cone::blocks[b];
    inside = inside && impulse.segment(start, size).stableNorm() <= mu[b] * normal + slack;
  }
  return inside;
}

/// Whether u lies in the dual cone { u : Σ_b μ_b ‖u_b‖ ≤ uₙ }, up to slack [unit of u].
template <SharedNormalCone Cone>
[[nodiscard]] bool in_dual(const Cone& cone, const SetVector<Cone>& u,
                           typename Cone::scalar_type slack = 0) noexcept {
  const auto mu = bounds(cone);
  typename Cone::scalar_type reach = 0;
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    reach += mu[b] * u.segment(Cone::blocks[b].start, Cone::blocks[b].size).stableNorm();
  }
  return reach <= u(Cone::normal_index) + slack;
}

/// Projection in the metric R = diag(weights), in closed form.
///
/// With S the sliding blocks: γₙ = (Rₙ yₙ + Σ_S μ_b R_b ‖y_b‖)/(Rₙ + Σ_S μ_b² R_b),
/// γ_b = μ_b γₙ y_b/‖y_b‖ in S, γ_b = y_b elsewhere.
/// @pre   friction ≥ 0, weights > 0 and equal within a block, y finite.
/// @note  Real-time safe: no allocation, no exception, constant work.
/// @cite  docs/derivations/cones.md
template <SharedNormalCone Cone>
[[nodiscard]] ConeProjection<typename Cone::scalar_type, Cone::dimension> project(
    const Cone& cone, const SetVector<Cone>& weights, const SetVector<Cone>& y) noexcept {
  const int exponent = detail::largest_exponent(y);
  const auto k = detail::scaled_shared_normal(cone, weights, y, exponent);
  if (k.region == ConeRegion::stick) return {y, k.region};
  if (k.region == ConeRegion::separate) return {SetVector<Cone>::Zero(), k.region};
  const auto mu = bounds(cone);
  const auto normal = k.drive / k.resistance;
  ConeProjection<typename Cone::scalar_type, Cone::dimension> result{y, k.region};
  result.point(Cone::normal_index) = detail::shifted(normal, exponent);
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    const auto [start, size] = Cone::blocks[b];
    if (k.slides[b]) result.point.segment(start, size) *= mu[b] * normal / k.norm[b];
  }
  return result;
}

/// Derivative of that projection.
template <SharedNormalCone Cone>
[[nodiscard]] SetMatrix<Cone> projection_derivative(const Cone& cone,
                                                    const SetVector<Cone>& weights,
                                                    const SetVector<Cone>& y) noexcept {
  const int exponent = detail::largest_exponent(y);
  const auto k = detail::scaled_shared_normal(cone, weights, y, exponent);
  SetMatrix<Cone> slope = SetMatrix<Cone>::Identity();
  if (k.region == ConeRegion::stick) return slope;
  if (k.region == ConeRegion::separate) return SetMatrix<Cone>::Zero();

  const SetVector<Cone> direction = detail::shifted(y, -exponent);
  const SetVector<Cone> scaled_weights =
      detail::shifted(weights, -detail::largest_exponent(weights));
  const auto mu = bounds(cone);
  const auto normal = k.drive / k.resistance;
  SetVector<Cone> normal_row = SetVector<Cone>::Zero();  // dγₙ/dy
  normal_row(Cone::normal_index) = scaled_weights(Cone::normal_index) / k.resistance;
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    const auto [start, size] = Cone::blocks[b];
    if (!k.slides[b]) continue;
    normal_row.segment(start, size) = mu[b] * (scaled_weights(start) / k.resistance) *
                                      (direction.segment(start, size) / k.norm[b]);
  }
  slope.row(Cone::normal_index) = normal_row.transpose();
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    const auto [start, size] = Cone::blocks[b];
    if (!k.slides[b]) continue;
    const auto across = mu[b] * normal / k.norm[b];
    for (int i = start; i < start + size; ++i) {
      const auto t_i = direction(i) / k.norm[b];
      slope.row(i) = mu[b] * t_i * normal_row.transpose();
      for (int j = start; j < start + size; ++j) {
        const auto t_j = direction(j) / k.norm[b];
        slope(i, j) += across * ((i == j ? 1 : 0) - t_i * t_j);
      }
    }
  }
  return slope;
}

}  // namespace carom::inline CAROM_ABI
