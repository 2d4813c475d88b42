// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/detail/contact_solver_tuning.hpp"
#include "carom/solvers/interior_point.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The answer to a problem whose rigid blocks were made as soft as they have to be.
template <RealScalar Scalar>
struct SoftenedAnswer {
  Scalar regularization = 0;  ///< R that each rigid block was given [1/kg]; zero where none helped.
  VectorX<Scalar> velocity;   ///< v [m/s, rad/s], n_v.
  VectorX<Scalar> impulse;    ///< γ [N·s], stacked block by block.
  SolveReport<Scalar> report;  ///< Of the softened problem; iterations: of all tries together.
};

/// Gives the rigid blocks of a problem without an answer the least R with which it has one, to a
/// factor of ten.
///
/// R begins at 10⁻¹⁰ of the mean diagonal of W and grows tenfold until InteriorPointSolver
/// converges, at most fifteen times.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] SoftenedAnswer<Scalar> soften(const ContactProblem<Scalar>& problem,
                                            const InteriorPointOptions<Scalar>& options = {}) {
  using Tuning = detail::ContactSolverTuning;
  ContactProblem<Scalar> soft = problem;
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write_matrix_free(problem, dual);
  InteriorPointSolver<Scalar> solver(options);
  SoftenedAnswer<Scalar> answer;
  Scalar r = Scalar(Tuning::least_softening) * dual.mean_diagonal();
  int iterations = 0;
  for (int k = 0; k < Tuning::softenings && !answer.report.converged();
       ++k, r *= Scalar(Tuning::softening_rise)) {
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (!problem.is_rigid(i)) continue;
      WeightedBlock<Scalar> law = problem.law(i);
      law.rigid = false;
      law.regularization.setConstant(r);
      soft.set_law(i, law);
    }
    answer.report = solver.solve(soft, answer.velocity);
    iterations += answer.report.iterations;
    if (answer.report.converged()) answer.regularization = r;
  }
  answer.impulse = solver.impulse();
  answer.report.iterations = iterations;
  return answer;
}

}  // namespace CAROM_ABI
}  // namespace carom
