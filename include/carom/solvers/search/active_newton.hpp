// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/search/active_block.hpp"
#include "carom/solvers/search/paired_step.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton's method on the law itself from impulses near a solution. Every step guesses from
/// the trial impulse of each block whether it is open, stuck or sliding.
///
/// A step is halved until the error falls. The method ends where a step gains too little; where
/// that may be for the rounding of the impulses, a pair of impulses and velocities is tried.
/// @cite  alart1991mixed, in impulses.
template <typename System>
class ActiveNewton {
 public:
  using Scalar = typename System::scalar_type;

  /// @param at     the search; its iterate is the best one met at the end.
  /// @param steps  most systems.
  static void solve(LawSearch<System>& at, int steps) {
    search(at, steps);
    if constexpr (has_pairs<System>) {
      if (at.is_solved() || !at.may_go_on() || !PairedStep<System>::may_help(at)) return;
      PairedStep<System>::solve(at);
    }
  }

 private:
  static void search(LawSearch<System>& at, int steps) {
    const int end = at.systems + steps;
    for (int k = 0; !at.is_solved() && at.systems < end && at.may_go_on(); ++k) {
      const Scalar before = at.error;
      write_response(at, held_softness<Scalar>());
      ++at.systems;
      StepMemory<Scalar>& memory = at.memory;
      if (!at.system.factor(at.island, memory.gains)) return;
      at.system.solve(at.island, memory.gains, memory.offset.data(), memory.step.data(),
                      memory.moved.data());
      if (!take_step(at)) return;
      const bool settling = k < Tuning::settling_steps;
      const auto enough = Scalar(settling ? Tuning::settling_gain : Tuning::gain);
      if (at.error > enough * before) return;
    }
  }

  using Tuning = ActiveNewtonTuning;

  /// Takes the first share of the step that lowers the error enough, or the share of the least
  /// error. Where no share lowers it, returns false and leaves the iterate as it was.
  static bool take_step(LawSearch<System>& at) {
    at.copy(at.iterate.impulse(), at.memory.kept.data());
    const auto go = [&](const Scalar& share) {
      at.for_each([&]<int Parts>(Index, const BlockRows<Scalar, Parts>& block) {
        const PartNumbers<Scalar, Parts> to = read_parts(block, at.memory.kept.data()) +
                                              share * read_parts(block, at.memory.step.data());
        write_parts(block, ActiveBlock<Scalar, Parts>::clip(block, to), at.iterate.impulse());
      });
      at.measure();
    };
    const Scalar before = at.error;
    Scalar share(1), best_share(0), last(0), least = before;
    for (int k = 0; k <= Tuning::halvings; ++k, share /= 2) {
      last = share;
      go(share);
      if (at.error < least) {
        least = at.error;
        best_share = share;
      }
      if (at.error < (1 - Scalar(Tuning::descent) * share) * before) break;
    }
    if (best_share > Scalar(0)) {
      if (best_share != last) go(best_share);
      return true;
    }
    at.copy(at.memory.kept.data(), at.iterate.impulse());
    at.measure();
    return false;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
