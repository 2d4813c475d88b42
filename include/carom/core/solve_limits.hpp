// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How long a solver may go on, beside its own options: in iterations, and in time by a clock that
/// the caller brings. carom reads no clock of its own.
///
/// ```
/// const auto now = [](void*) noexcept {
///   return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
///       .count();
/// };
/// solver.set_limits({.now = now, .deadline = now(nullptr) + 1e-3});
/// ```
/// A solver asks the clock once per iteration and keeps to the limits until others are set. At the
/// deadline it returns the best iterate met, with impulses inside their cones, the residual of that
/// iterate and the status SolveStatus::deadline. An iteration that has begun is completed. A solver
/// that factors begins no iteration that would end late if it took as long as the longest of this
/// solve and the last. A solve is thus late by the time of one iteration only while no such time is
/// known.
struct SolveLimits {
  /// Most iterations of one solve, as its report counts them, ≥ 0; the limit of the options holds
  /// beside it.
  int iteration_limit = (std::numeric_limits<int>::max)();
  /// The clock [s]: now(context); without one there is no deadline. Solvers on several threads call
  /// it from all of them.
  double (*now)(void* context) noexcept = nullptr;
  void* context = nullptr;                                    ///< What the clock is called with.
  double deadline = std::numeric_limits<double>::infinity();  ///< On that clock [s].

  /// Whether the deadline has come; true also where the clock or the deadline is NaN.
  /// @note  Real-time safe if the clock is.
  [[nodiscard]] bool is_over() const noexcept {
    return now != nullptr && !(now(context) < deadline);
  }
  /// The same clock and deadline with another limit of iterations.
  [[nodiscard]] SolveLimits with_iterations(int limit) const noexcept {
    SolveLimits other = *this;
    other.iteration_limit = limit;
    return other;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
