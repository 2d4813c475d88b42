// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>

#include "carom/cones/concepts.hpp"
#include "carom/cones/detail/number_range.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Consecutive entries of a vector. Their norm is bounded by the shared normal entry.
struct ConeBlock {
  int start;
  int size;
};

// clang-format off

/// A cone with one normal entry and several blocks: ℱ = { γ : ‖γ_b‖ ≤ μ_b γₙ for every block b }.
/// Planar cone, pyramid, torsional and rolling cones have this form; bounds(cone) returns their
/// μ_b. The functions below serve all of them.
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

/// The places of the entries of such a cone, such that one function serves all of them.
template <int Blocks>
struct ConeLayout {
  int dimension, normal_index, block_count;
  ConeBlock blocks[Blocks];
};

/// Largest count of blocks and entries in SharedNormal: those of the cones here, or of a larger
/// cone.
template <SharedNormalCone Cone>
inline constexpr int block_room = Cone::blocks.size() > 3 ? int(Cone::blocks.size()) : 3;
template <typename Cone>
inline constexpr int entry_room = Cone::dimension > 6 ? Cone::dimension : 6;

template <SharedNormalCone Cone>
[[nodiscard]] CAROM_DEVICE constexpr ConeLayout<block_room<Cone>> layout_of() noexcept {
  constexpr auto blocks = Cone::blocks;  // on a device there are no static members
  ConeLayout<block_room<Cone>> layout{Cone::dimension, Cone::normal_index, int(blocks.size()), {}};
  for (std::size_t b = 0; b < blocks.size(); ++b) layout.blocks[b] = blocks[b];
  return layout;
}

template <SharedNormalCone Cone>
CAROM_DEVICE void write_bounds(const Cone& cone,
                               typename Cone::scalar_type (&mu)[block_room<Cone>]) noexcept {
  const auto given = bounds(cone);
  for (std::size_t b = 0; b < given.size(); ++b) mu[b] = given[b];
}

/// The shared normal entry of the nearest point, and the set of sliding blocks.
///
/// The problem: minimise ½ Rₙ (γₙ − yₙ)² + ½ Σ_b R_b ‖γ_b − y_b‖² subject to ‖γ_b‖ ≤ μ_b γₙ. For a
/// fixed γₙ, block b is y_b if ‖y_b‖ ≤ μ_b γₙ, and it slides (γ_b = μ_b γₙ y_b/‖y_b‖) otherwise.
/// The optimality condition for γₙ is piecewise linear and increasing.
///
/// The steps: (1) Scale y and R to order one. The scale of y scales the projection; the scale of R
/// does not change it. (2) Sort the blocks by decreasing ‖y_b‖/μ_b. (3) Start without sliding
/// blocks, γₙ = yₙ. In the sorted order, add a block to the sliding blocks and update
/// γₙ = drive/resistance. The loop ends at the first block with ‖y_b‖ ≤ μ_b γₙ. (4) If drive ≤ 0,
/// the nearest point is the apex.
/// @tparam Scalar  type of the computation: that of the cone, or a wider one.
template <typename Scalar, int Entries = 6, int Blocks = 3>
struct SharedNormal {
  Scalar weights[Entries];  ///< R / 2^(its largest exponent)
  Scalar y[Entries];        ///< y / 2^exponent
  Scalar friction[Blocks];  ///< μ_b
  Scalar norm[Blocks];      ///< ‖y_b‖
  Scalar resistance;        ///< Rₙ + Σ μ_b² R_b over sliding blocks
  Scalar drive;             ///< Rₙ yₙ + Σ μ_b R_b ‖y_b‖ over sliding blocks
  ConeLayout<Blocks> layout;
  int exponent;
  ConeRegion region = ConeRegion::stick;
  bool slides[Blocks] = {};  ///< whether ‖y_b‖ > μ_b γₙ

