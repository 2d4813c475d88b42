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
/// The constants that steer SapSolver, one block for each part of it. Unless a unit is given they
/// are pure numbers [-]; ε_m is the epsilon of the scalar type.

/// Which problems SmallSolver takes: one body with friction contacts alone. Measured on bricks and
/// a robot (docs/performance.md): up to these sizes one dense matrix is faster than the sparse
/// factor of an island. For several bodies it is not: two bricks on each other take a tenth less
/// time, three take a tenth more.
struct SmallProblemLimits {
  static constexpr Index contact_limit = 20;
  static constexpr Index velocity_limit = 64;
};

/// The contacts that fill up a register: μ, Rₜ, Rₙ and v̂ of the first tangent are 1.
struct PaddingContact {
  /// v̂ₙ [m/s]. Below −1 the trial impulse is in the polar cone, so that the contact is open; this
  /// is well inside.
  static constexpr int normal_bias = -10;
};

/// Constants of SmallNewton's sweeps over contacts.
struct SmallSweepTuning {
  /// Passes over all contacts. The first Newton step of a body that slides often opens the wrong
  /// contacts. So many passes find the right ones in less time than another step takes: a brick
  /// that slides needs 4 steps instead of 9.
  static constexpr Index pass_count = 3;
  /// The first step is useless where it leaves a residual above this share of its scale.
  static constexpr double useless_residual = 0.5;
};

/// How the line search of Newton's method is bounded.
struct LineSearchTuning {
  /// Most evaluations of the slope. A bisection over all numbers of the type ends before it, so it
  /// bounds the work and never decides the answer.
  static constexpr int evaluation_limit = 120;
};

/// By how much the diagonal of H is raised where round-off leaves it indefinite: H + raise I, which
/// is positive definite for a raise above the rounding of H, gives a direction that descends.
struct DiagonalRaiseTuning {
  /// Factorisations in all, the first of them without a raise.
  static constexpr int attempt_limit = 4;
  /// The first raise [ε_m of the largest entry of the diagonal]: the rounding of a sum of some
  /// sixteen terms of that size.
  static constexpr int first = 16;
  /// Each raise is so many times the one before: three of them span nine decades.
  static constexpr int growth = 1000;

  /// The raise after one that was too small.
  /// @param largest  entry of the diagonal of Ĵᵀ G Ĵ, ≥ 1.
  template <typename Scalar>
  [[nodiscard]] static Scalar next(const Scalar& raise, const Scalar& largest) noexcept {
    return raise > 0 ? raise * growth : first * std::numeric_limits<Scalar>::epsilon() * largest;
  }
};

/// Constants of IterativeDirections.
struct IterativeDirectionsTuning {
  /// Most products of conjugate gradients per direction. A direction that is cut short descends all
  /// the same.
  static constexpr int product_limit = 500;
  /// Largest share of the gradient that a direction may leave: of this or the root of the relative
  /// residual the smaller one, which keeps Newton's convergence faster than linear.
  static constexpr double loosest = 0.1;
  /// The last direction leaves no less than this share of what the target allows.
  static constexpr double last_share = 0.25;

  /// The share of the gradient that a direction may leave: smaller near the end, but no less than
  /// the target needs.
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
  /// Most convex problems of a sequence, each with the lift of the one before.
  static constexpr int lift_limit = 200;
  /// Newton's method on the law is tried after every so many lifts, wherever the iterate is.
  static constexpr int trial_period = 10;
  /// It is also tried where the residual, relative to its scale, is below `first_reach`, and after
  /// a trial that failed below `reach_share` of what that trial left.
  static constexpr double first_reach = 0.1, reach_share = 0.5;
  /// A step of Newton's method is halved at most so many times.
  static constexpr int halvings = 5;
  /// A step of length α is taken where ‖F‖ falls by the share α times this at least.
  static constexpr double descent = 0.25;
  /// Newton's method ends after so many steps in a row that leave more than `little` of ‖F‖.
  static constexpr int patience = 3;
  static constexpr double little = 0.7;
  /// Relative residual asked of a convex problem: `first_tolerance` at first, then the residual of
  /// the law over `tolerance_divisor`, and never below the tolerance of the solve over it.
  static constexpr double first_tolerance = 0.05;
  static constexpr int tolerance_divisor = 3;
  /// Share of the way to the lift wanted that each renewal goes. It begins above one, as a lift
  /// mostly undershoots, and shrinks by `share_decay`, but not below `least_share`, whenever the
  /// residual of the law has grown.
  static constexpr double first_share = 1.3, share_decay = 0.6, least_share = 0.05;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
