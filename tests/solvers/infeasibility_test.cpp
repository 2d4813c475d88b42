// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/infeasibility.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

#include "scenes/infeasible.hpp"

namespace infeasibility_test {

using carom::certify_infeasible, carom::ContactProblem, carom::DelassusForm;
using carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseSet, carom::Index;
using carom::InfeasibilityOptions, carom::RowNumbers, carom::Vector, carom::Vector3;
using carom::VectorX;
using carom::examples::ClosingSlot, carom::examples::KleinBrake;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

/// A mass on a line between two stops, one contact each: v ≥ a and −v ≥ b.
template <typename Scalar>
DelassusProblem<Scalar> two_stops(const Scalar& mass, const Scalar& a, const Scalar& b,
                                  const Scalar& regularization = 0) {
  DelassusProblem<Scalar> problem;
  const RowNumbers<Scalar> weights = RowNumbers<Scalar>::Constant(regularization);
  for (const Scalar& bias : {a, b}) {
    problem.add_contact(carom::pushing_impulse<Scalar>(), Vector<Scalar, 1>(-bias), weights);
  }
  problem.add_coupling(0, 0, Vector<Scalar, 1>(1 / mass));
  problem.add_coupling(1, 1, Vector<Scalar, 1>(1 / mass));
  problem.add_coupling(0, 1, Vector<Scalar, 1>(-1 / mass));
  problem.assemble();
  return problem;
}

/// A body that moves along (1, 0, 1) over a belt that runs across: u = (v, c, v).
ContactProblem<double> belt_across(double speed) {
  ContactProblem<double> problem(0.01);
  problem.add_body(carom::SquareMatrix<double, 1>::Identity(), Vector<double, 1>::Zero());
  const Index i =
      problem.add_contact(0, Vector3<double>(1, 0, 1), carom::RigidContact<double>{.friction = 1});
  const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
  problem.set_law(i, {1, {tangent, normal}, Vector3<double>(0, -speed, 0), true});
  return problem;
}

}  // namespace

TEMPLATE_TEST_CASE("infeasibility: a ray that does not cancel says how fast an answer must be",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  const Scalar mass = 3;
  const auto problem = two_stops<Scalar>(mass, 2, -1);  // v ≥ 2 and v ≤ 1
  for (const Scalar share : {Scalar(0.6), Scalar(0.9)}) {
    VectorX<Scalar> ray(2);
    ray << 1, share;
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      const auto judged = certify_infeasible(problem, law, ray);
      // √m |v| ≥ (2 − share) / ((1 − share)/√m).
      const Scalar needed = std::sqrt(mass) * (2 - share) / (1 - share);
      CAPTURE(share, judged.velocity_needed, needed);
      CHECK(std::abs(judged.velocity_needed - needed) <= rounding(100, needed));
      CHECK(!judged.infeasible);
      InfeasibilityOptions<Scalar> options{.velocity_bound = needed * Scalar(0.9)};
      CHECK(certify_infeasible(problem, law, ray, options).infeasible);
      options.velocity_bound = needed * Scalar(1.1);
      CHECK(!certify_infeasible(problem, law, ray, options).infeasible);
    }
  }
  VectorX<Scalar> ray(2);
  ray << 1, 1;
  const auto exact = certify_infeasible(problem, FrictionLaw::convex, ray);
  CHECK(exact.infeasible);
  CHECK(std::isinf(exact.velocity_needed));
  CHECK(exact.cancellation == 0);
  // √2/√m is the ray's gross momentum, 3 what its rows ask for and 1 what is left of that.
  CHECK(std::abs(exact.drive - std::sqrt(mass / 2)) <= rounding(100, mass));
  CHECK(std::abs(exact.velocity_scale - 3 * std::sqrt(mass / 2)) <= rounding(10, mass));
  CHECK(exact.velocity_bound ==
        std::pow(std::numeric_limits<Scalar>::epsilon(), Scalar(-0.4)) * exact.velocity_scale);
}

