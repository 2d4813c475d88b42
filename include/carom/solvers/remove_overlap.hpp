// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/position_projection.hpp"
#include "carom/solvers/contact_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The shortest motion that removes the overlaps of bodies, min ½‖Δq‖²_A with Jₙ Δq ≥ −ϕ: positions
/// move along normals, at once, and no velocity changes.
///
/// ```
/// Eigen::VectorXd motion;
/// const auto report = carom::remove_overlap(problem, gaps, motion);
/// position += motion.head<3>();  // of the first body
/// ```
/// @param problem  the step's problem, with its Jacobians; its laws and velocities are not used.
/// @param gaps     ϕ of its blocks [m], negative in penetration, finite. Entries of blocks whose
///                 set is not a cone are not used. Open contacts may close, but not overlap.
/// @param motion   Δq [m, rad], n_v, in the coordinates of the velocities. It is accurate to first
///                 order: deep overlaps of rotating bodies need two or three calls.
/// @return  the report of the solver; for infeasible gaps the motion is the nearest one.
/// @note  Cold: allocates, may throw std::invalid_argument.
template <RealScalar Scalar>
SolveReport<Scalar> remove_overlap(const ContactProblem<Scalar>& problem,
                                   const VectorX<Scalar>& gaps, VectorX<Scalar>& motion) {
  ContactProblem<Scalar> moves(Scalar(1));
  write_position_problem(problem, gaps, Scalar(1e-6), moves);
  ContactSolver<Scalar> solver({.law = FrictionLaw::convex});
  motion.setZero(problem.velocity_count());
  return solver.solve(moves, motion);
}

}  // namespace CAROM_ABI
}  // namespace carom
