// SPDX-License-Identifier: BSD-3-Clause
// Does a sliding cube stay on the ground?
//
// A cube of 0.2 m is launched at v = 6 m/s over level ground, friction μ = 0.5, steps of 5 ms,
// under four laws: the convex one and Coulomb's, each with contact that gives way and with rigid
// contact. Coulomb's law keeps it level on the ground. The convex law asks for a normal velocity of
// μ ‖uₜ‖ where Coulomb's asks for zero, so the cube glides above the ground while it slides. Under
// both laws it stops after v²/(2 μ g), less v δt/2 because a step moves with its last velocity.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/carom.hpp"

#include "scenes/friction_limits.hpp"

namespace {

constexpr double speed = 6, friction = 0.5, gravity = 9.81, time_step = 0.005;

struct Motion {
  double rise = 0;      // largest, of the centre [m]
  double tilt = 0;      // largest [rad]
  double distance = 0;  // when it has stopped [m]
  bool solved = true;
};

Motion launch(carom::FrictionLaw law, bool rigid) {
  carom::ContactSolver<double> solver({.law = law, .tolerance = 1e-12});
  carom::examples::RigidWorld world = carom::examples::make_cube_on_ground(
      {.friction = friction, .time_step = time_step, .velocity = {speed, 0, 0}});
  world.rigid = rigid;
  world.softness = 1e-3;  // of contact that gives way
  const auto& cube = world.blocks[0];
  const double height = cube.position.z();
  Motion motion;
  for (int step = 0; step < 300; ++step) {
    world.step([&](const auto& problem, auto& velocity, auto& impulse) {
      motion.solved = solver.solve(problem, velocity).converged() && motion.solved;
      impulse = solver.impulse();
    });
    motion.rise = std::max(motion.rise, cube.position.z() - height);
    motion.tilt =
        std::max(motion.tilt, cube.orientation.angularDistance(Eigen::Quaterniond::Identity()));
  }
  motion.distance = cube.position.x();
  return motion;
}

}  // namespace

int main() try {
  using carom::FrictionLaw;
  const double expected = speed * speed / (2 * friction * gravity) - speed * time_step / 2;
  std::printf("law      contact    rise [m]    tilt [rad]  distance [m]  expected [m]\n");
  bool right = true;
  for (const auto law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    for (const bool rigid : {false, true}) {
      const bool exact = law == FrictionLaw::coulomb;
      const Motion motion = launch(law, rigid);
      std::printf("%-7s  %-9s  %8.1e  %10.1e  %12.4f  %12.4f\n", exact ? "coulomb" : "convex",
                  rigid ? "rigid" : "compliant", motion.rise, motion.tilt, motion.distance,
                  expected);
      right = right && motion.solved;
      if (exact && rigid) {
        right = right && motion.rise <= 1e-9 && motion.tilt <= 1e-6 &&
                std::abs(motion.distance - expected) <= 1e-3;
      }
      if (!exact) right = right && motion.rise >= 1e-3;
    }
  }
  std::printf("%s\n", right ? "Coulomb's law, rigid: on the ground, level, as far as expected"
                            : "WRONG: not what the laws say");
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 1;
}