TEMPLATE_TEST_CASE("infeasibility: measures do not depend on the size of the ray", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  const auto problem = carom::examples::make_closing_slot(ClosingSlot<Scalar>{.friction = 1});
  const VectorX<Scalar> ray = carom::examples::closing_slot_ray<Scalar>();
  const auto first = certify_infeasible(problem, FrictionLaw::convex, ray);
  for (const double scale : {1e-36, 1e-12, 3e12, 1e36}) {
    const VectorX<Scalar> scaled = Scalar(scale) * ray;
    const auto judged = certify_infeasible(problem, FrictionLaw::convex, scaled);
    CAPTURE(scale, judged.drive, first.drive);
    CHECK(judged.infeasible);
    CHECK(std::abs(judged.drive - first.drive) <= rounding(20, first.drive));
    CHECK(std::abs(judged.velocity_scale - first.velocity_scale) <= rounding(20, first.drive));
  }
}

TEMPLATE_TEST_CASE("infeasibility: a lack of room within rounding does not count", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  VectorX<Scalar> ray(2);
  ray << 1, 1;
  CHECK(!certify_infeasible(two_stops<Scalar>(1, 1, -1), FrictionLaw::convex, ray).infeasible);
  CHECK(!certify_infeasible(two_stops<Scalar>(1, 1 + 4 * epsilon, -1), FrictionLaw::convex, ray)
             .infeasible);
  CHECK(certify_infeasible(two_stops<Scalar>(1, 1 + 64 * epsilon, -1), FrictionLaw::convex, ray)
            .infeasible);
}

TEST_CASE("infeasibility: contacts that give way always have an answer", "[solvers][example]") {
  VectorX<double> ray(2);
  ray << 1, 1;
  const double r = 0.01, mass = 2;
  const auto judged = certify_infeasible(two_stops(mass, 2.0, -1.0, r), FrictionLaw::convex, ray);
  CHECK(!judged.infeasible);
  // v = 1.5 and γ = 0.5/R: √(m v² + γ²_R) is no less than what is said.
  CHECK(judged.velocity_needed == Approx(1 / std::sqrt(2 * r)));
  const auto problem = carom::examples::make_closing_slot(ClosingSlot<double>{});
  const VectorX<double> wedged = carom::examples::closing_slot_ray<double>();
  CHECK(certify_infeasible(problem, FrictionLaw::coulomb, wedged).infeasible);
  auto soft = problem;
  for (carom::Index i = 0; i < soft.block_count(); ++i) {
    auto law = soft.law(i);
    law.rigid = false;
    soft.set_law(i, law);
  }
  CHECK(
      !certify_infeasible(soft, FrictionLaw::coulomb, wedged, {.velocity_bound = 1e9}).infeasible);
}

TEST_CASE(
    "infeasibility: a slot may close without a ray, slower answers are ruled out by near ones",
    "[solvers][example]") {
  const double speed = 2;
  const auto problem = belt_across(speed);
  for (const double angle : {1e-1, 1e-2, 1e-3}) {
    VectorX<double> ray(3);
    ray << -std::cos(angle), -std::sin(angle), 1;
    const auto judged = certify_infeasible(problem, FrictionLaw::convex, ray);
    const double needed = speed * std::sin(angle) / (1 - std::cos(angle));  // about 2 c/θ
    CHECK(judged.velocity_needed == Approx(needed));
    CHECK(!judged.infeasible);
    CHECK(certify_infeasible(problem, FrictionLaw::convex, ray, {.velocity_bound = speed / angle})
              .infeasible);
    // Coulomb's law has an answer: only the normal is looked at.
    const auto exact =
        certify_infeasible(problem, FrictionLaw::coulomb, ray, {.velocity_bound = speed / angle});
    CHECK(!exact.infeasible);
    CHECK(exact.cone_violation > 0.1);
  }
}

TEST_CASE("infeasibility: rows between bounds press to where they are unbounded",
          "[solvers][example]") {
  const double infinity = std::numeric_limits<double>::infinity();
  // A mass on a line held at rest by rows of several kinds, and pushed at a speed by another.
  const auto judge = [&](const ImpulseSet<double>& holds, double row) {
    DelassusProblem<double> problem;
    problem.add_contact(carom::pushing_impulse<double>(), Vector<double, 1>(-1.0));
    problem.add_contact(holds, Vector<double, 1>(0.0));
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j <= i; ++j) problem.add_coupling(i, j, Vector<double, 1>(1.0));
    }
    problem.assemble();
    VectorX<double> ray(2);
    ray << 1, row;
    return certify_infeasible(problem, FrictionLaw::coulomb, ray);
  };
  CHECK(judge(carom::free_impulses<double>(1), -1).infeasible);
  CHECK(judge(carom::bounded_impulse(-infinity, 0.0), -1).infeasible);
  CHECK(judge(carom::bounded_impulse(-infinity, 5.0), -1).infeasible);
  CHECK(!judge(carom::bounded_impulse(0.0, infinity), -1).infeasible);
  CHECK(!judge(carom::bounded_impulse(-10.0, 10.0), -1).infeasible);  // gives in
  CHECK(!judge(carom::free_impulses<double>(1), 1).infeasible);
  CHECK(!judge(carom::free_impulses<double>(1), -0.9).infeasible);
  CHECK(judge(carom::bounded_impulse(-10.0, 10.0), -1).cone_violation_block == 1);
}

