// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/contact_step.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace contact_step_test {

using carom::testing::by_step;

using carom::check, carom::ConeRegion, carom::ContactStep, carom::ContactStepData, carom::Index,
    carom::MatrixX, carom::SlipLaw, carom::VectorX;
using carom::testing::rounding;

namespace {

/// A mass on one contact.
ContactStepData<double> mass_on_ground(double mass, double push) {
  ContactStepData<double> data;
  data.time_step = 0.005;
  data.mass_matrix = mass * MatrixX<double>::Identity(3, 3);
  data.jacobian = MatrixX<double>::Identity(3, 3);
  data.velocity = VectorX<double>::Zero(3);
  data.free_acceleration = carom::Vector3<double>(push / mass, 0, -9.81);
  data.drift = VectorX<double>::Zero(3);
  data.stiffness = VectorX<double>::Constant(3, 1e5);
  data.damping = VectorX<double>::Constant(3, 300);
  data.friction = VectorX<double>::Constant(1, 0.5);
  data.points = carom::Vector3<double>(push / 1e5, 0, -mass * 9.81 / 1e5);
  data.anchors = VectorX<double>::Zero(3);
  return data;
}

/// A mechanism of some velocities whose n contacts touch, at rest or not.
ContactStepData<double> touching(carom::testing::VectorSource<double>& source, Index n,
                                 Index velocities) {
  ContactStepData<double> data;
  const auto draw = [&source](auto& m) {
    for (Index c = 0; c < m.cols(); ++c) {
      for (Index r = 0; r < m.rows(); ++r) m(r, c) = 2 * source.unit() - 1;
    }
  };
  MatrixX<double> root(velocities, velocities);
  draw(root);
  data.mass_matrix = root * root.transpose();
  data.mass_matrix += MatrixX<double>::Identity(velocities, velocities);
  data.time_step = 0.005;
  data.jacobian.resize(3 * n, velocities);
  data.velocity.resize(velocities);
  data.free_acceleration.resize(velocities);
  draw(data.jacobian);
  draw(data.velocity);
  draw(data.free_acceleration);
  data.free_acceleration *= 100;
  if (source.unit() < 0.5) {  // pressed down, nearly at rest
    data.velocity *= 0.01;
    data.free_acceleration *= 0.1;
    for (Index i = 0; i < n; ++i) {
      data.free_acceleration -=
          40 * data.mass_matrix.inverse() * data.jacobian.row(3 * i + 2).transpose();
    }
  }
  data.drift = data.points = data.anchors = VectorX<double>::Zero(3 * n);
  data.friction.resize(n);
  for (Index i = 0; i < n; ++i) data.friction(i) = 0.3 * source.unit();
  return data;
}

/// v⁺ of rigid contact under Coulomb's law, by another room.
VectorX<double> rigid_velocity(const ContactStepData<double>& data) {
  carom::ContactProblem<double> problem(data.time_step);
  const VectorX<double> free = data.velocity + data.time_step * data.free_acceleration;
  problem.add_body(data.mass_matrix, free);
  for (Index i = 0; i < data.contact_count(); ++i) {
    problem.add_contact(0, data.jacobian.middleRows<3>(3 * i),
                        carom::RigidContact<double>{.friction = data.friction(i)});
  }
  carom::ContactSolver<double> solver({.tolerance = 1e-13});
  VectorX<double> velocity;
  const auto report = solver.solve(problem, velocity);
  CAPTURE(report.residual);
  REQUIRE(report.residual <= rounding(50000, 1.0));
  return velocity;
}

}  // namespace

TEST_CASE("contact_step: rest stays at rest for any step", "[viscoelastic][law]") {
  for (const double time_step : {1e-5, 1e-3, 0.1, 10.0}) {
    auto data = mass_on_ground(2, 5);  // within the cone of 9.81 N
    data.time_step = time_step;
    ContactStep<double> step;
    step.prepare(1, 3);
    REQUIRE(step.solve(data, SlipLaw::coulomb).converged());
    CAPTURE(time_step);
    CHECK(step.region(0) == ConeRegion::stick);
    CHECK(step.velocity().norm() <= rounding(100, time_step * 9.81));
    CHECK(step.displacement().norm() <= rounding(100, time_step * time_step * 9.81));
    CHECK(step.anchors() == data.anchors);
  }
}

