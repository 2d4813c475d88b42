// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <utility>

#include "carom/cones/concepts.hpp"
#include "carom/cones/detail/expect_valid.hpp"
#include "carom/cones/detail/power_of_two.hpp"
#include "carom/cones/detail/wider_scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Consecutive entries of a vector whose norm the shared normal entry bounds.
struct ConeBlock {
  int start;
  int size;
};

// clang-format off

/// A cone whose blocks are each bounded by a multiple of one normal entry:
/// ℱ = { γ : ‖γ_b‖ ≤ μ_b γₙ for every block b }. Planar cone, pyramid, torsional and rolling cones
/// are of this kind; bounds(cone) gives their μ_b. The functions below serve them all.
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

/// The shared normal of the nearest point, and which blocks slide. First y and R are brought to
/// order one: the projection changes by the factor of y, and not by that of R.
///
/// The optimality condition in γₙ is piecewise linear and increasing; blocks join the sliding set
/// in the order of ‖y_b‖/μ_b, the largest first, until the next one would lie inside.
/// @tparam Scalar  type to compute in: the cone's, or a wider one.
template <SharedNormalCone Cone, typename Scalar>
struct SharedNormal {
  static constexpr std::size_t block_count = Cone::blocks.size();

  std::array<Scalar, std::size_t(Cone::dimension)> weights;  ///< R / 2^(its largest exponent)
  std::array<Scalar, std::size_t(Cone::dimension)> y;        ///< y / 2^exponent
  std::array<Scalar, block_count> friction{};                ///< μ_b
  std::array<Scalar, block_count> norm{};                    ///< ‖y_b‖
  Scalar resistance;  ///< Rₙ + Σ μ_b² R_b over sliding blocks
  Scalar drive;       ///< Rₙ yₙ + Σ μ_b R_b ‖y_b‖ over sliding blocks
  int exponent;
  ConeRegion region = ConeRegion::stick;
  std::array<bool, block_count> slides{};  ///< whether ‖y_b‖ > μ_b γₙ

  CAROM_DEVICE SharedNormal(const Cone& cone, const SetVector<Cone>& given_weights,
                            const SetVector<Cone>& given_y) noexcept
      : exponent(largest_exponent(given_y)) {
    constexpr auto blocks = Cone::blocks;  // on a device there are no static members
    const PowerOfTwo<Scalar> weight_scale(-largest_exponent(given_weights)), scale(-exponent);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = weight_scale.times(static_cast<Scalar>(given_weights(Index(i))));
      y[i] = scale.times(static_cast<Scalar>(given_y(Index(i))));
    }
    resistance = weights[std::size_t(Cone::normal_index)];
    drive = resistance * y[std::size_t(Cone::normal_index)];
    for (const std::size_t b : sort_blocks(cone)) {
      if (norm[b] * resistance <= friction[b] * drive) break;  // ‖y_b‖ ≤ μ_b γₙ
      const Scalar pull = friction[b] * weights[std::size_t(blocks[b].start)];
      slides[b] = true;
      region = ConeRegion::slide;
      resistance += friction[b] * pull;
      drive += pull * norm[b];
    }
    const bool at_apex = region == ConeRegion::slide && !(drive > Scalar(0));
    if (at_apex || drive < Scalar(0)) region = ConeRegion::separate;
  }

  /// The blocks by ‖y_b‖/μ_b, descending, compared without division.
  [[nodiscard]] CAROM_DEVICE std::array<std::size_t, block_count> sort_blocks(
      const Cone& cone) noexcept {
    using std::sqrt;
    constexpr auto blocks = Cone::blocks;
    const auto mu = bounds(cone);
    std::array<std::size_t, block_count> order{};
    std::array<Scalar, block_count> width{};  // μ_b, but one where ‖y_b‖ = 0: 0/0 counts as 0
    for (std::size_t b = 0; b < block_count; ++b) {
      friction[b] = Scalar(mu[b]);
      Scalar squared(0);
      for (int i = blocks[b].start; i < blocks[b].start + blocks[b].size; ++i) {
        squared += y[std::size_t(i)] * y[std::size_t(i)];
      }
      norm[b] = sqrt(squared);
      width[b] = norm[b] == Scalar(0) ? Scalar(1) : friction[b];
      std::size_t place = b;
      for (; place > 0 && norm[b] * width[order[place - 1]] > norm[order[place - 1]] * width[b];
           --place) {
        order[place] = order[place - 1];
      }
      order[place] = b;
    }
    return order;
  }
};

template <SharedNormalCone Cone>
CAROM_DEVICE void expect_valid(const Cone& cone, const SetVector<Cone>& weights,
                               const SetVector<Cone>& y) noexcept {
  constexpr auto blocks = Cone::blocks;
  expect_positive_and_finite(weights, y);
  for ([[maybe_unused]] const auto& mu : bounds(cone)) {
    CAROM_EXPECTS(mu >= typename Cone::scalar_type(0));
  }
  for ([[maybe_unused]] const ConeBlock& block : blocks) {
    for (int i = block.start; i < block.start + block.size; ++i) {
      CAROM_EXPECTS(weights(i) == weights(block.start));
    }
  }
}

