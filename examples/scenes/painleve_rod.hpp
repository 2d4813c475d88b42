// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "scenes/rigid_world.hpp"

namespace carom::examples {

/// A thin rod that slides with its lower end on the plane z = 0, leaning along x. Where friction
/// presses the end down more than it is held up, Wₙₙ < μ |Wₜₙ|, Coulomb's law has several solutions
/// or one that stops the end at once: Painlevé's paradox, from μ = 4/3 on.
struct PainleveRod {
  double angle = 1.1;        ///< above the plane [rad]
  double half_length = 0.5;  ///< [m]
  double mass = 1;           ///< [kg]
  double friction = 2;       ///< μ [-]
  double slip = -1;          ///< of the lower end along x [m/s]
  double rise = 0;           ///< of the lower end along z [m/s]
  double gravity = 9.81;     ///< [m/s²]
  double time_step = 0.005;  ///< δt [s]
};

[[nodiscard]] inline RigidWorld make_painleve_rod(const PainleveRod& rod) {
  RigidWorld world;
  world.gravity = {0, 0, -rod.gravity};
  world.time_step = rod.time_step;
  RigidBlock block;
  const double l = rod.half_length, inertia = rod.mass * l * l / 3;
  block.mass = rod.mass;
  block.inertia << inertia, inertia, 1e-3 * inertia;
  block.orientation = Eigen::AngleAxisd(std::numbers::pi / 2 - rod.angle, Vector3<double>::UnitY());
  block.position = block.orientation * Vector3<double>(0, 0, l);
  block.velocity.tail<3>() << rod.slip, 0, rod.rise;
  world.blocks = {block};
  const double mu = rod.friction;
  world.find_touches = [l, mu](const std::vector<RigidBlock>& blocks) {
    const Vector3<double> end = blocks[0].place({0, 0, -l});
    return RigidWorld::Touches{{0, -1, end, Vector3<double>::UnitZ(), end.z(), mu}};
  };
  return world;
}

/// One planar contact, u = W γ + q by rows (t, n).
struct PlanarContact {
  SquareMatrix<double, 2> inverse_mass;  ///< W [1/kg]
  Vector<double, 2> load;                ///< q [m/s]
  double friction;                       ///< μ [-]
};

/// The rod's contact in its plane.
[[nodiscard]] inline PlanarContact planar_contact(const PainleveRod& rod) {
  const double x = -rod.half_length * std::cos(rod.angle);  // from the centre to the end
  const double z = -rod.half_length * std::sin(rod.angle);
  const double inertia = rod.mass * rod.half_length * rod.half_length / 3;
  PlanarContact contact;
  contact.inverse_mass << 1 / rod.mass + z * z / inertia, -x * z / inertia, -x * z / inertia,
      1 / rod.mass + x * x / inertia;
  contact.load << rod.slip, rod.rise - rod.time_step * rod.gravity;
  contact.friction = rod.friction;
  return contact;
}

/// Every impulse (t, n) that obeys Coulomb's law: open, stuck, sliding to one side and to the
/// other.
[[nodiscard]] inline std::vector<Vector<double, 2>> all_solutions(const PlanarContact& contact) {
  const SquareMatrix<double, 2>& w = contact.inverse_mass;
  const Vector<double, 2>& q = contact.load;
  std::vector<Vector<double, 2>> solutions;
  if (q(1) >= 0) solutions.emplace_back(0, 0);
  const double determinant = w(0, 0) * w(1, 1) - w(0, 1) * w(1, 0);
  const Vector<double, 2> stuck((w(0, 1) * q(1) - w(1, 1) * q(0)) / determinant,
                                (w(1, 0) * q(0) - w(0, 0) * q(1)) / determinant);
  if (stuck(1) > 0 && std::abs(stuck(0)) <= contact.friction * stuck(1)) {
    solutions.push_back(stuck);
  }
  for (const double side : {-1.0, 1.0}) {  // of the slip
    const Vector<double, 2> ray(-side * contact.friction, 1);
    const double normal = -q(1) / w.row(1).dot(ray);
    const double slip = w.row(0).dot(ray) * normal + q(0);
    if (normal > 0 && std::isfinite(normal) && side * slip > 0) {
      solutions.emplace_back(normal * ray);
    }
  }
  return solutions;
}

}  // namespace carom::examples
