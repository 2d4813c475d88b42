// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/solvers/detail/active_newton.hpp"
#include "carom/solvers/detail/central_path.hpp"
#include "carom/solvers/detail/paced_limits.hpp"
#include "carom/solvers/detail/proximal_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A law on the islands of a system: Newton's method from a guess, else the central path, and
/// Newton's method again at every decade of the error once that is small. Islands are independent.
template <typename System>
class IslandLaw {
 public:
  using Scalar = typename System::scalar_type;

  struct Outcome {
    SolveStatus status = SolveStatus::converged;
    int systems = 0;
    double pace = 0;  ///< longest time between two looks at the clock [s]
    MapSums<Scalar> sums;
  };

  /// Takes on a system's blocks.
  /// @param yardstick  that of the whole problem.
  /// @note  Allocates beyond the largest system so far.
  void lay_out(const System& system, const Yardstick<Scalar>& yardstick) {
    path_.lay_out(system);
    memory_.lay_out(system);
    proximal_.lay_out(system);
    iterate_.lay_out(system);
    if (best_.size() != 3 * system.part_count()) {
      best_.assign(3 * system.part_count(), Scalar(0));
      saved_.assign(3 * system.part_count(), Scalar(0));
      guess_.assign(3 * system.part_count(), Scalar(0));
    }
    yardstick_ = yardstick;
  }
  [[nodiscard]] const Yardstick<Scalar>& yardstick() const noexcept { return yardstick_; }
  /// Once all islands are solved: the longest time that an outcome names.
  void learn_pace(double seconds) noexcept { pace_.learn(seconds); }

  /// Impulses in parts: a guess before, the answer after.
  [[nodiscard]] Scalar* impulse() noexcept { return best_.data(); }
  [[nodiscard]] const Scalar* impulse() const noexcept { return best_.data(); }
  /// u of the answer, in parts.
  [[nodiscard]] const Scalar* velocity() const noexcept { return iterate_.velocity(); }

  /// Solves an island.
  /// @param warm  whether impulse() holds a guess; it is brought into its cones.
  [[nodiscard]] Outcome solve(System& system, Index island, bool warm, const Scalar& tolerance,
                              const SolveLimits& given);

 private:
  /// Newton's steps from a guess before the path begins, and from a point of the path.
  static constexpr int warm_steps = 12, final_steps = 10;
  /// Natural map error below which Newton's method is tried, and by how much it is to fall before
  /// it is tried again.
  static constexpr Scalar small_error = Scalar(1e-3), again = Scalar(0.1);
  /// What the start of the path is raised by, relative to what its worst contact lacks: wider where
  /// a path is blocked. 30 takes the fewest systems on the bundled piles and walls; convex spheres
  /// made rigid, whose self-stresses are 1000 times the load, need 1000.
  static constexpr Scalar margins[] = {30, 100, 1000};
  static constexpr int starts = 3;
  /// Proximal steps after each path. The first manner solves most heaps whose path folds, in some
  /// tens of systems; mujoco_sphere_100 and pyramid-p6 need the second path before it.
  static constexpr typename ProximalNewton<System>::Manner manners[] = {
      {Scalar(1e-2), Scalar(0.5), 40, 80, true},
      {Scalar(1e-3), Scalar(0.1), 15, 80},
      {Scalar(1e-2), Scalar(0.3), 30, 300}};
  /// Under the convex law they follow the last path: mujoco_sphere_500 made rigid needs them.
  static constexpr
      typename ProximalNewton<System>::Manner convex_manner = {Scalar(1e-3), Scalar(0.1), 40, 300};
  /// Systems for proximal steps from a guess that Newton's method alone does not mend: a heap that
  /// settles takes 3 to 50.
  static constexpr int warm_systems = 60;
  /// Blocked: so many short steps, each longer one counting half against them.
  static constexpr Scalar patience = 4;
  static constexpr int path_steps = 60;

  /// Whether the system has sweeps, and how many. Under a deadline they come first where a guess is
  /// far off: 100 take as long as two or three systems, and what they reach is there should time
  /// run out. Those at the end are for answers that come early, a few of them whatever the clock
  /// says. Measured on the falling bin: without the ones at the end bodies sink three times as
  /// deep.
  static constexpr bool sweeps = requires(System & system, Scalar* impulse) {
    system.sweep(Index(), FrictionLaw::coulomb, impulse, [] { return true; });
  };
  static constexpr int guess_sweeps = 100, final_sweeps = 20, sure_sweeps = 10;