TEST_CASE("infeasibility: a motor's push can keep a jammed brake off its belt",
          "[solvers][example]") {
  const KleinBrake<double> brake{.friction = 0.6};
  for (const double effort : {0.0, 0.04, 0.06, 1.0}) {  // it takes I ω = 0.05
    auto problem = carom::examples::make_klein_brake(brake);
    carom::WeightedBlock<double> motor;
    motor.set = carom::bounded_impulse(-effort, effort);
    motor.regularization *= 1e-9;
    problem.add_constraint(0, carom::SquareMatrix<double, 1>::Identity(), motor);
    VectorX<double> ray = VectorX<double>::Zero(4);
    ray(2) = 1;
    VectorX<double> multipliers = VectorX<double>::Zero(4);
    multipliers(2) = brake.height / brake.offset;
    InfeasibilityOptions<double> options;
    options.slides = {{0, {1, 0}, multipliers}};
    CAPTURE(effort);
    CHECK(certify_infeasible(problem, FrictionLaw::coulomb, ray, options).infeasible ==
          (effort < 0.05));
  }
}

TEST_CASE("infeasibility: a slide is known as accurately as its direction", "[solvers][example]") {
  KleinBrake<double> brake{.friction = 0.6};
  auto problem = carom::examples::make_klein_brake(brake);
  VectorX<double> ray(3), multipliers(3);
  ray << 0, 0, 1;
  multipliers << 0, 0, brake.height / brake.offset;
  const auto judge = [&](const VectorX<double>& p, double bound) {
    InfeasibilityOptions<double> options{.velocity_bound = bound};
    options.slides = {{0, {1, 0}, p}};
    return certify_infeasible(problem, FrictionLaw::coulomb, ray, options);
  };
  CHECK(judge(multipliers, 1e6).infeasible);
  // A multiplier that is off holds up to some velocity: e − p moves the shoe by x b/√I.
  const double off = 0.01;
  const double reach = brake.belt + off * brake.height * brake.press;
  const double limit = std::sqrt(brake.inertia) * reach / (off * brake.height);
  const VectorX<double> rough = (1 + off) * multipliers;
  CHECK(judge(rough, 0.5 * limit).slides_proven == 1);
  CHECK(judge(rough, 1.5 * limit).slides_proven == 0);
  CHECK(judge(VectorX<double>(), 1e6).slides_proven == 0);
  // A belt that also runs across is followed by friction: t is off by the angle, z·γ by its share.
  const auto [tangent, normal] = problem.friction_contact_law(0).regularization;
  for (const double across : {0.1, 1.0}) {
    problem.set_law(0, {brake.friction, {tangent, normal}, Vector3<double>(-1, -across, 0), true});
    CAPTURE(across);
    CHECK(judge(multipliers, 1e3).slides_proven == 1);
    // a − μ b cos(angle) < 0 needs cos > 5/6; what is proven is a little less.
    CHECK(judge(multipliers, 1e3).infeasible == (across < 0.15));
  }
}

TEST_CASE("infeasibility: NaN proves nothing", "[solvers][example]") {
  const auto problem = carom::examples::make_closing_slot(ClosingSlot<double>{});
  VectorX<double> ray = carom::examples::closing_slot_ray<double>();
  ray(5) = std::numeric_limits<double>::quiet_NaN();
  CHECK(!certify_infeasible(problem, FrictionLaw::convex, ray).infeasible);
  CHECK(std::isinf(certify_infeasible(problem, FrictionLaw::convex, ray).cone_violation));
  ray.setZero();
  CHECK(!certify_infeasible(problem, FrictionLaw::convex, ray).infeasible);
  const DelassusProblem<double> empty;
  CHECK(!certify_infeasible(empty, FrictionLaw::coulomb, VectorX<double>()).infeasible);
}

}  // namespace infeasibility_test
