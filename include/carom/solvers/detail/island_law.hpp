// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/solvers/detail/active_newton.hpp"
#include "carom/solvers/detail/central_path.hpp"
#include "carom/solvers/detail/proximal_newton.hpp"

namespace carom::inline CAROM_ABI::detail {

/// A law on the islands of a system: Newton's method from a guess, else the central path, and
/// Newton's method again at every decade of the error once that is small. Islands are independent.
template <typename System>
class IslandLaw {
 public:
  using Scalar = typename System::scalar_type;

  struct Outcome {
    SolveStatus status = SolveStatus::converged;
    int systems = 0;
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
    }
    yardstick_ = yardstick;
  }
  [[nodiscard]] const Yardstick<Scalar>& yardstick() const noexcept { return yardstick_; }

  /// Impulses in parts: a guess before, the answer after.
  [[nodiscard]] Scalar* impulse() noexcept { return best_.data(); }
  [[nodiscard]] const Scalar* impulse() const noexcept { return best_.data(); }
  /// u of the answer, in parts.
  [[nodiscard]] const Scalar* velocity() const noexcept { return iterate_.velocity(); }

  /// Solves an island.
  /// @param warm  whether impulse() holds a guess; it is brought into its cones.
  [[nodiscard]] Outcome solve(System& system, Index island, bool warm, const Scalar& tolerance,
                              const SolveLimits& limits);

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

  struct Run {
    System& system;
    Index island;
    Scalar tolerance;
    const SolveLimits& limits;
    Scalar error, best;
    int systems;
    [[nodiscard]] bool out_of_time() const noexcept {
      return systems >= limits.iteration_limit || limits.is_over();
    }
  };
  /// Measures, and keeps the impulses where none were better.
  void measure(Run& run) {
    run.error = iterate_.measure(run.system, run.island, yardstick_);
    keep_best(run);
  }
  void keep_best(Run& run) {
    if (!(run.error < run.best)) return;
    run.best = run.error;
    copy(run, iterate_.impulse(), best_.data());
  }
  void copy(const Run& run, const Scalar* from, Scalar* to) const {
    const BlockIsland& own = run.system.islands()[run.island];
    std::copy(from + 3 * own.first_part, from + 3 * own.part_end, to + 3 * own.first_part);
  }
  /// Newton's method from the iterate.
  [[nodiscard]] bool polish(Run& run, int steps) {
    const int limit = (std::min)(steps, run.limits.iteration_limit - run.systems);
    ActiveNewton<System>::solve(run.system, run.island, yardstick_, {run.tolerance, limit},
                                iterate_, memory_, run.error, run.systems);
    keep_best(run);
    return run.error <= run.tolerance;
  }
  [[nodiscard]] bool follow_path(Run& run, const Scalar& margin);
  /// Proximal steps from the best impulses.
  [[nodiscard]] bool search(Run& run, int manner, int most) {
    if (run.out_of_time()) return false;
    copy(run, best_.data(), iterate_.impulse());
    measure(run);
    const int limit = run.systems + (std::min)(most, run.limits.iteration_limit - run.systems);
    const auto& own = yardstick_.law == FrictionLaw::convex ? convex_manner : manners[manner];
    proximal_.solve(run.system, run.island, yardstick_, own, run.tolerance,
                    run.limits.with_iterations(limit), iterate_, memory_, run.error, run.systems);
    keep_best(run);
    return run.error <= run.tolerance;
  }
  void clip(const Run& run) {
    const BlockIsland& own = run.system.islands()[run.island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      run.system.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
        write_parts(block, ActiveBlock<Scalar, Parts>::clip(block, read_parts(block, best_.data())),
                    iterate_.impulse());
      });
    }
  }

  Yardstick<Scalar> yardstick_{};
  CentralPath<System> path_;
  ProximalNewton<System> proximal_;
  LawIterate<Scalar> iterate_;
  StepMemory<Scalar> memory_;
  Sequence<Scalar> best_, saved_;
};

// --- implementation ---

template <typename System>
bool IslandLaw<System>::follow_path(Run& run, const Scalar& margin) {
  ++run.systems;
  if (!path_.start(run.system, run.island, yardstick_, margin, iterate_, memory_)) return false;
  measure(run);
  Scalar blocked(0), next = small_error;
  for (int k = 0; k < path_steps && !run.out_of_time(); ++k) {
    if (run.error <= run.tolerance) return true;
    if (run.error < next) {
      next = again * run.error;
      copy(run, iterate_.impulse(), saved_.data());
      if (polish(run, final_steps)) return true;
      copy(run, saved_.data(), iterate_.impulse());
      iterate_.write_velocity(run.system, run.island);
      if (run.out_of_time()) return false;
    }
    ++run.systems;
    const Scalar share = path_.advance(run.system, run.island, yardstick_.law, iterate_, memory_);
    if (!(share > Scalar(0))) return false;
    blocked =
        (std::max)(Scalar(0), blocked + (share < path_.short_step ? Scalar(1) : Scalar(-0.5)));
    measure(run);
    if (blocked >= patience) return false;
  }
  return run.error <= run.tolerance;
}

template <typename System>
typename IslandLaw<System>::Outcome IslandLaw<System>::solve(System& system, Index island,
                                                             bool warm, const Scalar& tolerance,
                                                             const SolveLimits& limits) {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  Run run{system, island, tolerance, limits, infinity, infinity, 0};
  if (!warm) {
    const BlockIsland& own = system.islands()[island];
    std::fill(best_.begin() + 3 * own.first_part, best_.begin() + 3 * own.part_end, Scalar(0));
  }
  copy(run, best_.data(), iterate_.impulse());
  measure(run);
  bool solved = run.error <= tolerance;
  if (!solved && (limits.iteration_limit > 0 ||
                  limits.now != nullptr)) {  // what comes next is inside of the cones
    clip(run);
    run.best = infinity;
    measure(run);
    solved = run.error <= tolerance;
  }
  if (!solved && warm && !run.out_of_time()) {
    solved = polish(run, warm_steps);
    if (!solved && run.best < small_error) solved = search(run, 0, warm_systems);
  }
  for (int k = 0; k < starts && !solved && !run.out_of_time(); ++k) {
    solved = follow_path(run, margins[k]);
    const bool promising = run.best < small_error && yardstick_.law == FrictionLaw::coulomb;
    if (!solved && (promising || k + 1 == starts)) {
      solved = search(run, k, limits.iteration_limit);
    }
  }
  copy(run, best_.data(), iterate_.impulse());
  Outcome outcome;
  outcome.sums = iterate_.sum(system, island, yardstick_);
  outcome.systems = run.systems;
  if (solved) return outcome;
  outcome.status = !is_finite(run.best)                    ? SolveStatus::not_finite
                   : limits.is_over()                      ? SolveStatus::deadline
                   : run.systems >= limits.iteration_limit ? SolveStatus::iteration_limit
                                                           : SolveStatus::no_progress;
  return outcome;
}

}  // namespace carom::inline CAROM_ABI::detail
