// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/pinocchio.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "engines/pinocchio_models.hpp"

// Calls of malloc, which Eigen and operator new come down to, where no sanitizer is in the way.
static long allocation_count = 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAROM_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CAROM_TEST_SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(CAROM_TEST_SANITIZED)
#define CAROM_TEST_COUNTS_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) noexcept {
  ++allocation_count;
  return __libc_malloc(size);
}
}
#else
#define CAROM_TEST_COUNTS_MALLOC 0
#endif

namespace pinocchio_test {

using carom::Index, carom::PinocchioContact, carom::PinocchioEffort, carom::PinocchioState;
using carom::PinocchioStepper;
using carom::examples::humanoid_target, carom::examples::quadruped_target;
using carom::examples::LeggedRobot, carom::examples::LeggedScene;
using carom::examples::make_humanoid, carom::examples::make_quadruped;
using carom::testing::by_settling, carom::testing::rounding;
using carom::testing::by_solver, carom::testing::by_step, carom::testing::clearly;
using Eigen::Vector3d, Eigen::VectorXd;

namespace {

constexpr double gravity = 9.81;

/// Cubes of 2 kg with edges of 0.2 m, each on a free joint of its own, and the frames of their
/// lower corners.
struct Cubes {
  explicit Cubes(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "cube_" + std::to_string(i);
      const auto joint =
          model.addJoint(0, pinocchio::JointModelFreeFlyer(), pinocchio::SE3::Identity(), name);
      model.appendBodyToJoint(joint, pinocchio::Inertia::FromBox(2, 0.2, 0.2, 0.2),
                              pinocchio::SE3::Identity());
      for (int k = 0; k < 4; ++k) {
        const Vector3d corner(k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, -0.1);
        corners.push_back(model.addFrame(pinocchio::Frame(
            name + "_" + std::to_string(k), joint, 0,
            pinocchio::SE3(Eigen::Matrix3d::Identity(), corner), pinocchio::OP_FRAME)));
      }
      bodies.push_back(model.addFrame(pinocchio::Frame(
          name + "_body", joint, 0, pinocchio::SE3::Identity(), pinocchio::OP_FRAME)));
    }
    state = {pinocchio::neutral(model), VectorXd::Zero(model.nv)};
  }
  pinocchio::Model model;
  std::vector<pinocchio::FrameIndex> corners, bodies;
  PinocchioState state;
};

VectorXd random_numbers(std::mt19937& engine, Index count) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return VectorXd::NullaryExpr(count, [&] { return uniform(engine); });
}

/// By how much Pinocchio's inverse dynamics misses the efforts, with the contacts' forces by joints
/// and the acceleration of the step, relative to the largest effort.
double balance_error(const pinocchio::Model& model, const PinocchioStepper& stepper,
                     const pinocchio::Data& data, const PinocchioState& before,
                     const PinocchioEffort& effort, const std::vector<PinocchioContact>& contacts) {
  std::vector<pinocchio::Force> forces(std::size_t(model.njoints), pinocchio::Force::Zero());
  stepper.add_joint_forces(model, data, contacts, forces);
  const double dt = stepper.problem().time_step();
  const VectorXd change = stepper.velocity() - before.velocity;
  VectorXd given = VectorXd::Zero(model.nv);
  if (effort.torque.size() > 0) given += effort.torque;
  if (effort.stiffness.size() > 0) given -= dt * effort.stiffness.cwiseProduct(stepper.velocity());
  if (effort.damping.size() > 0) given -= effort.damping.cwiseProduct(change);
  pinocchio::Data fresh(model);
  const VectorXd needed = pinocchio::rnea(model, fresh, before.configuration, before.velocity,
                                          VectorXd(change / dt), forces);
  pinocchio::rnea(model, fresh, before.configuration, before.velocity, VectorXd(change / dt));
  const double scale = std::max(given.cwiseAbs().maxCoeff(), fresh.tau.cwiseAbs().maxCoeff());
  return (needed - given).cwiseAbs().maxCoeff() / scale;
}

