// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The shortest motion out of penetration, min ½‖Δq‖²_A with Jₙ Δq ≥ −ϕ, as a contact problem whose
/// velocity is Δq [m, rad] over one second. It has the contacts of a step without friction, and
/// bodies at rest. Blocks that are not contacts are omitted. The result moves positions along
/// normals and adds nothing to the velocity. Open contacts may use their remaining gap.
/// @param problem   the step's problem, with its Jacobians.
/// @param gaps      ϕ of its blocks [m], negative in penetration, finite. Entries of blocks whose
///                  set is not a cone are not used.
/// @param softness  R relative to each contact's inverse mass [-], > 0, for solvers that need one.
/// @param moves     written; its contacts are rigid. Any solver can solve it. A solver of rigid
///                  contact results in gaps of zero.
/// @note  Cold: allocates only for a problem larger than every problem before; throws
///        std::invalid_argument.
template <RealScalar Scalar>
void write_position_problem(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& gaps,
                            const Scalar& softness, ContactProblem<Scalar>& moves) {
  if (gaps.size() != problem.block_count()) {
    detail::reject_if(
        detail::fault("gaps: size", std::to_string(problem.block_count()).c_str(), gaps.size()));
  }
  detail::reject_if(detail::finite_fault("gaps", gaps));
  detail::reject_if(detail::is_positive(softness)
                        ? Fault{}
                        : detail::fault("softness", "a finite number > 0", softness));
  moves.reset(Scalar(1));
  for (Index b = 0; b < problem.body_count(); ++b) {
    moves.add_body(problem.momentum_matrix(b), VectorX<Scalar>::Zero(problem.body(b).size));
  }
  using Rows = Eigen::Matrix<Scalar, 3, Eigen::Dynamic>;
  for (Index i = 0; i < problem.block_count(); ++i) {
    const ImpulseShape shape = problem.law(i).set.shape;
    if (shape == ImpulseShape::intervals) continue;
    const bool planar = shape == ImpulseShape::planar;
    Rows rows[2];
    for (int side = 0; side < problem.side_count(i); ++side) {
      const auto jacobian = problem.jacobian(i, side);
      rows[side] = Rows::Zero(3, jacobian.cols());
      for (int r = 0; r < (planar ? 2 : 3); ++r)
        rows[side].row(planar ? 2 * r : r) = jacobian.row(r);
    }
    WeightedContact<Scalar> law{
        Scalar(0), {softness, softness}, {Scalar(0), Scalar(0), -gaps(i)}, true};
    if (problem.side_count(i) == 2) {
      moves.add_contact(problem.side_body(i, 0), rows[0], problem.side_body(i, 1), rows[1], law);
    } else {
      moves.add_contact(problem.side_body(i, 0), rows[0], law);
    }
    const Index added = moves.block_count() - 1;
    const Scalar weight = softness * detail::contact_inverse_mass(detail::sides_of(moves, added));
    law.regularization = {weight, weight};
    moves.set_law(added, law);
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