TEST_CASE("contact_step: a sliding mass accelerates by what friction leaves",
          "[viscoelastic][example]") {
  auto data = mass_on_ground(2, 30);
  ContactStep<double> step;
  step.prepare(1, 3);
  for (const SlipLaw law : {SlipLaw::coulomb, SlipLaw::radial}) {
    REQUIRE(step.solve(data, law).converged());
    CHECK(step.region(0) == ConeRegion::slide);
    CHECK(std::abs(step.velocity()(0) - 0.005 * (30 - 9.81) / 2) <= rounding(40, 0.05));
    CHECK(std::abs(step.displacement()(0) - 0.005 * 0.005 / 2 * (30 - 9.81) / 2) <=
          rounding(40, 1e-4));
    CHECK(std::abs(step.velocity()(2)) <= rounding(40, 0.05));
    // K e + B e′ = −λ moves the anchor with its point.
    CHECK(step.anchors()(0) > 0);
    CHECK(step.anchors()(2) == 0);
  }
  REQUIRE(step.solve(data, SlipLaw::convex).converged());
  CHECK(step.velocity()(2) > 0);  // the associated law lifts what slides
  data.points(2) = data.anchors(2) = 0;
  data.velocity(2) = 3;  // leaves
  REQUIRE(step.solve(data, SlipLaw::coulomb).converged());
  CHECK(step.region(0) == ConeRegion::separate);
  CHECK(step.force().isZero(0));
  CHECK(std::abs(step.velocity()(2) - (3 - 0.005 * 9.81)) <= rounding(8, 3.0));
}

TEST_CASE("contact_step: infinite stiffness is rigid contact under Coulomb's law",
          "[viscoelastic][oracle]") {
  carom::testing::VectorSource<double> source(55u);
  int seen[3] = {};
  for (int round = 0; round < 40; ++round) {
    const Index n = 1 + round % 4;
    auto data = touching(source, n, 3 * n + 3);
    const VectorX<double> rigid = rigid_velocity(data);
    const double size = data.velocity.norm() + data.time_step * data.free_acceleration.norm();
    ContactStep<double> step;
    step.prepare(n, data.velocity_count());
    double before = 1;
    for (const double stiffness : {1e8, 1e10, 1e12}) {
      data.stiffness = VectorX<double>::Constant(3 * n, stiffness);
      data.damping = VectorX<double>::Constant(3 * n, 20 * std::sqrt(stiffness));
      REQUIRE(step.solve(data, SlipLaw::coulomb).converged());
      const double error = (step.velocity() - rigid).norm() / size;
      CAPTURE(round, n, stiffness, error, before);
      CHECK(error <= std::max(before / 20, by_step(1e-9)));
      before = error;
    }
    CHECK(before <= by_step(1e-9));
    for (Index i = 0; i < n; ++i) ++seen[int(step.region(i))];
  }
  for (const int count : seen) CHECK(count > 5);
}

TEST_CASE("contact_step: no contact is free motion", "[viscoelastic][example]") {
  auto data = mass_on_ground(2, 5);
  data.jacobian.resize(0, 3);
  for (auto* v :
       {&data.drift, &data.stiffness, &data.damping, &data.friction, &data.points, &data.anchors}) {
    v->resize(0);
  }
  CHECK(check(data).empty());
  ContactStep<double> step;
  step.prepare(0, 3);
  REQUIRE(step.solve(data, SlipLaw::coulomb).converged());
  CHECK((step.velocity() - 0.005 * data.free_acceleration).norm() <= rounding(4, 0.05));
}

TEST_CASE("contact_step: bad data is named", "[viscoelastic][example]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto broken = [](auto&& breaking) {
    auto data = mass_on_ground(2, 5);
    breaking(data);
    return check(data);
  };
  using Data = ContactStepData<double>;
  CHECK(broken([](Data&) {}).empty());
  CHECK(broken([](Data& d) { d.time_step = 0; }) == "time step: expected a number > 0, got 0");
  CHECK(broken([&](Data& d) { d.time_step = nan; }) == "time step: expected a number > 0, got nan");
  CHECK(broken([](Data& d) { d.stiffness(1) = -1; }) ==
        "stiffness entry 1: expected a number >= 0, got -1");
  CHECK(broken([](Data& d) { d.damping(2) = -3; }) ==
        "damping entry 2: expected a number >= 0, got -3");
  CHECK(broken([](Data& d) { d.friction(0) = -0.5; }) ==
        "friction entry 0: expected a number >= 0, got -0.5");
  CHECK(broken([&](Data& d) { d.points(2) = nan; }) ==
        "points entry 2: expected a finite number, got nan");
  CHECK(broken([](Data& d) { d.anchors.resize(2); }) == "anchors size: expected 3, got 2");
  CHECK(broken([](Data& d) { d.velocity.resize(4); }).starts_with("mass matrix rows"));
  CHECK(broken([](Data& d) { d.jacobian.resize(6, 3); }).starts_with("jacobian rows"));
  CHECK(broken([](Data& d) { d.jacobian.setZero(3, 2); }) ==
        "jacobian columns: expected as many as velocities, got 2");
  CHECK(broken([&](Data& d) { d.jacobian(1, 2) = nan; }) ==
        "jacobian entry (1, 2): expected a finite number, got nan");
  CHECK(broken([](Data& d) { d.mass_matrix(1, 0) = 1; }).starts_with("mass matrix entry (1, 0)"));
  CHECK(broken([](Data& d) { d.mass_matrix.setOnes(); }).starts_with("mass matrix"));
  CHECK(broken([](Data& d) { d.mass_matrix(2, 2) = 0; }).starts_with("mass matrix entry (2, 2)"));
}

