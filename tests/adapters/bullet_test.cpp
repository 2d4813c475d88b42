// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/bullet.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/compiled.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "engines/bullet_scenes.hpp"

namespace {

using carom::BulletOptions;
using carom::BulletSolver;
using carom::detail::from_bullet;
using carom::examples::at_point;
using carom::examples::BulletScene;
using carom::examples::triple;
using carom::testing::by_compliance;
using carom::testing::by_float;
using carom::testing::by_settling;
using carom::testing::by_solver;
using carom::testing::by_step;
using Vector = carom::Vector3<double>;

constexpr double gravity = 9.81, dt = 1.0 / 120, pi = 3.14159265358979323846;
/// Bullet keeps velocities in its own precision.
constexpr double kept = double(std::numeric_limits<btScalar>::epsilon());

/// A world that carom solves.
struct World : BulletScene {
  explicit World(const BulletOptions& options = BulletOptions(), double weight = gravity)
      : BulletScene(std::make_unique<BulletSolver>(options), weight),
        solver(static_cast<BulletSolver*>(world().getConstraintSolver())) {}
  [[nodiscard]] const carom::BulletReport& report() const { return solver->report(); }
  BulletSolver* solver;
};

[[nodiscard]] Vector velocity(const btRigidBody& body) {
  return from_bullet(body.getLinearVelocity());
}
[[nodiscard]] Vector spin(const btRigidBody& body) {
  return from_bullet(body.getAngularVelocity());
}
[[nodiscard]] Vector position(const btRigidBody& body) {
  return from_bullet(body.getWorldTransform().getOrigin());
}
/// Impulse on body A of a point as it is written on it.
[[nodiscard]] Vector impulse_of(const btManifoldPoint& m) {
  return double(m.m_appliedImpulse) * from_bullet(m.m_normalWorldOnB) +
         double(m.m_appliedImpulseLateral1) * from_bullet(m.m_lateralFrictionDir1) +
         double(m.m_appliedImpulseLateral2) * from_bullet(m.m_lateralFrictionDir2);
}
/// Of a body that moves, in axes of the world.
[[nodiscard]] carom::SquareMatrix<double, 3> inertia_of(const btRigidBody& body) {
  carom::SquareMatrix<double, 3> inverse;
  for (int i = 0; i < 3; ++i)
    inverse.row(i) = from_bullet(body.getInvInertiaTensorWorld()[i]).transpose();
  return inverse.inverse();
}

/// Momentum of every body before and after a step differs by what forces and written impulses did.
void check_step(World& world, double weight) {
  struct Before {
    Vector linear, spin, centre;
    carom::SquareMatrix<double, 3> inertia;
  };
  std::vector<Before> before;
  for (int i = 0; i < world.body_count(); ++i) {
    const btRigidBody& body = world.body(i);
    before.push_back({velocity(body), spin(body), position(body), {}});
    if (body.getInvMass() > btScalar(0)) before.back().inertia = inertia_of(body);
    world.body(i).setUserIndex(i);
  }
  world.step(dt);
  REQUIRE(world.report().converged());
  std::vector<Vector> linear(before.size(), Vector::Zero()), angular = linear;
  double largest = 0;
  world.for_each_point([&](const btPersistentManifold& manifold, const btManifoldPoint& point) {
    const Vector impulse = impulse_of(point);
    const Vector n = from_bullet(point.m_normalWorldOnB);
    const double normal = impulse.dot(n), slip = (impulse - normal * n).norm();
    largest = std::max(largest, normal);
    CHECK(normal >= 0);
    CHECK(slip <= double(point.m_combinedFriction) * normal + by_float(8 * kept * (normal + 1e-3)));
    const auto a = std::size_t(manifold.getBody0()->getUserIndex());
    const auto b = std::size_t(manifold.getBody1()->getUserIndex());
    linear[a] += impulse;
    linear[b] -= impulse;
    angular[a] += (from_bullet(point.getPositionWorldOnA()) - before[a].centre).cross(impulse);
    angular[b] -= (from_bullet(point.getPositionWorldOnB()) - before[b].centre).cross(impulse);
  });
  for (std::size_t i = 0; i < before.size(); ++i) {
    const btRigidBody& body = world.body(int(i));
    if (body.getInvMass() == btScalar(0)) continue;
    CAPTURE(i);
    const double mass = 1 / double(body.getInvMass());
    const Vector change = mass * (velocity(body) - before[i].linear);
    const Vector outer(0, 0, -mass * weight * dt);
    const double scale = mass * (velocity(body).norm() + before[i].linear.norm() + 1) + largest;
    CHECK((change - outer - linear[i]).norm() <= 64 * kept * scale);
    const Vector turned = before[i].inertia * (spin(body) - before[i].spin);
    const double spinning = before[i].inertia.norm() * (spin(body).norm() + before[i].spin.norm());
    CHECK((turned - angular[i]).norm() <= 64 * kept * (scale + spinning));
  }
}

/// A floor and four walls at a distance from the middle.
void add_bin(World& world, double half, double heading = 0) {
  world.add_ground();
  for (int side = 0; side < 4; ++side) {
    const btQuaternion turn(triple(0, 0, 1), btScalar(heading + side * pi / 2));
    world.add_ground(btTransform(turn * btQuaternion(triple(0, 1, 0), btScalar(pi / 2)),
                                 quatRotate(turn, triple(-half, 0, 0))));
  }
}

/// Cubes, balls and cylinders that fall on each other.
void add_heap(World& world, int count) {
  world.add_ground();
  for (int i = 0; i < count; ++i) {
    const btTransform at = at_point(0.3 * (i % 3) + 0.1 * (i / 3), 0.2 * (i % 2), 0.6 + 0.9 * i);
    if (i % 3 == 0) world.add_box(triple(0.4, 0.3, 0.35), 1 + i, at, {.friction = 0.6});
    if (i % 3 == 1) world.add_sphere(0.4, 2, at.getOrigin(), {.friction = 0.3});
    if (i % 3 == 2) {
      world.add(std::make_unique<btCylinderShapeZ>(triple(0.4, 0.4, 0.3)), 3, at,
                {.friction = 0.5});
    }
    world.body(i + 1).setFlags(0);  // no gyroscopic term, which is not an impulse
  }
}

}  // namespace

