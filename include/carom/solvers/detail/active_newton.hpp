// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/detail/active_block.hpp"
#include "carom/solvers/detail/law_iterate.hpp"

namespace carom::inline CAROM_ABI::detail {

/// How long Newton's method on the law goes on.
template <RealScalar Scalar>
struct NewtonPatience {
  Scalar tolerance;  ///< natural map error to end at [-]
  int systems;       ///< most
};

/// Newton's method on the law itself from impulses near a solution: what is open, stuck or sliding
/// is guessed from the trial impulse of every block, anew in every step.
///
/// Steps are halved until the natural map error falls; it ends where that gains too little.
/// @cite  alart1991mixed, in impulses.
template <typename System>
class ActiveNewton {
 public:
  using Scalar = typename System::scalar_type;

  /// @param iterate  impulses in; the best met out, with their velocities.
  /// @param error    natural map error of the iterate, in and out.
  /// @param systems  counts the systems factored.
  static void solve(System& system, Index island, const Yardstick<Scalar>& yardstick,
                    const NewtonPatience<Scalar>& patience, LawIterate<Scalar>& iterate,
                    StepMemory<Scalar>& memory, Scalar& error, int& systems) {
    const int limit = systems + patience.systems;
    for (int k = 0; error > patience.tolerance && systems < limit; ++k) {
      const Scalar before = error;
      write_response(system, island, yardstick.law, iterate, memory);
      ++systems;
      if (!system.factor(island, memory.gains)) return;
      system.solve(island, memory.gains, memory.offset.data(), memory.step.data(),
                   memory.moved.data());
      if (!take_step(system, island, yardstick, iterate, memory, error)) return;
      const Scalar enough = k < settling_steps ? Scalar(0.95) : Scalar(0.5);
      if (error > enough * before) return;
    }
  }

 private:
  /// Steps that may gain little while the guess of what slides settles.
  static constexpr int settling_steps = 2;
  static constexpr int halvings = 5;

  static void write_response(const System& system, Index island, FrictionLaw law,
                             const LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory) {
    const BlockIsland& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      system.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
        BlockResponse<Scalar, Parts> response;
        ActiveBlock<Scalar, Parts>::write(block, law, read_parts(block, iterate.impulse()),
                                          read_parts(block, iterate.velocity()), response);
        memory.gains.write(i, block.parts, response.gain);
        write_parts(block, response.offset, memory.offset.data());
      });
    }
  }
  /// Goes along the step as far as the error falls, or as far as it is least. False, and the
  /// iterate as it was, where it does not fall at all.
  static bool take_step(System& system, Index island, const Yardstick<Scalar>& yardstick,
                        LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory, Scalar& error) {
    const BlockIsland& own = system.islands()[island];
    const Index begin = 3 * own.first_part, end = 3 * own.part_end;
    std::copy(iterate.impulse() + begin, iterate.impulse() + end, memory.kept.begin() + begin);
    const auto go = [&](const Scalar& share) {
      for (Index i = own.first_block; i < own.block_end; ++i) {
        system.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
          const PartNumbers<Scalar, Parts> to =
              read_parts(block, memory.kept.data()) + share * read_parts(block, memory.step.data());
          write_parts(block, ActiveBlock<Scalar, Parts>::clip(block, to), iterate.impulse());
        });
      }
      return iterate.measure(system, island, yardstick);
    };
    const Scalar before = error;
    Scalar share(1), best_share(0), last(0);
    for (int k = 0; k <= halvings; ++k, share /= 2) {
      last = share;
      const Scalar trial = go(share);
      if (trial < error) {
        error = trial;
        best_share = share;
      }
      if (trial < (1 - share / 10) * before) break;
    }
    if (best_share > Scalar(0)) {
      if (best_share != last) static_cast<void>(go(best_share));
      return true;
    }
    std::copy(memory.kept.begin() + begin, memory.kept.begin() + end, iterate.impulse() + begin);
    iterate.write_velocity(system, island);
    return false;
  }
};

}  // namespace carom::inline CAROM_ABI::detail
