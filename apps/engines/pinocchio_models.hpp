// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// A quadruped and a humanoid for Pinocchio, made of boxes, and servo targets with which they stand,
// walk in place and resist a push.

#include <algorithm>
#include <cmath>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <string>
#include <vector>

#include "carom/adapters/pinocchio.hpp"

namespace carom::examples {

/// A legged robot: its base is the first joint, all others are servos with one coordinate each.
struct LeggedRobot {
  pinocchio::Model model;
  std::vector<pinocchio::FrameIndex> soles;  ///< frames of the contact points of the feet
  VectorX<double> posture;                   ///< q of the standing robot, soles at z = 0
  double stiffness = 0, damping = 0;         ///< of each servo [N·m/rad, N·m·s/rad]
  double friction = 0.7;

  [[nodiscard]] double mass() const {
    double sum = 0;
    for (const auto& inertia : model.inertias) sum += inertia.mass();
    return sum;
  }
};

/// Builds a robot limb by limb.
class RobotBuilder {
 public:
  using Place = Eigen::Vector3d;

  explicit RobotBuilder(LeggedRobot& robot) : robot_(robot) {}

  /// Adds a joint at a position in its parent's axes, and a box around `centre` in its own axes.
  template <typename Joint>
  pinocchio::JointIndex add(pinocchio::JointIndex parent, const Joint& joint, const Place& place) {
    const std::string name = "joint_" + std::to_string(robot_.model.njoints);
    return robot_.model.addJoint(parent, joint, at(place), name);
  }
  void add_box(pinocchio::JointIndex joint, double mass, const Place& size, const Place& centre) {
    const auto inertia = pinocchio::Inertia::FromBox(mass, size.x(), size.y(), size.z());
    robot_.model.appendBodyToJoint(joint, inertia, at(centre));
  }
  void add_sole(pinocchio::JointIndex joint, const Place& place) {
    const std::string name = "sole_" + std::to_string(robot_.soles.size());
    const pinocchio::Frame frame(name, joint, 0, at(place), pinocchio::OP_FRAME);
    robot_.soles.push_back(robot_.model.addFrame(frame));
  }

