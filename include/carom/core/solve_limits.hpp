// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Limits of one solve in addition to the solver's own options: a limit of iterations, and a limit
/// of time on a clock that the caller supplies. carom itself reads no clock.
///
/// ```
/// const auto now = [](void*) noexcept {
///   return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
///       .count();
/// };
/// solver.set_limits({.now = now, .deadline = now(nullptr) + 1e-3});
/// ```
/// A solver reads the clock once per iteration and in large factorisations. The limits stay in
/// force until other limits are set. At the deadline the solver returns its best iterate, with
/// impulses inside their cones, the residual of that iterate and the status SolveStatus::deadline.
/// A started iteration is completed, unless it factors a large matrix: the clock is read within a
/// factorisation, which then ends, and the iterate is that of before. A solver with a factorisation
/// does not start an iteration that would end after the deadline if it lasted as long as the
/// longest iteration of this solve and of the last one. Such a solve therefore exceeds the deadline
/// by at most one iteration, and only while no iteration time is known. ContactSolver begins with
/// sweeps: `least_sweeps` of them and the measure of their answer are made in any case.
struct SolveLimits {
  /// Largest count of iterations of one solve, as counted in its report, ≥ 0. The limit in the
  /// options applies too.
  int iteration_limit = (std::numeric_limits<int>::max)();
  /// The clock [s]: now(context). Without a clock there is no deadline. Solvers on several threads
  /// call it from all threads.
  double (*now)(void* context) noexcept = nullptr;
  void* context = nullptr;                                    ///< Argument of the clock.
  double deadline = std::numeric_limits<double>::infinity();  ///< On that clock [s].
  /// Count of sweeps over all contacts that ContactSolver with ContactMethod::automatic makes even
  /// if the time is over, ≥ 1, unless one of them changes nothing. With one in each step a stack
  /// creeps; with ten it stands.
  int least_sweeps = 1;

  /// Whether the deadline has passed. It is also true if the clock or the deadline is NaN.
  /// @note  Real-time safe if the clock is.
  [[nodiscard]] bool is_over() const noexcept {
    return now != nullptr && !(now(context) < deadline);
  }
  /// Whether there is a clock and a time on it at which a solve has to end.
  [[nodiscard]] bool has_deadline() const noexcept {
    return now != nullptr && !(deadline == std::numeric_limits<double>::infinity());
  }
  /// The same clock and deadline with another iteration limit.
  [[nodiscard]] SolveLimits with_iterations(int limit) const noexcept {
    SolveLimits other = *this;
    other.iteration_limit = limit;
    return other;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
