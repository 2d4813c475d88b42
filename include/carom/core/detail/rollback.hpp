// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_limits.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Undoes a change that is not complete: calls undo() at the end of the scope, also where an
/// exception leaves it, unless keep() was called before.
template <typename Undo>
class Rollback {
 public:
  /// @param undo  must not throw.
  explicit Rollback(const Undo& undo) noexcept : undo_(undo) {}
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  ~Rollback() {
    if (!kept_) undo_();
  }
  void keep() noexcept { kept_ = true; }

 private:
  Undo undo_;
  bool kept_ = false;
};

/// Calls prepare(), which makes memory for a solver. If an exception leaves it, the solver becomes
/// as new, with its options and limits: what it had analysed may not fit the memory that it has.
template <typename Solver, typename Prepare>
void prepare_or_renew(Solver& solver, const SolveLimits& limits, const Prepare& prepare) {
  Rollback rollback([&solver, limits]() noexcept {
    solver = Solver(solver.options());
    solver.set_limits(limits);
  });
  prepare();
  rollback.keep();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