TEST_CASE("bullet: without contacts bodies fall, turn and keep still as Newton says",
          "[adapters][law]") {
  World world;
  btRigidBody& ball = world.add_sphere(0.5, 2, triple(0, 0, 10));
  btRigidBody& still = world.add_sphere(0.5, 2, triple(5, 0, 10));
  btRigidBody& locked = world.add_box(triple(1, 0.5, 0.2), 3, at_point(10, 0, 10));
  still.setGravity(triple(0, 0, 0));
  locked.setLinearFactor(triple(1, 1, 0));
  locked.setAngularFactor(triple(0, 0, 1));
  for (int i = 0; i < 60; ++i) {
    ball.applyTorque(triple(0, 0.4, 0));
    locked.applyTorque(triple(0, 0, 0.5));
    locked.applyCentralForce(triple(6, 0, 0));
    world.step(dt);
  }
  CHECK(world.report().contacts == 0);
  CHECK(world.report().converged());
  CHECK(velocity(ball).z() == Approx(-gravity * 0.5).epsilon(60 * kept));
  CHECK(spin(ball).y() == Approx(0.4 * 0.5 / (0.4 * 2 * 0.25)).epsilon(60 * kept));
  CHECK(velocity(still).norm() == 0);
  CHECK((velocity(locked) - Vector(6.0 / 3 * 0.5, 0, 0)).norm() <= 60 * kept);
  const double inertia = 3.0 / 12 * (4 + 1);
  CHECK((spin(locked) - Vector(0, 0, 0.5 * 0.5 / inertia)).norm() <= 60 * kept);
}

TEST_CASE("bullet: rows that locked degrees of freedom leave without effect are no fault",
          "[adapters][errors]") {
  World world;
  world.add_ground(btTransform::getIdentity(), {.friction = 0.5}).setRollingFriction(btScalar(0.1));
  btRigidBody& slider = world.add_box(triple(0.5, 0.5, 0.5), 2, at_point(0, 0, 10));
  slider.setLinearFactor(triple(1, 1, 0));
  slider.setAngularFactor(triple(0, 0, 1));
  world.add_joint(std::make_unique<btPoint2PointConstraint>(slider, triple(0, 0, 0.5)));
  btRigidBody& upright =
      world.add_box(triple(0.5, 0.5, 0.5), 2, at_point(4, 0, 0.5), {.friction = 0.5});
  upright.setRollingFriction(btScalar(0.1));
  upright.setAngularFactor(triple(0, 0, 0));
  btRigidBody& soft = world.add_box(triple(0.5, 0.5, 0.5), 2, at_point(8, 0, 0.5));
  soft.setContactStiffnessAndDamping(btScalar(1e4), btScalar(100));
  soft.setLinearFactor(triple(0, 1, 1));
  soft.setAngularFactor(triple(0, 0, 0));
  for (int i = 0; i < 60; ++i) {
    upright.applyCentralForce(triple(2 * 9.81 * 0.25, 0, 0));
    world.step(dt);
    REQUIRE(world.report().refused == 0);
    REQUIRE(world.report().converged());
  }
  CHECK((position(slider) - Vector(0, 0, 10)).norm() < by_float(1e-4));
  CHECK(velocity(upright).norm() < by_float(1e-4));
  CHECK(position(soft).z() > 0.5 - by_compliance(1e-2));
}

TEST_CASE("bullet: momentum is balanced by the impulses left on the points, inside the cone",
          "[adapters][law]") {
  World world;
  add_heap(world, 9);
  for (int i = 0; i < 180; ++i) check_step(world, gravity);
  CHECK(world.report().contacts > 10);
  // Rolling bodies meet points that Bullet finds late, with an overlap that does not last.
  for (int window = 0; window < 20; ++window) {
    double least = 1;
    for (int i = 0; i < 12; ++i) {
      world.step(dt);
      least = std::min(least, world.report().penetration);
    }
    CHECK(least < by_settling(2e-3));
  }
}

TEST_CASE("bullet: impulses at rest are the weights over the step", "[adapters][law]") {
  for (const bool rigid : {true, false}) {
    World world({.rigid = rigid});
    carom::examples::add_stack(world, 3, 2, 8);
    world.run(dt, 240);
    std::vector<double> carried(4, 0.0);
    for (int i = 0; i < 4; ++i) world.body(i).setUserIndex(i);
    world.for_each_point([&](const btPersistentManifold& manifold, const btManifoldPoint& point) {
      const int lower =
          std::min(manifold.getBody0()->getUserIndex(), manifold.getBody1()->getUserIndex());
      carried[std::size_t(lower)] += double(point.m_appliedImpulse);
    });
    // Springs still swing a little after 2 s.
    const double error = rigid ? by_float(1e-5) : by_settling(2e-4);
    CHECK(carried[0] == Approx((2 + 4 + 8) * gravity * dt).epsilon(error));
    CHECK(carried[1] == Approx((4 + 8) * gravity * dt).epsilon(error));
    CHECK(carried[2] == Approx(8 * gravity * dt).epsilon(error));
    CHECK(carried[3] == 0);
  }
}

TEST_CASE("bullet: kinetic energy never grows without forces", "[adapters][law]") {
  for (const double restitution : {0.0, 0.6, 1.0}) {
    for (const double friction : {0.0, 0.7}) {
      CAPTURE(restitution, friction);
      World world({}, 0);
      const carom::examples::BulletMaterial material{friction, restitution};
      for (int i = 0; i < 12; ++i) {
        const btVector3 at = triple(1.01 * (i % 3), 1.02 * ((i / 3) % 2), 1.01 * (i / 6));
        btRigidBody& body =
            i % 2 == 0 ? world.add_sphere(0.5, 1 + i, at, material)
                       : world.add_box(triple(0.45, 0.45, 0.45), 1 + i,
                                       btTransform(btQuaternion::getIdentity(), at), material);
        body.setLinearVelocity(triple(1 - i % 3, 1.5 - (i / 3) % 2 * 3, 1 - 2 * (i / 6)));
      }
      double energy = world.kinetic_energy();
      int impacts = 0;
      for (int i = 0; i < 120; ++i) {
        world.step(dt);
        REQUIRE(world.report().converged());
        impacts += world.report().impacts;
        CHECK(world.report().impact_energy <= by_solver(1e-9) * energy);
        CHECK(world.kinetic_energy() <= energy * (1 + 64 * kept));
        energy = world.kinetic_energy();
      }
      CHECK((impacts > 0) == (restitution > 0));
    }
  }
}

TEST_CASE("bullet: a block slides down a slope by Coulomb's law whatever its heading",
          "[adapters][scene]") {
  const double angle = pi / 6, expected = 2 * gravity * (std::sin(angle) - 0.5 * std::cos(angle));
  for (const int heading : {0, 20, 45, 70, 90}) {
    CAPTURE(heading);
    World world;
    add_block_on_slope(world, angle, heading * pi / 180, 0.5);
    world.run(1.0 / 240, 480);
    const Vector down =
        from_bullet(carom::examples::slope_frame(angle, heading * pi / 180) * triple(1, 0, 0));
    CHECK(velocity(world.body(1)).dot(down) == Approx(expected).epsilon(by_float(1e-4)));
    CHECK((velocity(world.body(1)) - velocity(world.body(1)).dot(down) * down).norm() <
          by_float(1e-4));
  }
}

