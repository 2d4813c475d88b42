// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/contact_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Continues from an answer of SapSolver that makes no progress, with the impulses as unknowns.
///
/// The velocity determines the impulses of compliant contact, γ = P(R⁻¹ (v̂ − J v)). If contacts are
/// nearly rigid, the rounding of v is divided by a small R, and the impulses lose as many digits as
/// w/R has, w the mean diagonal of W. Newton's method in impulses has no such limit: one or two
/// systems restore these digits. If rounding is not what stopped SapSolver, at a residual of more
/// than half of the type's digits, all methods of ContactSolver continue.
/// @param solver    of the same law, with ContactMethod::automatic; its limits hold for the systems
///                  of this call, of which there are at most twelve where digits are restored.
/// @param problem   of compliant blocks.
/// @param velocity  v, n_v: of the answer; written if a better one is found.
/// @param impulse   γ, impulse_count(): the same.
/// @param report    of the answer, with the block error as its measure.
/// @return  the report of the better answer; its iterations are those of both solves, and its
///          error_bound is proven by certify().
/// @note  Cold: allocates.
template <RealScalar Scalar, typename Executor = detail::ExecutorReference>
SolveReport<Scalar> refine_impulses(ContactSolver<Scalar>& solver,
                                    const ContactProblem<Scalar>& problem,
                                    VectorX<Scalar>& velocity, VectorX<Scalar>& impulse,
                                    SolveReport<Scalar> report, Executor&& executor = {}) {
  CAROM_EXPECTS(solver.options().method == ContactMethod::automatic);
  CAROM_EXPECTS(report.measure == ResidualMeasure::block_error);
  using Tuning = detail::ContactSolverTuning;
  if (problem.rigid_count() > 0 || problem.block_count() >= Tuning::proximal_blocks) return report;
  const SolveLimits given = solver.limits();
  if (report.residual <= std::sqrt(std::numeric_limits<Scalar>::epsilon())) {
    solver.set_limits(
        given.with_iterations((std::min)(given.iteration_limit, Tuning::guess_systems)));
  }
  VectorX<Scalar> refined = velocity;
  SolveReport<Scalar> next = solver.solve_from(problem, impulse, refined, executor);
  solver.set_limits(given);
  next.iterations += report.iterations;
  if (!(next.residual < report.residual)) {
    report.iterations = next.iterations;
    return report;
  }
  velocity = refined;
  impulse = solver.impulse();
  if (!next.converged()) next.status = report.status;
  next.error_bound = certify(problem, velocity, impulse).velocity_error_bound;
  return next;
}

}  // namespace CAROM_ABI
}  // namespace carom
