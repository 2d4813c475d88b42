// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace carom::examples {

/// Material of a body. Bullet multiplies the numbers of the two bodies. A partner with 1 does not
/// change them.
struct BulletMaterial {
  double friction = 0.5;
  double restitution = 0;
};

[[nodiscard]] inline btVector3 triple(double x, double y, double z) {
  return {btScalar(x), btScalar(y), btScalar(z)};
}
[[nodiscard]] inline btTransform at_point(double x, double y, double z) {
  return btTransform(btQuaternion::getIdentity(), triple(x, y, z));
}

/// A Bullet world that owns its objects, with any constraint solver.
class BulletScene {
 public:
  /// @param gravity  along −z [m/s²].
  explicit BulletScene(std::unique_ptr<btConstraintSolver> solver, double gravity = 9.81)
      : solver_(std::move(solver)),
        world_(&dispatcher_, &broadphase_, solver_.get(), &configuration_) {
    world_.setGravity({0, 0, btScalar(-gravity)});
    world_.getSolverInfo().m_minimumSolverBatchSize = 1;
  }
  ~BulletScene() {
    for (const auto& joint : joints_) world_.removeConstraint(joint.get());
    for (const auto& body : bodies_) world_.removeRigidBody(body.get());
  }
  BulletScene(const BulletScene&) = delete;
  BulletScene& operator=(const BulletScene&) = delete;
  BulletScene(BulletScene&&) = delete;
  BulletScene& operator=(BulletScene&&) = delete;

  [[nodiscard]] btDiscreteDynamicsWorld& world() noexcept { return world_; }
  [[nodiscard]] btContactSolverInfo& info() noexcept { return world_.getSolverInfo(); }
  [[nodiscard]] btRigidBody& body(int i) { return *bodies_[std::size_t(i)]; }
  [[nodiscard]] int body_count() const noexcept { return int(bodies_.size()); }

  /// @param mass  [kg]; 0 makes it static.
  btRigidBody& add(std::unique_ptr<btCollisionShape> shape, double mass, const btTransform& at,
                   const BulletMaterial& material = {}) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(btScalar(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape.get(), inertia);
    info.m_startWorldTransform = at;
    info.m_friction = btScalar(material.friction);
    info.m_restitution = btScalar(material.restitution);
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    shapes_.push_back(std::move(shape));
    world_.addRigidBody(bodies_.back().get());
    return *bodies_.back();
  }
  btRigidBody& add_box(const btVector3& half, double mass, const btTransform& at,
                       const BulletMaterial& material = {}) {
    return add(std::make_unique<btBoxShape>(half), mass, at, material);
  }
  btRigidBody& add_sphere(double radius, double mass, const btVector3& at,
                          const BulletMaterial& material = {}) {
    return add(std::make_unique<btSphereShape>(btScalar(radius)), mass,
               btTransform(btQuaternion::getIdentity(), at), material);
  }
  /// A static box whose upper face is z = 0 of the transform.
  btRigidBody& add_ground(const btTransform& at = btTransform::getIdentity(),
                          const BulletMaterial& material = {.friction = 1, .restitution = 1}) {
    const btTransform down(btQuaternion::getIdentity(), btVector3(0, 0, -1));
    return add_box(triple(50, 50, 1), 0, at * down, material);
  }
  template <typename Joint>
  Joint& add_joint(std::unique_ptr<Joint> joint, bool collide = false) {
    Joint& added = *joint;
    world_.addConstraint(&added, !collide);
    joints_.push_back(std::move(joint));
    return added;
  }

  void step(double time_step) { world_.stepSimulation(btScalar(time_step), 0); }
  void run(double time_step, int steps) {
    for (int i = 0; i < steps; ++i) step(time_step);
  }

  /// Kinetic energy of all dynamic bodies [J].
  [[nodiscard]] double kinetic_energy() const {
    double sum = 0;
    for (const auto& body : bodies_) {
      if (body->getInvMass() == btScalar(0)) continue;
      const btVector3 spin = body->getAngularVelocity() * body->getWorldTransform().getBasis();
      const btVector3 inverse = body->getInvInertiaDiagLocal();
      sum += double(body->getLinearVelocity().length2()) / double(body->getInvMass()) / 2;
      for (int i = 0; i < 3; ++i) {
        if (inverse[i] > btScalar(0)) sum += double(spin[i] * spin[i] / inverse[i]) / 2;
      }
    }
    return sum;
  }
  /// Calls visit(manifold, point) for every contact point.
  template <typename Visit>
  void for_each_point(const Visit& visit) {
    for (int i = 0; i < dispatcher_.getNumManifolds(); ++i) {
      btPersistentManifold& manifold = *dispatcher_.getManifoldByIndexInternal(i);
      for (int k = 0; k < manifold.getNumContacts(); ++k) {
        visit(manifold, manifold.getContactPoint(k));
      }
    }
  }
  [[nodiscard]] int contact_count() {
    int count = 0;
    for_each_point([&](const auto&, const auto&) { ++count; });
    return count;
  }
  /// Deepest penetration at the last step's collision detection [m].
  [[nodiscard]] double penetration() {
    double deepest = 0;
    for_each_point([&](const auto&, const btManifoldPoint& point) {
      deepest = std::max(deepest, -double(point.getDistance()));
    });
    return deepest;
  }

