// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/search/active_block.hpp"
#include "carom/solvers/search/law_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes N and h of all blocks for Newton's step on the law from the iterate.
/// @param softness  of sticking rows, relative to w [-].
template <typename System, RealScalar Scalar = typename System::scalar_type>
void write_response(LawSearch<System>& at, const Scalar& softness) {
  at.for_each([&]<int Parts>(Index i, const BlockRows<Scalar, Parts>& block) {
    BlockResponse<Scalar, Parts> response;
    ActiveBlock<Scalar, Parts>::write(block, at.yardstick.law,
                                      read_parts(block, at.iterate.impulse()),
                                      read_parts(block, at.iterate.velocity()), response, softness);
    at.memory.gains.write(i, block.parts, response.gain);
    write_parts(block, response.offset, at.memory.offset.data());
  });
}

/// Whether a system can store velocities in addition to impulses.
template <typename System>
inline constexpr bool has_pairs = requires(System& system) {
  system.pairs();
};

/// Newton steps in which the velocities of the bodies are separate unknowns in addition to the
/// impulses.
///
/// Impulses from a load of 10⁸ times a body's own momentum cancel on the body, and their rounding
/// moves it: no impulses in this type result in the velocity that its contacts require. A pair (w,
/// γ) can be such an answer: its blocks obey the law with the velocities w, and the momentum of
/// each body is equal to the impulses up to their rounding. Newton's step computes both, dw and dγ,
/// from one system.
///
/// Sticking rows are softened. The heavier a body is relative to the bodies that support it, the
/// smaller is the share of its error that a step removes: the errors decrease by a constant factor.
/// Each second step is therefore extrapolated to the sum of all later steps.
template <typename System>
class PairedStep {
 public:
  using Scalar = typename System::scalar_type;

  /// Whether the error of the iterate may be only rounding of its impulses.
  [[nodiscard]] static bool may_help(LawSearch<System>& at) {
    return has_pairs<System> && at.residual <= Scalar(roundings) * noise(at);
  }
  /// Whether one rounding of the impulses may move a block by more than the tolerance.
  [[nodiscard]] static bool is_blurred(LawSearch<System>& at) { return noise(at) > at.tolerance; }
  /// Searches a pair that satisfies the tolerance.
  /// @param at  the search. If a pair is found, its iterate is this pair, `paired` is true, and the
  ///            system's pairs() contain w − w* of the island. Otherwise it does not change.
  ///            system's pairs() hold w − w* of the island. Else it is as before.
  static void solve(LawSearch<System>& at) {
    System& system = at.system;
    at.copy(at.iterate.impulse(), at.memory.kept.data());
    system.begin_pair(at.island, at.iterate.impulse());
    Scalar last = std::numeric_limits<Scalar>::infinity();
    for (int k = 0; k < steps && at.may_go_on(); ++k) {
      if (!take_step(at, k % 2 == 1)) break;
      const auto found = at.iterate.judge(system, at.island, at.yardstick.law);
      const Scalar balance = system.balance(at.island, at.iterate.impulse());
      at.residual = (std::max)(found.residual, balance);
      at.error = found.merit + balance;
      at.paired = at.is_solved();
      if (at.paired) return;
      if (k % 2 == 0) continue;
      if (!(at.residual < Scalar(gain) * last)) break;
      last = at.residual;
    }
    at.copy(at.memory.kept.data(), at.iterate.impulse());
    at.measure();
  }

 private:
  /// Largest count of steps, and the share to which two of them must reduce the error.
  static constexpr int steps = 16;
  static constexpr double gain = 0.7;
  /// Softness of sticking rows [ε], relative to w. With much less, the rounding of sticking rows
  /// hides free motion. With much more, the gain is smaller if masses differ by 10¹² in double, 10⁵
  /// in float.
  static constexpr double softness = 64;
  /// Possible error of a body's velocity in the worst contact, in roundings of the sum of the
  /// impulses on it: each elimination of a system causes such roundings.
  static constexpr int roundings = 256;

  /// The largest motion of a block from one rounding of the impulses [-].
  [[nodiscard]] static Scalar noise(LawSearch<System>& at) {
    if constexpr (has_pairs<System>) {
      return std::numeric_limits<Scalar>::epsilon() *
             at.system.cancellation(at.island, at.iterate.impulse());
    }
    return Scalar(0);
  }
  /// @param all  whether to extrapolate to the sum of all later steps.
  [[nodiscard]] static bool take_step(LawSearch<System>& at, bool all) {
    write_response(at, Scalar(softness) * std::numeric_limits<Scalar>::epsilon());
    ++at.systems;
    if (!at.system.factor(at.island, at.memory.gains)) return false;
    at.system.solve(at.island, at.memory.gains, at.memory.offset.data(), at.memory.step.data(),
                    at.memory.moved.data());
    const Scalar length = at.system.push_pair(at.island, all);
    at.for_each([&]<int Parts>(Index, const BlockRows<Scalar, Parts>& block) {
      const PartNumbers<Scalar, Parts> to = read_parts(block, at.iterate.impulse()) +
                                            length * read_parts(block, at.memory.step.data());
      write_parts(block, ActiveBlock<Scalar, Parts>::clip(block, to), at.iterate.impulse());
    });
    at.iterate.write_paired_velocity(at.system, at.island);
    return true;
  }
};

/// Newton's method on the law from impulses near a solution. In each step the trial impulse of each
/// block determines whether it is open, sticks or slides.
///
/// A step is halved until the error decreases. The method ends if a step gains too little. If the
/// reason may be the rounding of the impulses, a pair of impulses and velocities is tried.
/// @cite  alart1991mixed, in impulses.
template <typename System>
class ActiveNewton {
 public:
  using Scalar = typename System::scalar_type;

  /// @param at     the search; at the end its iterate is the best one.
  /// @param steps  largest count of systems.
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

  /// Accepts the first share of the step that reduces the error sufficiently, or the share with the
  /// least error. If no share reduces it, returns false, and the iterate does not change.
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
