// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/adapters/detail/petsc_law_system.hpp"
#include "carom/adapters/petsc.hpp"
#include "carom/solvers/search/island_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What a PetscInteriorPointSolver solves, and how accurately. All ranks have the same.
struct PetscInteriorPointOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  double tolerance = 1e-8;     ///< natural_map_error at which to stop [-], > 0.
  int iteration_limit = 2000;  ///< Most systems factored, ≥ 0.

  [[nodiscard]] bool is_valid() const noexcept { return tolerance > 0 && iteration_limit >= 0; }
};

/// InteriorPointSolver on the ranks of a communicator: rigid and compliant contact under Coulomb's
/// law or the convex one.
///
/// The search is that of one process, its sums and largest values taken over the ranks, and all
/// islands are one. Each step solves one sparse system of all bodies' unknowns, assembled by the
/// ranks and factored by all of them together with MUMPS, through PETSc. Options of PETSc with the
/// prefix `carom_law_` choose another KSP or preconditioner, `-carom_law_ksp_type gmres
/// -carom_law_pc_type asm` say. The factor's memory grows faster than the contacts: heaps of many
/// thousands of bodies are for PetscContactSolver's sequence.
///
/// ```
/// carom::PetscInteriorPointSolver solver;
/// Eigen::VectorXd velocity(problem.local().velocity_count());
/// const auto report = solver.solve(problem, velocity);
/// ```
/// @note  Cold: allocates. Every rank calls every function. Bad data make all ranks throw
///        std::invalid_argument; where PETSc fails, all ranks end. A factor that fails does not
///        end them: the search goes on by another way.
/// @cite  nesterov1997self, mehrotra1992implementation, amestoy2001fully.
class PetscInteriorPointSolver {
 public:
  explicit PetscInteriorPointSolver(const PetscInteriorPointOptions& options = {})
      : options_(options) {
    CAROM_EXPECTS(options.is_valid());
  }
  [[nodiscard]] const PetscInteriorPointOptions& options() const noexcept { return options_; }

  /// Solves the problem without a guess.
  /// @param velocity  v [m/s, rad/s] of own bodies and ghosts, as local() stacks them, out: v of
  ///                  the impulses found.
  /// @return  as InteriorPointSolver, for the whole problem, the same on all ranks.
  SolveReport<double> solve(const PetscContactProblem& problem, VectorX<double>& velocity) {
    CAROM_EXPECTS(velocity.size() == problem.local().velocity_count());
    system_.take(problem, options_.law == FrictionLaw::convex);
    law_.lay_out(system_, detail::make_yardstick(system_, options_.law));
    SolveLimits limits;
    limits.iteration_limit = options_.iteration_limit;
    const auto outcome = law_.solve(system_, 0, false, options_.tolerance, limits);
    SolveReport<double> report;
    report.status = outcome.status;
    report.iterations = outcome.systems;
    detail::conclude(law_.yardstick(), outcome.sums, options_.tolerance, report);
    impulse_.setZero(problem.local().impulse_count());
    system_.rows().for_each_row(
        [&](Index row, Index place) { impulse_(row) = law_.impulse()[place]; });
    system_.write_whitened(law_.impulse(), velocity);
    problem.local().unwhiten(as_span(velocity));
    counts_ = {};
    detail::count_borders(problem, system_.exchange(), counts_);
    counts_.linear_iterations = system_.iterations();
    counts_.exchanges = system_.exchange().count();
    counts_.sums = system_.sum_count();
    return report;
  }

  /// γ of this rank's blocks [N·s], as local() stacks them.
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  /// Of the last solve.
  [[nodiscard]] const PetscCounts& counts() const noexcept { return counts_; }

 private:
  PetscInteriorPointOptions options_;
  detail::PetscLawSystem system_;
  detail::IslandLaw<detail::PetscLawSystem> law_;
  VectorX<double> impulse_;
  PetscCounts counts_;
};

}  // namespace CAROM_ABI
}  // namespace carom
