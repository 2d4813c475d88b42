// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"

namespace carom::inline CAROM_ABI {

/// The shortest motion out of penetration, min ½‖Δq‖²_A with Jₙ Δq ≥ −ϕ, as a contact problem whose
/// velocity is Δq [m, rad] over one second: contacts of a step without friction, bodies at rest,
/// constraints left out. It moves positions along normals and adds nothing to the velocity;
/// contacts that are open keep what is left of their gap.
/// @param problem   the step's problem, with its Jacobians.
/// @param gaps      ϕ of its contacts [m], negative in penetration, finite.
/// @param softness  R relative to each contact's inverse mass [-], > 0, for solvers that need one.
/// @param moves     written, its contacts rigid: to be solved by any solver, by one of rigid
/// contact
///        for gaps of zero.
/// @note  Cold: may allocate beyond the largest problem so far; throws std::invalid_argument.
template <RealScalar Scalar>
void write_position_problem(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& gaps,
                            const Scalar& softness, ContactProblem<Scalar>& moves) {
  if (gaps.size() != problem.contact_count()) {
    detail::reject_if(
        detail::fault("gaps: size", std::to_string(problem.contact_count()).c_str(), gaps.size()));
  }
  detail::reject_if(detail::finite_fault("gaps", gaps));
  detail::reject_if(detail::is_positive(softness)
                        ? Fault{}
                        : detail::fault("softness", "a finite number > 0", softness));
  moves.reset(Scalar(1));
  for (Index b = 0; b < problem.body_count(); ++b) {
    moves.add_body(problem.momentum_matrix(b), VectorX<Scalar>::Zero(problem.body(b).size));
  }
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto first = problem.jacobian(i, 0).transpose();
    const Index body = problem.side_body(i, 0);
    SquareMatrix<Scalar, 3> own = detail::diagonal_delassus(problem.momentum_matrix(body), first);
    const bool two = problem.side_count(i) == 2;
    if (two) {
      own += detail::diagonal_delassus(problem.momentum_matrix(problem.side_body(i, 1)),
                                       problem.jacobian(i, 1).transpose());
    }
    const Scalar weight = softness * own.norm() / 3;
    const WeightedContact<Scalar> law{
        Scalar(0), {weight, weight}, {Scalar(0), Scalar(0), -gaps(i)}, true};
    if (two) {
      moves.add_contact(body, first, problem.side_body(i, 1), problem.jacobian(i, 1).transpose(),
                        law);
    } else {
      moves.add_contact(body, first, law);
    }
  }
}

}  // namespace carom::inline CAROM_ABI
