// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>

#include "carom/solvers/recording/recorded_solver.hpp"
#include "carom/solvers/refine_impulses.hpp"
#include "carom/solvers/solve_or_prove.hpp"

namespace carom::cli {

/// Solves steps as the Python package does: by SapSolver and refine_impulses() if every contact is
/// compliant and the law convex; otherwise by ContactSolver and, where it does not converge, with a
/// search for a proof that there is no answer. It keeps the memory of all of them.
class ChainedSolver {
 public:
  using scalar_type = double;
  static constexpr auto recorded_kind = carom::detail::RecordedSolverKind::chained;

  struct Options {
    FrictionLaw law = FrictionLaw::coulomb;
    double tolerance = 1e-8;   ///< [-], > 0
    int iteration_limit = -1;  ///< < 0: the solver's own.
  };
  /// Where a solve begins; neither: at the free velocity.
  struct Guess {
    VectorX<double> velocity;  ///< n_v, or empty.
    VectorX<double> impulse;   ///< impulse_count(), or empty; comes before the velocity.
  };

  explicit ChainedSolver(const Options& options) : options_(options) {}
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return limits_; }

  /// Solves a step, and writes velocity and impulse of its answer.
  SolveReport<double> solve(const ContactProblem<double>& problem, const Guess& guess,
                            VectorX<double>& velocity, VectorX<double>& impulse) {
    const bool compliant = options_.law == FrictionLaw::convex && problem.rigid_count() == 0;
    return compliant ? solve_compliant(problem, guess, velocity, impulse)
                     : solve_in_general(problem, guess, velocity, impulse);
  }

 private:
  /// Problems beyond this many rows and velocities get their memory before the solve, which has no
  /// way to say that there is none. Below it memory does not run out, and the call costs more.
  static constexpr Index small_problem = 1000;

  [[nodiscard]] static bool is_large(const ContactProblem<double>& problem) noexcept {
    return problem.velocity_count() + problem.impulse_count() > small_problem;
  }
  SolveReport<double> solve_compliant(const ContactProblem<double>& problem, const Guess& guess,
                                      VectorX<double>& velocity, VectorX<double>& impulse) {
    if (!compliant_) {
      ContactSolverOptions<double> options{
          .law = options_.law, .method = ContactMethod::sap, .tolerance = options_.tolerance};
      options.iteration_limit = SapOptions<double>().iteration_limit;
      if (options_.iteration_limit >= 0) options.iteration_limit = options_.iteration_limit;
      compliant_.emplace(options);
    }
    compliant_->set_limits(limits_);
    if (is_large(problem)) compliant_->prepare(problem);
    if (guess.impulse.size() > 0) {
      write_velocity(problem, guess.impulse, velocity);
    } else {
      begin_at(problem, guess, velocity);
    }
    SolveReport<double> report = compliant_->solve(problem, velocity);
    impulse = compliant_->impulse();
    if (report.status == SolveStatus::no_progress) {
      ContactSolver<double>& general = general_solver();
      const int most = std::min(limits_.iteration_limit, compliant_->options().iteration_limit);
      general.set_limits(limits_.with_iterations(most - report.iterations));
      report = refine_impulses(general, problem, velocity, impulse, report);
    }
    return report;
  }
  ContactSolver<double>& general_solver() {
    if (!general_) {
      ContactSolverOptions<double> options{.law = options_.law, .tolerance = options_.tolerance};
      if (options_.iteration_limit >= 0) options.iteration_limit = options_.iteration_limit;
      general_.emplace(options);
    }
    return *general_;
  }
  SolveReport<double> solve_in_general(const ContactProblem<double>& problem, const Guess& guess,
                                       VectorX<double>& velocity, VectorX<double>& impulse) {
    general_solver().set_limits(limits_);
    if (is_large(problem)) general_->prepare(problem);
    SolveReport<double> report;
    int begun = 0;
    bool done = false;
    if (guess.impulse.size() > 0) {
      report = general_->solve_from(problem, guess.impulse, velocity);
      begun = report.iterations;
      done = report.converged() || report.status == SolveStatus::deadline;
    }
    if (!done) {
      begin_at(problem, guess, velocity);
      VectorX<double> ray;
      report = solve_or_prove(*general_, problem, velocity, ray);
      report.iterations += begun;
    }
    impulse = general_->impulse();
    return report;
  }
  static void begin_at(const ContactProblem<double>& problem, const Guess& guess,
                       VectorX<double>& velocity) {
    velocity = guess.velocity;
    if (guess.velocity.size() == 0) velocity = problem.free_velocity();
  }

  Options options_;
  SolveLimits limits_;
  std::optional<ContactSolver<double>> compliant_, general_;
};

}  // namespace carom::cli
