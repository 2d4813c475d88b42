// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ProximalSolver. Each is a pure number [-].
///
/// They were tried on heaps of 300 to 10,000 bodies, rigid ones and, under Coulomb's law,
/// compliant ones.
struct ProximalSolverTuning {
  /// ρ at first, relative to w; what it is multiplied by every `steps` steps; and the least. A
  /// large ρ takes more steps, a small one more iterations for each.
  static constexpr double first_softness = 1e-3, shrink = 0.5, least_softness = 1e-8;
  static constexpr int steps = 5;
  /// Relative residual asked of a step: `first_tolerance` at most, `share` of the error of the last
  /// step, and no less than `least_share` of the tolerance.
  static constexpr double first_tolerance = 1e-3, share = 0.05, least_share = 0.01;
  /// What the share of the way that a lift goes is multiplied by where it turned back and where it
  /// went on, and the least share.
  static constexpr double turned = 0.5, went_on = 1.3, least_lift_share = 1e-4;
  /// Steps without a better answer after which the search ends; the lifts of a few contacts may
  /// hold up a heap for some tens of steps.
  static constexpr int patience = 30, lift_patience = 100;
  /// Impulses that leave more than this share of ‖q‖ do not obey a law that only their size meets.
  static constexpr double load_share = 0.1;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
