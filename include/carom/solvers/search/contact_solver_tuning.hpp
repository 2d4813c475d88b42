// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ContactSolver, which orders SapSolver and InteriorPointSolver, of solve_or_prove()
/// and of soften(). Each is a pure number [-] unless a unit is given.
///
/// They were measured on the files of examples/data under both laws, compliant and rigid, on bodies
/// that fall into a bin and on problems without an answer, by benchmarks/ablation, which changes
/// one constant at a time; docs/performance.md has what each change costs there.
struct ContactSolverTuning {
  /// SapSolver is asked for an error so many times smaller than the tolerance, because its residual
  /// is that of the whole problem and not that of the worst block, which the answer is judged by.
  static constexpr double sap_accuracy = 3;
  /// Largest error that SapSolver is asked for: a looser answer of it costs the stages that follow
  /// more than it saves.
  static constexpr double loosest_sap = 1e-4;
  /// A method that is asked for by name stops by a measure of its own. Where its answer is not good
  /// enough by the measure of all methods, it goes on with a tolerance smaller by the factor that
  /// it lacks, times `round_share`, and no smaller than `least_round_share`, in `most_rounds`
  /// rounds.
  static constexpr int most_rounds = 3;
  static constexpr double round_share = 0.5, least_round_share = 1e-3;
  /// Most steps of SapSolver under Coulomb's law, after which the central path takes over: the
  /// bundled walls take 23, piles that are not solved by 25 take 40 to 70.
  static constexpr int coulomb_steps = 25;
  /// Most steps of SapSolver under the convex law, where it nearly always converges: it bounds the
  /// work of the rest. Half of it or twice as much changes no bit of what was measured.
  static constexpr int convex_steps = 100;
  /// Systems that a guess of the impulses of compliant contact is given before SapSolver is asked,
  /// and the natural map error above which the guess is not tried: Newton's method mends a good
  /// guess in a few systems, as many as IslandLawTuning::warm_steps, and systems given to a bad one
  /// are lost. Half or twice of either changes no bit of what was measured.
  static constexpr int guess_systems = 12;
  static constexpr double small_guess = 1e-2;
  /// Blocks from which rigid contact under the convex law, and compliant contact under Coulomb's,
  /// is solved by ProximalSolver. A heap of
  /// 10,000 bodies and 58,000 contacts takes an eighth of the memory and less time so; the interior
  /// point has more digits for its time where a heap is small.
  static constexpr Index proximal_blocks = 20000;
  /// Most blocks of a problem for which a proof is looked for: its work grows with the cube of the
  /// number of blocks that press.
  static constexpr Index proof_blocks = 400;
  /// Systems after which a proof is looked for: a path that is blocked takes fewer, and a proof of
  /// a few hundred blocks costs as much as some tens of systems.
  static constexpr int proof_systems = 150;
  /// First R that soften() gives a problem, relative to the mean diagonal of W, by how many times
  /// it grows from try to try, and most tries.
  static constexpr double least_softening = 1e-10, softening_rise = 10;
  static constexpr int softenings = 15;
  /// Largest impulse of a softened problem, by the largest that a body's own motion asks for along
  /// a block: a wedge that nothing can hold grips with a thousand times the momentum of what it
  /// holds, and a plate that weighs a million times as much as the grain under it is no wedge.
  static constexpr double softened_impulse = 1e3;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
