// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// @file
/// The constants that steer InteriorPointSolver, one block for each of its parts. Each is a pure
/// number [-] unless a unit is given; ε_m is the epsilon of the scalar type, w the inverse mass of
/// a block or of the whole problem.
///
/// They were measured on the problems of benchmarks/ablation, which changes one constant at a time:
/// the compliant files of examples/data under both laws, the same made rigid, examples/data/fclib,
/// and bodies that fall into a bin. docs/performance.md has what each change costs there.

/// Constants of InteriorPointSolver itself.
struct InteriorPointTuning {
  /// Share of the load ‖q‖ that an answer may leave. Where no impulses obey the law they grow
  /// without end, and any residual is small beside them. The jammed brake of the scenes leaves
  /// 0.45, rigid heaps with self-stresses of 1000 times their load 1e-5: much less refuses answers
  /// of such heaps, much more accepts impulses that solve nothing.
  static constexpr double lost_load = 0.1;
  /// Sweeps of Gauss-Seidel between two looks at what they gain, for problems in impulses. Fewer
  /// judge by noise, more sweep where nothing is gained.
  static constexpr int sweeps_together = 10;
  /// How many times the sweeps that the options name are taken at most, while they gain.
  static constexpr int sweep_extension = 10;
  /// Sweeps end where they change the impulses by less than this share of the tolerance.
  static constexpr double sweep_rest = 1e-3;
  /// Beyond those that the options name, sweeps go on while the change falls to this share each
  /// time. Nearer to 1 they sweep on where Newton's method is cheaper.
  static constexpr double sweep_gain = 0.3;
  /// Most systems of an island that is asked to take its overlaps out, once it is solved without:
  /// from there Newton's method takes a few. More only delays islands where there is no such
  /// answer.
  static constexpr int overlap_systems = 60;
};

/// Constants of CentralPath and of the shapes on it, ConePath and IntervalPath.
struct CentralPathTuning {
  /// Share of the way to the boundary of the cones that a step may go. Nearer to 1 the iterate
  /// hugs the boundary and the next steps become short; 0.99 takes 9 % more systems on rigid files.
  static constexpr double to_boundary = 0.995;
  /// A step that can go less than this share is short: it is solved for again with plain centring,
  /// and counts against the path in IslandLaw. 0.2 gives up too early: 13 % more systems on rigid
  /// files, and one of them unsolved.
  static constexpr double short_step = 0.1;
  /// Share of the products that a step towards a given point of the path aims at, where they are
  /// larger than asked for: less makes short steps, more makes more of them.
  static constexpr double centring_fall = 0.1;
  /// Least centring σ of the step that replaces a short one.
  static constexpr double plain_centring = 0.5;
  /// Where the first point lacks nothing to be inside, it is moved in by this share of the mean
  /// impulse, for a first point on the boundary has no path.
  static constexpr double least_start = 0.3;
  /// Share of the room between two bounds that the first point keeps from each, at most 1/2.
  static constexpr double bound_inset = 0.25;
  /// Softness of rows without bounds, relative to w [ε_m]: they have no barrier, and their own R
  /// may be zero. Refinement of the systems restores the accuracy; zero leaves a system singular.
  static constexpr double free_softness = 1024;
};

/// Constants of ActiveBlock and ActiveNewton: Newton's method on the law itself.
struct ActiveNewtonTuning {
  /// Softness of what is held, relative to w [√ε_m]: it makes a singular W harmless and costs a
  /// Newton step as much of its accuracy. In hyperstatic contact it takes the change of least norm.
  static constexpr double held_softness = 0.1;
  /// Steps that may gain little while the guess of what slides settles.
  static constexpr int settling_steps = 2;
  /// The method goes on only if the error falls to this share, while the guess settles and after.
  /// Where `gain` is 1 it goes on too long: 4 % more systems.
  static constexpr double settling_gain = 0.95, gain = 0.5;
  /// Most halvings of a step, and the share of its own promise that it must keep to be taken.
  static constexpr int halvings = 5;
  static constexpr double descent = 0.1;
};

