// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "carom/impact/outcome/kinetic_contacts.hpp"

#include "support/random.hpp"

namespace carom::testing {

/// A body in the plane that touches its surroundings at some points, and its velocity.
struct TouchedBody {
  MatrixX<double> mass;
  std::vector<detail::PlanarRows<double>> contacts;
  VectorX<double> velocity;  ///< (x, y, angle)
};

/// A contact at a point of the body, on a plane whose normal is turned from upwards by an angle.
[[nodiscard]] inline detail::PlanarRows<double> planar_touch(double x, double y, double angle,
                                                             double friction) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {Eigen::Vector3d(-s, c, x * c + y * s), Eigen::Vector3d(c, s, x * s - y * c), friction};
}

/// A body whose contacts do not wedge it, so that each impact ends: all normals have an upward
/// part.
[[nodiscard]] inline TouchedBody draw_touched_body(VectorSource<double>& source, int count) {
  TouchedBody body;
  body.mass = Eigen::Vector3d(1, 1, 0.05 + source.unit()).asDiagonal();
  for (int i = 0; i < count; ++i) {
    body.contacts.push_back(planar_touch(2 * source.unit() - 1, -source.unit(),
                                         source.pick({0.0, source.unit() - 0.5}),
                                         source.pick({0.0, 0.3, source.unit()})));
  }
  body.velocity = Eigen::Vector3d(2 * source.unit() - 1, -source.unit(), 2 * source.unit() - 1);
  return body;
}

}  // namespace carom::testing