TEST_CASE("bullet: a block held by friction stays where it is", "[adapters][scene]") {
  World world;
  add_block_on_slope(world, pi / 6, 0.3, 0.6);
  world.run(dt, 10);
  const Vector before = position(world.body(1));
  world.run(dt, 360);
  CHECK((position(world.body(1)) - before).norm() < by_float(1e-5));
}

TEST_CASE("bullet: what is launched over the ground slows down and does not lift off",
          "[adapters][scene]") {
  World world;
  world.add_ground();
  btRigidBody& cube =
      world.add_box(triple(0.5, 0.5, 0.1), 1, at_point(0, 0, 0.1), {.friction = 0.4});
  cube.setLinearVelocity(triple(3.2, 2.4, 0));
  double highest = 0;
  for (int i = 0; i < 60; ++i) {
    world.step(dt);
    highest = std::max(highest, position(cube).z() - 0.1);
  }
  CHECK(velocity(cube).norm() == Approx(4 - 0.4 * gravity * 0.5).epsilon(by_float(1e-4)));
  CHECK(highest < by_float(1e-5));
}

TEST_CASE("bullet: the last ball of a cradle leaves alone", "[adapters][scene]") {
  for (const int count : {2, 3, 5}) {
    CAPTURE(count);
    World world({}, 0);
    carom::examples::add_cradle(world, count);
    world.run(1.0 / 60, 30);
    for (int i = 0; i < count; ++i) {
      const Vector wanted(i == count - 1 ? 1 : 0, 0, 0);
      CHECK((velocity(world.body(i)) - wanted).norm() <= by_float(1e-6));
    }
  }
}

TEST_CASE("bullet: an impact's wake bounces below the threshold too", "[adapters][scene]") {
  World world({}, 0);
  const carom::examples::BulletMaterial ivory{.friction = 0, .restitution = 1};
  for (int i = 0; i < 3; ++i) {
    world.add_sphere(0.1, i == 0 ? 0.05 : 1, triple(0.19999 * i, 0, 0), ivory);
  }
  world.body(0).setLinearVelocity(triple(1, 0, 0));
  world.step(dt);
  const double passed = 2 * 0.05 / 1.05;
  REQUIRE(passed < double(world.info().m_restitutionVelocityThreshold));
  CHECK(velocity(world.body(0)).x() == Approx(-0.95 / 1.05).epsilon(by_float(1e-5)));
  CHECK(std::abs(velocity(world.body(1)).x()) < by_float(1e-6));
  CHECK(velocity(world.body(2)).x() == Approx(passed).epsilon(by_float(1e-5)));
}

TEST_CASE("bullet: impacts between springs add no energy, also in steps whose time is over",
          "[adapters][law]") {
  for (const bool hurried : {false, true}) {
    World world({.rigid = false}, 0);
    const auto later = [](void*) noexcept { return 1.0; };
    if (hurried) world.solver->set_limits({.now = later, .deadline = 0});
    carom::examples::add_cradle(world, 5);
    const double before = world.kinetic_energy();
    for (int i = 0; i < 30; ++i) {
      world.step(1.0 / 60);
      CHECK(world.kinetic_energy() <= before * (1 + by_float(1e-6)));
    }
    CHECK(std::abs(velocity(world.body(4)).x() - 1) < by_float(1e-6));
  }
}

TEST_CASE("bullet: a cradle of pendulums passes the momentum through its joints",
          "[adapters][scene]") {
  World world({}, 0);
  const carom::examples::BulletMaterial ivory{.friction = 0, .restitution = 1};
  for (int i = 0; i < 4; ++i) {
    // A little closer than they touch: Bullet has no points for spheres that rounding keeps apart.
    btRigidBody& ball = world.add_sphere(0.1, 1, triple(0.19999 * i, 0, 0), ivory);
    world.add_joint(std::make_unique<btPoint2PointConstraint>(ball, triple(0, 0, 1)));
  }
  world.body(0).setLinearVelocity(triple(1, 0, 0));
  world.body(0).setAngularVelocity(triple(0, -1, 0));  // about its hook
  const double before = world.kinetic_energy();
  world.step(dt);
  CHECK(world.report().impacts >= 3);
  CHECK(world.kinetic_energy() == Approx(before).epsilon(by_float(1e-5)));
  for (int i = 0; i < 4; ++i) {
    CHECK(std::abs(velocity(world.body(i)).x() - (i == 3 ? 1 : 0)) < by_float(1e-5));
    CHECK(std::abs(spin(world.body(i)).y() + (i == 3 ? 1 : 0)) < by_float(1e-5));
  }
}

TEST_CASE("bullet: a box that lands flat leaves flat, with its restitution", "[adapters][scene]") {
  for (const auto impact : {carom::BulletImpact::propagative, carom::BulletImpact::newton}) {
    World world({.impact = impact});
    world.add_ground();
    btRigidBody& box = world.add_box(triple(0.5, 0.3, 0.2), 2, at_point(0, 0, 0.1995),
                                     {.friction = 0.5, .restitution = 0.5});
    box.setLinearVelocity(triple(0, 0, -2));
    world.step(dt);
    const double gained = impact == carom::BulletImpact::propagative ? gravity * dt : 0;
    CHECK(velocity(box).z() == Approx(1 - gained).epsilon(by_float(1e-5)));
    CHECK(spin(box).norm() < by_float(1e-5));
  }
  World dull({.impact = carom::BulletImpact::none});
  dull.add_ground();
  btRigidBody& box = dull.add_box(triple(0.5, 0.3, 0.2), 2, at_point(0, 0, 0.205),
                                  {.friction = 0.5, .restitution = 0.5});
  box.setLinearVelocity(triple(0, 0, -2));
  dull.run(dt, 2);
  CHECK(std::abs(velocity(box).z()) < by_float(1e-5));
}

TEST_CASE("bullet: a ball thrown obliquely bounces by its restitution and rubs by Coulomb's law",
          "[adapters][scene]") {
  World world({}, 0);
  world.add_ground();
  btRigidBody& ball =
      world.add_sphere(0.1, 2, triple(0, 0, 0.1), {.friction = 0.2, .restitution = 0.5});
  ball.setLinearVelocity(triple(5, 0, -3));
  world.step(dt);
  CHECK(velocity(ball).z() == Approx(1.5).epsilon(by_float(1e-6)));
  CHECK(velocity(ball).x() == Approx(5 - 0.2 * 1.5 * 3).epsilon(by_float(1e-6)));
  CHECK(spin(ball).y() ==
        Approx(2.5 * 0.2 * 1.5 * 3 / 0.1).epsilon(by_float(1e-6)));  // I = 2/5 m r²
}

