// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/position_projection.hpp"
#include "carom/solvers/contact_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The shortest motion that takes bodies out of each other, min ½‖Δq‖²_A with Jₙ Δq ≥ −ϕ: positions
/// move along normals, at once, and no velocity changes.
///
/// ```
/// Eigen::VectorXd motion;
/// const auto report = carom::remove_overlap(problem, gaps, motion);
/// position += motion.head<3>();  // of the first body
/// ```
/// @param problem  the step's problem, with its Jacobians; its laws and velocities are not used.
/// @param gaps     ϕ of its blocks [m], negative in penetration, finite; those of blocks whose set
///                 is no cone are not used. Contacts that are open may close, but not overlap.
/// @param motion   Δq [m, rad], n_v, in the coordinates of the velocities. To first order: deep
///                 overlaps of bodies that turn take two or three calls.
/// @return  the report of the solver: infeasible gaps leave the motion that comes nearest.
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
