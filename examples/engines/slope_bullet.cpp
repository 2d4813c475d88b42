// SPDX-License-Identifier: BSD-3-Clause
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <memory>

#include "carom/adapters/bullet.hpp"
#include "carom/compiled.hpp"

#include "engines/slope_engines.hpp"

namespace carom::engines {

double slide_in_bullet(const Slope& slope, Solver solver) {
  const btVector3 downhill(btScalar(std::cos(slope.heading)), btScalar(std::sin(slope.heading)), 0);
  const btScalar pull = btScalar(gravity * std::sin(slope.angle));
  const btScalar press = btScalar(gravity * std::cos(slope.angle));
  std::unique_ptr<btConstraintSolver> constraint_solver;
  if (solver == Solver::carom) {
    constraint_solver = std::make_unique<BulletSolver>();
  } else {
    constraint_solver = std::make_unique<btSequentialImpulseConstraintSolver>();
  }
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, constraint_solver.get(), &configuration);
  world.setGravity(pull * downhill - press * btVector3(0, 0, 1));

  btStaticPlaneShape ground_shape(btVector3(0, 0, 1), 0);
  btRigidBody::btRigidBodyConstructionInfo fixed(0, nullptr, &ground_shape);
  fixed.m_friction = btScalar(friction);
  btRigidBody ground(fixed);

  btBoxShape block_shape(
      btVector3(btScalar(length / 2), btScalar(length / 2), btScalar(height / 2)));
  btVector3 inertia;
  block_shape.calculateLocalInertia(btScalar(mass), inertia);
  btRigidBody::btRigidBodyConstructionInfo moving(btScalar(mass), nullptr, &block_shape, inertia);
  moving.m_startWorldTransform.setOrigin(btVector3(0, 0, btScalar(height / 2)));
  moving.m_friction = 1;  // a pair: product
  btRigidBody block(moving);
  block.setActivationState(DISABLE_DEACTIVATION);

  world.addRigidBody(&ground);
  world.addRigidBody(&block);
  const auto step = btScalar(time_step);
  for (int k = 0; k < step_count; ++k) world.stepSimulation(step, 0, step);
  const double speed = double(block.getLinearVelocity().dot(downhill));
  world.removeRigidBody(&block);
  world.removeRigidBody(&ground);
  return speed;
}

}  // namespace carom::engines
