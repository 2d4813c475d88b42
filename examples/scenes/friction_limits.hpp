// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "carom/contact/weighted_block.hpp"

#include "scenes/ground.hpp"
#include "scenes/rigid_world.hpp"

namespace carom::examples {

/// @file
/// Scenes that stand or slide at a coefficient of friction known in closed form. They show how laws
/// of contact differ: whether a sliding body lifts off, whether a held body creeps.

/// A cube on its four lower corners on the plane z = 0.
struct CubeOnGround {
  double half = 0.1;                  ///< half its size [m]
  double mass = 1;                    ///< [kg]
  double friction = 0.5;              ///< μ [-]
  double angle = 0;                   ///< the plane falls along x [rad]
  double time_step = 0.005;           ///< δt [s]
  Vector3<double> velocity{0, 0, 0};  ///< it is launched with [m/s]
};

[[nodiscard]] inline RigidWorld make_cube_on_ground(const CubeOnGround& cube) {
  RigidWorld world;
  world.gravity = make_incline(cube.angle).gravity;
  world.time_step = cube.time_step;
  const double h = cube.half, mu = cube.friction;
  world.blocks = {make_block(cube.mass, {h, h, h})};
  world.blocks[0].position.z() = h;
  world.blocks[0].velocity.tail<3>() = cube.velocity;
  world.find_touches = [h, mu](const std::vector<RigidBlock>& blocks) {
    RigidWorld::Touches touches;
    for (const auto& corner : four_around({0, 0, -h}, {h, 0, 0}, {0, h, 0})) {
      const Vector3<double> point = blocks[0].place(corner);
      touches.push_back({0, -1, point, Vector3<double>::UnitZ(), point.z(), mu});
    }
    return touches;
  };
  return world;
}

/// A box between two fingers that press on it along x; in single points it is held if 2 μ F ≥ m g.
/// By four corners each, how the pressure spreads is not determined: near that limit the law allows
/// it to be held, and to swing about a side.
struct Gripper {
  double half = 0.05;        ///< half the box's size [m]
  double mass = 1;           ///< of the box [kg]
  double finger_mass = 0.2;  ///< [kg]
  double force = 20;         ///< F of each finger [N]
  double friction = 0.5;     ///< μ [-]
  bool corners = true;       ///< touches with four corners a face, or with its centre
  double time_step = 0.005;  ///< δt [s]
};

[[nodiscard]] inline RigidWorld make_gripper(const Gripper& gripper) {
  RigidWorld world;
  world.time_step = gripper.time_step;
  const double h = gripper.half, mu = gripper.friction, spread = gripper.corners ? h : 0;
  world.blocks.push_back(make_block(gripper.mass, {h, h, h}));
  for (const double side : {-1.0, 1.0}) {
    RigidBlock finger;
    finger.mass = gripper.finger_mass;
    finger.position.x() = side * h;  // of its face
    finger.rail = Vector3<double>::UnitX();
    finger.force.x() = -side * gripper.force;
    world.blocks.push_back(finger);
  }
  world.find_touches = [h, mu, spread](const std::vector<RigidBlock>& blocks) {
    RigidWorld::Touches touches;
    for (const Index finger : {1, 2}) {
      const double side = finger == 1 ? -1 : 1;
      const double face = blocks[std::size_t(finger)].position.x();
      auto points = four_around({side * h, 0, 0}, {0, spread, 0}, {0, 0, spread});
      if (spread == 0) points.resize(1);
      for (const auto& at : points) {
        const Vector3<double> point = blocks[0].place(at);
        touches.push_back({0, finger, point, {-side, 0, 0}, side * (face - point.x()), mu});
      }
    }
    return touches;
  };
  return world;
}

/// Wedges side by side between a wall and a press along x, without gravity; their joints lean to
/// one side and the other in turn. They lock if tan a ≤ μ, else every other one is squeezed out.
struct WedgeChain {
  int count = 4;             ///< wedges
  double angle = 0.3;        ///< a, of the joints against the vertical [rad]
  double friction = 0.5;     ///< μ [-]
  double force = 50;         ///< of the press [N]
  double half = 0.1;         ///< half a wedge's size [m]
  double time_step = 0.005;  ///< δt [s]
};

[[nodiscard]] inline RigidWorld make_wedge_chain(const WedgeChain& chain) {
  RigidWorld world;
  world.gravity.setZero();
  world.time_step = chain.time_step;
  const double h = chain.half, width = 3 * h;
  for (int i = 0; i < chain.count; ++i) {
    world.blocks.push_back(make_block(1, {width / 2, h, h}));
    world.blocks.back().position.x() = (i + 0.5) * width;
  }
  RigidBlock press;
  press.position.x() = chain.count * width;
  press.rail = Vector3<double>::UnitX();
  press.force.x() = -chain.force;
  world.blocks.push_back(press);
  world.find_touches = [chain, h, width](const std::vector<RigidBlock>& /*one step*/) {
    RigidWorld::Touches touches;
    for (int joint = 0; joint <= chain.count; ++joint) {
      const double lean = joint % 2 == 0 ? chain.angle : -chain.angle;
      const Vector3<double> normal(std::cos(lean), 0, std::sin(lean));
      const Vector3<double> along(-h * std::sin(lean), 0, h * std::cos(lean));
      for (const auto& point : four_around({joint * width, 0, 0}, along, {0, h, 0})) {
        touches.push_back({joint, joint - 1, point, normal, 0, chain.friction});
      }
    }
    return touches;
  };
  return world;
}

/// A chain of masses joined by rods on a round drum, held at one end and pulled at the other.
struct Capstan {
  int count = 8;             ///< masses on the drum
  double angle = 3;          ///< θ that the chain covers [rad], less than π per mass
  double friction = 0.3;     ///< μ [-]
  double hold = 1;           ///< at the first [N]
  double pull = 2;           ///< at the last [N]
  double mass = 0.1;         ///< of each [kg]
  double time_step = 0.005;  ///< δt [s]
};

/// Largest pull by hold of the polygon that the chain is; exp(μθ) for many masses.
[[nodiscard]] inline double capstan_ratio(const Capstan& capstan) {
  const double share = capstan.friction * std::tan(capstan.angle / capstan.count / 2);
  return std::pow((1 + share) / (1 - share), capstan.count);
}

/// The first step: contacts with the drum, rods as constraints of one row.
[[nodiscard]] inline ContactProblem<double> make_capstan(const Capstan& capstan) {
  ContactProblem<double> problem(capstan.time_step);
  const double turn = capstan.angle / capstan.count;
  const auto tangent = [](double angle) -> Vector3<double> {
    return {-std::sin(angle), 0, std::cos(angle)};
  };
  for (int i = 0; i < capstan.count; ++i) {
    Vector3<double> force(0, 0, 0);
    if (i == 0) force -= capstan.hold * tangent(0);
    if (i == capstan.count - 1) force += capstan.pull * tangent(capstan.angle);
    const Vector3<double> velocity = capstan.time_step / capstan.mass * force;
    problem.add_body(capstan.mass * SquareMatrix<double, 3>::Identity(), velocity);
    const double angle = (i + 0.5) * turn;
    SquareMatrix<double, 3> frame;
    frame.row(0) = tangent(angle);
    frame.row(1) = Vector3<double>::UnitY();
    frame.row(2) = Vector3<double>(std::cos(angle), 0, std::sin(angle));
    problem.add_contact(i, frame, RigidContact<double>{.friction = capstan.friction});
  }
  WeightedBlock<double> rod;
  rod.set = free_impulses<double>(1);
  rod.regularization *= 1e-12 / capstan.mass;  // as good as rigid
  for (int i = 0; i + 1 < capstan.count; ++i) {
    const MatrixX<double> along = tangent((i + 1) * turn).transpose();
    problem.add_constraint(i, along, i + 1, MatrixX<double>(-along), rod);
  }
  return problem;
}

/// A block in a slot too narrow for it, both walls asking it to leave at `speed` [m/s]: no impulses
/// obey any law.
[[nodiscard]] inline ContactProblem<double> make_overfull_slot(double speed, double friction) {
  ContactProblem<double> problem(0.005);
  problem.add_body(SquareMatrix<double, 3>::Identity(), Vector3<double>::Zero());
  const WeightedContact<double> law{friction, {1e-6, 1e-6}, {0, 0, speed}, true};
  SquareMatrix<double, 3> frame = SquareMatrix<double, 3>::Identity();
  problem.add_contact(0, frame, law);
  frame.row(0) *= -1;
  frame.row(2) *= -1;
  problem.add_contact(0, frame, law);
  return problem;
}

}  // namespace carom::examples
