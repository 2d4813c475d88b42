// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/circular_projection.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// How far a computed point is from the exact projection P(y) of a y that is known but for its
/// rounding: a bound for each row.
///
/// The formula that gave the point is not looked at. A point ẑ of the cone with a force ŝ of its
/// normal cone is the projection of ŷ = ẑ − R⁻¹ŝ, and P never moves points apart in the norm of
/// R, so that ‖z − P(y)‖_R ≤ ‖z − ẑ‖_R + ‖ŷ − y‖_R. Of each friction block ẑ and ŝ are chosen
/// near z and s = R(z − y): inside without force, or on the surface with the force along it.
/// Where the closed form of a circular cone gives a smaller bound of a row, that one counts.
/// @cite  docs/derivations/rounding.md
template <std::floating_point Scalar>
class ProjectionRounding {
 public:
  using Rows = RowNumbers<Scalar>;
  using Number = RoundedNumber<Scalar>;

  /// @param weights  R, > 0 in the set's rows.
  /// @param trial    y.
  /// @param nearest  z, near P(y); any finite number will do.
  ProjectionRounding(const ImpulseSet<Scalar>& set, const Rows& weights,
                     const RoundedRows<Scalar>& trial, const Rows& nearest) noexcept
      : set_(set), weights_(weights), trial_(trial), nearest_(nearest) {
    if (set.shape == ImpulseShape::intervals) {
      bound_intervals();
    } else {
      bound_cone();
    }
  }

