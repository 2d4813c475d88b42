// SPDX-License-Identifier: BSD-3-Clause
// A quadruped and a humanoid in Pinocchio, with carom's contacts. After two seconds at rest they
// stand, walk in place and are pushed. The program measures how far a sole slides or sinks, the
// load of the feet, and the time of a step. Exit status: non-zero if standing soles move, the feet
// of a walking robot do not support it, or a step is not solved.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "engines/pinocchio_models.hpp"

namespace {

using carom::Index;
using carom::examples::LeggedRobot, carom::examples::LeggedScene;
using Eigen::Vector3d;

constexpr double gravity = 9.81, dt = 0.002;

/// Results of a motion.
struct Motion {
  double lowest = 0, highest = 0, slip = 0;  ///< soles [m], slip of the standing ones
  double carried = 0, speed = 0;             ///< mean force / weight; base at the end [m/s]
  double mean = 0, worst = 0;                ///< time of a step [ms]
  bool solved = true;
};

template <typename Target, typename Push>
Motion watch(LeggedScene& scene, double seconds, const Target& target, const Push& push) {
  Motion motion;
  const int steps = int(seconds / dt + 0.5);
  scene.find_contacts();
  std::vector<Vector3d> start;
  for (const auto sole : scene.robot.soles) start.push_back(scene.place_of(sole));
  for (int i = 0; i < steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    motion.solved = scene.step(target(i * dt), push(i * dt), dt).converged() && motion.solved;
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    motion.mean += taken.count() / steps;
    motion.worst = std::max(motion.worst, taken.count());
    const double weight = scene.robot.mass() * gravity;
    for (Index k = 0; k < Index(scene.contacts.size()); ++k) {
      motion.carried += scene.stepper.force(k).z() / weight / steps;
    }
    pinocchio::forwardKinematics(scene.robot.model, scene.data, scene.state.configuration);
    for (std::size_t k = 0; k < start.size(); ++k) {
      const Vector3d now = scene.place_of(scene.robot.soles[k]);
      motion.lowest = std::min(motion.lowest, now.z());
      motion.highest = std::max(motion.highest, now.z());
      motion.slip = std::max(motion.slip, (now - start[k]).head<2>().norm());
    }
  }
  motion.speed = scene.state.velocity.head<2>().norm();
  return motion;
}

bool show(bool humanoid) {
  const LeggedRobot robot =
      humanoid ? carom::examples::make_humanoid() : carom::examples::make_quadruped();
  const auto stay = [&](double) { return robot.posture; };
  const auto walk = [&](double t) {
    return humanoid ? humanoid_target(robot, t) : quadruped_target(robot, t, 0.3);
  };
  const auto nothing = [](double) { return Vector3d(0, 0, 0); };
  const auto push = [&](double t) {  // a fifth of the weight for a tenth of a second
    return Vector3d(0, t < 0.1 ? 0.2 * robot.mass() * gravity : 0, 0);
  };
  const auto print = [&](const char* name, const Motion& m) {
    std::printf("%-10s %-8s %10.2e %9.4f %9.2e %8.3f %9.4f %7.3f %7.3f  %s\n",
                humanoid ? "humanoid" : "quadruped", name, -m.lowest, m.highest, m.slip, m.carried,
                m.speed, m.mean, m.worst, m.solved ? "solved" : "NOT SOLVED");
  };
  LeggedScene standing(robot), walking(robot), pushed(robot);
  for (LeggedScene* scene : {&standing, &walking, &pushed}) watch(*scene, 2, stay, nothing);
  const Motion still = watch(standing, 1, stay, nothing);
  print("stands", still);
  const Motion moving = watch(walking, humanoid ? 8 : 2, walk, nothing);
  print("walks", moving);
  const Motion shoved = watch(pushed, 1, stay, push);
  print("pushed", shoved);
  return still.solved && moving.solved && shoved.solved && still.slip < 1e-8 &&
         -still.lowest < 1e-8 && moving.highest > 0.01 && std::abs(moving.carried - 1) < 0.03;
}

}  // namespace

int main() {
  try {
    std::printf("%-10s %-8s %10s %9s %9s %8s %9s %7s %7s\n", "robot", "motion", "sunk m",
                "lifted m", "slid m", "carried", "base m/s", "ms/step", "worst");
    const bool first = show(false), second = show(true), good = first && second;
    std::printf("%s\n", good ? "soles that stand stay where they are" : "WRONG");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