  template <typename Given>
  CAROM_DEVICE SharedNormal(const ConeLayout<Blocks>& cone, const Given* bounds,
                            const Given* given_weights, const Given* given_y) noexcept
      : layout(cone), exponent(largest_exponent(given_y, cone.dimension)) {
    const PowerOfTwo<Scalar> weight_scale(-largest_exponent(given_weights, cone.dimension));
    const PowerOfTwo<Scalar> scale(-exponent);
    for (int i = 0; i < cone.dimension; ++i) {
      weights[i] = weight_scale.times(static_cast<Scalar>(given_weights[i]));
      y[i] = scale.times(static_cast<Scalar>(given_y[i]));
    }
    resistance = weights[cone.normal_index];
    drive = resistance * y[cone.normal_index];
    int order[Blocks];
    for (int b = 0; b < cone.block_count; ++b) friction[b] = static_cast<Scalar>(bounds[b]);
    sort_blocks(order);
    for (int k = 0; k < cone.block_count; ++k) {
      const int b = order[k];
      if (norm[b] * resistance <= friction[b] * drive) break;  // ‖y_b‖ ≤ μ_b γₙ
      const Scalar pull = friction[b] * weights[cone.blocks[b].start];
      slides[b] = true;
      region = ConeRegion::slide;
      resistance += friction[b] * pull;
      drive += pull * norm[b];
    }
    const bool at_apex = region == ConeRegion::slide && !(drive > Scalar(0));
    if (at_apex || drive < Scalar(0)) region = ConeRegion::separate;
  }

  /// Sorts the blocks by decreasing ‖y_b‖/μ_b, compared without division.
  CAROM_DEVICE void sort_blocks(int (&order)[Blocks]) noexcept {
    using std::sqrt;
    Scalar width[Blocks];  // μ_b, but one where ‖y_b‖ = 0: 0/0 counts as 0
    for (int b = 0; b < layout.block_count; ++b) {
      const auto [start, size] = layout.blocks[b];
      Scalar squared(0);
      for (int i = start; i < start + size; ++i) squared += y[i] * y[i];
      norm[b] = sqrt(squared);
      width[b] = norm[b] == Scalar(0) ? Scalar(1) : friction[b];
      int place = b;
      for (; place > 0 && norm[b] * width[order[place - 1]] > norm[order[place - 1]] * width[b];
           --place) {
        order[place] = order[place - 1];
      }
      order[place] = b;
    }
  }

  /// Writes the nearest point.
  /// @param given  the original y.
  template <typename Given>
  CAROM_DEVICE void write_point(const Given* given, Given* point) const noexcept {
    for (int i = 0; i < layout.dimension; ++i) {
      point[i] = region == ConeRegion::separate ? Given(0) : given[i];
    }
    if (region != ConeRegion::slide) return;
    const Scalar normal = drive / resistance;
    point[layout.normal_index] = static_cast<Given>(shifted(normal, exponent));
    for (int b = 0; b < layout.block_count; ++b) {
      if (!slides[b]) continue;
      const auto share = static_cast<Given>(friction[b] * normal / norm[b]);
      const auto [start, size] = layout.blocks[b];
      for (int i = start; i < start + size; ++i) point[i] *= share;
    }
  }

  /// Writes dP/dy, entry (i, j) to slope[i + step j].
  template <typename Given>
  CAROM_DEVICE void write_slope(int step, Given* slope) const noexcept {
    const int n = layout.normal_index;
    for (int j = 0; j < layout.dimension; ++j) {
      for (int i = 0; i < layout.dimension; ++i) {
        slope[i + step * j] = Given(i == j && region != ConeRegion::separate ? 1 : 0);
      }
    }
    if (region != ConeRegion::slide) return;
    const Scalar normal = drive / resistance;
    Scalar normal_row[Entries] = {};  // dγₙ/dy
    normal_row[n] = weights[n] / resistance;
    for (int b = 0; b < layout.block_count; ++b) {
      if (!slides[b]) continue;
      const auto [start, size] = layout.blocks[b];
      for (int i = start; i < start + size; ++i) {
        normal_row[i] = friction[b] * (weights[start] / resistance) * (y[i] / norm[b]);
      }
    }
    for (int j = 0; j < layout.dimension; ++j) {
      slope[n + step * j] = static_cast<Given>(normal_row[j]);
    }
    for (int b = 0; b < layout.block_count; ++b) {
      if (!slides[b]) continue;
      const auto [start, size] = layout.blocks[b];
      const Scalar across = friction[b] * normal / norm[b];
      for (int i = start; i < start + size; ++i) {
        const Scalar t = y[i] / norm[b];
        for (int j = 0; j < layout.dimension; ++j) {
          Scalar entry = friction[b] * t * normal_row[j];
          const bool own = j >= start && j < start + size;
          if (own) entry += across * (Scalar(i == j ? 1 : 0) - t * (y[j] / norm[b]));
          slope[i + step * j] = static_cast<Given>(entry);
        }
      }
    }
  }
};

