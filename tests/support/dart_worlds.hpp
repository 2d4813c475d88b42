// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

/// @file
/// Small robots in DART whose motion is known in closed form. Steps of 1 ms.
namespace carom::testing {

using DartWorld = dart::simulation::WorldPtr;
using Eigen::Vector3d;

[[nodiscard]] inline double radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}

[[nodiscard]] inline DartWorld make_dart_world(const Vector3d& gravity) {
  const DartWorld world = dart::simulation::World::create();
  world->setGravity(gravity);
  world->setTimeStep(1e-3);
  return world;
}

/// One contact per sphere; DART's default detector makes polyhedra of them.
inline void use_exact_spheres(const DartWorld& world) {
  world->getConstraintSolver()->setCollisionDetector(
      dart::collision::DARTCollisionDetector::create());
}

[[nodiscard]] inline Eigen::Isometry3d at(const Vector3d& place) {
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.translation() = place;
  return pose;
}

/// Gives a body its mass and, if it is to touch others, a shape.
inline void set_body(dart::dynamics::BodyNode* body, const dart::dynamics::ShapePtr& shape,
                     double mass, double friction) {
  using namespace dart::dynamics;
  Inertia inertia;
  inertia.setMass(mass);
  inertia.setMoment(shape->computeInertia(mass));
  body->setInertia(inertia);
  if (friction < 0) return;
  auto* const node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
  node->getDynamicsAspect()->setFrictionCoeff(friction);
}

inline dart::dynamics::ShapePtr make_box(const Vector3d& size) {
  return std::make_shared<dart::dynamics::BoxShape>(size);
}

/// A skeleton of one body.
template <typename Joint>
std::pair<Joint*, dart::dynamics::BodyNode*> add_body(const DartWorld& world,
                                                      const std::string& name,
                                                      const dart::dynamics::ShapePtr& shape,
                                                      double mass, double friction) {
  const auto skeleton = dart::dynamics::Skeleton::create(name);
  const auto pair = skeleton->createJointAndBodyNodePair<Joint>();
  set_body(pair.second, shape, mass, friction);
  world->addSkeleton(skeleton);
  return pair;
}

inline void add_ground(const DartWorld& world, double friction) {
  const auto [joint, body] =
      add_body<dart::dynamics::WeldJoint>(world, "ground", make_box({40, 40, 1}), 1, friction);
  joint->setTransformFromParentBodyNode(at({0, 0, -0.5}));
}

/// A block on a plane, gravity tilted by an angle towards a heading [degrees].
struct DartSlope {
  DartWorld world;
  dart::dynamics::BodyNode* block;
  Vector3d downhill;

  DartSlope(double degrees, double heading, const Eigen::Vector2d& friction)
      : downhill(std::cos(radians(heading)), std::sin(radians(heading)), 0) {
    const double angle = radians(degrees);
    world =
        make_dart_world(9.81 * (std::sin(angle) * downhill - std::cos(angle) * Vector3d::UnitZ()));
    add_ground(world, 1);
    const auto pair =
        add_body<dart::dynamics::FreeJoint>(world, "block", make_box({0.4, 0.4, 0.2}), 2, 1);
    pair.first->setTransform(at({0, 0, 0.1}));
    block = pair.second;
    auto* const surface = block->getShapeNode(0)->getDynamicsAspect();
    surface->setPrimaryFrictionCoeff(friction.x());
    surface->setSecondaryFrictionCoeff(friction.y());
    surface->setFirstFrictionDirection(Vector3d::UnitX());
  }
  [[nodiscard]] double speed() const { return block->getCOMLinearVelocity().dot(downhill); }
  [[nodiscard]] double sideways() const {
    return block->getCOMLinearVelocity().dot(Vector3d::UnitZ().cross(downhill));
  }
};

/// A body on four legs of two links of equal length, hip and knee moved by servo motors: where the
/// hip turns by a and the knee by −2 a, feet stay below their hips.
struct DartQuadruped {
  static constexpr double link = 0.2, foot = 0.03, first_angle = 0.4;
  DartWorld world = make_dart_world({0, 0, -9.81});
  dart::dynamics::SkeletonPtr robot = dart::dynamics::Skeleton::create("quadruped");
  dart::dynamics::BodyNode* trunk;
  std::vector<dart::dynamics::RevoluteJoint*> hips, knees;
  double leg_angle = first_angle;  ///< what the motors were asked for