/// How a search goes about its proximal steps.
struct ProximalSchedule {
  double softness;  ///< first ρ, relative to w
  double factor;    ///< by which ρ falls
  int patience;     ///< Newton steps per proximal step
  int steps;        ///< proximal steps
  /// Whether a Newton step that gains nothing is tried again with friction's bounds given.
  bool bounds_given = false;
};

/// Constants of ProximalNewton.
struct ProximalTuning {
  /// Natural map error below which Newton's method on the law is tried after a proximal step.
  static constexpr double small_error = 1e-3;
  /// Most steps of that method.
  static constexpr int final_steps = 20;
  /// Proximal steps that fail in a row before the search is given up.
  static constexpr int most_failures = 8;
  /// Failures after which the centre goes back to the best impulses met.
  static constexpr int failures_to_return = 2;
  /// The softness ρ never falls below ε_m to this power, where only rounding would be left of it.
  static constexpr double least_softness = 0.7;
  /// After a proximal step of up to quick_steps Newton steps ρ falls by its factor, after one of up
  /// to fair_steps by the factor's root; after a longer one it stays.
  static constexpr int quick_steps = 5, fair_steps = 10;
  /// Successes in a row after which the least ρ that is allowed falls, and by how many times.
  static constexpr int successes = 3;
  static constexpr double floor_fall = 4;
  /// A failure multiplies ρ by softness_rise, up to 1. The first failure after a success also sets
  /// the least ρ that is allowed, to floor_rise times the ρ that failed.
  static constexpr double softness_rise = 4, floor_rise = 2;
  /// Patience of the step that follows a failure, relative to that of others. Without the rise
  /// bodies that fall take 32 % more systems.
  static constexpr int patience_rise = 2;
  /// A proximal step ends where its gap is so many times smaller than how far it moved.
  static constexpr double accuracy = 10;
  /// Only rounding is left where a Newton step promised less than this share of the gap that it
  /// reached.
  static constexpr double rounded = 1e-3;
  /// Halvings along a Newton step, and along one with friction's bounds given.
  static constexpr int halvings = 7, bounded_halvings = 12;
  /// Share of its promise that a Newton step must keep (Armijo's rule).
  static constexpr double descent = 1e-4;
  /// Under the convex law: evaluations along a step, the share of the slope that may be left, and
  /// how near to an end of the bracket the next point may be.
  static constexpr int evaluations = 12;
  static constexpr double slope_left = 0.5, bracket_inset = 0.1;
};

/// Constants of IslandLaw, which orders Newton's method, the central path and proximal steps.
struct IslandLawTuning {
  /// Newton's steps from a guess before the path begins, and from a point of the path.
  static constexpr int warm_steps = 12, final_steps = 10;
  /// Natural map error below which Newton's method is tried, and the share to which it has to fall
  /// before it is tried again.
  static constexpr double small_error = 1e-3, again = 0.1;
  /// What the start of each path is raised by, relative to what its worst contact lacks: wider
  /// where a path is blocked. 30 takes the fewest systems on the bundled files, 60 takes 57 % more
  /// on those of impulses; convex spheres made rigid, whose self-stresses are 1000 times the load,
  /// need 1000.
  static constexpr double margins[] = {30, 100, 1000};
  /// Proximal steps after each path. The first schedule solves most heaps whose path folds, in some
  /// tens of systems; mujoco_sphere_100 and pyramid-p6 need the second path before it.
  static constexpr ProximalSchedule schedules[] = {
      {.softness = 1e-2, .factor = 0.5, .patience = 40, .steps = 80, .bounds_given = true},
      {.softness = 1e-3, .factor = 0.1, .patience = 15, .steps = 80},
      {.softness = 1e-2, .factor = 0.3, .patience = 30, .steps = 300}};
  /// Under the convex law they follow the last path: mujoco_sphere_500 made rigid needs them.
  static constexpr ProximalSchedule convex_schedule = {
      .softness = 1e-3, .factor = 0.1, .patience = 40, .steps = 300};
  /// Systems for proximal steps from a guess that Newton's method alone does not mend: a heap that
  /// settles takes 3 to 50.
  static constexpr int warm_systems = 60;
  /// A path is blocked after so many short steps; each longer one takes back `credit` of one.
  static constexpr double patience = 4, credit = 0.5;
  /// Most steps along one path.
  static constexpr int path_steps = 60;
  /// Sweeps that come first where a guess is far off: 100 take as long as two or three systems.
  /// Under a deadline all are taken, and their result is kept if time runs out. Else they go on
  /// while so many together lower the merit to this share. They reach the law where SapSolver fails
  /// on a few blocks and paths fold, and save one to three systems of thirty on compliant piles.
  static constexpr int guess_sweeps = 100, sweeps_together = 25;
  static constexpr double sweep_gain = 0.5;
  /// Sweeps over an answer that comes early, and how many of them run even after the deadline.
  /// Without them bodies of the falling bin sink three times as deep.
  static constexpr int final_sweeps = 20, sure_sweeps = 10;
  /// Share of the longest iteration that is expected of the next solve: one that took long by
  /// chance is forgotten.
  static constexpr double remembered_pace = 0.5;
};

