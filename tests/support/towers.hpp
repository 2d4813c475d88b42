// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/rigid_contact.hpp"

namespace carom::testing {

/// Point masses that rest on each other, and on the world, along any direction.
struct TowerShape {
  std::vector<double> masses = {1, 1};  ///< [kg], from the ground up
  Eigen::Vector3d up = Eigen::Vector3d::UnitZ();
  double speed = 0.0981;  ///< what a step of gravity adds [m/s]
  double friction = 0.5;
};

/// The problem of a tower: rigid contacts, all bodies at rest before the step.
template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_tower(const TowerShape& shape) {
  using Matrix = MatrixX<Scalar>;
  const Eigen::Quaterniond turn =
      Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), shape.up);
  const Matrix rows = turn.toRotationMatrix().transpose().cast<Scalar>();  // (t₁, t₂, n)
  ContactProblem<Scalar> problem(Scalar(0.01));
  RigidContact<Scalar> law;
  law.friction = Scalar(shape.friction);
  for (const double mass : shape.masses) {
    const VectorX<Scalar> free = (-shape.speed * shape.up).cast<Scalar>();
    const Matrix momentum = Matrix::Identity(3, 3) * Scalar(mass);
    problem.add_body(momentum, free);
  }
  problem.add_contact(0, rows, law);
  for (Index k = 1; k < Index(shape.masses.size()); ++k) {
    problem.add_contact(k - 1, Matrix(-rows), k, rows, law);
  }
  return problem;
}

/// The impulse on the ground of a tower that rests [N·s].
[[nodiscard]] inline double tower_load(const TowerShape& shape) {
  double mass = 0;
  for (const double m : shape.masses) mass += m;
  return mass * shape.speed;
}

}  // namespace carom::testing