/// Forces in their cones, and impulses that solve the problem by the judgement of certify().
void check_law(const LeggedScene& scene) {
  for (Index i = 0; i < Index(scene.contacts.size()); ++i) {
    const Vector3d force = scene.stepper.force(i);
    const double slack = by_solver(1e-6) * scene.robot.mass() * gravity;
    CHECK(force.z() >= -slack);
    CHECK(force.head<2>().norm() <= scene.contacts[std::size_t(i)].friction * force.z() + slack);
  }
  CHECK(scene.stepper.certificate().natural_map_error <= by_solver(1e-9));
}

/// Heights and places of the soles over a run.
struct Run {
  double lowest = 0, slip = 0, highest = 0;  ///< [m]; slip from the places at the start
  double risen = 0, sunk = 0;                ///< from the heights at the start [m]
  int unsolved = 0, steps = 0;
  double weight = 0;  ///< mean force upward [N]
};
template <typename Target, typename Push>
Run run(LeggedScene& scene, double time, double dt, const Target& target, const Push& push) {
  Run result;
  scene.find_contacts();
  std::vector<Vector3d> start;
  for (const auto sole : scene.robot.soles) start.push_back(scene.place_of(sole));
  for (double t = 0; t < time - dt / 2; t += dt, ++result.steps) {
    result.unsolved += !scene.step(target(t), push(t), dt).converged();
    for (Index i = 0; i < Index(scene.contacts.size()); ++i) {
      result.weight += scene.stepper.force(i).z();
    }
    pinocchio::forwardKinematics(scene.robot.model, scene.data, scene.state.configuration);
    for (std::size_t i = 0; i < start.size(); ++i) {
      const Vector3d now = scene.place_of(scene.robot.soles[i]);
      result.lowest = std::min(result.lowest, now.z());
      result.highest = std::max(result.highest, now.z());
      result.risen = std::max(result.risen, now.z() - start[i].z());
      result.sunk = std::max(result.sunk, start[i].z() - now.z());
      result.slip = std::max(result.slip, (now - start[i]).head<2>().norm());
    }
  }
  result.weight /= result.steps;
  return result;
}
const auto no_push = [](double) { return Vector3d(Vector3d::Zero()); };

}  // namespace

TEST_CASE("pinocchio: without contacts a step is that of aba, and each tree flies by itself",
          "[adapters][oracle]") {
  for (const bool humanoid : {false, true}) {
    const LeggedRobot robot = humanoid ? make_humanoid() : make_quadruped();
    std::mt19937 engine(7);
    PinocchioState state{robot.posture, random_numbers(engine, robot.model.nv)};
    state.configuration.tail(robot.model.nq - 7) += random_numbers(engine, robot.model.nq - 7);
    PinocchioEffort effort;
    effort.torque = 10 * random_numbers(engine, robot.model.nv);
    pinocchio::Data data(robot.model), fresh(robot.model);
    const double dt = 0.01;
    const VectorXd expected =
        state.velocity +
        dt * pinocchio::aba(robot.model, fresh, state.configuration, state.velocity, effort.torque);
    const VectorXd moved =
        pinocchio::integrate(robot.model, state.configuration, VectorXd(dt * expected));
    PinocchioStepper stepper;
    const auto report = stepper.step(robot.model, data, state, effort, {}, dt);
    CHECK(report.converged());
    CHECK(report.iterations == 0);
    CHECK((state.velocity - expected).norm() <= rounding(2000, expected.norm()));
    CHECK((state.configuration - moved).norm() <= rounding(2000, expected.norm()));
    CHECK(stepper.problem().body_count() == 0);
  }
}

