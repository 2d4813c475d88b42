// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/contact_problem.hpp"
#include "carom/solvers/contact_solver_options.hpp"
#include "carom/solvers/sap_options.hpp"
#include "carom/solvers/search/contact_solver_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether SapSolver is the first to solve a problem.
template <RealScalar Scalar>
[[nodiscard]] bool begins_on_bodies(const ContactSolverOptions<Scalar>& options,
                                    const ContactProblem<Scalar>& problem) noexcept {
  return options.method == ContactMethod::sap ||
         (options.method == ContactMethod::automatic && problem.rigid_count() == 0);
}
/// Whether ProximalSolver is the one to solve a problem: large heaps of rigid contact under the
/// convex law, and of compliant contact under Coulomb's.
template <RealScalar Scalar>
[[nodiscard]] bool is_proximal(const ContactSolverOptions<Scalar>& options,
                               const ContactProblem<Scalar>& problem) noexcept {
  if (options.method == ContactMethod::proximal) return true;
  const bool rigid = problem.rigid_count() > 0, convex = options.law == FrictionLaw::convex;
  return options.method == ContactMethod::automatic && rigid == convex &&
         problem.block_count() >= ContactSolverTuning::proximal_blocks;
}
/// Whether InteriorPointSolver is one of those that solve.
template <RealScalar Scalar>
[[nodiscard]] bool follows_path(const ContactSolverOptions<Scalar>& options) noexcept {
  return options.method == ContactMethod::automatic ||
         options.method == ContactMethod::interior_point;
}

/// What SapSolver is asked for: all of the answer where its method was named, else a start for what
/// follows.
template <RealScalar Scalar>
[[nodiscard]] SapOptions<Scalar> sap_options(const ContactSolverOptions<Scalar>& options) noexcept {
  using Tuning = ContactSolverTuning;
  SapOptions<Scalar> result;
  result.law = options.law;
  result.tolerance = options.tolerance;
  result.iteration_limit = options.iteration_limit;
  if (options.method == ContactMethod::sap) return result;
  result.tolerance = (std::min)(Scalar(options.tolerance / Scalar(Tuning::sap_accuracy)),
                                Scalar(Tuning::loosest_sap));
  result.iteration_limit =
      options.law == FrictionLaw::coulomb ? Tuning::coulomb_steps : Tuning::convex_steps;
  return result;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
