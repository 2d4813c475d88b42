// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// @file
/// The constants of the slip laws of viscoelastic contact, one block for each law. Each is a pure
/// number [-]; ε_m is the epsilon of the scalar type.
///
/// They were measured on random stiff contacts of 1e3 to 1e10 N/m by benchmarks/ablation, which
/// changes one constant at a time. docs/performance.md lists the cost of each change there.

/// Constants of CoulombSlip.
struct CoulombSlipTuning {
  /// Largest count of sweeps; then CoulombFallback solves the problem.
  static constexpr int sweep_limit = 60;
  /// The sweeps end at this change of a force, relative to the largest force [ε_m].
  static constexpr double rounding = 64;
  /// The slip_error of an answer is at most ε_m to this power: 1e-10 in double, 4e-5 in float.
  static constexpr double accuracy_power = 0.64;
  /// Count of sweeps with equal regions between a Newton step that increased the change and the
  /// next Newton step.
  static constexpr int patience = 8;
  /// A Newton step is computed if the remaining sweeps would cost this multiple of its work.
  static constexpr double worth = 2;
  /// Cost estimates for this comparison [about the time of a multiply-add]: a sweep's products with
  /// G at `products_at_once`, and the solve of one contact. For m unknowns of Newton's step: an
  /// elimination of m³ over `elimination_parts`, its matrix of m² entries, and a constant part. The
  /// estimates affect only the work, not the accuracy of an answer.
  static constexpr int products_at_once = 4, contact_work = 120;
  static constexpr int elimination_parts = 6, entry_work = 20, least_work = 100;
  /// Least expected ratio of the changes of two sweeps. A smaller ratio can occur by chance and
  /// does not predict the next sweeps.
  static constexpr double least_ratio = 1e-6;
};

/// Constants of CoulombFallback.
struct CoulombFallbackTuning {
  /// Largest count of first guesses, of Newton steps on G after each guess, and of step lengths
  /// that are tried; each length is half of the one before.
  static constexpr int starts = 40, newton_steps = 40, shares = 10;
  /// Tolerance of InteriorPointSolver [ε_m], and largest count of systems that it may factor.
  static constexpr double path_accuracy = 64;
  static constexpr int path_systems = 1000;
  /// Relative range of the changes of the loads for later guesses.
  static constexpr double disturbance = 0.02;
  /// The target is at least the rounding of G w: ε_m ‖G‖ ‖w‖ divided by this number, relative to
  /// the forces. The rounding errors of the many terms mostly cancel.
  static constexpr int rounding_parts = 4;
  /// If rounding made a scaled G indefinite, the first shift is this number times n ε_m. Then the
  /// shift is multiplied by this number for each digit of the type.
  static constexpr int shift_rise = 10;
  /// A force within this count of roundings of the cone's surface counts as sliding [ε_m]. Newton's
  /// method on the law starts with these regions and corrects them.
  static constexpr int rim_roundings = 16;
};

/// Constants of ConvexSlip.
struct ConvexSlipTuning {
  /// Largest count of sweeps. The descent always converges, but slowly for strongly coupled
  /// contacts.
  static constexpr int sweep_limit = 20000;
  /// The sweeps end at this change of a force, relative to the largest force [ε_m].
  static constexpr double rounding = 64;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
