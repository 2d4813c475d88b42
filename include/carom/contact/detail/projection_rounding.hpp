// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/contact/impulse_set.hpp"
#include "carom/linalg/detail/rounded_number.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

template <std::floating_point Scalar>
using RoundedRows = std::array<RoundedNumber<Scalar>, 6>;

/// The sum plus Σ μ_b ‖x_b‖ over the friction blocks of a set: De Saxcé's term with its rounding.
/// @param rows  x, rounded or exact.
template <std::floating_point Scalar, typename Rows>
[[nodiscard]] RoundedNumber<Scalar> add_lift(RoundedNumber<Scalar> sum,
                                             const ImpulseSet<Scalar>& set,
                                             const Rows& rows) noexcept {
  for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set)) {
    RoundedNumber<Scalar> squared;
    for (int k = 0; k < block.size; ++k) {
      const RoundedNumber<Scalar> part =
          RoundedNumber<Scalar>(block.mu(k)) * rows.data()[block.row(k)];
      squared += part * part;
    }
    sum += square_root(squared);
  }
  return sum;
}

/// The projection P(y) in closed form, for a y that is known up to its rounding. The errors of all
/// steps are bounded. The result is valid if the contact slides or sticks for each such y.
///
/// Notation: x_b = y_b/μ_b and w_b = R_b μ_b² for a circular block b, which has one μ and one R; zₙ
/// is the normal entry of P(y). Block b slides if ‖x_b‖ > zₙ. Then
///   zₙ = (Rₙ yₙ + Σ w_b ‖x_b‖)/(Rₙ + Σ w_b), summed over the sliding blocks,   z_b = μ_b zₙ
///   x_b/‖x_b‖.
/// The steps: (1) Start with zₙ = yₙ and no sliding block. (2) Add the block with the longest x_b
/// to the sliding blocks while ‖x_b‖ > zₙ; update zₙ. (3) Check with the error bounds that zₙ > 0
/// and that each block slides or sticks for certain; otherwise the result is not known. (4) Compute
/// z_b. Only the direction of y_b appears in z_b, so the rounding of a huge tangent y = −v/R is not
/// amplified.
/// @cite  docs/derivations/rounding.md
template <std::floating_point Scalar>
class CircularProjection {
 public:
  using Number = RoundedNumber<Scalar>;
  using Rows = RowNumbers<Scalar>;

  /// @param set      a cone without shift.
  /// @param weights  R, > 0.
  /// @param trial    y.
  CircularProjection(const ImpulseSet<Scalar>& set, const Rows& weights,
                     const RoundedRows<Scalar>& trial) noexcept
      : trial_(trial) {
    for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set)) {
      read(block, weights);
    }
    const int normal = normal_row(set.shape);
    const Number own = weights(normal);
    Number push = own * trial[std::size_t(normal)];
    Number weight = own;
    // A new sliding block cannot make another sliding block stick: the longest x is added first.
    for (int turn = 0; turn < count_; ++turn) {
      Part* const longest = longest_at_rest();
      const Number beyond = longest->length - push / weight;
      if (!(beyond.value > Scalar(0))) break;
      longest->slides = true;
      push += longest->weight * longest->length;
      weight += longest->weight;
    }
    const Number height = push / weight;
    known_ = known_ && surely_positive(height);
    for (int b = 0; b < count_; ++b) {
      const Part& part = parts_[std::size_t(b)];
      known_ = known_ && surely_positive(part.slides ? part.length - height : height - part.length);
    }
    if (!known_) return;
    rows_[std::size_t(normal)] = height;
    for (int b = 0; b < count_; ++b) write(parts_[std::size_t(b)], height);
  }

  /// Whether all y within their errors have the same set of sliding blocks.
  [[nodiscard]] bool known() const noexcept { return known_; }
  /// P(y), if known().
  [[nodiscard]] const RoundedRows<Scalar>& rows() const noexcept { return rows_; }

 private:
  struct Part {
    FrictionBlock<Scalar> block;  ///< its rows with μ > 0
    Number length, weight;        ///< ‖x_b‖ and w_b
    bool slides = false;
  };

  [[nodiscard]] static bool surely_positive(const Number& x) noexcept {
    return x.value > Scalar(0) && x.least() > Scalar(0);
  }

  void read(const FrictionBlock<Scalar>& block, const Rows& weights) noexcept {
    Part& part = parts_[std::size_t(count_++)];
    Number squared;
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;  // P is zero in this row
      part.block.add(block.row(k), block.mu(k));
      const Number x = trial_[std::size_t(block.row(k))] / block.mu(k);
      squared += x * x;
      const bool circular =
          block.mu(k) == part.block.mu(0) && weights(block.row(k)) == weights(part.block.row(0));
      known_ = known_ && circular;
    }
    part.length = square_root(squared);
    if (part.block.size == 0) return;
    const Number mu = part.block.mu(0);
    part.weight = Number(weights(part.block.row(0))) * mu * mu;
  }

  [[nodiscard]] Part* longest_at_rest() noexcept {
    Part* longest = nullptr;
    for (int b = 0; b < count_; ++b) {
      Part& part = parts_[std::size_t(b)];
      if (part.slides) continue;
      if (longest == nullptr || part.length.value > longest->length.value) longest = &part;
    }
    return longest;
  }

  void write(const Part& part, const Number& height) noexcept {
    for (int k = 0; k < part.block.size; ++k) {
      const auto row = std::size_t(part.block.row(k));
      rows_[row] = part.slides ? height * (trial_[row] / part.length) : trial_[row];
    }
  }

  const RoundedRows<Scalar>& trial_;
  std::array<Part, 3> parts_{};
  int count_ = 0;
  bool known_ = true;
  RoundedRows<Scalar> rows_{};
};

