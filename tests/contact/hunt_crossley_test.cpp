// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/hunt_crossley.hpp"

#include <cmath>
#include <limits>

#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace hunt_crossley_test {

using carom::testing::by_conditioning;
using carom::testing::by_differences;
using carom::testing::by_solver;

using carom::ContactProblem, carom::HuntCrossleyContact, carom::make_weighted;
using carom::testing::VectorSource, carom::testing::WorstCase;
using Eigen::Matrix3d, Eigen::Vector3d;

namespace {

HuntCrossleyContact<double> draw(VectorSource<double>& source) {
  return {.gap = source.entry(2) / 100,
          .stiffness = 1e3 * source.positive(2),
          .dissipation = source.non_negative(2),
          .normal_velocity = source.entry(2),
          .near_rigid = 0};
}

}  // namespace

TEST_CASE("hunt-crossley: the line touches the law where it is met", "[contact][derivative]") {
  VectorSource<double> source(41u);
  WorstCase value("impulse"), slope("slope");
  int touched = 0;
  for (int sample = 0; sample < 400; ++sample) {
    const double dt = 0.01;
    const auto contact = draw(source);
    const double v = contact.normal_velocity, h = 1e-6;
    const double ahead = hunt_crossley_impulse(contact, dt, v + h);
    const double behind = hunt_crossley_impulse(contact, dt, v - h);
    if (!(ahead > 0)) continue;
    ++touched;
    const auto line = make_weighted(contact, dt, 1.0);
    const double r = line.regularization.normal, exact = hunt_crossley_impulse(contact, dt, v);
    value.see(std::abs((line.bias_velocity.z() - v) / r - exact),
              by_conditioning(1e-11) * (exact + std::abs(v) / r));
    const double rise = (ahead - behind) / (2 * h);
    const double floor = -dt * dt * contact.stiffness / 100;
    if (rise < floor)
      slope.see(std::abs(-1 / r - rise),
                by_differences(1e-5) * std::abs(rise) + by_differences(1e-9) / h * exact);
  }
  CHECK(touched > 80);
  value.check(touched);
}

TEST_CASE("hunt-crossley: the law never rises with velocity and never pulls", "[contact][law]") {
  VectorSource<double> source(43u);
  WorstCase falls("falls"), pushes("pushes");
  for (int sample = 0; sample < 1000; ++sample) {
    const auto contact = draw(source);
    const double v = source.entry(2), faster = v + source.positive(2);
    const double slow = hunt_crossley_impulse(contact, 0.01, v);
    falls.see_holds(hunt_crossley_impulse(contact, 0.01, faster) <= slow);
    pushes.see_holds(slow >= 0);
  }
  falls.check(1000);
  pushes.check(1000);
}

TEST_CASE("hunt-crossley: passes over a step settle on the implicit law", "[contact][oracle]") {
  VectorSource<double> source(47u);
  WorstCase settled("v = v* + gamma(v)/m, by bisection");
  for (int sample = 0; sample < 100; ++sample) {
    const double dt = 0.01, mass = source.positive(1);
    auto contact = draw(source);
    const double free = source.entry(2);
    double low = free, high = free + hunt_crossley_impulse(contact, dt, free) / mass;
    for (int k = 0; k < 200; ++k) {
      const double middle = (low + high) / 2;
      const double excess = free + hunt_crossley_impulse(contact, dt, middle) / mass - middle;
      (excess > 0 ? low : high) = middle;
    }
    double velocity = free;
    for (int pass = 0; pass < 60; ++pass) {
      contact.normal_velocity = velocity;
      ContactProblem<double> problem(dt);
      problem.add_body(mass * Matrix3d::Identity(), Vector3d(0, 0, free));
      problem.add_contact(0, Matrix3d::Identity(), contact);
      velocity =
          carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-14}).velocity(2);
    }
    settled.see(std::abs(velocity - low), by_solver(1e-9) * (1 + std::abs(free)), contact.gap,
                contact.stiffness, contact.dissipation, free, mass);
  }
  settled.check(100);
}

TEST_CASE("hunt-crossley: data are refused by name", "[contact][input]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Matrix3d::Identity(), Vector3d::Zero());
  const auto refusal = [&](const HuntCrossleyContact<double>& contact) {
    return problem.check_contact(0, Matrix3d::Identity(), contact);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal({.gap = 0, .stiffness = 1, .dissipation = 0}).empty());
  CHECK(refusal({.gap = nan, .stiffness = 1, .dissipation = 0}) ==
        "contact 0: gap: expected a finite number, got nan");
  CHECK(
      refusal({.gap = 0, .stiffness = std::numeric_limits<double>::infinity(), .dissipation = 0}) ==
      "contact 0: stiffness: expected a finite number > 0, got inf");
  CHECK(refusal({.gap = 0, .stiffness = 1, .dissipation = -1}) ==
        "contact 0: dissipation: expected a finite number >= 0, got -1");
  CHECK(refusal({.gap = 0, .stiffness = 1, .dissipation = 0, .normal_velocity = nan}) ==
        "contact 0: normal velocity: expected a finite number, got nan");
  CHECK(refusal({.gap = 0, .stiffness = 1, .dissipation = 0, .friction = -1}) ==
        "contact 0: friction: expected a finite number >= 0, got -1");
}

TEST_CASE("hunt-crossley: friction and motion are zero where they are left out",
          "[contact][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Matrix3d::Identity(), Vector3d(1, 0, -1));
  const HuntCrossleyContact<double> plain{.gap = -0.01, .stiffness = 1e3, .dissipation = 0.5};
  HuntCrossleyContact<double> said = plain;
  said.friction = 0;
  said.normal_velocity = 0;
  problem.add_contact(0, Matrix3d::Identity(), plain);
  problem.add_contact(0, Matrix3d::Identity(), said);
  CHECK(problem.friction_contact_law(0).friction == 0);
  CHECK(problem.friction_contact_law(0).bias_velocity ==
        problem.friction_contact_law(1).bias_velocity);
}

}  // namespace hunt_crossley_test
