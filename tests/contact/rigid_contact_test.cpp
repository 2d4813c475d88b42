// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/rigid_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "carom/contact/contact_problem.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace rigid_contact_test {

using carom::ContactProblem, carom::law_fault, carom::make_weighted, carom::rigid_bias;
using carom::RigidContact;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

static_assert(noexcept(rigid_bias(std::declval<const RigidContact<double>&>(), 0.01)));
static_assert(noexcept(make_weighted(std::declval<const RigidContact<double>&>(), 0.01, 1.0)));

TEMPLATE_TEST_CASE("rigid contact: after the least velocity allowed the gap is what it should be",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(81u);
  WorstCase open("an open gap closes at most"),
      deep("no more of a penetration is taken out than its share"), bounce("u+ = e s");
  for (int sample = 0; sample < 3000; ++sample) {
    RigidContact<Scalar> contact;
    const Scalar dt = source.positive(4);
    contact.gap = source.entry(6);
    contact.correction = Scalar(source.unit());
    contact.restitution = source.pick({0, 0.5, 1});
    contact.approach = std::max(source.entry(6), Scalar(0));
    contact.pressing = {source.pick({Scalar(0), source.positive(4)}), source.unit() < 0.5};
    const Scalar least = rigid_bias(contact, dt);
    const bool closes = *contact.approach > 0 && contact.gap <= dt * *contact.approach;
    const Scalar after = contact.gap + dt * least;
    if (closes && *contact.restitution > 0) {
      bounce.see(std::abs(least - *contact.restitution * *contact.approach), 0, contact.gap);
      bounce.see_holds(least > 0 && after > contact.gap);
    } else if (contact.gap > 0) {
      open.see(std::abs(after), rounding(2, contact.gap), contact.gap, dt);
    } else {
      const Scalar left = (1 - contact.correction) * contact.gap;
      const bool pressed = contact.pressing.speed > 0;
      deep.see(std::max(after - left, Scalar(0)), rounding(4, std::abs(contact.gap)), contact.gap,
               dt);
      deep.see_holds(least >= 0 && (pressed || least == 0));
    }
  }
  for (const WorstCase* law : {&open, &deep, &bounce}) law->check(300);
}

TEST_CASE("rigid contact: its defaults ask for nothing but no approach", "[contact][example]") {
  const RigidContact<double> touching;
  CHECK(rigid_bias(touching, 0.01) == 0);
  CHECK(rigid_bias(RigidContact<double>{.gap = -0.1}, 0.01) == 0);
  CHECK(rigid_bias(RigidContact<double>{.gap = 0.02}, 0.01) == -2);
  CHECK(rigid_bias(RigidContact<double>{.restitution = 0.5, .approach = 3}, 0.01) == 1.5);
  CHECK(rigid_bias(RigidContact<double>{.restitution = 0.5, .approach = 0}, 0.01) == 0);
  // Too far away to close within the step: it only may come near.
  CHECK(rigid_bias(RigidContact<double>{.gap = 0.04, .restitution = 0.5, .approach = 3}, 0.01) ==
        -4);
  const auto law =
      make_weighted(RigidContact<double>{.friction = 0.3, .softness = 1e-4}, 0.01, 2.0);
  CHECK(law.friction == 0.3);
  CHECK(law.regularization.normal == 2e-4);
  CHECK(law.regularization.tangent == 2e-4);
  CHECK(law.bias_velocity.isZero(0));
  CHECK(law.rigid);
}

TEST_CASE("rigid contact: problems take it, and name what is wrong", "[contact][input]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  problem.add_body(unit, Eigen::Vector3d(0, 0, 0));
  problem.add_contact(0, unit, RigidContact<double>{.gap = 0.02, .friction = 0.5});
  CHECK(problem.friction_contact_law(0).bias_velocity == Eigen::Vector3d(0, 0, -2));
  const auto said = [&](const RigidContact<double>& law) {
    return problem.check_contact(0, unit, law);
  };
  CHECK(said({.gap = nan}) == "contact 1: gap: expected a finite number, got nan");
  CHECK(said({.friction = -1}) == "contact 1: friction: expected a finite number >= 0, got -1");
  CHECK(said({.restitution = 1.5}) ==
        "contact 1: restitution: expected a number in [0, 1], got 1.5");
  CHECK(said({.restitution = nan}) ==
        "contact 1: restitution: expected a number in [0, 1], got nan");
  const std::string closing =
      "contact 1: approach: expected a finite number >= 0, 0 where the gap "
      "opens, got ";
  CHECK(said({.restitution = 1, .approach = nan}) == closing + "nan");
  CHECK(said({.restitution = 1, .approach = -1}) == closing + "-1");
  CHECK(said({.approach = 1}) == "contact 1: approach: expected none without a restitution, got 1");
  CHECK(said({.restitution = 1}) ==
        "contact 1: approach: expected a number, or bodies that were added with their velocity "
        "before the step, as restitution takes the approach from it, got neither");
  problem.add_body(unit, Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(0, 0, -1));
  const RigidContact<double> bouncing{.restitution = 1};
  CHECK(problem.check_contact(1, unit, bouncing).empty());
  CHECK(problem.check_contact(1, unit, 0, unit, bouncing) == said(bouncing));  // of one body alone
  CHECK(said({.restitution = 0}).empty());
  CHECK(said({.correction = -0.5}) ==
        "contact 1: correction: expected a number in [0, 1], got -0.5");
  CHECK(said({.softness = 0}) == "contact 1: softness: expected a finite number > 0, got 0");
  CHECK(said({}).empty());
}

TEST_CASE("rigid contact: restitution takes the approach from the velocities before the step",
          "[contact][law]") {
  VectorSource<double> source(82u);
  WorstCase same("as with the approach given");
  const auto draw = [&] {
    return Eigen::Vector3d(source.entry(2), source.entry(2), source.entry(2));
  };
  for (int sample = 0; sample < 200; ++sample) {
    const Eigen::Vector3d now[]{draw(), draw()}, free[]{draw(), draw()};
    const Eigen::Matrix3d rows[]{Eigen::Matrix3d::Random(), Eigen::Matrix3d::Random()};
    const bool two = sample % 2 == 0;
    RigidContact<double> law{.gap = source.entry(2) / 100, .restitution = source.unit()};
    law.correction = 0;  // what presses the bodies is known by their velocities alone
    law.surface_velocity = draw();
    ContactProblem<double> by_velocity(0.01), by_number(0.01);
    for (int k = 0; k < 2; ++k) {
      by_velocity.add_body(Eigen::Matrix3d::Identity(), free[k], now[k]);
      by_number.add_body(Eigen::Matrix3d::Identity(), free[k]);
    }
    CHECK((by_velocity.velocity_now(1) == now[1] && !by_number.has_velocity_now(1)));
    double closes = law.surface_velocity.z() - rows[0].row(2).dot(now[0]);
    if (two) closes -= rows[1].row(2).dot(now[1]);
    const auto add = [&](ContactProblem<double>& problem) {
      two ? problem.add_contact(0, rows[0], 1, rows[1], law) : problem.add_contact(0, rows[0], law);
      return problem.friction_contact_law(0).bias_velocity;
    };
    const Eigen::Vector3d found = add(by_velocity);
    law.approach = std::max(closes, 0.0);
    const Eigen::Vector3d expected = add(by_number);
    same.see((found - expected).norm(), rounding(100, 1 + expected.norm()), sample);
  }
  same.check(200);
}

}  // namespace rigid_contact_test
