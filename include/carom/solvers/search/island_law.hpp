// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <iterator>
#include <limits>

#include "carom/core/solve_limits.hpp"
#include "carom/solvers/search/active_newton.hpp"
#include "carom/solvers/search/central_path.hpp"
#include "carom/solvers/search/paced_limits.hpp"
#include "carom/solvers/search/proximal_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of IslandLaw, which combines Newton's method, the central path and proximal steps.
struct IslandLawTuning {
  /// Count of Newton steps from a guess before the path begins, and from a point of the path.
  static constexpr int warm_steps = 12, final_steps = 10;
  /// Newton's method is tried below this natural map error, and again when the error has decreased
  /// to the share `again`.
  static constexpr double small_error = 1e-3, again = 0.1;
  /// Multiple of the largest distance to the inside by which the start of each path is moved:
  /// larger if a path is blocked. 30 needs the fewest systems on the bundled files, 60 needs 57 %
  /// more on those of impulses. Convex spheres made rigid, with self-stresses of 1000 times the
  /// load, need 1000.
  static constexpr double margins[] = {30, 100, 1000};
  /// Proximal steps after each path. The first schedule solves most heaps whose path folds, in some
  /// tens of systems; mujoco_sphere_100 and pyramid-p6 need the second path before it.
  static constexpr ProximalSchedule schedules[] = {
      {.softness = 1e-2, .factor = 0.5, .patience = 40, .steps = 80, .bounds_given = true},
      {.softness = 1e-3, .factor = 0.1, .patience = 15, .steps = 80},
      {.softness = 1e-2, .factor = 0.3, .patience = 30, .steps = 300}};
  /// Under the convex law they come after the last path: mujoco_sphere_500 made rigid needs them.
  static constexpr ProximalSchedule convex_schedule = {
      .softness = 1e-3, .factor = 0.1, .patience = 40, .steps = 300};
  /// Count of systems for proximal steps from a guess that Newton's method does not solve: a heap
  /// that settles needs 3 to 50.
  static constexpr int warm_systems = 60;
  /// A path is blocked after this count of short steps; each longer step reduces the count by
  /// `credit`.
  static constexpr double patience = 4, credit = 0.5;
  /// Largest count of steps along one path.
  static constexpr int path_steps = 60;
  /// Count of sweeps that come first if a guess is far from a solution: 100 need the time of two or
  /// three systems. With a deadline all are done, and their result is the answer if time runs out.
  /// Otherwise they continue while `sweeps_together` sweeps reduce the merit to a given share. They
  /// converge where SapSolver fails on a few blocks and paths fold, and save one to three of thirty
  /// systems on compliant piles.
  static constexpr int guess_sweeps = 100, sweeps_together = 25;
  static constexpr double sweep_gain = 0.5;
  /// The same for islands of at most `few_blocks` blocks, where `few_together` sweeps cost less
  /// than a linear system and mostly solve the law.
  static constexpr int few_together = 8, few_blocks = 40;
  static constexpr double few_gain = 0.8;
  /// Count of sweeps over an early answer, and how many of them run even after the deadline.
  /// Without them bodies of the falling bin penetrate three times as deep.
  static constexpr int final_sweeps = 20, sure_sweeps = 10;
};

/// Solves a law on the islands of a system, each separately.
///
/// The problem: impulses γ with u = (W + R) γ + q whose blocks obey the law. The steps:
/// 1. If there is a guess: Newton's method on the law from the guess.
/// 2. Otherwise, or if step 1 fails: the central path. When the error is small, Newton's method is
///    tried again at each decade of the error.
/// 3. If the path is blocked: proximal steps from its best point.
/// An island ends if LawSearch::is_solved() or if all steps have failed. The answer is the best
/// impulses.
template <typename System>
class IslandLaw {
 public:
  using Scalar = typename System::scalar_type;

  struct Outcome {
    SolveStatus status = SolveStatus::converged;
    int systems = 0;
    double pace = 0;  ///< longest time between two clock readings [s]
    LawError<Scalar> error{};
    bool paired = false;   ///< whether the velocities of the bodies are separate unknowns
    MapSums<Scalar> sums;  ///< if the system has no scales
  };

  /// Allocates memory for a system's blocks.
  /// @param yardstick  its law; if the system has no scales, also the size of the whole problem.
  /// @note  Allocates only for a system larger than every system before.
  void lay_out(const System& system, const Yardstick<Scalar>& yardstick) {
    path_.lay_out(system);
    memory_.lay_out(system);
    proximal_.lay_out(system);
    iterate_.lay_out(system);
    fit<Scalar>(3 * system.part_count(), {&best_, &saved_, &guess_, &nearest_});
    yardstick_ = yardstick;
  }
  [[nodiscard]] const Yardstick<Scalar>& yardstick() const noexcept { return yardstick_; }
  /// Call it after the solve of all islands, with the longest time of all outcomes.
  void learn_pace(double seconds) noexcept { pace_.learn(seconds); }