  /// At least |z − P(y)| in every row.
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }

 private:
  /// P of an interval is exact; a y beyond a bound by more than its error leads to that bound.
  void bound_intervals() noexcept {
    for (int i = 0; i < set_.rows; ++i) {
      const auto& [value, error] = trial_[std::size_t(i)];
      const bool above = value - error > set_.upper(i) && nearest_(i) == set_.upper(i);
      const bool below = value + error < set_.lower(i) && nearest_(i) == set_.lower(i);
      if (above || below) continue;
      const Scalar exact = clamped(set_.lower(i), value, set_.upper(i));
      rows_(i) = (Number(nearest_(i)) - exact + Number(Scalar(0), error)).most();
    }
  }

  void bound_cone() noexcept {
    const int n = normal_row(set_.shape);
    const auto normal = std::size_t(n);
    Rows moved = Rows::Zero();  // z + shift, kept apart from its own rounding
    for (int i = 0; i < set_.rows; ++i) {
      const Number sum = Number(nearest_(i)) + set_.shift(i);
      moved(i) = sum.value;
      rows_(i) = sum.error;
      trial_[std::size_t(i)] += set_.shift(i);
    }
    const Rows sums = rows_, kept = moved;
    const CircularProjection<Scalar> closed(set_, weights_, trial_);
    bound_by_distance(moved, normal);
    for (int i = 0; closed.known() && i < set_.rows; ++i) {
      const Number miss = Number(kept(i)) - closed.rows()[std::size_t(i)];
      const Scalar bound = raised(sums(i) + miss.most(), 1);
      if (!(rows_(i) <= bound)) rows_(i) = bound;
    }
  }

  /// The bound by nonexpansiveness.
  void bound_by_distance(Rows moved, std::size_t normal) noexcept {
    const auto n = Index(normal);
    if (stays_inside(moved, normal)) return;
    if (!(moved(n) > Scalar(0))) {  // the apex
      for (int i = 0; i < set_.rows; ++i) rows_(i) = raised(rows_(i) + std::abs(moved(i)), 1);
      for (int i = 0; i < 6; ++i) moved(i) = Scalar(0);
    }
    for (int i = 0; i < set_.rows; ++i) {
      const std::size_t k = std::size_t(i);
      force_[k] = Number(weights_(i)) * (Number(moved(i)) - trial_[k]);
    }
    const Scalar distance = moved(n) > Scalar(0) ? on_surface(moved, normal) : at_apex(normal);
    if (distance == Scalar(0)) return;
    for (int i = 0; i < set_.rows; ++i) {
      rows_(i) = raised(rows_(i) + distance / std::sqrt(weights_(i)), 4);
    }
  }

  /// Whether all y within their errors are in the cone, where P leaves them as they are.
  [[nodiscard]] bool stays_inside(const Rows& moved, std::size_t normal) noexcept {
    bool inside = trial_[normal].value > Scalar(0);
    for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set_)) {
      Number squared;
      for (int k = 0; k < block.size; ++k) {
        const Number& entry = trial_[std::size_t(block.row(k))];
        const bool free = block.mu(k) > Scalar(0);
        inside = inside && (free || (entry.value == Scalar(0) && entry.exact()));
        if (!free) continue;
        const Number part = entry / block.mu(k);
        squared += part * part;
      }
      inside = inside && (square_root(squared) - trial_[normal]).most_or_zero() == Scalar(0);
    }
    if (!inside) return false;
    for (int i = 0; i < set_.rows; ++i) {
      rows_(i) = raised(rows_(i) + (Number(moved(i)) - trial_[std::size_t(i)]).most(), 1);
    }
    return true;
  }

  /// ‖ŷ − y‖_R at the apex, where s must be in the dual cone: Σ ‖μ ∘ s_b‖ ≤ sₙ.
  [[nodiscard]] Scalar at_apex(std::size_t normal) noexcept {
    Number lack = -force_[normal];
    for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set_)) {
      Number squared;
      for (int k = 0; k < block.size; ++k) {
        const Number part = Number(block.mu(k)) * force_[std::size_t(block.row(k))];
        squared += part * part;
      }
      lack += square_root(squared);
    }
    const Scalar missing = lack.most_or_zero();
    if (missing == Scalar(0)) return missing;
    return raised(missing / std::sqrt(weights_(Index(normal))), 3);
  }

  /// Sums of squares of ‖ẑ − z‖_R and of ‖R⁻¹(s − ŝ)‖_R.
  struct Distance {
    Number clip, force;
    Scalar along = 0;  ///< σ_b, the block's part of ŝₙ

    [[nodiscard]] Scalar size() const noexcept { return clip.most() + force.most(); }
  };

  /// 2 ‖ẑ − z‖_R + ‖R⁻¹(s − ŝ)‖_R of a point with zₙ > 0.
  [[nodiscard]] Scalar on_surface(const Rows& moved, std::size_t normal) noexcept {
    Number clip, squared, rest = force_[normal];
    for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set_)) {
      Distance chosen = distance_of(block, moved, Number(moved(Index(normal))));
      clip += chosen.clip;
      squared += chosen.force;
      rest -= chosen.along;
    }
    squared += rest * rest / weights_(Index(normal));
    return (square_root(clip) * Scalar(2) + square_root(squared)).most();
  }

  [[nodiscard]] Distance distance_of(const FrictionBlock<Scalar>& block, const Rows& moved,
                                     const Number& normal) noexcept {
    Number reach, work, weight;  // ‖z_b/μ‖², z_bᵀs_b, ‖z_b‖²_R
    Distance inside, outside;
    for (int k = 0; k < block.size; ++k) {
      const int row = block.row(k);
      const Number z = moved(row), r = weights_(row), &s = force_[std::size_t(row)];
      if (!(block.mu(k) > Scalar(0))) {  // ẑ is zero in this row, whatever the force
        inside.clip += r * z * z;
        continue;
      }
      const Number scaled = z / block.mu(k);
      reach += scaled * scaled;
      work += z * s;
      weight += r * z * z;
      inside.force += s * s / r;
    }
    outside.clip = inside.clip;
    if (reach.value == Scalar(0) && reach.exact()) return inside;
    const Number length = square_root(reach), beyond = length - normal;
    if (const Scalar over = beyond.most_or_zero(); over > Scalar(0)) {
      const Number share = Number(over) / length;
      inside.clip += weight * share * share;
    }
    outside.along = -work.value / length.value;
    if (!(outside.along > Scalar(0))) return inside;
    const Number share = beyond / length;
    outside.clip += weight * share * share;
    for (int k = 0; k < block.size; ++k) {
      const int row = block.row(k);
      if (!(block.mu(k) > Scalar(0))) continue;
      const Number mu = block.mu(k), direction = Number(moved(row)) / mu / length;
      const Number miss = force_[std::size_t(row)] + Number(outside.along) * direction / mu;
      outside.force += miss * miss / weights_(row);
    }
    return outside.size() < inside.size() ? outside : inside;
  }

  const ImpulseSet<Scalar>& set_;
  const Rows& weights_;
  RoundedRows<Scalar> trial_;
  const Rows& nearest_;
  RoundedRows<Scalar> force_{};  ///< s
  Rows rows_ = Rows::Zero();
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
