// SPDX-License-Identifier: BSD-3-Clause
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstddef>
#include <memory>

#include "peers/peer_cradle.hpp"

namespace carom::peers {

// A contact asks for the separating speed (e + erp φ) v, erp = 0.2, as long as the overlap is below
// 0.04 m; beyond, Bullet takes the overlap out of the positions instead.
std::vector<double> strike_bullet(const CradleShot& shot) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity(btVector3(0, 0, 0));
  world.getSolverInfo().m_numIterations = sweep_count;

  btSphereShape sphere(static_cast<btScalar>(ball_radius));
  std::vector<std::unique_ptr<btRigidBody>> balls;
  const std::vector<double> positions = ball_positions(shot);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto mass = static_cast<btScalar>(shot.masses[i]);
    btVector3 inertia;
    sphere.calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, &sphere, inertia);
    info.m_startWorldTransform.setOrigin(btVector3(static_cast<btScalar>(positions[i]), 0, 0));
    info.m_restitution = static_cast<btScalar>(std::sqrt(shot.restitution));  // a pair: product
    info.m_friction = 0;
    balls.push_back(std::make_unique<btRigidBody>(info));
    balls.back()->setLinearVelocity(btVector3(static_cast<btScalar>(shot.velocities[i]), 0, 0));
    world.addRigidBody(balls.back().get());
  }
  const auto step = static_cast<btScalar>(time_step);
  world.stepSimulation(step, 1, step);

  std::vector<double> velocities;
  for (const auto& ball : balls) {
    velocities.push_back(static_cast<double>(ball->getLinearVelocity().x()));
    world.removeRigidBody(ball.get());
  }
  return velocities;
}

}  // namespace carom::peers