TEST_CASE("pinocchio: Pinocchio's inverse dynamics finds efforts and contact forces in balance",
          "[adapters][oracle]") {
  std::mt19937 engine(11);
  pinocchio::Model model = make_quadruped().model;  // and a cube, a tree of its own
  const auto joint =
      model.addJoint(0, pinocchio::JointModelFreeFlyer(), pinocchio::SE3::Identity(), "cube");
  model.appendBodyToJoint(joint, pinocchio::Inertia::FromBox(2, 0.2, 0.3, 0.4),
                          pinocchio::SE3(Eigen::Matrix3d::Identity(), Vector3d(0.1, 0, 0)));
  const auto cube = model.addFrame(pinocchio::Frame(
      "cube", joint, 0, pinocchio::SE3(Eigen::Matrix3d::Identity(), Vector3d(0, 0.2, 0)),
      pinocchio::OP_FRAME));
  pinocchio::Data data(model);
  PinocchioStepper stepper;
  int pushing = 0;
  for (int sample = 0; sample < 20; ++sample) {
    PinocchioState before{pinocchio::neutral(model), random_numbers(engine, model.nv)};
    before.configuration =
        pinocchio::integrate(model, before.configuration, random_numbers(engine, model.nv));
    PinocchioEffort effort;
    effort.torque = 20 * random_numbers(engine, model.nv);
    if (sample % 2 == 0) {
      effort.stiffness = 100 * random_numbers(engine, model.nv).cwiseAbs();
      effort.damping = 3 * random_numbers(engine, model.nv).cwiseAbs();
    }
    std::vector<PinocchioContact> contacts;
    for (const char* sole : {"sole_0", "sole_1", "sole_2"}) {
      contacts.push_back(
          {.frame = model.getFrameId(sole), .normal = random_numbers(engine, 3), .friction = 0.5});
    }
    contacts[1].other = cube;               // a foot and the other tree
    contacts[2].other = contacts[0].frame;  // two feet of one tree
    contacts[2].point = random_numbers(engine, 3);
    contacts.push_back({.frame = 0, .other = cube, .normal = {0, 1, 2}, .friction = 1});
    PinocchioState state = before;
    const auto report = stepper.step(model, data, state, effort, contacts, 0.01);
    CAPTURE(sample, report.residual);
    CHECK(report.converged());
    CHECK(stepper.problem().body_count() == 2);
    CHECK(balance_error(model, stepper, data, before, effort, contacts) <= rounding(100000, 1.0));
    CHECK(state.velocity == stepper.velocity());
    const VectorXd moved =
        pinocchio::integrate(model, before.configuration, VectorXd(0.01 * state.velocity));
    CHECK((state.configuration - moved).norm() <= rounding(100, 1.0));
    for (Index i = 0; i < 4; ++i) {
      pushing += stepper.impulse()(3 * i + 2) > 0;
      const auto force = stepper.frame_force(model, data, contacts, i);
      CHECK(std::abs(force.linear().norm() - stepper.force(i).norm()) <=
            rounding(100, 1 + force.linear().norm()));
      // A force at the frame's own origin has no moment there.
      if (!contacts[std::size_t(i)].point && contacts[std::size_t(i)].frame > 0) {
        CHECK(force.angular().norm() <= rounding(1000, 1 + force.linear().norm()));
      }
    }
  }
  CHECK(pushing >= 20);
}

TEST_CASE("pinocchio: a cube slides and holds on a slope as Coulomb says, at every heading",
          "[adapters][scene]") {
  const double angle = 0.5;
  for (const double heading : {0.0, 0.4, 0.785, 1.2}) {
    for (const double friction : {0.3, 0.6}) {
      Cubes cube(1);
      const Vector3d downhill(std::cos(heading), std::sin(heading), 0);
      cube.model.gravity.linear() =
          gravity * (std::sin(angle) * downhill - std::cos(angle) * Vector3d::UnitZ());
      cube.state.configuration(2) = 0.1;
      pinocchio::Data data(cube.model);
      PinocchioStepper stepper;
      std::vector<PinocchioContact> contacts;
      for (int k = 0; k < 4; ++k) {
        contacts.push_back({.frame = cube.corners[std::size_t(k)], .friction = friction});
      }
      const double dt = 0.01;
      for (int i = 0; i < 100; ++i) {
        CHECK(stepper.step(cube.model, data, cube.state, {}, contacts, dt).converged());
      }
      const double expected =
          std::max(gravity * (std::sin(angle) - friction * std::cos(angle)), 0.0);
      const Vector3d speed = cube.state.velocity.head<3>();
      CAPTURE(heading, friction, expected);
      CHECK((speed - expected * downhill).norm() <= by_solver(1e-7));
      CHECK(cube.state.velocity.tail<3>().norm() <= by_solver(1e-7));
    }
  }
}

