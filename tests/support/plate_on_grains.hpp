// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/rigid_contact.hpp"

#include "scenes/infeasible.hpp"

namespace carom::testing {

/// A plate on a tower of grains on the floor, all of them points that fall by one step. At rest
/// every contact carries what lies on it: the plate's share of it may be of any size.
template <typename Scalar>
struct PlateOnGrains {
  int grains = 1;
  Scalar mass = Scalar(1e-6);     ///< of each grain [kg]
  Scalar ratio = Scalar(1e8);     ///< mass of the plate to that of a grain [-]
  Scalar fall = Scalar(0.0981);   ///< speed of all without contact [m/s]
  Scalar friction = Scalar(0.5);  ///< μ [-]
  Vector3<Scalar> down{0, 0, -1};
  bool as_one_body = false;  ///< all points in one matrix A, as the links of a robot
};

/// Contact i is below grain i, the last one below the plate.
template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_plate_on_grains(const PlateOnGrains<Scalar>& tower) {
  ContactProblem<Scalar> problem(Scalar(0.01));
  const SquareMatrix<Scalar, 3> axes = examples::contact_axes(Vector3<Scalar>(-tower.down));
  const RigidContact<Scalar> law{.friction = tower.friction};
  const int points = tower.grains + 1;
  MatrixX<Scalar> inertia = tower.mass * MatrixX<Scalar>::Identity(3 * points, 3 * points);
  inertia.bottomRightCorner(3, 3) *= tower.ratio;
  const VectorX<Scalar> free = (tower.fall * tower.down).replicate(points, 1);
  if (tower.as_one_body) problem.add_body(inertia, free);
  for (int i = 0; i < points; ++i) {
    if (tower.as_one_body) {
      MatrixX<Scalar> rows = MatrixX<Scalar>::Zero(3, 3 * points);
      rows.middleCols(3 * i, 3) = axes;
      if (i > 0) rows.middleCols(3 * i - 3, 3) = -axes;
      problem.add_contact(0, rows, law);
      continue;
    }
    problem.add_body(MatrixX<Scalar>(inertia.block(3 * i, 3 * i, 3, 3)),
                     VectorX<Scalar>(free.head(3)));
    if (i == 0) {
      problem.add_contact(i, axes, law);
    } else {
      problem.add_contact(i - 1, SquareMatrix<Scalar, 3>(-axes), i, axes, law);
    }
  }
  return problem;
}

/// γ of the answer, at rest.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> resting_impulses(const PlateOnGrains<Scalar>& tower) {
  VectorX<Scalar> impulse = VectorX<Scalar>::Zero(3 * (tower.grains + 1));
  for (int i = 0; i <= tower.grains; ++i) {
    impulse(3 * i + 2) = (Scalar(tower.grains - i) + tower.ratio) * tower.mass * tower.fall;
  }
  return impulse;
}

/// Adds a ceiling that comes down on the plate. @return the ray that proves that there is no room.
template <typename Scalar>
VectorX<Scalar> add_ceiling(ContactProblem<Scalar>& problem, const PlateOnGrains<Scalar>& tower,
                            const Scalar& speed) {
  const SquareMatrix<Scalar, 3> axes = examples::contact_axes(tower.down);
  const Index plate = problem.body_count() - 1, size = problem.body(plate).size;
  MatrixX<Scalar> rows = MatrixX<Scalar>::Zero(3, size);
  rows.rightCols(3) = axes;
  const Index i = problem.add_contact(plate, rows, RigidContact<Scalar>{.friction = 0});
  WeightedContact<Scalar> law = problem.friction_contact_law(i);
  law.bias_velocity = Vector3<Scalar>(0, 0, speed);
  problem.set_law(i, law);
  VectorX<Scalar> ray = VectorX<Scalar>::Zero(problem.impulse_count());
  for (Index row = 2; row < ray.size(); row += 3) ray(row) = Scalar(1);
  return ray;
}

}  // namespace carom::testing
