// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/weighted_block.hpp"
#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ProximalSolver. Each is a pure number [-].
///
/// They were tried on heaps of 300 to 10,000 bodies, rigid ones and, under Coulomb's law,
/// compliant ones.
struct ProximalSolverTuning {
  /// First ρ, relative to w; its factor after each `steps` steps; and its least value. A large ρ
  /// needs more steps, a small one more iterations for each step.
  static constexpr double first_softness = 1e-3, shrink = 0.5, least_softness = 1e-8;
  static constexpr int steps = 5;
  /// Relative residual of a step: at most `first_tolerance`, `share` of the error of the last step,
  /// and at least `least_share` of the tolerance.
  static constexpr double first_tolerance = 1e-3, share = 0.05, least_share = 0.01;
  /// Factor of the share of De Saxcé's term after a reversal and after a continuation of its
  /// change, and the least share.
  static constexpr double turned = 0.5, went_on = 1.3, least_lift_share = 1e-4;
  /// Count of steps without a better answer after which the search ends; the De Saxcé terms of a
  /// few contacts may delay a heap for some tens of steps.
  static constexpr int patience = 30, lift_patience = 100;
  /// Impulses that leave more than this share of ‖q‖ do not obey a law that only their size
  /// satisfies.
  static constexpr double load_share = 0.1;
};

/// The law of a block in a proximal step: rigid rows get the softness as R and v̂ + R c, so that an
/// impulse equal to the centre c obeys the rigid law. De Saxcé's term is subtracted from the
/// normal's bias.
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> proximal_law(WeightedBlock<Scalar> law, const Scalar& softness,
                                                 const Scalar* centre,
                                                 const Scalar& lift) noexcept {
  for (int k = 0; k < law.set.rows && law.rigid; ++k) {
    law.regularization(k) = softness;
    law.bias_velocity(k) += softness * centre[k];
  }
  if (const int normal = normal_row(law.set.shape); normal >= 0) law.bias_velocity(normal) -= lift;
  return law;
}

/// Sets the laws of a proximal step in a copy of a problem.
/// @param softness, lift  softness(i), R of the rigid rows of a block, and lift(i).
/// @param centre          c of all blocks, stacked.
template <RealScalar Scalar, typename Softness, typename Lift>
void write_proximal_laws(const ContactProblem<Scalar>& problem, FrictionLaw law,
                         const Softness& softness, const Lift& lift, const Scalar* centre,
                         ContactProblem<Scalar>& copy) noexcept {
  const bool lifted = law == FrictionLaw::coulomb;
  for (Index i = 0; i < problem.block_count(); ++i) {
    const WeightedBlock<Scalar> own = problem.law(i);
    if (!own.rigid && !lifted) continue;
    copy.set_law(i, proximal_law(own, softness(i), centre + problem.first_row(i),
                                 lifted ? lift(i) : Scalar(0)));
  }
}

/// De Saxcé's terms Σ ‖μ_b ∘ u_b‖ of the blocks of a problem [m/s], in a fixed point iteration.
///
/// A term moves the full way to that of the new velocities until its change reverses. Then its
/// share of the way is halved, and it grows again slowly. Only the few contacts with oscillating
/// terms are therefore slowed down.
template <RealScalar Scalar>
class RelaxedLifts {
 public:
  /// Sets all terms to zero.
  void reset(Index blocks) {
    for (Growing<VectorX<Scalar>>* numbers : {&lifts_, &turns_, &shares_}) numbers->grow(blocks);
    std::fill_n(lifts_.data(), blocks, Scalar(0));
    std::fill_n(turns_.data(), blocks, Scalar(0));
    std::fill_n(shares_.data(), blocks, Scalar(1));
  }
  [[nodiscard]] const Scalar& operator()(Index block) const noexcept { return lifts_(block); }

  /// Moves a block's term towards that of its velocities.
  /// @param velocity  u of the block's rows.
  /// @return  the term of these velocities.
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
