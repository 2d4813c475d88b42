// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/coulomb_law.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/search/proximal_solver_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// De Saxcé's lifts Σ ‖μ_b ∘ u_b‖ of the blocks of a problem [m/s], in a fixed point iteration.
///
/// A lift goes all the way to that of the new velocities until it turns back; then its share of the
/// way is halved, and it grows again slowly. So the few contacts whose lifts jump to and fro are
/// slowed down, and the others are not.
template <RealScalar Scalar>
class RelaxedLifts {
 public:
  /// Lifts of zero.
  void reset(Index blocks) {
    for (Growing<VectorX<Scalar>>* numbers : {&lifts_, &turns_, &shares_}) numbers->grow(blocks);
    std::fill_n(lifts_.data(), blocks, Scalar(0));
    std::fill_n(turns_.data(), blocks, Scalar(0));
    std::fill_n(shares_.data(), blocks, Scalar(1));
  }
  [[nodiscard]] const Scalar& operator()(Index block) const noexcept { return lifts_(block); }

  /// Moves a block's lift towards that of its velocities.
  /// @param velocity  u of the block's rows.
  /// @return  the lift of these velocities.
  Scalar move(Index block, const ImpulseSet<Scalar>& set, const Scalar* velocity) noexcept {
    RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
    std::copy_n(velocity, set.rows, rows.data());
    const Scalar lift = de_saxce_lift(set, rows), change = lift - lifts_(block);
    Scalar& share = shares_(block);
    share = change * turns_(block) < Scalar(0)
                ? (std::max)(share * Scalar(Tuning::turned), Scalar(Tuning::least_lift_share))
                : (std::min)(share * Scalar(Tuning::went_on), Scalar(1));
    turns_(block) = change;
    lifts_(block) += share * change;
    return lift;
  }

 private:
  using Tuning = ProximalSolverTuning;

  Growing<VectorX<Scalar>> lifts_, turns_;  ///< and their last changes
  Growing<VectorX<Scalar>> shares_;         ///< [-], in (0, 1]
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