TEST_CASE("bullet: kinematic ground carries and lifts what stands on it", "[adapters][scene]") {
  World world;
  btRigidBody& ground = world.add_box(triple(5, 5, 0.5), 0, at_point(0, 0, -0.5), {.friction = 1});
  ground.setCollisionFlags(btCollisionObject::CF_KINEMATIC_OBJECT);
  btRigidBody& box = world.add_box(triple(0.2, 0.2, 0.2), 1, at_point(0, 0, 0.2));
  const Vector speed(0.6, 0.2, 0.3);
  for (int i = 1; i <= 120; ++i) {
    const Vector at = speed * dt * i + Vector(0, 0, -0.5);
    ground.setWorldTransform(at_point(at.x(), at.y(), at.z()));
    world.step(dt);
  }
  CHECK((velocity(box) - speed).norm() <
        by_float(1e-3));  // the ground's speed is a difference in float
  CHECK(std::abs(position(box).z() - position(ground).z() - 0.7) < by_compliance(2e-3));
}

TEST_CASE("bullet: a belt's contact motion drives what lies on it", "[adapters][scene]") {
  World world;
  world.info().m_solverMode |= SOLVER_ENABLE_FRICTION_DIRECTION_CACHING;
  world.add_ground();
  btRigidBody& box = world.add_box(triple(0.2, 0.2, 0.2), 1, at_point(0, 0, 0.2));
  static bool swapped = false;
  gContactAddedCallback = [](btManifoldPoint& point, const btCollisionObjectWrapper* first, int,
                             int, const btCollisionObjectWrapper*, int, int) {
    // Wanted is the speed of the manifold's first body over its second.
    swapped = first->getCollisionObject()->isStaticObject();
    point.m_contactPointFlags |= BT_CONTACT_FLAG_LATERAL_FRICTION_INITIALIZED;
    point.m_lateralFrictionDir1 = triple(1, 0, 0);
    point.m_lateralFrictionDir2 = triple(0, 1, 0);
    point.m_contactMotion1 = btScalar(swapped ? -0.4 : 0.4);
    return true;
  };
  box.setCollisionFlags(box.getCollisionFlags() | btCollisionObject::CF_CUSTOM_MATERIAL_CALLBACK);
  world.run(dt, 60);
  gContactAddedCallback = nullptr;
  CHECK((velocity(box) - Vector(0.4, 0, 0)).norm() < by_float(1e-5));
}

TEST_CASE("bullet: a point's own stiffness and damping are a spring and a damper",
          "[adapters][scene]") {
  World world;
  btRigidBody& ground = world.add_ground();
  ground.setContactStiffnessAndDamping(btScalar(2e4), btScalar(1e3));
  btRigidBody& ball = world.add_sphere(0.2, 10, triple(0, 0, 0.2));
  ball.setContactStiffnessAndDamping(btScalar(2e4), btScalar(1e3));
  world.run(dt, 480);
  double stiffness = 0, distance = 0;
  world.for_each_point([&](const auto&, const btManifoldPoint& point) {
    stiffness = double(point.m_combinedContactStiffness1);
    distance = double(point.getDistance());
  });
  REQUIRE(stiffness > 0);
  CHECK(-distance == Approx(10 * gravity / stiffness).epsilon(by_settling(1e-3)));
}

TEST_CASE("bullet: rolling friction stops a ball by its moment", "[adapters][scene]") {
  World world;
  btRigidBody& ground = world.add_ground();
  ground.setRollingFriction(0);
  btRigidBody& ball = world.add_sphere(0.2, 3, triple(0, 0, 0.2), {.friction = 1});
  ball.setRollingFriction(btScalar(0.01));
  ball.setLinearVelocity(triple(1, 0, 0));
  ball.setAngularVelocity(triple(0, 5, 0));
  double arm = 0;
  world.step(dt);
  world.for_each_point([&](const auto&, const btManifoldPoint& point) {
    arm = double(point.m_combinedRollingFriction);
  });
  REQUIRE(arm > 0);
  const double begun = velocity(ball).x();
  world.run(dt, 60);
  // m r² 7/5 ω′ = −μᵣ m g
  const double slowing = arm * gravity / (0.2 * 7.0 / 5);
  CHECK(begun - velocity(ball).x() == Approx(slowing * 60 * dt).epsilon(by_step(1e-2)));
  world.run(dt, 600);
  CHECK(velocity(ball).norm() < by_float(1e-5));
}

TEST_CASE("bullet: anisotropic friction slows along its axes by each coefficient",
          "[adapters][scene]") {
  for (const int axis : {0, 1}) {
    World world;
    world.add_ground();
    btRigidBody& box =
        world.add_box(triple(0.5, 0.5, 0.1), 1, at_point(0, 0, 0.1), {.friction = 0.4});
    box.setAnisotropicFriction(triple(1, 0.25, 1));
    box.setLinearVelocity(axis == 0 ? triple(3, 0, 0) : triple(0, 3, 0));
    world.run(dt, 60);
    const double mu = axis == 0 ? 0.4 : 0.1;
    CHECK(velocity(box).norm() == Approx(3 - mu * gravity * 0.5).epsilon(by_float(1e-3)));
  }
}

TEST_CASE("bullet: overlap is taken out by positions and leaves no velocity", "[adapters][law]") {
  World world({}, 0);
  world.add_box(triple(0.5, 0.5, 0.5), 1, at_point(0, 0, 0));
  world.add_box(triple(0.5, 0.5, 0.5), 3, at_point(0.97, 0, 0));
  world.run(dt, 6);
  CHECK(world.kinetic_energy() < by_float(1e-12));
  const Vector a = position(world.body(0)), b = position(world.body(1));
  CHECK(b.x() - a.x() == Approx(1 - 0.5e-3).epsilon(by_settling(1e-4)));
  CHECK(a.x() + 3 * (b.x() - 0.97) ==
        Approx(0).margin(by_float(1e-5)));  // the centre of mass stays
}

TEST_CASE("bullet: a deep overlap does not push a cube into another one that was apart",
          "[adapters][law]") {
  for (const bool hurried : {false, true}) {
    for (const double apart : {0.03, 0.05, 0.2}) {
      CAPTURE(hurried, apart);
      World world({}, 0);
      const auto later = [](void*) noexcept { return 1.0; };
      if (hurried) world.solver->set_limits({.now = later, .deadline = 0});
      // The first overlaps the second by 0.3 m; the third is in the direction of the motion.
      world.add_box(triple(0.5, 0.5, 0.5), 5, at_point(0, 0, 0));
      world.add_box(triple(0.5, 0.5, 0.5), 1, at_point(0.7, 0, 0));
      world.add_box(triple(0.5, 0.5, 0.5), 1, at_point(1.7 + apart, 0, 0));
      for (int i = 0; i < 100; ++i) {
        world.step(dt);
        const double between = position(world.body(2)).x() - position(world.body(1)).x();
        CHECK(between > 1 - by_settling(0.011));
      }
      CHECK(position(world.body(1)).x() - position(world.body(0)).x() > 1 - by_settling(1e-3));
      CHECK(world.kinetic_energy() < by_float(1e-10));
    }
  }
}