TEST_CASE("contact_step: single precision follows double", "[viscoelastic][law]") {
  carom::testing::VectorSource<double> source(56u);
  for (int round = 0; round < 20; ++round) {
    const Index n = 1 + round % 3;
    auto data = touching(source, n, 3 * n + 3);
    data.stiffness = VectorX<double>::Constant(3 * n, 1e4);
    data.damping = VectorX<double>::Constant(3 * n, 100);
    ContactStepData<float> single;
    single.time_step = float(data.time_step);
    single.mass_matrix = data.mass_matrix.cast<float>();
    single.jacobian = data.jacobian.cast<float>();
    single.velocity = data.velocity.cast<float>();
    single.free_acceleration = data.free_acceleration.cast<float>();
    single.drift = data.drift.cast<float>();
    single.stiffness = data.stiffness.cast<float>();
    single.damping = data.damping.cast<float>();
    single.friction = data.friction.cast<float>();
    single.points = data.points.cast<float>();
    single.anchors = data.anchors.cast<float>();
    CHECK(check(single).empty());
    ContactStep<double> exact;
    ContactStep<float> step;
    exact.prepare(n, 3 * n + 3);
    step.prepare(n, 3 * n + 3);
    REQUIRE(exact.solve(data, SlipLaw::coulomb).converged());
    REQUIRE(step.solve(single, SlipLaw::coulomb).converged());
    const double size = data.velocity.norm() + data.time_step * data.free_acceleration.norm();
    CAPTURE(round, n);
    CHECK((step.velocity().cast<double>() - exact.velocity()).norm() <= by_step(1e-3) * size);
  }
}

TEST_CASE("contact_step: data of other sizes than prepared for", "[viscoelastic][example]") {
  ContactStep<double> step;
  auto data = mass_on_ground(2, 5);
  step.prepare(1, 3);
  CHECK(step.check(data).empty());
  step.prepare(0, 3);
  CHECK(step.check(data) == "contacts: expected as many as prepared for, 0, got 1");
  step.prepare(2, 3);
  CHECK(step.check(data) == "contacts: expected as many as prepared for, 2, got 1");
  step.prepare(1, 6);
  CHECK(step.check(data) == "velocities: expected as many as prepared for, 6, got 3");
  data.damping(0) = -1;
  step.prepare(1, 3);
  CHECK(step.check(data) == "damping entry 0: expected a number >= 0, got -1");
}

TEST_CASE("contact_step: where all stick, the forces are the averages without cones",
          "[viscoelastic][law]") {
  ContactStep<double> step;
  step.prepare(1, 3);
  auto data = mass_on_ground(2, 1);
  data.points(0) = 1e-6;  // well inside the cone
  for (const SlipLaw law : {SlipLaw::stick, SlipLaw::coulomb}) {
    REQUIRE(step.solve(data, law).converged());
    CHECK(step.region(0) == ConeRegion::stick);
    CHECK(step.force() == step.average_force());
    CHECK(step.force2() == step.average_force2());
    CHECK(step.average_force()(2) > 0);
    CHECK(step.forces().time_step() == data.time_step);
  }
}

TEST_CASE("contact_step: a velocity that leaves the range is reported", "[viscoelastic][input]") {
  ContactStep<double> step;
  step.prepare(1, 3);
  auto data = mass_on_ground(2, 0);
  data.stiffness.setZero();
  data.damping.setZero();
  data.points.setZero();
  data.velocity(2) = data.free_acceleration(2) = std::numeric_limits<double>::max();
  CHECK(check(data).empty());
  CHECK(step.solve(data, SlipLaw::coulomb).status == carom::SolveStatus::not_finite);
}

}  // namespace contact_step_test
