// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/contact_step.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace contact_step_test {

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

}  // namespace

TEST_CASE("contact_step: rest stays at rest for any step", "[viscoelastic][law]") {
  for (const double time_step : {1e-5, 1e-3, 0.1, 10.0}) {
    auto data = mass_on_ground(2, 5);  // within the cone of 9.81 N
    data.time_step = time_step;
    ContactStep<double> step;
    step.prepare(1, 3);
    REQUIRE(step.solve(data, SlipLaw::coulomb).converged());
    CAPTURE(time_step);
    CHECK(step.cone().region(0) == ConeRegion::stick);
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
    CHECK(step.cone().region(0) == ConeRegion::slide);
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
  CHECK(step.cone().region(0) == ConeRegion::separate);
  CHECK(step.cone().force().isZero(0));
  CHECK(std::abs(step.velocity()(2) - (3 - 0.005 * 9.81)) <= rounding(8, 3.0));
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
  CHECK(broken([&](Data& d) { d.jacobian(1, 2) = nan; }) ==
        "jacobian entry (1, 2): expected a finite number, got nan");
  CHECK(broken([](Data& d) { d.mass_matrix(1, 0) = 1; }).starts_with("mass matrix entry (1, 0)"));
  CHECK(broken([](Data& d) { d.mass_matrix.setOnes(); }).starts_with("mass matrix"));
  CHECK(broken([](Data& d) { d.mass_matrix(2, 2) = 0; }).starts_with("mass matrix entry (2, 2)"));
}

}  // namespace contact_step_test