  /// Impulses in parts: in: guess, out: answer.
  [[nodiscard]] Scalar* impulse() noexcept { return best_.data(); }
  [[nodiscard]] const Scalar* impulse() const noexcept { return best_.data(); }
  /// u of the answer, in parts.
  [[nodiscard]] const Scalar* velocity() const noexcept { return iterate_.velocity(); }

  /// Solves an island.
  /// @param warm  whether impulse() is a guess; it is moved into its cones.
  [[nodiscard]] Outcome solve(System& system, Index island, bool warm, const Scalar& tolerance,
                              const SolveLimits& given);

 private:
  using Tuning = IslandLawTuning;
  [[nodiscard]] static bool is_small(const Scalar& error) noexcept {
    return error < Scalar(Tuning::small_error);
  }
  /// Whether the system has sweeps.
  static constexpr bool sweeps = requires(System & system, Scalar* impulse) {
    system.sweep(Index(), FrictionLaw::coulomb, impulse, [] { return true; });
  };

  struct Run : LawSearch<System> {
    Scalar best;               ///< least merit
    bool best_solves = false;  ///< whether the best impulses satisfy the tolerance
    /// Least natural map error of the paths' points; nearest_ contains its impulses.
    Scalar nearest = std::numeric_limits<Scalar>::infinity();
  };
  /// Measures the iterate, and stores its impulses if they are the best.
  void measure(Run& run) {
    run.measure();
    keep_best(run);
  }
  void keep_best(Run& run) {
    if (run.best_solves || !(run.error < run.best || run.is_solved())) return;
    run.best = run.error;
    run.best_solves = run.is_solved();
    run.copy(iterate_.impulse(), best_.data());
  }
  /// Stores a point of a path if its natural map error is the least. This error is the better
  /// measure if impulses are large relative to the load: the merit is relative to the load and
  /// would prefer zero impulses.
  void keep_nearest(Run& run) {
    const Scalar error = natural_map_error(run);
    if (!(error < run.nearest)) return;
    run.nearest = error;
    run.copy(iterate_.impulse(), nearest_.data());
  }
  /// Of the last measured iterate.
  [[nodiscard]] Scalar natural_map_error(const Run& run) const noexcept {
    if constexpr (!has_scales<System>) return run.error;
    return iterate_.sum_as_it_stands(run.system, run.island, run.yardstick).error(run.yardstick);
  }
  /// Computes Newton steps from the iterate. Returns whether the law is solved.
  [[nodiscard]] bool polish(Run& run, int steps) {
    ActiveNewton<System>::solve(run, steps);
    keep_best(run);
    return run.is_solved();
  }
  [[nodiscard]] bool follow_path(Run& run, const Scalar& margin);
  /// The outcome of a search that has ended, with the best impulses as the iterate.
  [[nodiscard]] Outcome find_outcome(Run& run, bool solved);
  /// Searches for a pair of impulses and velocities from the best impulses.
  [[nodiscard]] bool pair(Run& run) {
    if constexpr (has_pairs<System>) {
      if (!run.may_go_on() || !is_finite(run.best)) return false;
      run.copy(best_.data(), iterate_.impulse());
      run.measure();
      PairedStep<System>::solve(run);
      keep_best(run);
    }
    return run.is_solved();
  }
  /// Computes proximal steps from the best impulses, or from the nearest point of the paths if it
  /// is nearer. Returns whether the law is solved.
  [[nodiscard]] bool search(Run& run, int schedule, int most) {
    if (!run.may_go_on()) return false;
    run.copy(best_.data(), iterate_.impulse());
    measure(run);
    if (run.nearest < natural_map_error(run)) {
      run.copy(nearest_.data(), iterate_.impulse());
      measure(run);
    }
    const SolveLimits given = run.limits;
    const int left = given.iteration_limit - run.systems;
    run.limits = given.with_iterations(run.systems + (std::min)(most, left));
    const bool convex = yardstick_.law == FrictionLaw::convex;
    proximal_.solve(run, convex ? Tuning::convex_schedule : Tuning::schedules[schedule]);
    run.limits = given;
    keep_best(run);
    return run.is_solved();
  }
  /// Sweeps from the guess and replaces it by the result; the iterate is the best one. Without a
  /// deadline the sweeps end when they gain little.
  [[nodiscard]] bool sweep(Run& run) {
    if constexpr (sweeps) {
      const bool timed = run.limits.has_deadline();
      const BlockIsland& own = run.system.islands()[run.island];
      const bool few = own.block_end - own.first_block <= Tuning::few_blocks;
      const int together = timed ? Tuning::guess_sweeps
                           : few ? Tuning::few_together
                                 : Tuning::sweeps_together;
      const auto gain = Scalar(few ? Tuning::few_gain : Tuning::sweep_gain);
      for (int taken = 0; taken < Tuning::guess_sweeps; taken += together) {
        const Scalar before = run.error;
        int left = together;
        run.system.sweep(run.island, yardstick_.law, iterate_.impulse(),
                         [&] { return left-- > 0 && !run.limits.is_over(); });
        measure(run);
        if (run.is_solved() || !(run.error <= gain * before)) break;
      }
      run.copy(iterate_.impulse(), guess_.data());
      run.copy(best_.data(), iterate_.impulse());
      measure(run);
    }
    return run.is_solved();
  }
  /// Makes a safe answer of impulses that do not obey the law. Impulses that obey it do no work,
  /// γᵀu ≤ 0, but intermediate iterates may add energy without bound. The guess and the best
  /// impulses are scaled down until their work is at most zero, which makes the dual cost
  /// ½ γᵀ(W + R)γ + γᵀq at most zero. Sweeps then start from the one with the lower dual cost and
  /// use the remaining time. They may leave a little work again, because each block changes u of
  /// those before it. What counts is the energy that the bodies gain, which is at most the dual
  /// cost if v̂ = 0: the tests find it at most zero after the sweeps, under both laws.
  void end_early(Run& run, const SolveLimits& given) {
    run.copy(guess_.data(), iterate_.impulse());
    const Scalar guessed = scale_down(run);
    run.copy(iterate_.impulse(), guess_.data());
    run.copy(best_.data(), iterate_.impulse());
    const Scalar reached = scale_down(run);
    run.copy(reached <= guessed ? iterate_.impulse() : guess_.data(), best_.data());
    if constexpr (sweeps) {
      int taken = 0;
      const auto may_go_on = [&] {
        return taken++ < Tuning::final_sweeps && (taken <= Tuning::sure_sweeps || !given.is_over());
      };
      run.system.sweep(run.island, yardstick_.law, best_.data(), may_go_on);
    }
  }
  /// Scales the iterate, and moves it back into sets that do not contain 0. Returns its dual cost.
  Scalar scale_down(Run& run) {
    iterate_.write_velocity(run.system, run.island);
    const Index begin = 3 * run.parts().first_part, end = 3 * run.parts().part_end;
    const auto [work, load] = run.total_rows(std::array<Scalar, 2>{}, [&](Index p, auto& sums) {
      sums[0] += iterate_.impulse()[p] * iterate_.velocity()[p];  // γᵀu
      sums[1] += iterate_.impulse()[p] * run.system.load()[p];    // γᵀq
    });
    if (work <= Scalar(0)) return (work + load) / 2;
    const Scalar share =
        work > load && load < Scalar(0) ? (std::min)(Scalar(1), load / (load - work)) : Scalar(0);
    for (Index p = begin; p < end; ++p) iterate_.impulse()[p] *= share;
    clip(run, iterate_.impulse());
    return share * load / 2;
  }
  /// Sets the iterate to impulses, moved into their sets.
  void clip(const Run& run, const Scalar* impulse) {
    run.for_each([&]<int Parts>(Index, const BlockRows<Scalar, Parts>& block) {
      write_parts(block, ActiveBlock<Scalar, Parts>::clip(block, read_parts(block, impulse)),
                  iterate_.impulse());
    });
  }