TEST_CASE("bullet: a pendulum keeps its length and its joint carries the weight",
          "[adapters][joints]") {
  World world;
  btRigidBody& ball = world.add_sphere(0.1, 2, triple(0, 0, 0));
  auto& joint = world.add_joint(std::make_unique<btPoint2PointConstraint>(ball, triple(0, 0, 1)));
  btJointFeedback feedback;
  joint.setJointFeedback(&feedback);
  joint.enableFeedback(true);
  world.run(dt, 3);
  CHECK((from_bullet(feedback.m_appliedForceBodyA) - Vector(0, 0, 2 * gravity)).norm() <
        by_float(1e-3));
  CHECK(std::abs(double(joint.getAppliedImpulse()) - 2 * gravity * dt) < by_float(1e-5));
  ball.setLinearVelocity(triple(1, 0, 0));
  ball.setAngularVelocity(triple(0, -1, 0));
  double stretched = 0;
  for (int i = 0; i < 240; ++i) {
    world.step(dt);
    const btVector3 hook = ball.getWorldTransform() * triple(0, 0, 1);
    stretched = std::max(stretched, (from_bullet(hook) - Vector(0, 0, 1)).norm());
  }
  CHECK(stretched < by_step(1e-3));
}

TEST_CASE("bullet: a hinge turns about its axis alone, by its motor, up to its limit",
          "[adapters][joints]") {
  World world;
  btRigidBody& door = world.add_box(triple(0.5, 0.1, 1), 4, at_point(0.5, 0, 0));
  auto& hinge = world.add_joint(
      std::make_unique<btHingeConstraint>(door, triple(-0.5, 0, 0), triple(0, 0, 1), true));
  hinge.enableAngularMotor(true, btScalar(1.5), btScalar(100));
  world.run(dt, 30);
  CHECK((spin(door) - Vector(0, 0, spin(door).z())).norm() < by_float(1e-4));
  CHECK(std::abs(spin(door).z()) == Approx(1.5).epsilon(by_float(1e-4)));
  const btVector3 hook = door.getWorldTransform() * triple(-0.5, 0, 0);
  CHECK(from_bullet(hook).norm() < by_step(1e-3));
  // A weaker motor spends its largest impulse each step.
  hinge.enableAngularMotor(true, btScalar(-50), btScalar(0.01));
  const double before = spin(door).z();
  world.step(dt);
  const double inertia = 4.0 / 12 * (1 + 0.04) + 4 * 0.25;
  CHECK(std::abs(spin(door).z() - before) == Approx(0.01 / inertia).epsilon(by_float(1e-3)));
  // A limit stops it.
  hinge.enableAngularMotor(true, btScalar(3), btScalar(100));
  hinge.setLimit(btScalar(-0.8), btScalar(0.8));
  world.run(dt, 240);
  CHECK(std::abs(double(hinge.getHingeAngle())) == Approx(0.8).margin(by_step(5e-3)));
  CHECK(spin(door).norm() < by_settling(1e-3));
}

TEST_CASE("bullet: a slider slides along its axis between its limits", "[adapters][joints]") {
  World world;
  btRigidBody& car = world.add_box(triple(0.2, 0.2, 0.2), 1, at_point(0, 0, 0));
  const btTransform turned(btQuaternion(triple(0, 1, 0), btScalar(pi / 2)));  // x to −z
  auto& slider = world.add_joint(std::make_unique<btSliderConstraint>(car, turned, true));
  slider.setLowerLinLimit(btScalar(-0.5));
  slider.setUpperLinLimit(btScalar(0.5));
  slider.setLowerAngLimit(0);
  slider.setUpperAngLimit(0);
  world.run(dt, 12);
  CHECK(velocity(car).z() == Approx(-gravity * 0.1).epsilon(by_float(1e-3)));
  world.run(dt, 240);
  CHECK(std::abs(position(car).z()) == Approx(0.5).margin(by_step(5e-3)));
  CHECK((position(car) - Vector(0, 0, position(car).z())).norm() < by_step(1e-3));
  CHECK(spin(car).norm() < by_float(1e-4));
  CHECK(velocity(car).norm() < by_settling(1e-3));
}

TEST_CASE("bullet: six degrees of freedom are free, limited or locked, each as it is set",
          "[adapters][joints]") {
  World world;
  btRigidBody& anchor = world.add_box(triple(0.1, 0.1, 0.1), 0, at_point(0, 0, 2));
  btRigidBody& body = world.add_box(triple(0.2, 0.2, 0.2), 2, at_point(0, 0, 2));
  const btTransform here = btTransform::getIdentity();
  const auto check = [&](auto& joint) {
    joint.setLinearLowerLimit(triple(-0.3, 0, -0.4));
    joint.setLinearUpperLimit(triple(0.3, 0, 0.4));
    joint.setAngularLowerLimit(triple(0, 0, 0));
    joint.setAngularUpperLimit(triple(0, 0, 0));
    body.setLinearVelocity(triple(2, 0, 0));
    world.run(dt, 240);
    CHECK(position(body).z() == Approx(2 - 0.4).margin(by_step(5e-3)));
    CHECK(std::abs(position(body).y()) < by_step(1e-3));
    CHECK(position(body).x() < 0.305);
    CHECK(spin(body).norm() < by_float(1e-4));
  };
  SECTION("btGeneric6DofConstraint") {
    check(
        world.add_joint(std::make_unique<btGeneric6DofConstraint>(anchor, body, here, here, true)));
  }
  SECTION("btGeneric6DofSpring2Constraint") {
    check(world.add_joint(
        std::make_unique<btGeneric6DofSpring2Constraint>(anchor, body, here, here)));
  }
}

TEST_CASE("bullet: a joint breaks at its threshold", "[adapters][joints]") {
  for (const double share : {0.9, 1.1}) {
    World world;
    btRigidBody& ball = world.add_sphere(0.1, 2, triple(0, 0, 0));
    auto& joint = world.add_joint(std::make_unique<btPoint2PointConstraint>(ball, triple(0, 0, 1)));
    joint.setBreakingImpulseThreshold(btScalar(share * 2 * gravity * dt));
    world.run(dt, 10);
    CHECK(joint.isEnabled() == (share > 1));
    CHECK((velocity(ball).norm() < by_float(1e-4)) == (share > 1));
  }
}