  /// Largest speed at which a gap closes below zero [m/s]: the error in the law of contacts.
  [[nodiscard]] double closing_speed(double time_step) {
    double fastest = 0;
    for_each_point([&](const btPersistentManifold& manifold, const btManifoldPoint& point) {
      const auto speed = [&](const btCollisionObject* object, const btVector3& at) {
        const btRigidBody* const body = btRigidBody::upcast(object);
        const btVector3 arm = at - body->getWorldTransform().getOrigin();
        return body->getVelocityInLocalPoint(arm).dot(point.m_normalWorldOnB);
      };
      const double apart = double(speed(manifold.getBody0(), point.getPositionWorldOnA()) -
                                  speed(manifold.getBody1(), point.getPositionWorldOnB()));
      const double open = std::max(double(point.getDistance()), 0.0);
      fastest = std::max(fastest, -apart - open / time_step);
    });
    return fastest;
  }

 private:
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  std::unique_ptr<btConstraintSolver> solver_;
  btDiscreteDynamicsWorld world_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<std::unique_ptr<btTypedConstraint>> joints_;
};

/// A slope: it descends by `angle` towards `heading`, both [rad].
[[nodiscard]] inline btTransform slope_frame(double angle, double heading) {
  const btQuaternion turn(btVector3(0, 0, 1), btScalar(heading));
  const btQuaternion tilt(btVector3(0, 1, 0), btScalar(angle));
  return btTransform(turn * tilt);
}

/// A cube of half a metre to a side on a slope; the body of index 1.
inline btRigidBody& add_block_on_slope(BulletScene& scene, double angle, double heading,
                                       double friction) {
  const btTransform slope = slope_frame(angle, heading);
  scene.add_ground(slope);
  const btTransform up = at_point(0, 0, 0.25);
  return scene.add_box(triple(0.25, 0.25, 0.25), 2, slope * up, {.friction = friction});
}

/// Balls of radius 0.1 m and equal mass in a row along x that touch; the first comes at 1 m/s.
inline void add_cradle(BulletScene& scene, int count) {
  const BulletMaterial ivory{.friction = 0, .restitution = 1};
  for (int i = 0; i < count; ++i) {
    btRigidBody& ball = scene.add_sphere(0.1, 1, triple(0.2 * i, 0, 0), ivory);
    if (i == 0) ball.setLinearVelocity({1, 0, 0});
  }
}

/// Stacked cubes of 1 m; masses grow from `least` to `most` in equal ratios, upwards.
inline void add_stack(BulletScene& scene, int count, double least, double most) {
  scene.add_ground();
  const double ratio = count > 1 ? std::pow(most / least, 1.0 / (count - 1)) : 1;
  for (int i = 0; i < count; ++i) {
    scene.add_box(triple(0.5, 0.5, 0.5), least * std::pow(ratio, i), at_point(0, 0, 0.5 + i));
  }
}

/// A cube of 0.1 m between two plates that press() pushes together along x. The plates move only
/// along x, without weight. Bodies: plate, plate, cube.
inline void add_pinch(BulletScene& scene, double friction) {
  for (const int side : {-1, 1}) {
    btRigidBody& plate =
        scene.add_box(triple(0.02, 0.1, 0.1), 1, at_point(side * 0.07, 0, 0), {.friction = 1});
    plate.setLinearFactor({1, 0, 0});
    plate.setAngularFactor(0);
    plate.setGravity({0, 0, 0});
  }
  scene.add_box(triple(0.05, 0.05, 0.05), 0.5, at_point(0, 0, 0), {.friction = friction});
}
/// Presses with `force` [N] from each side for one step; Bullet clears forces after a step.
inline void press(BulletScene& scene, double force) {
  scene.body(0).applyCentralForce({btScalar(force), 0, 0});
  scene.body(1).applyCentralForce({btScalar(-force), 0, 0});
}

/// Boxes, balls and cylinders, 1 : 8 in mass, above each other in a bin of `side` × `side`.
inline void add_mixed_bodies(BulletScene& scene, int count, int side) {
  scene.add_ground();
  const double half = 0.6 * side;
  for (const int s : {-1, 1}) {
    scene.add_box(triple(1, half + 2, 20), 0, at_point(s * (half + 1), 0, 18), {.friction = 1});
    scene.add_box(triple(half + 2, 1, 20), 0, at_point(0, s * (half + 1), 18), {.friction = 1});
  }
  for (int i = 0; i < count; ++i) {
    const int layer = i / (side * side), place = i % (side * side);
    const double shift = 0.1 * ((i * 7) % 11 - 5) / 5;
    const btTransform at =
        at_point(1.2 * (place % side - (side - 1) / 2.0) + shift,
                 1.2 * (place / side - (side - 1) / 2.0) - shift, 0.5 + 1.02 * layer);
    const double mass = 1 + i % 8;
    const BulletMaterial material{.friction = 0.3 + 0.1 * (i % 4)};
    switch (i % 4) {
      case 0:
        scene.add_box(triple(0.45, 0.4, 0.5), mass, at, material);
        break;
      case 1:
        scene.add_sphere(0.5, mass, at.getOrigin(), material).setRollingFriction(btScalar(0.05));
        break;
      case 2:
        scene.add(std::make_unique<btCylinderShapeZ>(triple(0.4, 0.4, 0.5)), mass, at, material)
            .setRollingFriction(btScalar(0.05));
        break;
      default:
        scene.add_box(triple(0.5, 0.5, 0.45), mass, at, material);
    }
  }
}

/// A wall of cubes, each above a joint of the row below, which has one cube more: 8 contact points
/// per cube except in the lowest row.
inline void add_wall(BulletScene& scene, int boxes) {
  scene.add_ground();
  int length = int(std::ceil((std::sqrt(8.0 * boxes + 1) - 1) / 2)), row = 0, place = 0;
  for (int i = 0; i < boxes; ++i) {
    const btTransform at = at_point(1.02 * (place + 0.5 * row), 0, 0.5 + row);
    scene.add_box(triple(0.5, 0.5, 0.5), 1, at);
    if (++place < length) continue;
    place = 0;
    --length;
    ++row;
  }
}

}  // namespace carom::examples
