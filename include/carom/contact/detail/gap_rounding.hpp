// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/circular_projection.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An upper bound of a block's part of the duality gap, ½‖γ − y‖²_R − ½‖P(y) − y‖²_R, as a number
/// with its rounding: the exact part is at most value + error.
///
/// For any s that a cone's impulses x cannot push against, sᵀ(x + shift) ≥ 0, the distance of y
/// from all of them is at least what s shows, and the part is at most ½‖γ − y − R⁻¹s‖²_R +
/// sᵀ(γ + shift). s is chosen near R(P(y) − y). The rounding of a huge y enters by its square.
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
  /// Raises sₙ to Σ ‖μ ∘ s_b‖, where the cone's impulses cannot push against s.
  static void raise_normal(const ImpulseSet<Scalar>& set, Rows& force) noexcept {
    Number needed;
    for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set)) {
      Number squared;
      for (int k = 0; k < block.size; ++k) {
        const Number part = Number(block.mu(k)) * force(block.row(k));
        squared += part * part;
      }
      needed += square_root(squared);
    }
    const int normal = normal_row(set.shape);
    const Scalar least = needed.most();
    if (!(force(normal) >= least)) force(normal) = least;
  }
  /// The impulse of a row along which a force is least: a bound of an interval, or a cone's apex.
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