/// Checks the preconditions of project().
template <typename Scalar, int Blocks>
CAROM_DEVICE void expect_valid([[maybe_unused]] const ConeLayout<Blocks>& cone,
                               [[maybe_unused]] const Scalar* bounds,
                               [[maybe_unused]] const Scalar* weights,
                               [[maybe_unused]] const Scalar* y) noexcept {
  expect_positive_and_finite(cone.dimension, weights, y);
  for (int b = 0; b < cone.block_count; ++b) {
    CAROM_EXPECTS(bounds[b] >= Scalar(0));
    for (int i = 1; i < cone.blocks[b].size; ++i) {
      CAROM_EXPECTS(weights[cone.blocks[b].start + i] == weights[cone.blocks[b].start]);
    }
  }
}

/// Calls act with the SharedNormal of y, computed in a wider type if the numbers require it.
template <int Entries, typename Scalar, int Blocks, typename Act>
CAROM_DEVICE void with_projection(const ConeLayout<Blocks>& cone, const Scalar* bounds,
                                  const Scalar* weights, const Scalar* y, const Act& act) noexcept {
  expect_valid(cone, bounds, weights, y);
  if (!has_moderate_range(cone.block_count, bounds, cone.dimension, weights)) [[unlikely]] {
    using Wide = typename WiderScalar<Scalar>::type;
    return act(SharedNormal<Wide, Entries, Blocks>(cone, bounds, weights, y));
  }
  act(SharedNormal<Scalar, Entries, Blocks>(cone, bounds, weights, y));
}

/// Writes the nearest point to y and returns the region of y.
/// @param cone    a ConeLayout, or an EllipsoidLayout.
/// @param bounds  its μ.
template <int Entries = 6, typename Layout, typename Scalar>
CAROM_DEVICE ConeRegion write_nearest(const Layout& cone, const Scalar* bounds,
                                      const Scalar* weights, const Scalar* y,
                                      Scalar* point) noexcept {
  ConeRegion region{};
  with_projection<Entries>(cone, bounds, weights, y, [&](const auto& k) {
    k.write_point(y, point);
    region = k.region;
  });
  return region;
}

/// Writes the derivative of the nearest point, entry (i, j) to slope[i + step j].
template <int Entries = 6, typename Layout, typename Scalar>
CAROM_DEVICE void write_slope(const Layout& cone, const Scalar* bounds, const Scalar* weights,
                              const Scalar* y, int step, Scalar* slope) noexcept {
  with_projection<Entries>(cone, bounds, weights, y,
                           [&](const auto& k) { k.write_slope(step, slope); });
}

}  // namespace detail

/// Whether γ is in the cone, each inequality up to slack [unit of γ].
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

/// Whether u is in the dual cone { u : Σ_b μ_b ‖u_b‖ ≤ uₙ }, up to slack [unit of u].
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
  typename Cone::scalar_type mu[detail::block_room<Cone>];
  detail::write_bounds(cone, mu);
  ConeProjection<typename Cone::scalar_type, Cone::dimension> result;
  result.region = detail::write_nearest<detail::entry_room<Cone>>(
      detail::layout_of<Cone>(), mu, weights.data(), y.data(), result.point.data());
  return result;
}

/// Derivative of that projection.
template <SharedNormalCone Cone>
[[nodiscard]] CAROM_DEVICE SetMatrix<Cone> projection_derivative(
    const Cone& cone, const SetVector<Cone>& weights, const SetVector<Cone>& y) noexcept {
  typename Cone::scalar_type mu[detail::block_room<Cone>];
  detail::write_bounds(cone, mu);
  SetMatrix<Cone> slope;
  detail::write_slope<detail::entry_room<Cone>>(detail::layout_of<Cone>(), mu, weights.data(),
                                                y.data(), Cone::dimension, slope.data());
  return slope;
}

}  // namespace CAROM_ABI
}  // namespace carom