TEST_CASE("pinocchio: cubes of one model are bodies of their own, and what touches nothing is none",
          "[adapters][law]") {
  Cubes cubes(4);
  for (int i = 0; i < 4; ++i) cubes.state.configuration(7 * i + 2) = 0.1 + 0.2 * i;
  cubes.state.configuration(7 * 3 + 2) = 5;  // the last one falls
  pinocchio::Data data(cubes.model);
  std::vector<PinocchioContact> contacts;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      contacts.push_back({.frame = cubes.corners[4 * i + k],
                          .other = i == 0 ? 0 : cubes.bodies[i - 1],
                          .friction = 0.5});
    }
  }
  PinocchioStepper stepper;
  const double dt = 0.01;
  for (int i = 0; i < 20; ++i) {
    CHECK(stepper.step(cubes.model, data, cubes.state, {}, contacts, dt).converged());
  }
  CHECK(stepper.problem().body_count() == 3);
  CHECK(cubes.state.velocity.head(18).norm() <= by_solver(1e-8));
  CHECK(std::abs(cubes.state.velocity(20) + 20 * dt * gravity) <= rounding(1000, gravity));
  double weight = 0;
  for (Index k = 0; k < 4; ++k) weight += stepper.force(k).z();
  CHECK(std::abs(weight - 3 * 2 * gravity) <= by_solver(1e-6));
}

TEST_CASE("pinocchio: gaps close and no further, and restitution gives back its share",
          "[adapters][scene]") {
  for (const double restitution : {0.0, 0.5}) {
    Cubes cube(1);
    cube.state.configuration(2) = 0.1 + 0.004;
    cube.state.velocity(2) = -1;
    pinocchio::Data data(cube.model);
    std::vector<PinocchioContact> contacts;
    for (const auto corner : cube.corners) {
      contacts.push_back({.frame = corner, .gap = 0.004, .restitution = restitution});
    }
    PinocchioStepper stepper;
    CHECK(stepper.step(cube.model, data, cube.state, {}, contacts, 0.01).converged());
    if (restitution > 0) {
      CHECK(std::abs(cube.state.velocity(2) - 0.5) <= by_solver(1e-8));
    } else {
      CHECK(std::abs(cube.state.configuration(2) - 0.1) <= by_solver(1e-9));
    }
  }
}

TEST_CASE("pinocchio: a quadruped and a humanoid stand, and their soles neither sink nor slide",
          "[adapters][scene]") {
  for (const bool humanoid : {false, true}) {
    LeggedScene scene(humanoid ? make_humanoid() : make_quadruped());
    const auto stay = [&](double) { return scene.robot.posture; };
    const Run settling = run(scene, 2, 0.004, stay, no_push);
    const Run standing = run(scene, 1, 0.004, stay, no_push);
    CAPTURE(humanoid, settling.lowest, settling.highest, settling.slip);
    CAPTURE(standing.risen, standing.sunk, standing.slip);
    CHECK(settling.unsolved + standing.unsolved == 0);
    CHECK(settling.lowest >= -by_step(1e-6));  // knees give way, along an arc that a step cuts
    CHECK(settling.highest <= by_step(1e-6));
    CHECK(settling.slip <= by_step(1e-5));
    CHECK(standing.risen <= by_solver(1e-10));
    CHECK(standing.sunk <= by_solver(1e-10));
    CHECK(standing.slip <= by_solver(1e-10));
    check_law(scene);
    const double weight = scene.robot.mass() * gravity;
    double carried = 0;
    for (Index i = 0; i < Index(scene.contacts.size()); ++i) carried += scene.stepper.force(i).z();
    CHECK(std::abs(carried - weight) <= by_settling(0.02) * weight);
  }
}