  struct Run : LawSearch<System> {
    Scalar best;  ///< least error met
  };
  /// Measures, and keeps the impulses where none were better.
  void measure(Run& run) {
    run.measure();
    keep_best(run);
  }
  void keep_best(Run& run) {
    if (!(run.error < run.best)) return;
    run.best = run.error;
    run.copy(iterate_.impulse(), best_.data());
  }
  /// Newton's method from the iterate.
  [[nodiscard]] bool polish(Run& run, int steps) {
    ActiveNewton<System>::solve(run, steps);
    keep_best(run);
    return run.is_solved();
  }
  [[nodiscard]] bool follow_path(Run& run, const Scalar& margin);
  /// Proximal steps from the best impulses.
  [[nodiscard]] bool search(Run& run, int manner, int most) {
    if (!run.may_go_on()) return false;
    run.copy(best_.data(), iterate_.impulse());
    measure(run);
    const SolveLimits given = run.limits;
    const int left = given.iteration_limit - run.systems;
    run.limits = given.with_iterations(run.systems + (std::min)(most, left));
    const bool convex = yardstick_.law == FrictionLaw::convex;
    proximal_.solve(run, convex ? convex_manner : manners[manner]);
    run.limits = given;
    keep_best(run);
    return run.is_solved();
  }
  /// Sweeps from the guess, which they replace; what they reach where it is better.
  [[nodiscard]] bool sweep(Run& run) {
    if constexpr (sweeps) {
      int left = guess_sweeps;
      run.system.sweep(run.island, yardstick_.law, iterate_.impulse(),
                       [&] { return left-- > 0 && !run.limits.is_over(); });
      run.copy(iterate_.impulse(), guess_.data());
      measure(run);
      run.copy(best_.data(), iterate_.impulse());
      measure(run);
    }
    return run.is_solved();
  }
  /// Makes an answer that is not the law's a safe one. Impulses that obey the law take energy,
  /// γᵀu ≤ 0; those met on the way may give it, without bound. The guess and the best impulses are
  /// scaled down until they do not; from the one of the lower dual cost ½ γᵀ(W + R)γ + γᵀq sweeps
  /// take what time is left.
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
        return taken++ < final_sweeps && (taken <= sure_sweeps || !given.is_over());
      };
      run.system.sweep(run.island, yardstick_.law, best_.data(), may_go_on);
    }
  }
  /// Scales the iterate, and brings it back into sets that do not hold 0; returns its
  /// dual cost.
  Scalar scale_down(Run& run) {
    iterate_.write_velocity(run.system, run.island);
    const Index begin = 3 * run.parts().first_part, end = 3 * run.parts().part_end;
    Scalar work(0), load(0);  // γᵀu, γᵀq
    for (Index p = begin; p < end; ++p) {
      work += iterate_.impulse()[p] * iterate_.velocity()[p];
      load += iterate_.impulse()[p] * run.system.load()[p];
    }
    if (work <= Scalar(0)) return (work + load) / 2;
    const Scalar share =
        work > load && load < Scalar(0) ? (std::min)(Scalar(1), load / (load - work)) : Scalar(0);
    for (Index p = begin; p < end; ++p) iterate_.impulse()[p] *= share;
    clip(run, iterate_.impulse());
    return share * load / 2;
  }
  /// The iterate becomes what is nearest to impulses in their cones.
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
  Sequence<Scalar> best_, saved_, guess_;
  Pace pace_;
};

// --- implementation ---

template <typename System>
bool IslandLaw<System>::follow_path(Run& run, const Scalar& margin) {
  ++run.systems;
  if (!path_.start(run.system, run.island, yardstick_, margin, iterate_, memory_)) return false;
  measure(run);
  Scalar blocked(0), next = small_error;
  for (int k = 0; k < path_steps && run.may_go_on(); ++k) {
    if (run.is_solved()) return true;
    if (run.error < next) {
      next = again * run.error;
      run.copy(iterate_.impulse(), saved_.data());
      if (polish(run, final_steps)) return true;
      run.copy(saved_.data(), iterate_.impulse());
      iterate_.write_velocity(run.system, run.island);
      if (!run.may_go_on()) return false;
    }
    ++run.systems;
    const Scalar share = path_.advance(run.system, run.island, yardstick_.law, iterate_, memory_);
    if (!(share > Scalar(0))) return false;
    blocked =
        (std::max)(Scalar(0), blocked + (share < path_.short_step ? Scalar(1) : Scalar(-0.5)));
    measure(run);
    if (blocked >= patience) return false;
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
  Run run{{system, island, yardstick_, iterate_, memory_, tolerance, limits, infinity}, infinity};
  if (!warm) {
    const BlockIsland& own = system.islands()[island];
    std::fill(best_.begin() + 3 * own.first_part, best_.begin() + 3 * own.part_end, Scalar(0));
  }
  run.copy(best_.data(), iterate_.impulse());
  measure(run);
  bool solved = run.is_solved();
  const bool may_change = limits.iteration_limit > 0 || limits.now != nullptr;
  if (!solved && may_change) {  // what comes next is inside of the cones
    clip(run, best_.data());
    run.best = infinity;
    measure(run);
    solved = run.is_solved();
    run.copy(iterate_.impulse(), guess_.data());
  }
  if (!solved && warm && limits.now != nullptr && run.best > small_error) {
    solved = sweep(run);
    pace.reserve(final_sweeps * pace.longest());
  }
  if (!solved && warm && run.may_go_on()) {
    solved = polish(run, warm_steps);
    if (!solved && run.best < small_error) solved = search(run, 0, warm_systems);
  }
  for (int k = 0; k < starts && !solved && run.may_go_on(); ++k) {
    solved = follow_path(run, margins[k]);
    const bool promising = run.best < small_error && yardstick_.law == FrictionLaw::coulomb;
    if (!solved && (promising || k + 1 == starts)) {
      solved = search(run, k, limits.iteration_limit);
    }
  }
  if (!solved && may_change && !(run.best <= small_error)) end_early(run, given);
  run.copy(best_.data(), iterate_.impulse());
  Outcome outcome;
  outcome.sums = iterate_.sum(system, island, yardstick_);
  outcome.systems = run.systems;
  outcome.pace = pace.longest();
  if (solved) return outcome;
  outcome.status = !is_finite(run.best)                    ? SolveStatus::not_finite
                   : limits.is_over()                      ? SolveStatus::deadline
                   : run.systems >= limits.iteration_limit ? SolveStatus::iteration_limit
                                                           : SolveStatus::no_progress;
  return outcome;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
