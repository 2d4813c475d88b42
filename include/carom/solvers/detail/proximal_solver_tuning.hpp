// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ProximalSolver. Each is a pure number [-].
///
/// They were tried on heaps of 300 to 10,000 rigid bodies.
struct ProximalSolverTuning {
  /// ρ at first, relative to w; what it is multiplied by every `steps` steps; and the least. A
  /// large ρ takes more steps, a small one more iterations for each.
  static constexpr double first_softness = 1e-3, shrink = 0.5, least_softness = 1e-8;
  static constexpr int steps = 5;
  /// Relative residual asked of a step: `first_tolerance` at most, `share` of the error of the last
  /// step, and no less than `least_share` of the tolerance.
  static constexpr double first_tolerance = 1e-3, share = 0.05, least_share = 0.01;
  /// Steps without a better answer after which the search ends.
  static constexpr int patience = 30;
  /// Impulses that leave more than this share of ‖q‖ do not obey a law that only their size meets.
  static constexpr double load_share = 0.1;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