  DartQuadruped() {
    using namespace dart::dynamics;
    add_ground(world, 0.8);
    const auto [root, body] = robot->createJointAndBodyNodePair<FreeJoint>();
    trunk = body;
    set_body(trunk, make_box({0.6, 0.3, 0.1}), 8, -1);
    for (const double x : {0.25, -0.25}) {
      for (const double y : {0.15, -0.15}) add_leg({x, y, 0});
    }
    root->setTransform(at(expected_place()));
    world->addSkeleton(robot);
  }
  void add_leg(const Vector3d& hip) {
    using namespace dart::dynamics;
    const auto thigh = add_link(trunk, hip, leg_angle, hips);
    const auto shank = add_link(thigh, {0, 0, -link / 2}, -2 * leg_angle, knees);
    auto* const node = shank->createShapeNodeWith<CollisionAspect, DynamicsAspect>(
        std::make_shared<SphereShape>(foot));
    node->setRelativeTranslation({0, 0, -link / 2});
    node->getDynamicsAspect()->setFrictionCoeff(0.8);
  }
  dart::dynamics::BodyNode* add_link(dart::dynamics::BodyNode* parent, const Vector3d& place,
                                     double angle,
                                     std::vector<dart::dynamics::RevoluteJoint*>& joints) const {
    using namespace dart::dynamics;
    const std::string name = (parent == trunk ? "hip " : "knee ") + std::to_string(joints.size());
    RevoluteJoint::Properties hinge;
    hinge.mName = name;
    hinge.mAxis = Vector3d::UnitY();
    hinge.mT_ParentBodyToJoint = at(place);
    hinge.mT_ChildBodyToJoint = at({0, 0, link / 2});
    const auto [joint, body] = robot->createJointAndBodyNodePair<RevoluteJoint>(
        parent, hinge, BodyNode::AspectProperties("link behind " + name));
    joint->setPosition(0, angle);
    joint->setActuatorType(Joint::SERVO);
    set_body(body, make_box({0.03, 0.03, link}), 0.5, -1);
    joints.push_back(joint);
    return body;
  }
  /// A step with hips turning at a rate [rad/s].
  void step(double rate) {
    for (auto* const hip : hips) hip->setCommand(0, rate);
    for (auto* const knee : knees) knee->setCommand(0, -2 * rate);
    leg_angle += 1e-3 * rate;
    world->step();
  }
  [[nodiscard]] double weight() const { return 9.81 * robot->getMass(); }
  /// Of the trunk: feet are spheres, so it rolls as far as the shanks turn.
  [[nodiscard]] Vector3d expected_place() const {
    return {foot * (first_angle - leg_angle), 0, 2 * link * std::cos(leg_angle) + foot};
  }
};

/// A box between two fingers that press with forces which, by friction, carry a share of its
/// weight.
struct DartGripper {
  static constexpr double mass = 1.5, friction = 0.6;
  DartWorld world = make_dart_world({0, 0, -9.81});
  dart::dynamics::BodyNode* box;

  explicit DartGripper(double share) {
    using namespace dart::dynamics;
    const double force = share * mass * 9.81 / (2 * friction);
    const auto held = add_body<FreeJoint>(world, "box", make_box({0.1, 0.1, 0.1}), mass, friction);
    held.first->setTransform(at(Vector3d::Zero()));
    box = held.second;
    for (const double side : {1.0, -1.0}) {
      const auto [joint, body] = add_body<PrismaticJoint>(world, side > 0 ? "right" : "left",
                                                          make_box({0.04, 0.3, 6}), 0.3, friction);
      joint->setAxis(Vector3d::UnitX());
      joint->setTransformFromParentBodyNode(at({0.07 * side, 0, 0}));
      joint->setActuatorType(Joint::SERVO);
      joint->setForceLowerLimit(0, -force);
      joint->setForceUpperLimit(0, force);
      joint->setCommand(0, -0.1 * side);
      body->setGravityMode(false);
    }
  }
  [[nodiscard]] double fall_speed() const { return -box->getCOMLinearVelocity().z(); }
};

/// A level arm on a hinge.
struct DartArm {
  static constexpr double mass = 1.2, length = 0.5;
  DartWorld world = make_dart_world({0, 0, -9.81});
  dart::dynamics::RevoluteJoint* joint;
  dart::dynamics::BodyNode* body;

  DartArm() {
    const auto pair = add_body<dart::dynamics::RevoluteJoint>(
        world, "arm", make_box({2 * length, 0.05, 0.05}), mass, -1);
    joint = pair.first;
    body = pair.second;
    joint->setAxis(-Vector3d::UnitY());  // positive angles lift the arm
    joint->setTransformFromChildBodyNode(at({-length, 0, 0}));
  }
  /// About the hinge.
  [[nodiscard]] double inertia() const {
    return mass * length * length + body->getInertia().getMoment()(1, 1);
  }
};

}  // namespace carom::testing
