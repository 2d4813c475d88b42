// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// An answer to a contact problem, and how far to trust it.
template <RealScalar Scalar>
struct ContactSolution {
  VectorX<Scalar> velocity;          ///< v [m/s, rad/s], n_v.
  VectorX<Scalar> impulse;           ///< γ [N·s], stacked block by block.
  VectorX<Scalar> contact_velocity;  ///< J v [m/s, rad/s], stacked alike.
  SolveReport<Scalar> report;
  ContactCertificate<Scalar> certificate;
};

/// Solves compliant contact in one call, from the free velocity.
/// @note  Cold: allocates. Use SapSolver inside a simulation loop.
template <RealScalar Scalar>
[[nodiscard]] ContactSolution<Scalar> solve_contact(const ContactProblem<Scalar>& problem,
                                                    const SapOptions<Scalar>& options = {}) {
  SapSolver<Scalar> solver(options);
  ContactSolution<Scalar> solution;
  solution.velocity = problem.free_velocity();
  solution.report = solver.solve(problem, solution.velocity);
  solution.impulse = solver.impulse();
  solution.contact_velocity = solver.contact_velocity();
  solution.certificate = certify(problem, solution.velocity, solution.impulse);
  return solution;
}

}  // namespace CAROM_ABI
}  // namespace carom
