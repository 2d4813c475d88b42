// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// @file
/// The constants of SapSolver, one block for each part of it. Unless a unit is given they are pure
/// numbers [-]; ε_m is the epsilon of the scalar type.

/// The problems for SmallSolver: one body with only friction contacts. Measured on bricks and a
/// robot (docs/performance.md): up to these sizes one dense matrix is faster than the sparse factor
/// of an island. For several bodies it is not: two stacked bricks need a tenth less time, three a
/// tenth more.
struct SmallProblemLimits {
  static constexpr Index contact_limit = 20;
  static constexpr Index velocity_limit = 64;
};

/// The contacts that pad a register: μ, Rₜ, Rₙ and v̂ of the first tangent are 1.
struct PaddingContact {
  /// v̂ₙ [m/s]. Below −1 the trial impulse is in the polar cone, so that the contact is open; this
  /// value is clearly inside.
  static constexpr int normal_bias = -10;
};

/// Constants of SmallNewton's sweeps over contacts.
struct SmallSweepTuning {
  /// Passes over all contacts. The first Newton step of a sliding body often opens the wrong
  /// contacts. This count of passes finds the correct ones in less time than another step: a
  /// sliding brick needs 4 steps instead of 9.
  static constexpr Index pass_count = 3;
  /// The first step is useless if it leaves a residual above this share of its scale.
  static constexpr double useless_residual = 0.5;
};

/// How the line search of Newton's method is bounded.
struct LineSearchTuning {
  /// Largest count of evaluations of the derivative. A search by signs alone ends before it for any
  /// step below 10¹⁵, so it only bounds the work.
  static constexpr int evaluation_limit = 120;
};

/// The increase of the diagonal of H if round-off makes it indefinite: H + raise I is positive
/// definite for a raise above the rounding of H, and results in a descent direction.
struct DiagonalRaiseTuning {
  /// Total count of factorisations; the first one is without a raise.
  static constexpr int attempt_limit = 4;
  /// The first raise [ε_m of the largest entry of the diagonal]: the rounding of a sum of some
  /// sixteen terms of that size.
  static constexpr int first = 16;
  /// Each raise is this multiple of the one before: three of them span nine decades.
  static constexpr int growth = 1000;

  /// The raise after a raise that was too small.
  /// @param largest  entry of the diagonal of Ĵᵀ G Ĵ, ≥ 1.
  template <typename Scalar>
  [[nodiscard]] static Scalar next(const Scalar& raise, const Scalar& largest) noexcept {
    return raise > 0 ? raise * growth : first * std::numeric_limits<Scalar>::epsilon() * largest;
  }
};

/// Constants of IterativeDirections.
struct IterativeDirectionsTuning {
  /// Largest count of products of conjugate gradients per direction. A truncated direction is still
  /// a descent direction.
  static constexpr int product_limit = 500;
  /// Largest share of the gradient that a direction may leave: the smaller of this and the root of
  /// the relative residual, for which Newton's convergence is faster than linear.
  static constexpr double loosest = 0.1;
  /// The last direction leaves at least this share of the target.
  static constexpr double last_share = 0.25;

  /// The share of the gradient that a direction may leave: smaller near the end, but at least the
  /// share for the target.
  /// @param residual  relative to its scale.
  template <typename Scalar>
  [[nodiscard]] static Scalar share_left(const Scalar& residual, const Scalar& tolerance) noexcept {
    using std::sqrt;
    const Scalar wanted = (std::min)(Scalar(loosest), Scalar(sqrt(residual)));
    const Scalar enough = Scalar(last_share) * tolerance / residual;
    return (std::max)(wanted, (std::min)(enough, Scalar(loosest)));
  }
};

/// Constants of CoulombNewton.
struct CoulombNewtonTuning {
  /// A guess whose residual, relative to its scale, is below this is the start. Otherwise the start
  /// is the best of the guess, rest and the free velocity by the cost of the convex law.
  static constexpr double good_guess = 0.1;
  /// Largest count of convex problems of a sequence, each with the De Saxcé term of the one before.
  static constexpr int lift_limit = 200;
  /// Newton's method on the law is the first, and is tried again after each such count of De Saxcé
  /// terms, for any iterate.
  static constexpr int trial_period = 10;
  /// It is also tried if the residual, relative to its scale, is below `reach_share` of that of the
  /// last trial.
  static constexpr double reach_share = 0.5;
  /// Largest count of halvings of a Newton step.
  static constexpr int halvings = 4;
  /// A step of length α is accepted if ‖F‖ is at most the largest of the last `memory` iterates
  /// less the share α times `descent`. With a memory of one, heaps need up to twice as many steps.
  static constexpr int memory = 3;
  static constexpr double descent = 0.1;
  /// Newton's method ends after this count of consecutive steps without an iterate whose ‖F‖ is
  /// below `little` of the least.
  static constexpr int patience = 10;
  static constexpr double little = 0.9;
  /// Relative residual of a convex problem: `first_tolerance` at first, then the residual of the
  /// law divided by `tolerance_divisor`, and at least the tolerance of the solve divided by it.
  static constexpr double first_tolerance = 0.05;
  static constexpr int tolerance_divisor = 3;
  /// Share of the way to the wanted De Saxcé term in each update. It starts above one, because the
  /// term usually undershoots, and is multiplied by `share_decay`, but at least `least_share`, if
  /// the residual of the law has grown.
  static constexpr double first_share = 1.3, share_decay = 0.6, least_share = 0.05;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
