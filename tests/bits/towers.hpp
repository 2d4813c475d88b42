// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <carom/carom.hpp>

#include "bits.hpp"

namespace carom::bits {

/// Boxes of half width 0.1 m one on the other on the ground, four contacts each, pushed at random.
template <typename Scalar, typename Law>
ContactProblem<Scalar> make_tower(int boxes, const Law& law, VectorX<Scalar>& velocity) {
  using Jacobian = Eigen::Matrix<Scalar, 3, 6>;
  // Of a corner of a box whose velocity is (linear, angular) in the world.
  const auto jacobian_at = [](int corner, double height) {
    const Vector3<double> arm(corner % 2 == 0 ? 0.1 : -0.1, corner < 2 ? 0.1 : -0.1, height);
    Eigen::Matrix<double, 3, 6> jacobian;
    jacobian << 1, 0, 0, 0, arm.z(), -arm.y(),  //
        0, 1, 0, -arm.z(), 0, arm.x(),          //
        0, 0, 1, arm.y(), -arm.x(), 0;
    return Jacobian(jacobian.cast<Scalar>());
  };
  Numbers numbers;
  ContactProblem<Scalar> problem(Scalar(0.01));
  velocity.resize(6 * boxes);
  for (int box = 0; box < boxes; ++box) {
    Vector<Scalar, 6> inertia;
    inertia << 2, 2, 2, Scalar(0.02), Scalar(0.02), Scalar(0.02);
    for (int k = 0; k < 6; ++k) velocity(6 * box + k) = Scalar(0.1 * numbers.next());
    velocity(6 * box + 2) -= Scalar(0.0981);
    const SquareMatrix<Scalar, 6> mass = inertia.asDiagonal();
    const auto body = problem.add_body(mass, velocity.template segment<6>(6 * box));
    for (int corner = 0; corner < 4; ++corner) {
      const Jacobian foot = jacobian_at(corner, -0.1);
      if (box == 0) {
        problem.add_contact(body, foot, law);
      } else {
        problem.add_contact(body, foot, body - 1, Jacobian(-jacobian_at(corner, 0.1)), law);
      }
    }
  }
  return problem;
}

template <typename Scalar>
inline const CompliantContact<Scalar> soft_ground{
    .gap = 0, .stiffness = Scalar(1e5), .dissipation_time = Scalar(0.01), .friction = Scalar(0.5)};
template <typename Scalar>
inline const RigidContact<Scalar> hard_ground{.gap = 0, .friction = Scalar(0.5)};

/// Solves a problem and takes velocity, impulses and the report.
template <typename Solver, typename Scalar>
void take_solve(Bits& bits, Solver& solver, const ContactProblem<Scalar>& problem,
                VectorX<Scalar>& velocity) {
  bits.take_report(solver.solve(problem, velocity));
  bits.take(velocity);
  bits.take(solver.impulse());
}

}  // namespace carom::bits
