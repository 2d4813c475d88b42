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
  double tolerance = 1e-8;  ///< As in ContactSolverOptions, > 0.
};

/// A heap that moves in time steps. The velocities are the answers of the contact solver; the gaps
/// of the contacts are integrated from the velocities. Points, normals and the list of contacts do
/// not change, which is correct as long as bodies move by much less than their size.
class HeapRun {
 public:
  HeapRun(const examples::PileShape& shape, examples::Pile pile, const HeapLaw& law);

  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  /// Guess of the next step's velocity, n_v, and its answer after solve().
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }

  /// Solves the step. The first step starts at rest, each later step from the answer before.
  SolveReport<double> solve(ThreadPool& pool, const SolveLimits& limits = {});
  /// Residual of the answer, computed again (heap_residual.hpp) [-].
  [[nodiscard]] double residual() const;
  /// Advances to the next step: its free velocities and gaps.
  void advance();
  /// The largest distance of a body's centre from its start [m].
  [[nodiscard]] double farthest() const;

 private:
  examples::PileShape shape_;
  HeapLaw law_;
  ContactProblem<double> problem_;
  ContactSolver<double> solver_;
  VectorX<double> velocity_, impulse_, displacement_;
  bool solved_ = false;
};

/// An upper bound of the memory of a run [bytes], computed before it begins: from the count of
/// bodies and contacts and the measured memory of each, including the solver's factors.
[[nodiscard]] double heap_memory(const examples::PileShape& shape, const HeapLaw& law);

}  // namespace carom::cli