template <SharedNormalCone Cone, typename Work>
[[nodiscard]] CAROM_DEVICE ConeProjection<typename Cone::scalar_type, Cone::dimension>
nearest_point(const SharedNormal<Cone, Work>& k, const SetVector<Cone>& y) noexcept {
  constexpr auto blocks = Cone::blocks;
  using Scalar = typename Cone::scalar_type;
  if (k.region == ConeRegion::stick) return {y, k.region};
  if (k.region == ConeRegion::separate) return {SetVector<Cone>::Zero(), k.region};
  const Work normal = k.drive / k.resistance;
  ConeProjection<Scalar, Cone::dimension> result{y, k.region};
  result.point(Cone::normal_index) = static_cast<Scalar>(shifted(normal, k.exponent));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!k.slides[b]) continue;
    const auto share = static_cast<Scalar>(k.friction[b] * normal / k.norm[b]);
    for (int i = blocks[b].start; i < blocks[b].start + blocks[b].size; ++i) {
      result.point(i) *= share;
    }
  }
  return result;
}

template <SharedNormalCone Cone, typename Work>
[[nodiscard]] CAROM_DEVICE SetMatrix<Cone> slope_of(const SharedNormal<Cone, Work>& k) noexcept {
  constexpr auto blocks = Cone::blocks;
  using Scalar = typename Cone::scalar_type;
  if (k.region == ConeRegion::separate) return SetMatrix<Cone>::Zero();
  SetMatrix<Cone> slope = SetMatrix<Cone>::Identity();
  if (k.region == ConeRegion::stick) return slope;

  const Work normal = k.drive / k.resistance;
  std::array<Work, std::size_t(Cone::dimension)> normal_row{};  // dγₙ/dy
  normal_row[std::size_t(Cone::normal_index)] =
      k.weights[std::size_t(Cone::normal_index)] / k.resistance;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!k.slides[b]) continue;
    const auto first = std::size_t(blocks[b].start), end = first + std::size_t(blocks[b].size);
    for (std::size_t i = first; i < end; ++i) {
      normal_row[i] = k.friction[b] * (k.weights[first] / k.resistance) * (k.y[i] / k.norm[b]);
    }
  }
  for (std::size_t j = 0; j < normal_row.size(); ++j) {
    slope(Cone::normal_index, Index(j)) = static_cast<Scalar>(normal_row[j]);
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!k.slides[b]) continue;
    const auto first = std::size_t(blocks[b].start), end = first + std::size_t(blocks[b].size);
    const Work across = k.friction[b] * normal / k.norm[b];
    for (std::size_t i = first; i < end; ++i) {
      const Work t = k.y[i] / k.norm[b];
      for (std::size_t j = 0; j < normal_row.size(); ++j) {
        Work entry = k.friction[b] * t * normal_row[j];
        if (j >= first && j < end)
          entry += across * (Work(i == j ? 1 : 0) - t * (k.y[j] / k.norm[b]));
        slope(Index(i), Index(j)) = static_cast<Scalar>(entry);
      }
    }
  }
  return slope;
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
[[nodiscard]] CAROM_DEVICE ConeProjection<typename Cone::scalar_type, Cone::dimension> project(
    const Cone& cone, const SetVector<Cone>& weights, const SetVector<Cone>& y) noexcept {
  using Scalar = typename Cone::scalar_type;
  detail::expect_valid(cone, weights, y);
  if (!detail::has_moderate_range(bounds(cone), weights)) [[unlikely]] {
    using Wide = typename detail::WiderScalar<Scalar>::type;
    return detail::nearest_point(detail::SharedNormal<Cone, Wide>(cone, weights, y), y);
  }
  return detail::nearest_point(detail::SharedNormal<Cone, Scalar>(cone, weights, y), y);
}

/// Derivative of that projection.
template <SharedNormalCone Cone>
[[nodiscard]] CAROM_DEVICE SetMatrix<Cone> projection_derivative(
    const Cone& cone, const SetVector<Cone>& weights, const SetVector<Cone>& y) noexcept {
  using Scalar = typename Cone::scalar_type;
  detail::expect_valid(cone, weights, y);
  if (!detail::has_moderate_range(bounds(cone), weights)) [[unlikely]] {
    using Wide = typename detail::WiderScalar<Scalar>::type;
    return detail::slope_of(detail::SharedNormal<Cone, Wide>(cone, weights, y));
  }
  return detail::slope_of(detail::SharedNormal<Cone, Scalar>(cone, weights, y));
}

}  // namespace CAROM_ABI
}  // namespace carom