 private:
  [[nodiscard]] static pinocchio::SE3 at(const Place& place) {
    return {Eigen::Matrix3d::Identity(), place};
  }
  LeggedRobot& robot_;
};

/// 13 kg on four legs with three joints each and a point at the end: nv = 18.
inline LeggedRobot make_quadruped() {
  LeggedRobot robot;
  robot.stiffness = 300;
  robot.damping = 6;
  RobotBuilder build(robot);
  const auto base = build.add(0, pinocchio::JointModelFreeFlyer(), {0, 0, 0});
  build.add_box(base, 8, {0.5, 0.2, 0.12}, {0, 0, 0});
  for (const double x : {1.0, -1.0}) {
    for (const double y : {1.0, -1.0}) {
      const auto hip = build.add(base, pinocchio::JointModelRX(), {0.2 * x, 0.1 * y, 0});
      build.add_box(hip, 0.4, {0.08, 0.06, 0.08}, {0, 0, 0});
      const auto thigh = build.add(hip, pinocchio::JointModelRY(), {0, 0.05 * y, 0});
      build.add_box(thigh, 0.6, {0.05, 0.04, 0.2}, {0, 0, -0.1});
      const auto shin = build.add(thigh, pinocchio::JointModelRY(), {0, 0, -0.2});
      build.add_box(shin, 0.25, {0.03, 0.03, 0.2}, {0, 0, -0.1});
      build.add_sole(shin, {0, 0, -0.2});
    }
  }
  robot.posture = pinocchio::neutral(robot.model);
  for (int leg = 0; leg < 4; ++leg) robot.posture.segment<3>(7 + 3 * leg) << 0, 0.7, -1.4;
  robot.posture(2) = 0.4 * std::cos(0.7);
  return robot;
}

/// 50 kg with legs of six joints, feet with four corners and arms of two joints: nv = 22.
inline LeggedRobot make_humanoid() {
  LeggedRobot robot;
  robot.stiffness = 8000;
  robot.damping = 200;
  RobotBuilder build(robot);
  const auto base = build.add(0, pinocchio::JointModelFreeFlyer(), {0, 0, 0});
  build.add_box(base, 25, {0.18, 0.3, 0.5}, {0, 0, 0.25});
  for (const double y : {1.0, -1.0}) {
    const auto yaw = build.add(base, pinocchio::JointModelRZ(), {0, 0.1 * y, 0});
    const auto roll = build.add(yaw, pinocchio::JointModelRX(), {0, 0, 0});
    const auto thigh = build.add(roll, pinocchio::JointModelRY(), {0, 0, 0});
    build.add_box(thigh, 5, {0.12, 0.12, 0.4}, {0, 0, -0.2});
    const auto shin = build.add(thigh, pinocchio::JointModelRY(), {0, 0, -0.4});
    build.add_box(shin, 3, {0.08, 0.08, 0.4}, {0, 0, -0.2});
    const auto ankle = build.add(shin, pinocchio::JointModelRY(), {0, 0, -0.4});
    const auto foot = build.add(ankle, pinocchio::JointModelRX(), {0, 0, 0});
    build.add_box(foot, 1, {0.24, 0.1, 0.05}, {0.02, 0, -0.025});
    for (const double front : {0.14, -0.1}) {
      for (const double side : {0.05, -0.05}) build.add_sole(foot, {front, side, -0.05});
    }
  }
  for (const double y : {1.0, -1.0}) {
    const auto upper = build.add(base, pinocchio::JointModelRY(), {0, 0.2 * y, 0.45});
    build.add_box(upper, 2, {0.06, 0.06, 0.3}, {0, 0, -0.15});
    const auto lower = build.add(upper, pinocchio::JointModelRY(), {0, 0, -0.3});
    build.add_box(lower, 1.5, {0.05, 0.05, 0.3}, {0, 0, -0.15});
  }
  robot.posture = pinocchio::neutral(robot.model);
  const double bend = 0.3;
  for (int leg = 0; leg < 2; ++leg) {
    robot.posture.segment<6>(7 + 6 * leg) << 0, 0, -bend, 2 * bend, -bend, 0;
  }
  robot.posture(0) = 0;
  robot.posture(2) = 0.8 * std::cos(bend) + 0.05;
  return robot;
}

/// Servo targets of a quadruped that lifts one diagonal pair of feet, then the other, twice per
/// second; `lift` is how far it bends the knees of the lifted legs.
inline VectorX<double> quadruped_target(const LeggedRobot& robot, double time, double lift) {
  VectorX<double> target = robot.posture;
  const double phase = std::sin(4 * 3.14159265358979323846 * time);
  for (int leg = 0; leg < 4; ++leg) {
    const bool first = leg == 0 || leg == 3;
    const double up = lift * std::max(first ? phase : -phase, 0.0);
    target.segment<3>(7 + 3 * leg) += Eigen::Vector3d(0, up, -2 * up);
  }
  return target;
}

/// Servo targets of a humanoid that sways from one leg to the other, once in four seconds, and
/// after two seconds lifts the foot without load.
inline VectorX<double> humanoid_target(const LeggedRobot& robot, double time) {
  VectorX<double> target = robot.posture;
  const double phase = std::sin(3.14159265358979323846 * time / 2);
  // inclined legs move the pelvis to the side
  const double roll = -0.15 * std::min(time, 1.0) * phase;
  const double lift = 0.15 * std::clamp(time - 2, 0.0, 1.0);
  for (int leg = 0; leg < 2; ++leg) {
    const double idle = std::max(((leg == 0 ? -phase : phase) - 0.8) / 0.2, 0.0);
    const double up = lift * idle * idle;  // the foot lands with zero speed
    target.segment<6>(7 + 6 * leg) += Eigen::Vector<double, 6>{0, roll, -up, 2 * up, -up, -roll};
  }
  return target;
}

/// A robot on the plane z = 0, its servos and its contacts.
class LeggedScene {
 public:
  explicit LeggedScene(const LeggedRobot& of)
      : robot(of), data(robot.model), state{robot.posture, VectorX<double>::Zero(robot.model.nv)} {}

  /// One step toward servo targets, with a force on the base's origin in world axes.
  SolveReport<double> step(const VectorX<double>& target, const Eigen::Vector3d& push, double dt) {
    const pinocchio::Model& model = robot.model;
    const Index servos = model.nv - 6;
    effort.stiffness = VectorX<double>::Constant(model.nv, robot.stiffness);
    effort.damping = VectorX<double>::Constant(model.nv, robot.damping);
    effort.stiffness.head<6>().setZero();
    effort.damping.head<6>().setZero();
    effort.torque = VectorX<double>::Zero(model.nv);
    effort.torque.tail(servos) = robot.stiffness * (target - state.configuration).tail(servos) -
                                 robot.damping * state.velocity.tail(servos);
    find_contacts();
    effort.torque.head<3>() = data.oMi[1].rotation().transpose() * push;
    return stepper.step(model, data, state, effort, contacts, dt);
  }
  /// Writes the heights of the soles to the gaps of the contacts within 2 cm of the ground.
  void find_contacts() {
    pinocchio::forwardKinematics(robot.model, data, state.configuration);
    contacts.clear();
    for (const pinocchio::FrameIndex sole : robot.soles) {
      const double height = place_of(sole).z();
      if (height > 0.02) continue;
      contacts.push_back({.frame = sole, .gap = height, .friction = robot.friction});
    }
  }
  /// Position of a frame at the configuration of the last update of data.
  [[nodiscard]] Eigen::Vector3d place_of(pinocchio::FrameIndex frame) const {
    const pinocchio::Frame& of = robot.model.frames[frame];
    return data.oMi[of.parentJoint].act(of.placement.translation());
  }

  LeggedRobot robot;
  pinocchio::Data data;
  PinocchioState state;
  PinocchioEffort effort;
  std::vector<PinocchioContact> contacts;
  PinocchioStepper stepper;
};

}  // namespace carom::examples