TEST_CASE("bullet: gyroscopic terms, damping and softness of joints mean what they mean to Bullet",
          "[adapters][oracle]") {
  struct Outcome {
    Vector speed, spin;
  };
  // A step has one unknown at a time here, so Bullet's sweeps are exact.
  const auto outcome = [](bool ours, const std::function<void(BulletScene&)>& build) {
    std::unique_ptr<btConstraintSolver> solver;
    if (ours) {
      solver = std::make_unique<BulletSolver>();
    } else {
      solver = std::make_unique<btSequentialImpulseConstraintSolver>();
    }
    BulletScene scene(std::move(solver));
    build(scene);
    scene.run(dt, 3);
    return Outcome{velocity(scene.body(0)), spin(scene.body(0))};
  };
  const auto spinning = [](int flags) {
    return [flags](BulletScene& scene) {
      btRigidBody& top = scene.add_box(triple(0.5, 0.2, 0.1), 2, at_point(0, 0, 0));
      top.setFlags(flags);
      top.setAngularVelocity(triple(6, 5, 4));
    };
  };
  const auto hanging = [](double softness, double damping) {
    return [softness, damping](BulletScene& scene) {
      btRigidBody& ball = scene.add_sphere(0.1, 2, triple(0, 0, 0));
      auto& joint =
          scene.add_joint(std::make_unique<btPoint2PointConstraint>(ball, triple(0, 0, 0)));
      if (softness > 0) joint.setParam(BT_CONSTRAINT_CFM, btScalar(softness));
      joint.m_setting.m_damping = btScalar(damping);
      scene.info().m_numIterations = 300;  // a soft row converges by its softness per iteration
    };
  };
  const std::vector<std::function<void(BulletScene&)>> scenes = {
      spinning(0),
      spinning(BT_ENABLE_GYROSCOPIC_FORCE_EXPLICIT),
      spinning(BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_WORLD),
      spinning(BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_BODY),
      hanging(0, 1),
      hanging(0.7, 1),
      hanging(0, 0.5)};
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    CAPTURE(i);
    const Outcome ours = outcome(true, scenes[i]), own = outcome(false, scenes[i]);
    const double soft = BulletOptions().joint_softness * gravity * dt;  // of speeds joints hold
    CHECK((ours.speed - own.speed).norm() <= 64 * kept * (1 + own.speed.norm()) + 3 * soft);
    CHECK((ours.spin - own.spin).norm() <= 64 * kept * (1 + own.spin.norm()));
  }
}

TEST_CASE("bullet: a pinched cube is held by just enough friction", "[adapters][scene]") {
  for (const double margin : {1.02, 0.9}) {
    World world;
    carom::examples::add_pinch(world, 0.5);
    for (int i = 0; i < 60; ++i) {
      carom::examples::press(world, margin * 0.5 * gravity / (2 * 0.5));
      world.step(1.0 / 300);
    }
    const double first = velocity(world.body(2)).z();
    for (int i = 0; i < 30; ++i) {
      carom::examples::press(world, margin * 0.5 * gravity / (2 * 0.5));
      world.step(1.0 / 300);
    }
    const double gained = velocity(world.body(2)).z() - first;
    CHECK(gained == Approx(margin > 1 ? 0 : -(1 - margin) * gravity * 0.1).margin(by_float(1e-4)));
  }
}

TEST_CASE("bullet: a stack with its heaviest cube on top neither sinks nor shakes",
          "[adapters][scene]") {
  World world;
  carom::examples::add_stack(world, 10, 1, 1000);
  world.run(1.0 / 60, 60);
  CHECK(world.report().converged());
  CHECK(std::abs(position(world.body(10)).z() - 9.5) < by_compliance(1e-3));
  CHECK(world.kinetic_energy() < by_float(1e-6));
}

TEST_CASE("bullet: steps whose time is over before they begin hold a stack for a while",
          "[adapters][law]") {
  World world;
  carom::examples::add_stack(world, 4, 1, 1);
  world.run(dt, 20);
  REQUIRE(world.report().converged());
  const auto later = [](void*) noexcept { return 1.0; };
  world.solver->set_limits({.now = later, .deadline = 0});
  world.body(4).setLinearVelocity({btScalar(0.3), 0, 0});
  double energy = world.kinetic_energy();
  for (int i = 0; i < 30; ++i) {
    world.step(dt);
    CHECK(world.report().status != carom::SolveStatus::not_finite);
    CHECK(world.kinetic_energy() < energy + by_solver(1e-3));
    energy = world.kinetic_energy();
  }
  CHECK(world.report().refused == 0);
  CHECK(std::abs(position(world.body(4)).z() - 3.5) < by_solver(5e-3));
  world.solver->set_limits({});
  world.run(dt, 60);
  CHECK(world.report().converged());
  CHECK(world.kinetic_energy() < by_settling(1e-6));
}

TEST_CASE("bullet: a wall stands in steps whose time is over before they begin",
          "[adapters][scene]") {
  World world;
  carom::examples::add_wall(world, 120);
  const auto later = [](void*) noexcept { return 1.0; };
  world.solver->set_limits({.now = later, .deadline = 0});
  int projections = 0;
  for (int i = 0; i < 40; ++i) {
    world.step(1.0 / 60);
    projections += world.report().projections;
  }
  CHECK(world.report().refused == 0);
  CHECK(projections > 0);
  CHECK(world.penetration() < by_solver(2e-3));
  CHECK(world.kinetic_energy() < by_solver(0.1));
}

TEST_CASE("bullet: in steps whose time is over a pile that falls into a bin comes apart",
          "[adapters][scene]") {
  World world;
  add_bin(world, 1.8);
  for (int i = 0; i < 90; ++i) {
    const double x = 1.15 * (i % 3 - 1), y = 1.15 * (i / 3 % 3 - 1), shift = 0.06 * (i % 5 - 2);
    const btTransform at = at_point(x + shift, y - shift, 0.6 + 1.05 * (i / 9));
    const carom::examples::BulletMaterial material{.friction = 0.7};
    if (i % 2 == 0) world.add_box(triple(0.5, 0.45, 0.4 + 0.1 * (i % 3)), 1 + i % 8, at, material);
    if (i % 2 == 1) world.add_sphere(0.5, 1 + i % 8, at.getOrigin(), material);
  }
  const auto later = [](void*) noexcept { return 1.0; };
  world.solver->set_limits({.now = later, .deadline = 0});
  world.run(1.0 / 60, 150);
  CHECK(world.report().refused == 0);
  CHECK(world.penetration() < by_solver(0.03));
}