TEST_CASE("pinocchio: they walk in place, feet leave the ground and none goes below it",
          "[adapters][scene]") {
  for (const bool humanoid : {false, true}) {
    LeggedScene scene(humanoid ? make_humanoid() : make_quadruped());
    const auto target = [&](double t) {
      return humanoid ? humanoid_target(scene.robot, t) : quadruped_target(scene.robot, t, 0.3);
    };
    const Run result = run(scene, humanoid ? 8 : 2, 0.004, target, no_push);
    const double height = scene.state.configuration(2) / scene.robot.posture(2);
    CAPTURE(humanoid, result.lowest, result.highest, result.slip, result.weight, height);
    CHECK(result.unsolved == 0);
    CHECK(result.lowest >= -by_step(1e-3));
    CHECK(result.highest >= clearly(0.01));
    CHECK(std::abs(height - 1) <= by_step(0.1));
    const double weight = scene.robot.mass() * gravity;
    CHECK(std::abs(result.weight - weight) <= by_step(0.03) * weight);
    check_law(scene);
  }
}

TEST_CASE("pinocchio: a push gives the momentum that friction leaves of its impulse",
          "[adapters][scene]") {
  for (const double friction : {0.0, 0.2, 0.7}) {
    LeggedScene scene(make_quadruped());
    scene.robot.friction = friction;
    const double dt = 0.002, time = 0.2, mass = scene.robot.mass();
    const Vector3d push(40, 20, 0);  // 0.35 of the weight
    const auto momentum = [&] {
      pinocchio::Data data(scene.robot.model);
      pinocchio::forwardKinematics(scene.robot.model, data, scene.state.configuration,
                                   scene.state.velocity);
      Vector3d sum = Vector3d::Zero();
      for (std::size_t j = 1; j < std::size_t(scene.robot.model.njoints); ++j) {
        sum += (data.oMi[j].act(scene.robot.model.inertias[j] * data.v[j])).linear();
      }
      return sum;
    };
    Vector3d impulse = Vector3d::Zero();
    bool solved = true;
    for (int i = 0; i < int(time / dt + 0.5); ++i) {
      solved = scene.step(scene.robot.posture, push, dt).converged() && solved;
      impulse += dt * push - dt * mass * gravity * Vector3d::UnitZ();
      for (Index k = 0; k < Index(scene.contacts.size()); ++k) {
        impulse += dt * scene.stepper.force(k);
      }
    }
    CAPTURE(friction, momentum().transpose(), impulse.transpose());
    CHECK(solved);
    const double given = time * push.norm();
    CHECK((momentum() - impulse).norm() <= by_step(0.01) * given);
    const double along = momentum().dot(push.normalized());
    if (friction == 0) CHECK(std::abs(along - given) <= by_step(0.01) * given);
    if (friction == 0.2) {
      const double left = given - friction * mass * gravity * time;
      CHECK(std::abs(along - left) <= by_step(0.15) * given);
    }
    if (friction == 0.7) CHECK(along <= clearly(0.3) * given);
  }
}

