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
  /// What that compares [about the time of a multiply-add]: a sweep's products with G at
  /// `products_at_once`, and a contact's own solve; for m unknowns of Newton's step an elimination
  /// of m³ over `elimination_parts`, its matrix of m² entries, and what it costs anyway. They are
  /// estimates, which decide on the work and not on what an answer is worth.
  static constexpr int products_at_once = 4, contact_work = 120;
  static constexpr int elimination_parts = 6, entry_work = 20, least_work = 100;
  /// Least share of the change that a sweep is expected to leave: one that fell further by chance
  /// says nothing of the next ones.
  static constexpr double least_ratio = 1e-6;
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
  /// The target is no less than what rounding leaves of G w: ε_m ‖G‖ ‖w‖ over this, relative to the
  /// forces. Rounding of the many terms mostly cancels.
  static constexpr int rounding_parts = 4;
  /// A scaled G that rounding left indefinite is shifted first by this many times n ε_m, and then
  /// by so many times more for each digit of the type.
  static constexpr int shift_rise = 10;
  /// A force within so many roundings of the cone's surface slides [ε_m]. Newton's method on the
  /// law starts with these regions and corrects them.
  static constexpr int rim_roundings = 16;
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
