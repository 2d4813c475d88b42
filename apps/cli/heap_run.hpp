// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_limits.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "cli/thread_pool.hpp"
#include "scenes/pile.hpp"

namespace carom::cli {

/// How a heap is solved.
struct HeapLaw {
  FrictionLaw law = FrictionLaw::coulomb;
  bool rigid = false;
  double tolerance = 1e-8;  ///< As ContactSolverOptions has it, > 0.
};

/// A heap that moves in steps of time. The velocities follow the contact solver, the gaps of the
/// contacts follow the velocities. Points and normals stay where they are, and so does the list of
/// contacts, which is right as long as bodies move by much less than their size.
class HeapRun {
 public:
  HeapRun(const examples::PileShape& shape, examples::Pile pile, const HeapLaw& law);

  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  /// Guess of the next step's velocity, n_v, and its answer after solve().
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }

  /// Solves the step. The first one begins at rest, those that follow at the answer before.
  SolveReport<double> solve(ThreadPool& pool, const SolveLimits& limits = {});
  /// Residual of the answer, computed anew (heap_residual.hpp) [-].
  [[nodiscard]] double residual() const;
  /// Goes on to the next step: its free velocities and gaps.
  void advance();
  /// The farthest that a body's centre has moved since the start [m].
  [[nodiscard]] double farthest() const;

 private:
  examples::PileShape shape_;
  HeapLaw law_;
  ContactProblem<double> problem_;
  ContactSolver<double> solver_;
  VectorX<double> velocity_, impulse_, displacement_;
  bool solved_ = false;
};

/// Memory that a run takes at most [bytes], before it is begun: from the number of bodies and
/// contacts and what each was measured to take, with the solver's factors.
[[nodiscard]] double heap_memory(const examples::PileShape& shape, const HeapLaw& law);

}  // namespace carom::cli
