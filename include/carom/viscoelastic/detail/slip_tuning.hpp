// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// @file
/// The constants that steer the slip laws of viscoelastic contact, one block for each. Each is a
/// pure number [-]; ε_m is the epsilon of the scalar type.
///
/// They were measured on random stiff contacts of 1e3 to 1e10 N/m by benchmarks/ablation, which
/// changes one constant at a time; docs/performance.md has what each change costs there.

/// Constants of CoulombSlip.
struct CoulombSlipTuning {
  /// Most sweeps, after which CoulombFallback takes over.
  static constexpr int sweep_limit = 60;
  /// Change of a force in a sweep at which to stop, relative to the largest force [ε_m].
  static constexpr double rounding = 64;
  /// slip_error of an answer is at most ε_m to this power: 1e-10 in double, 4e-5 in float.
  static constexpr double accuracy_power = 0.64;
  /// Sweeps with equal regions that come between a Newton step that made the change larger and the
  /// next Newton step.
  static constexpr int patience = 8;
  /// A Newton step is taken where the sweeps left would cost so many times its work.
  static constexpr double worth = 2;
};

/// Constants of CoulombFallback.
struct CoulombFallbackTuning {
  /// Most first guesses, Newton steps on G after each, and shares of a step that are tried, each
  /// half of the one before.
  static constexpr int starts = 40, newton_steps = 40, shares = 10;
  /// Tolerance of InteriorPointSolver [ε_m], and the most systems that it may factor.
  static constexpr double path_accuracy = 64;
  static constexpr int path_systems = 1000;
  /// Width of the range by which the loads of later guesses are off.
  static constexpr double disturbance = 0.02;
};

/// Constants of ConvexSlip.
struct ConvexSlipTuning {
  /// Most sweeps: a descent that always converges, slowly where contacts act on each other much.
  static constexpr int sweep_limit = 20000;
  /// Change of a force in a sweep at which to stop, relative to the largest force [ε_m].
  static constexpr double rounding = 64;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