TEST_CASE("pinocchio: what makes no sense is named, and the state stays as it was",
          "[adapters][law]") {
  const LeggedRobot robot = make_quadruped();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  pinocchio::Data data(robot.model);
  PinocchioStepper stepper;
  struct Case {
    PinocchioState state;
    PinocchioEffort effort;
    std::vector<PinocchioContact> contacts;
  };
  const Case sound{{robot.posture, VectorXd::Zero(robot.model.nv)},
                   {},
                   {{.frame = robot.soles[0]}, {.frame = robot.soles[1]}}};
  const auto refuses = [&](const auto& spoil, const std::string& words) {
    Case spoiled = sound;
    spoil(spoiled);
    const Case before = spoiled;
    const std::string found =
        PinocchioStepper::check(robot.model, data, spoiled.state, spoiled.effort, spoiled.contacts);
    CAPTURE(words, found);
    CHECK(found.find(words) != std::string::npos);
    CHECK_THROWS_AS(
        stepper.step(robot.model, data, spoiled.state, spoiled.effort, spoiled.contacts, 0.01),
        std::invalid_argument);
    CHECK(spoiled.state.velocity.size() == before.state.velocity.size());
  };
  CHECK(PinocchioStepper::check(robot.model, data, sound.state, sound.effort, sound.contacts)
            .empty());
  refuses([&](Case& c) { c.state.configuration.conservativeResize(3); },
          "configuration entries: expected 19, got 3");
  refuses([&](Case& c) { c.state.configuration(9) = nan; }, "configuration entry 9");
  refuses([&](Case& c) { c.state.configuration(6) = 3; }, "unit quaternions");
  refuses([&](Case& c) { c.state.velocity(4) = nan; }, "velocity entry 4");
  refuses([&](Case& c) { c.effort.torque = VectorXd::Zero(2); }, "torque entries: expected 18");
  refuses([&](Case& c) { c.effort.damping = -VectorXd::Ones(18); }, "damping entry 0");
  refuses([&](Case& c) { c.contacts[1].friction = -0.1; }, "contact 1: friction");
  refuses([&](Case& c) { c.contacts[1].friction = nan; }, "contact 1: friction");
  refuses([&](Case& c) { c.contacts[0].gap = nan; }, "contact 0: gap");
  refuses([&](Case& c) { c.contacts[1].frame = 999; }, "contact 1: frame: expected a number below");
  refuses([&](Case& c) { c.contacts[1].other = 999; }, "contact 1: other");
  refuses([&](Case& c) { c.contacts[0].frame = pinocchio::FrameIndex(-1); }, "contact 0: frame");
  refuses([&](Case& c) { c.contacts[1].other = c.contacts[1].frame; }, "another joint");
  refuses([&](Case& c) { c.contacts[0].normal.setZero(); }, "contact 0: normal");
  refuses([&](Case& c) { c.contacts[0].normal.y() = nan; }, "contact 0: normal entry 1");
  refuses([&](Case& c) { c.contacts[0].point = Vector3d(0, nan, 0); }, "contact 0: point entry 1");
  refuses([&](Case& c) { c.contacts[0].restitution = 2; }, "contact 0: restitution");
  pinocchio::Data other(Cubes(1).model);
  PinocchioState state = sound.state;
  CHECK_FALSE(PinocchioStepper::check(robot.model, other, state, {}, {}).empty());
  CHECK_THROWS_AS(stepper.step(robot.model, data, state, {}, {}, 0), std::invalid_argument);
  CHECK_THROWS_AS(PinocchioStepper({.tolerance = nan}), std::invalid_argument);
  pinocchio::Model massless;
  massless.addJoint(0, pinocchio::JointModelRX(), pinocchio::SE3::Identity(), "hinge");
  pinocchio::Data empty(massless);
  PinocchioState still{VectorXd::Zero(1), VectorXd::Zero(1)};
  CHECK_THROWS_WITH(stepper.step(massless, empty, still, {}, {}, 0.01),
                    Catch::Contains("tree 0: expected a positive definite mass matrix"));
  CHECK(state.velocity == sound.state.velocity);
}

TEST_CASE("pinocchio: a step like the one before allocates nothing", "[adapters][real_time]") {
  LeggedScene scene(make_humanoid());
  for (int i = 0; i < 5; ++i) CHECK(scene.step(scene.robot.posture, {0, 0, 0}, 0.004).converged());
  const long before = allocation_count;
  bool solved = true;
  for (int i = 0; i < 5; ++i) {
    solved =
        scene.stepper
            .step(scene.robot.model, scene.data, scene.state, scene.effort, scene.contacts, 0.004)
            .converged() &&
        solved;
  }
  const long after = allocation_count;
  CHECK(solved);
  if (CAROM_TEST_COUNTS_MALLOC == 1) CHECK(after == before);
}

}  // namespace pinocchio_test