  Yardstick<Scalar> yardstick_{};
  CentralPath<System> path_;
  ProximalNewton<System> proximal_;
  LawIterate<Scalar> iterate_;
  StepMemory<Scalar> memory_;
  Sequence<Scalar> best_, saved_, guess_, nearest_;
  Pace pace_;
};

// --- implementation ---

template <typename System>
bool IslandLaw<System>::follow_path(Run& run, const Scalar& margin) {
  ++run.systems;
  if (!path_.start(run.system, run.island, run.yardstick, margin, iterate_, memory_)) return false;
  measure(run);
  Scalar blocked(0), next = Scalar(Tuning::small_error);
  Scalar tried = std::numeric_limits<Scalar>::infinity();
  for (int k = 0; k < Tuning::path_steps && run.may_go_on(); ++k) {
    if (run.is_solved()) return true;
    if (run.error < next || (run.error < tried && PairedStep<System>::may_help(run))) {
      next = (std::min)(next, Scalar(Tuning::again) * run.error);
      tried = Scalar(Tuning::again) * run.error;
      run.copy(iterate_.impulse(), saved_.data());
      if (polish(run, Tuning::final_steps)) return true;
      run.copy(saved_.data(), iterate_.impulse());
      iterate_.write_velocity(run.system, run.island);
      if (!run.may_go_on()) return false;
    }
    ++run.systems;
    const Scalar share = path_.advance(run.system, run.island, yardstick_.law, iterate_, memory_);
    if (!(share > Scalar(0))) return false;
    const Scalar against = path_.is_short(share) ? Scalar(1) : Scalar(-Tuning::credit);
    blocked = (std::max)(Scalar(0), blocked + against);
    measure(run);
    keep_nearest(run);
    if (blocked >= Scalar(Tuning::patience)) return false;
  }
  return run.is_solved();
}