/// A bound, for each row, on the distance between a computed point z and the exact projection P(y)
/// of a y that is known up to its rounding.
///
/// The bound does not depend on the formula that computed z. Let ẑ be a point of the cone and ŝ a
/// force in the normal cone at ẑ (with reversed sign). Then ẑ is the projection of ŷ = ẑ − R⁻¹ŝ. P
/// is nonexpansive in the norm of R, so that
///   ‖z − P(y)‖_R ≤ ‖z − ẑ‖_R + ‖ŷ − y‖_R.
/// The steps: (1) If all y within their errors are in the cone, P(y) = y. (2) Otherwise compute
/// s = R (z − y). (3) For each friction block choose ẑ and ŝ near z and s: inside the cone with
/// zero force, or on the surface with the force along the normal of the surface, whichever bound is
/// smaller. If zₙ ≤ 0, choose the apex. (4) If the closed form of a circular cone is known and its
/// bound of a row is smaller, use that one.
/// @cite  docs/derivations/rounding.md
template <std::floating_point Scalar>
class ProjectionRounding {
 public:
  using Rows = RowNumbers<Scalar>;
  using Number = RoundedNumber<Scalar>;

  /// @param weights  R, > 0 in the set's rows.
  /// @param trial    y.
  /// @param nearest  z, near P(y). Any finite number is valid.
  ProjectionRounding(const ImpulseSet<Scalar>& set, const Rows& weights,
                     const RoundedRows<Scalar>& trial, const Rows& nearest) noexcept
      : set_(set), weights_(weights), trial_(trial), nearest_(nearest) {
    if (set.shape == ImpulseShape::intervals) {
      bound_intervals();
    } else {
      bound_cone();
    }
  }

  /// An upper bound of |z − P(y)| in each row.
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }

 private:
  /// The projection onto an interval is exact. If y is beyond a bound by more than its error, the
  /// result is this bound.
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
    Rows moved = Rows::Zero();  // z + shift; its rounding is stored separately
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

  /// The bound from nonexpansiveness.
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

  /// Whether all y within their errors are in the cone. Then P(y) = y.
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
    const Scalar missing = add_lift(-force_[normal], set_, force_).most_or_zero();
    if (missing == Scalar(0)) return missing;
    return raised(missing / std::sqrt(weights_(Index(normal))), 3);
  }

  /// Sums of squares of ‖ẑ − z‖_R and of ‖R⁻¹(s − ŝ)‖_R.
  struct Distance {
    Number clip, force;
    Scalar along = 0;  ///< σ_b, the block's part of ŝₙ

    [[nodiscard]] Scalar size() const noexcept { return clip.most() + force.most(); }
  };

  /// 2 ‖ẑ − z‖_R + ‖R⁻¹(s − ŝ)‖_R for a point with zₙ > 0.
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
      if (!(block.mu(k) > Scalar(0))) {  // ẑ is zero in this row, for any force
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

/// An upper bound of a block's part of the duality gap, ½‖γ − y‖²_R − ½‖P(y) − y‖²_R, as a number
/// with its rounding: the exact part is at most value + error.
///
/// Let s satisfy sᵀ(x + shift) ≥ 0 for all impulses x of the cone. Each such s is a lower bound of
/// the distance of y from the cone, so that the part is at most ½‖γ − y − R⁻¹s‖²_R + sᵀ(γ + shift).
/// The code chooses s near R(P(y) − y). The rounding of a huge y contributes its square only.
/// @cite  docs/derivations/rounding.md
template <std::floating_point Scalar>
class GapRounding {
 public:
  using Number = RoundedNumber<Scalar>;
  using Rows = RowNumbers<Scalar>;

  /// @param weights  R, > 0 in the set's rows.
  /// @param trial    y.
  /// @param nearest  z, near P(y).
  /// @param impulse  γ.
  GapRounding(const ImpulseSet<Scalar>& set, const Rows& weights, const RoundedRows<Scalar>& trial,
              const Rows& nearest, const Rows& impulse) noexcept {
    Rows force = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) {
      force(i) = weights(i) * (nearest(i) - trial[std::size_t(i)].value);
    }
    if (set.shape != ImpulseShape::intervals) raise_normal(set, force);
    for (int i = 0; i < set.rows; ++i) {
      const Number weight = weights(i);
      const Number miss = Number(impulse(i)) - trial[std::size_t(i)] - Number(force(i)) / weight;
      part_ += weight * miss * miss * Scalar(0.5);
      if (force(i) == Scalar(0)) continue;
      part_ += Number(force(i)) * (Number(impulse(i)) - nearest_to_force(set, i, force(i)));
    }
  }

  [[nodiscard]] const Number& part() const noexcept { return part_; }

 private:
  /// Raises sₙ to Σ ‖μ ∘ s_b‖. Then sᵀ(x + shift) ≥ 0 for all impulses x of the cone.
  static void raise_normal(const ImpulseSet<Scalar>& set, Rows& force) noexcept {
    const int normal = normal_row(set.shape);
    const Scalar least = add_lift(Number(), set, force).most();
    if (!(force(normal) >= least)) force(normal) = least;
  }
  /// The impulse x of a row with the least product s x: a bound of an interval, or a cone's apex.
  [[nodiscard]] static Scalar nearest_to_force(const ImpulseSet<Scalar>& set, int row,
                                               const Scalar& force) noexcept {
    if (set.shape != ImpulseShape::intervals) return -set.shift(row);
    return force > Scalar(0) ? set.lower(row) : set.upper(row);
  }

  Number part_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
