// SPDX-License-Identifier: BSD-3-Clause
#include <btBulletDynamicsCommon.h>
#include <memory>

#include "carom/adapters/bullet.hpp"
#include "carom/compiled.hpp"

#include "engines/slope_engines.hpp"

namespace carom::engines {

// Here the ground is tilted and gravity is not. The ground is a box: on a btStaticPlaneShape Bullet
// finds one point per step and reuses earlier ones, and the speed of both solvers is then wrong.
double slide_in_bullet(const Slope& slope, Solver solver) {
  const btQuaternion turn(btVector3(0, 0, 1), btScalar(slope.heading));
  const btQuaternion tilt(btVector3(0, 1, 0), btScalar(slope.angle));
  const btTransform frame(turn * tilt);
  const auto above = [&](double z) {
    return frame * btTransform(btQuaternion::getIdentity(), btVector3(0, 0, btScalar(z)));
  };
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
  world.setGravity(btVector3(0, 0, btScalar(-gravity)));

  btBoxShape ground_shape(btVector3(20, 20, btScalar(0.5)));
  btRigidBody::btRigidBodyConstructionInfo fixed(0, nullptr, &ground_shape);
  fixed.m_startWorldTransform = above(-0.5);
  fixed.m_friction = btScalar(friction);
  btRigidBody ground(fixed);

  btBoxShape block_shape(
      btVector3(btScalar(length / 2), btScalar(length / 2), btScalar(height / 2)));
  btVector3 inertia;
  block_shape.calculateLocalInertia(btScalar(mass), inertia);
  btRigidBody::btRigidBodyConstructionInfo moving(btScalar(mass), nullptr, &block_shape, inertia);
  moving.m_startWorldTransform = above(height / 2);
  moving.m_friction = 1;  // a pair: product
  btRigidBody block(moving);
  block.setActivationState(DISABLE_DEACTIVATION);

  world.addRigidBody(&ground);
  world.addRigidBody(&block);
  const auto step = btScalar(time_step);
  for (int k = 0; k < step_count; ++k) world.stepSimulation(step, 0, step);
  const double speed = double(block.getLinearVelocity().dot(frame.getBasis() * btVector3(1, 0, 0)));
  world.removeRigidBody(&block);
  world.removeRigidBody(&ground);
  return speed;
}

}  // namespace carom::engines
