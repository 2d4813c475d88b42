// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/raw_problem.hpp"

namespace carom::testing {

/// How hard a stack of boxes is to solve.
struct StackShape {
  int count = 5;        ///< boxes, one on the other
  double top_mass = 1;  ///< of the uppermost box [kg]; the others weigh 1 kg
  double friction = 0.5;
  double normal = 1e-4;   ///< Rₙ [1/kg]
  double tangent = 1e-3;  ///< Rₜ [1/kg]
  int copies = 1;         ///< how often each contact is listed
  double push = 0.3;      ///< sideways speed of the uppermost box [m/s]
};

/// Boxes of half width 1 m, each on four corners; δt = 0.01 s of gravity in the free velocity.
/// Velocities are angular, then linear.
[[nodiscard]] inline RawProblem make_stack(const StackShape& shape) {
  RawProblem raw;
  for (int i = 0; i < shape.count; ++i) {
    const bool top = i + 1 == shape.count;
    const double mass = top ? shape.top_mass : 1;
    Eigen::VectorXd diagonal(6), velocity(6);
    diagonal << 2 * mass / 3, 2 * mass / 3, 2 * mass / 3, mass, mass, mass;
    velocity << 0, 0, 0, top ? shape.push : 0, 0, -0.0981;
    raw.bodies.push_back({diagonal.asDiagonal(), velocity});
    const auto jacobian = [](double x, double y, double z) {
      Eigen::MatrixXd result(3, 6);  // velocity of a point: ω × r + v
      result << 0, z, -y, 1, 0, 0, -z, 0, x, 0, 1, 0, y, -x, 0, 0, 0, 1;
      return result;
    };
    for (int corner = 0; corner < 4 * shape.copies; ++corner) {
      const double x = corner % 2 == 0 ? 1 : -1, y = corner % 4 < 2 ? 1 : -1;
      RawContact contact;
      contact.first = i;
      contact.first_jacobian = jacobian(x, y, -1);
      if (i > 0) {
        contact.second = i - 1;
        contact.second_jacobian = -jacobian(x, y, 1);
      }
      contact.law = {shape.friction, {shape.tangent, shape.normal}, Eigen::Vector3d(0, 0, 1e-3)};
      raw.contacts.push_back(contact);
    }
  }
  return raw;
}

}  // namespace carom::testing
