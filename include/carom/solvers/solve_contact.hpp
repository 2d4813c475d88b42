// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// An answer to a contact problem; certify(problem, solution) measures its error.
template <RealScalar Scalar>
struct ContactSolution {
  VectorX<Scalar> velocity;          ///< v [m/s, rad/s], n_v.
  VectorX<Scalar> impulse;           ///< γ [N·s], stacked block by block.
  VectorX<Scalar> contact_velocity;  ///< J v [m/s, rad/s], stacked in the same way.
  SolveReport<Scalar> report;
  FrictionLaw law = FrictionLaw::coulomb;  ///< that was solved.
};

/// Solves one step in one call, from the free velocity: under Coulomb's law, with contacts and
/// joints rigid unless they have a stiffness. The options can select the convex law.
/// @note  Cold: allocates. Use ContactSolver inside a simulation loop.
template <RealScalar Scalar>
[[nodiscard]] ContactSolution<Scalar> solve_contact(
    const ContactProblem<Scalar>& problem, const ContactSolverOptions<Scalar>& options = {}) {
  ContactSolver<Scalar> solver(options);
  ContactSolution<Scalar> solution;
  solution.law = options.law;
  solution.velocity = problem.free_velocity();
  solution.report = solver.solve(problem, solution.velocity);
  solution.impulse = solver.impulse();
  solution.contact_velocity.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    block.write(block.velocity(solution.velocity), solution.contact_velocity);
  });
  return solution;
}

/// Solves compliant contact by SapSolver with its options: under the convex law unless they select
/// Coulomb's law.
/// @note  Cold: allocates. Use SapSolver inside a simulation loop.
template <RealScalar Scalar>
[[nodiscard]] ContactSolution<Scalar> solve_contact(const ContactProblem<Scalar>& problem,
                                                    const SapOptions<Scalar>& options) {
  SapSolver<Scalar> solver(options);
  ContactSolution<Scalar> solution;
  solution.law = options.law;
  solution.velocity = problem.free_velocity();
  solution.report = solver.solve(problem, solution.velocity);
  solution.impulse = solver.impulse();
  solution.contact_velocity = solver.contact_velocity();
  return solution;
}

/// Certifies an answer under the law that was solved. If all contacts are compliant under the
/// convex law, the error of the velocity has a proven bound. Otherwise the duality gap, the
/// residual of the velocity and the bound on it are infinite.
/// @pre   problem is the one that was solved.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                                 const ContactSolution<Scalar>& solution) {
  ContactCertificate<Scalar> result = certify(problem, solution.velocity, solution.impulse);
  if (solution.law == FrictionLaw::convex && problem.rigid_count() == 0) return result;
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  const ImpulseCertificate<Scalar> alone = certify(dual, solution.impulse, solution.law);
  result.natural_map_error = alone.natural_map_error;
  result.cone_violation = alone.cone_violation;
  result.complementarity = alone.complementarity;
  result.worst_block = alone.worst_block;
  result.complementarity_block = result.duality_gap_block = result.velocity_residual_body = -1;
  result.duality_gap = result.velocity_error_bound = result.velocity_residual =
      std::numeric_limits<Scalar>::infinity();
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