TEST_CASE("bullet: a hurried motion is the shortest one that separates and keeps joints",
          "[adapters][oracle]") {
  // Three bodies of 1, 2 and 3 degrees of freedom; a contact between the last two, a joint of the
  // first two.
  carom::ContactProblem<double> problem(1.0);
  const auto a = problem.add_body(Eigen::Matrix<double, 1, 1>(2.0), Eigen::Matrix<double, 1, 1>(0));
  const auto b =
      problem.add_body(Eigen::Vector2d(1, 4).asDiagonal().toDenseMatrix(), Eigen::Vector2d::Zero());
  const auto c = problem.add_body(Eigen::Matrix3d::Identity() * 3, Eigen::Vector3d::Zero());
  Eigen::Matrix<double, 3, 2> first;
  first << 1, 0, 0, 1, 1, 0.5;
  const auto contact = problem.add_contact(b, first, c, -Eigen::Matrix3d::Identity(),
                                           carom::RigidContact<double>{.friction = 0.5});
  const auto joint = problem.add_constraint(
      a, Eigen::Matrix<double, 1, 1>(1.0), b, Eigen::RowVector2d(-1, 0),
      carom::WeightedBlock<double>{.set = carom::free_impulses<double>(1), .rigid = true});
  const double least = 0.01;
  for (const bool joined : {false, true}) {
    carom::detail::BulletMoves moves;
    moves.reset(problem);
    moves.add(problem, contact, 2, least, false);
    if (joined) moves.add(problem, joint, 0, 0, true);
    moves.sweep({});
    carom::VectorX<double> motion;
    moves.write(problem, motion);
    // The shortest motion in the mass metric: y = A⁻¹ Gᵀ (G A⁻¹ Gᵀ)⁻¹ g.
    Eigen::Matrix<double, 2, 6> rows;
    rows << 0, 1, 0.5, 0, 0, -1, 1, -1, 0, 0, 0, 0;
    Eigen::Vector<double, 6> inverse;
    inverse << 0.5, 1, 0.25, 1. / 3, 1. / 3, 1. / 3;
    const Eigen::MatrixXd used = rows.topRows(joined ? 2 : 1);
    const Eigen::MatrixXd spread = inverse.asDiagonal() * used.transpose();
    Eigen::VectorXd goal = Eigen::VectorXd::Zero(used.rows());
    goal(0) = least;
    const Eigen::VectorXd expected = spread * (used * spread).inverse() * goal;
    CAPTURE(joined, motion.transpose(), expected.transpose());
    CHECK((motion - expected).norm() < by_settling(1e-3) * expected.norm());
  }
}

TEST_CASE("bullet: a hurried motion reaches all rows, also beside a heavy body",
          "[adapters][law]") {
  // A row of ten bodies, of which each has to move away from the one before; and a heavy body that
  // has to move away from the ground.
  carom::ContactProblem<double> problem(1.0);
  const Eigen::Matrix<double, 1, 1> one(1.0), rest(0.0);
  const carom::WeightedBlock<double> law{.set = carom::free_impulses<double>(1), .rigid = true};
  const double least = 0.01;
  carom::detail::BulletMoves moves;
  std::vector<carom::Index> blocks;
  for (int i = 0; i < 10; ++i) {
    const auto body = problem.add_body(one, rest);
    blocks.push_back(i == 0 ? problem.add_constraint(body, one, law)
                            : problem.add_constraint(body, one, body - 1, -one, law));
  }
  const auto heavy = problem.add_body(1e4 * one, rest);
  blocks.push_back(problem.add_constraint(heavy, one, law));
  moves.reset(problem);
  for (const auto block : blocks) moves.add(problem, block, 0, least, false);
  moves.sweep({});
  carom::VectorX<double> motion;
  moves.write(problem, motion);
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i, motion.transpose());
    CHECK(std::abs(motion(i) - least * (i + 1)) < by_settling(0.1) * least * (i + 1));
  }
  CHECK(std::abs(motion(10) - least) < by_settling(0.1) * least);
}

TEST_CASE("bullet: a hurried motion out of penetration does not tear joints", "[adapters][law]") {
  World world;
  world.add_ground();
  // The cube overlaps the ground by 20 mm; a ball joint connects it to a cube in the air.
  btRigidBody& low = world.add_box(triple(0.5, 0.5, 0.5), 1, carom::examples::at_point(0, 0, 0.48));
  btRigidBody& high = world.add_box(triple(0.5, 0.5, 0.5), 1, carom::examples::at_point(0, 0, 1.6));
  world.add_joint(std::make_unique<btPoint2PointConstraint>(low, high, triple(0, 0, 0.56),
                                                            triple(0, 0, -0.56)));
  const auto later = [](void*) noexcept { return 1.0; };
  world.solver->set_limits({.now = later, .deadline = 0});
  world.run(dt, 12);
  const double apart = position(high).z() - position(low).z();
  CHECK(position(low).z() > 0.5 - by_solver(2e-3));
  CHECK(std::abs(apart - 1.12) < by_solver(2e-3));
}

TEST_CASE("bullet: a body at rest starts from the impulses of the step before", "[adapters][law]") {
  const auto iterations = [](World& world) {
    world.run(dt, 20);
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
      world.step(dt);
      CHECK(world.report().converged());
      sum += world.report().iterations;
    }
    return sum;
  };
  World wall;
  add_wall(wall, 15);
  CHECK(iterations(wall) <= 15);  // many a step has nothing to do
  for (const double heading : {0.0, 0.4, 2.5}) {
    World held;
    add_block_on_slope(held, 0.4, heading, 0.7);
    CHECK(iterations(held) <= 20);
    World ellipse;  // its tangents are not those along which Bullet keeps impulses
    add_block_on_slope(ellipse, 0.3, heading, 0.7);
    ellipse.body(1).setAnisotropicFriction(triple(1, 0.6, 1),
                                           btCollisionObject::CF_ANISOTROPIC_FRICTION);
    CHECK(iterations(ellipse) <= 20);
    World balls;  // held by moments, for which Bullet has no room
    const btTransform slope = carom::examples::slope_frame(0.1, heading);
    balls.add_ground(slope).setRollingFriction(1);
    for (const double place : {0, 1, 2, 3}) {
      balls.add_sphere(0.5, 2, slope * triple(place, 0, 0.5), {.friction = 0.7})
          .setRollingFriction(btScalar(0.1));
    }
    CHECK(iterations(balls) <= 100);  // some systems for each of the 20 steps
    CHECK(velocity(balls.body(1)).norm() <= by_float(1e-6));
  }
}

TEST_CASE("bullet: balls that are held by each other start from their impulses",
          "[adapters][law]") {
  // Bullet makes the point of two balls anew in each step.
  for (const double heading : {0.0, 0.4, 2.5}) {
    int iterations[2] = {0, 0};
    for (const bool warm : {false, true}) {
      World heap;
      add_bin(heap, 1, heading);
      if (!warm) heap.world().getSolverInfo().m_solverMode &= ~SOLVER_USE_WARMSTARTING;
      for (int side = 0; side < 4; ++side) {
        const double at = heading + (side + 0.5) * pi / 2;
        heap.add_sphere(0.5, 1,
                        triple(std::sqrt(0.5) * std::cos(at), std::sqrt(0.5) * std::sin(at), 0.5));
      }
      heap.add_sphere(0.5, 1, triple(0, 0, 0.5 + std::sqrt(0.5)));
      for (int i = 0; i < 40; ++i) {
        heap.step(dt);
        CHECK(heap.report().converged());
        iterations[warm] += heap.report().iterations;
      }
    }
    CHECK(iterations[true] <= iterations[false] / 4);
  }
}

