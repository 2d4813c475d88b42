// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>
#include <memory>
#include <string>

#include "carom/adapters/dart.hpp"

#include "engines/slope_engines.hpp"

namespace carom::engines {
namespace {

/// Adds a box with its centre at a position.
template <typename Joint>
dart::dynamics::BodyNode* add_box(dart::simulation::World& world, const std::string& name,
                                  const Eigen::Vector3d& size, double z) {
  using namespace dart::dynamics;
  const SkeletonPtr skeleton = Skeleton::create(name);
  const auto [joint, body] = skeleton->createJointAndBodyNodePair<Joint>();
  const auto shape = std::make_shared<BoxShape>(size);
  body->setInertia(Inertia(mass, Eigen::Vector3d::Zero(), shape->computeInertia(mass)));
  auto* const node = body->template createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
  node->getDynamicsAspect()->setFrictionCoeff(friction);
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.translation().z() = z;
  joint->setTransformFromParentBodyNode(pose);
  world.addSkeleton(skeleton);
  return body;
}

}  // namespace

double slide_in_dart(const Slope& slope, Solver solver) {
  const Eigen::Vector3d downhill(std::cos(slope.heading), std::sin(slope.heading), 0);
  const dart::simulation::WorldPtr world = dart::simulation::World::create();
  world->setTimeStep(time_step);
  world->setGravity(gravity * (std::sin(slope.angle) * downhill -
                               std::cos(slope.angle) * Eigen::Vector3d::UnitZ()));
  if (solver == Solver::carom) {
    world->setConstraintSolver(std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(
        std::make_shared<DartLcpSolver>(), nullptr));
  }
  add_box<dart::dynamics::WeldJoint>(*world, "plane", {40, 40, 1}, -0.5);
  const auto* const block =
      add_box<dart::dynamics::FreeJoint>(*world, "block", {length, length, height}, height / 2);
  for (int step = 0; step < step_count; ++step) world->step();
  return block->getCOMLinearVelocity().dot(downhill);
}

}  // namespace carom::engines