/// Constants of the linear systems, BodySystem and ActiveSystem. The next step of a path corrects
/// what a solve leaves; a step on the law itself suffers only where that is as large as `enough`.
struct BodySystemTuning {
  static constexpr int refinements = 4;
  /// Share of the right side that may be left; twice as much costs 5 % more systems on rigid files.
  static constexpr double enough = 1e-7;
  /// Refinement ends where what is left does not fall to this share. It matters in float, where
  /// rounding leaves more than `enough`; in double it has no effect.
  static constexpr double gain = 0.5;
};
/// Constants of SmoothedContact.
struct SmoothedContactTuning {
  /// What the start is raised by, as IslandLawTuning::margins.
  static constexpr double margin = 30;
  /// Most systems of an island: a tenth of the products each, and some to settle.
  static constexpr int systems = 100;
};
/// Constants of LinearizedLaw: how the softness of what is held is refined away.
struct LinearizedLawTuning {
  /// Most right sides per system. Two suffice where impulses are unique and w is a fair scale of
  /// them; each more multiplies what is left by held_softness over the least eigenvalue of W/w.
  static constexpr int corrections = 4;
  /// Refinement ends where the next right side is expected to change the answer by this share [ε].
  /// Less makes noise where impulses are not unique, whose part without momentum every right side
  /// changes by ε/held_softness.
  static constexpr double enough = 512;
  /// Share of the answer that refinement still changes, above which rows that are held contradict
  /// each other: they are then met in the mean.
  static constexpr double contradiction = 1e-3;
  /// A change of data below ε_m to this power of the solution's own speeds is rounding: what rows
  /// contradict each other by is then no error. A chain of steps whose body has come to rest leaves
  /// such changes, 1e-15 of the speed that gravity adds in a step.
  static constexpr double rounded_change = 0.75;
  /// Where nothing is softened and pivots differ by no more than this factor [ε^(−1/4)], 8192 in
  /// double, one right side does: a second would change the answer by no more than as many ε.
  static constexpr double even_pivots = 1;
  /// Most parts of an island's closed blocks whose impulses make the system in place of the bodies'
  /// unknowns, of which there must be twice as many.
  static constexpr int closed_parts = 8;
};
struct ActiveSystemTuning {
  static constexpr int refinements = 8;
  /// Share of the right side that may be left.
  static constexpr double enough = 1e-6;
  /// Refinement ends where what is left does not fall to this share, as for BodySystem.
  static constexpr double gain = 0.9;
  /// The order of elimination is found again where fewer than so many tenths of its contacts take
  /// part.
  static constexpr int kept_tenths = 7;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