template <typename System>
typename IslandLaw<System>::Outcome IslandLaw<System>::solve(System& system, Index island,
                                                             bool warm, const Scalar& tolerance,
                                                             const SolveLimits& given) {
  PacedLimits pace(given, pace_.expected);
  const SolveLimits limits = pace.limits();
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  const BlockIsland& own = system.islands()[island];
  Yardstick<Scalar> yardstick = yardstick_;
  if constexpr (has_scales<System>) {
    yardstick = make_yardstick(system, yardstick_.law, own.first_block, own.block_end);
  }
  Run run{{system, island, yardstick, iterate_, memory_, tolerance, limits, infinity, infinity},
          infinity};
  if (!warm) std::fill(best_.begin() + 3 * own.first_part, best_.begin() + 3 * own.part_end, 0);
  run.copy(best_.data(), iterate_.impulse());
  measure(run);
  bool solved = run.is_solved();
  const bool timed = limits.has_deadline(), may_change = limits.iteration_limit > 0 || timed;
  if (!solved && may_change) {  // all later steps need impulses inside of the cones
    clip(run, best_.data());
    run.best = infinity;
    run.best_solves = false;
    measure(run);
    solved = run.is_solved();
    run.copy(iterate_.impulse(), guess_.data());
  }
  if (!solved && warm && (timed || run.may_go_on()) && !is_small(run.best)) {
    solved = sweep(run);
    if (timed) pace.reserve(Tuning::final_sweeps * pace.longest());
  }
  if (!solved && warm && run.may_go_on()) {
    solved = polish(run, Tuning::warm_steps);
    if (!solved && is_small(run.best)) solved = search(run, 0, Tuning::warm_systems);
  }
  constexpr int starts = int(std::size(Tuning::margins));
  for (int k = 0; k < starts && !solved && run.may_go_on(); ++k) {
    solved = follow_path(run, Scalar(Tuning::margins[k]));
    if (!solved && k == 0) solved = pair(run);
    const bool promising =
        is_small((std::min)(run.best, run.nearest)) && yardstick_.law == FrictionLaw::coulomb;
    if (!solved && (promising || k + 1 == starts)) {
      solved = search(run, k, limits.iteration_limit);
    }
  }
  if (!solved) solved = pair(run);
  if (solved && !run.paired && PairedStep<System>::is_blurred(run)) {
    run.best_solves = false;  // the impulses of the pair replace those that rounding blurs
    solved = pair(run);
  }
  if (!solved && may_change && !(run.best <= Scalar(Tuning::small_error))) end_early(run, given);
  Outcome outcome = find_outcome(run, solved);
  outcome.pace = pace.longest();
  return outcome;
}

template <typename System>
typename IslandLaw<System>::Outcome IslandLaw<System>::find_outcome(Run& run, bool solved) {
  System& system = run.system;
  const Index island = run.island;
  Outcome outcome;
  outcome.systems = run.systems;
  outcome.paired = run.paired;
  if constexpr (has_pairs<System>) {
    if (run.paired) {
      outcome.error = iterate_.judge(system, island, yardstick_.law);
      outcome.error.residual = run.residual;
    }
  }
  if (!run.paired) {
    run.copy(best_.data(), iterate_.impulse());
    outcome.error = iterate_.measure(system, island, yardstick_);
  }
  if constexpr (!has_scales<System>) outcome.sums = iterate_.sum(system, island, yardstick_);
  if (solved || outcome.error.residual <= run.tolerance) return outcome;
  outcome.status = !is_finite(run.best)                        ? SolveStatus::not_finite
                   : run.limits.is_over()                      ? SolveStatus::deadline
                   : run.systems >= run.limits.iteration_limit ? SolveStatus::iteration_limit
                                                               : SolveStatus::no_progress;
  return outcome;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
