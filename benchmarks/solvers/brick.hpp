// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"

namespace carom::benchmarks {

/// One step of a brick and the velocity before it.
struct Brick {
  ContactProblem<double> problem;
  VectorX<double> velocity;
};

/// A brick of 2 kg, 0.2 × 0.1 × 0.06 m, on its four lower corners, in a step of 10 ms.
/// @param push  speed along x before the step [m/s]: it rests at 0, comes to rest at 0.03 and
///              slides at 0.3.
[[nodiscard]] inline Brick make_brick(double push) {
  const double mass = 2, x = 0.1, y = 0.05, z = 0.03;
  VectorX<double> inertia(6), velocity(6);
  inertia << mass / 3 * Vector3<double>(y * y + z * z, x * x + z * z, x * x + y * y),
      Vector3<double>::Constant(mass);
  velocity << 0, 0, 0, push, 0.3 * push, 0;
  VectorX<double> free_velocity = velocity;
  free_velocity(5) = -0.0981;
  Brick brick{ContactProblem<double>(0.01), velocity};
  brick.problem.add_body(MatrixX<double>(inertia.asDiagonal()), free_velocity);
  for (const double a : {-x, x}) {
    for (const double b : {-y, y}) {
      Eigen::Matrix<double, 3, 6> jacobian;  // of a point: ω × r + v
      jacobian << 0, -z, -b, 1, 0, 0, z, 0, a, 0, 1, 0, b, -a, 0, 0, 0, 1;
      brick.problem.add_contact(
          0, jacobian,
          CompliantContact<double>{
              .gap = -1e-4, .stiffness = 1e5, .dissipation_time = 0.02, .friction = 0.5});
    }
  }
  return brick;
}

}  // namespace carom::benchmarks
