// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/infeasibility_ray.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Solves a problem as ContactSolver::solve does. If that takes long, it searches a ray that proves
/// that no impulses obey the law.
///
/// Compliant contact always has an answer, so a proof is searched only if a block is rigid, and for
/// up to 400 blocks: the work grows with the cube of the count of blocks with nonzero impulse. If
/// nothing is proven the solver continues within its limits.
/// @param velocity  as for ContactSolver::solve.
/// @param ray       written: r, impulse_count(), in the form of certify_infeasible(); empty if
///                  nothing is proven.
/// @param executor  as for ContactSolver::solve.
/// @return  status infeasible if the ray is a proof.
/// @note  Cold: allocates.
template <RealScalar Scalar, typename Executor = detail::ExecutorReference>
SolveReport<Scalar> solve_or_prove(ContactSolver<Scalar>& solver,
                                   const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                                   VectorX<Scalar>& ray, Executor&& executor = {}) {
  using Tuning = detail::ContactSolverTuning;
  ray.resize(0);
  if (problem.rigid_count() == 0 || problem.block_count() > Tuning::proof_blocks) {
    return solver.solve(problem, velocity, executor);
  }
  const SolveLimits given = solver.limits();
  const int limit = (std::min)(given.iteration_limit, solver.options().iteration_limit);
  solver.set_limits(given.with_iterations((std::min)(limit, Tuning::proof_systems)));
  SolveReport<Scalar> report = solver.solve(problem, velocity, executor);
  solver.set_limits(given);
  const bool looked = (report.status == SolveStatus::iteration_limit ||
                       report.status == SolveStatus::no_progress) &&
                      report.iterations < limit;
  if (looked) {
    const FrictionLaw law = solver.options().law;
    ray = refine_ray(problem, law, solver.impulse());
    if (certify_infeasible(problem, law, ray).infeasible) {
      report.status = SolveStatus::infeasible;
    } else {
      ray.resize(0);
      const int taken = report.iterations;
      solver.set_limits(given.with_iterations(limit - taken));
      const VectorX<Scalar> impulse = solver.impulse();
      report = solver.solve_from(problem, impulse, velocity, executor);
      solver.set_limits(given);
      report.iterations += taken;
    }
  }
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