TEST_CASE("bullet: under the convex law what slides separates, and what is held stays",
          "[adapters][scene]") {
  World rigid({.law = carom::FrictionLaw::convex});
  rigid.add_ground();
  btRigidBody& cube =
      rigid.add_box(triple(0.5, 0.5, 0.1), 1, at_point(0, 0, 0.1), {.friction = 0.4});
  cube.setLinearVelocity(triple(3, 0, 0));
  rigid.step(dt);
  CHECK(velocity(cube).z() == Approx(0.4 * velocity(cube).x()).epsilon(by_float(1e-4)));
  World springs({.law = carom::FrictionLaw::convex,
                 .rigid = false,
                 .stiffness = 1e6,
                 .dissipation_time = 0.01});
  add_block_on_slope(springs, pi / 6, 0.4, 0.7);
  springs.run(dt, 120);
  CHECK(springs.report().converged());
  CHECK(velocity(springs.body(1)).norm() < by_settling(1e-3));
}

TEST_CASE("bullet: a body whose numbers make no sense is left out and named",
          "[adapters][errors]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(btRigidBody&)>> faults = {
      [&](btRigidBody& body) { body.setLinearVelocity(triple(0, nan, 0)); },
      [&](btRigidBody& body) { body.setAngularVelocity(triple(nan, 0, 0)); },
      [&](btRigidBody& body) { body.applyCentralForce(triple(0, 0, nan)); },
      [&](btRigidBody& body) { body.setWorldTransform(at_point(nan, 0, 0)); }};
  for (const auto& fault : faults) {
    BulletSolver solver;
    btSphereShape shape(btScalar(0.5));
    btRigidBody bad(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape, triple(1, 1, 1)));
    btRigidBody good(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape, triple(1, 1, 1)));
    bad.setLinearVelocity(triple(1, 2, 3));
    fault(bad);
    good.applyCentralForce(triple(0, 0, 6));
    const btVector3 before = bad.getLinearVelocity();
    btPersistentManifold manifold(&bad, &good, 0, btScalar(0.02), btScalar(0.02));
    manifold.addManifoldPoint(
        btManifoldPoint(triple(0, 0, 0), triple(0, 0, 0), triple(0, 0, 1), 0));
    btPoint2PointConstraint joint(bad, good, triple(0, 0, 0), triple(0, 0, 0));
    btCollisionObject* bodies[] = {&bad, &good};
    btPersistentManifold* manifolds[] = {&manifold};
    btTypedConstraint* joints[] = {&joint};
    btContactSolverInfo info;
    info.m_timeStep = btScalar(0.5);
    solver.prepareSolve(2, 1);
    solver.solveGroup(bodies, 2, manifolds, 1, joints, 1, info, nullptr, nullptr);
    CHECK(solver.report().refused == 1);
    CHECK_FALSE(solver.report().converged());
    CHECK_THAT(solver.report().fault, Catch::Contains("expected finite numbers"));
    CHECK(velocity(good).z() == Approx(3));
    for (int i = 0; i < 3; ++i) {
      const bool same = before[i] == bad.getLinearVelocity()[i] ||
                        (std::isnan(before[i]) && std::isnan(bad.getLinearVelocity()[i]));
      CHECK(same);
    }
  }
}

TEST_CASE("bullet: a point whose numbers make no sense is left out and named",
          "[adapters][errors]") {
  BulletSolver solver;
  btSphereShape shape(btScalar(0.5));
  btRigidBody one(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape, triple(1, 1, 1)));
  btRigidBody two(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape, triple(1, 1, 1)));
  one.setLinearVelocity(triple(0, 0, -1));
  btPersistentManifold manifold(&one, &two, 0, btScalar(0.02), btScalar(0.02));
  btManifoldPoint point(triple(0, 0, 0), triple(0, 0, 0), triple(0, 0, 1), 0);
  point.m_combinedFriction = btScalar(-1);
  manifold.addManifoldPoint(point);
  btCollisionObject* bodies[] = {&one, &two};
  btPersistentManifold* manifolds[] = {&manifold};
  btContactSolverInfo info;
  solver.solveGroup(bodies, 2, manifolds, 1, nullptr, 0, info, nullptr, nullptr);
  CHECK(solver.report().refused == 1);
  CHECK_THAT(solver.report().fault, Catch::Contains("manifold 0, point 0"));
  CHECK(velocity(one).z() == -1);
  info.m_timeStep = 0;
  solver.reset();
  solver.solveGroup(bodies, 2, manifolds, 1, nullptr, 0, info, nullptr, nullptr);
  CHECK_THAT(solver.report().fault, Catch::Contains("time step"));
  CHECK(velocity(one).z() == -1);
}

TEST_CASE("bullet: a point at which nothing can move asks for nothing", "[adapters][errors]") {
  BulletSolver solver;
  btSphereShape shape(btScalar(0.5));
  btRigidBody wheel(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape, triple(1, 1, 1)));
  btRigidBody wall(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &shape));
  wheel.setLinearFactor(triple(0, 0, 0));
  wheel.setAngularVelocity(triple(0, 0, 2));
  btPersistentManifold manifold(&wheel, &wall, 0, btScalar(0.02), btScalar(0.02));
  manifold.addManifoldPoint(btManifoldPoint(triple(0, 0, 0), triple(0, 0, 0), triple(0, 0, 1), 0));
  btCollisionObject* bodies[] = {&wheel};
  btPersistentManifold* manifolds[] = {&manifold};
  btContactSolverInfo info;
  solver.prepareSolve(1, 1);
  solver.solveGroup(bodies, 1, manifolds, 1, nullptr, 0, info, nullptr, nullptr);
  CHECK(solver.report().converged());
  CHECK(solver.report().contacts == 0);
  CHECK(spin(wheel).z() == 2);
}

TEST_CASE("bullet: options that make no sense are refused", "[adapters][errors]") {
  const auto refused = [](const BulletOptions& options, const char* name) {
    CHECK_THROWS_WITH(BulletSolver(options), Catch::Contains(name));
  };
  refused({.stiffness = 0}, "stiffness");
  refused({.dissipation_time = -1}, "dissipation time");
  refused({.relative_slip = 0}, "relative slip");
  refused({.tolerance = -1}, "tolerance");
  refused({.impact_limit = -1}, "impact limit");
  refused({.allowed_penetration = 0}, "allowed penetration");
  refused({.joint_softness = 0}, "joint softness");
}
