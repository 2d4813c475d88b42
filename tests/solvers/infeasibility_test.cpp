// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/infeasibility.hpp"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/infeasibility_ray.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/plate_on_grains.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

#include "scenes/infeasible.hpp"

namespace infeasibility_test {

using carom::certify_infeasible, carom::ContactProblem, carom::DelassusForm;
using carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseSet, carom::Index;
using carom::InfeasibilityOptions, carom::RowNumbers, carom::Vector, carom::Vector3;
using carom::VectorX;
using carom::examples::ClosingSlot, carom::examples::KleinBrake;
using carom::testing::add_ceiling, carom::testing::natural_map_noise;
using carom::testing::PlateOnGrains, carom::testing::resting_impulses;
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

template <typename Scalar>
DelassusProblem<Scalar> dual_of(const ContactProblem<Scalar>& problem) {
  DelassusProblem<Scalar> dual;
  DelassusForm<Scalar>().write(problem, dual);
  return dual;
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
  for (const Scalar mass : {Scalar(3), Scalar(1e12)}) {
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
    CHECK(std::abs(exact.drive - std::sqrt(mass / 2)) <= rounding(100, std::sqrt(mass)));
    CHECK(std::abs(exact.velocity_scale - 3 * std::sqrt(mass / 2)) <=
          rounding(10, std::sqrt(mass)));
    CHECK(std::isinf(exact.velocity_bound));
  }
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

TEMPLATE_TEST_CASE("infeasibility: a lack of room within the rounding of gaps does not count",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  VectorX<Scalar> ray(2);
  ray << 1, 1;
  const auto judge = [&](const Scalar& lack) {
    return certify_infeasible(two_stops<Scalar>(1, 1 + lack, -1), FrictionLaw::convex, ray);
  };
  CHECK(!judge(0).infeasible);
  CHECK(!judge(4 * epsilon).infeasible);
  CHECK(judge(0).velocity_needed == 0);
  const Scalar unsure = 2 * std::pow(epsilon, Scalar(2) / 3);  // of both gaps
  CHECK(!judge(unsure / 2).infeasible);
  CHECK(judge(unsure / 2).velocity_needed == 0);
  CHECK(judge(unsure * 2).infeasible);
  CHECK(judge(unsure * 2).drive > 0);
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
  // The second of two entries of equal size and mass is outside, so that its share is 1/√2.
  const auto outside = judge(carom::bounded_impulse(-10.0, 10.0), -1);
  CHECK(outside.cone_violation_block == 1);
  CHECK(std::abs(outside.cone_violation - std::sqrt(0.5)) <= rounding(10, 1.0));
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
    const auto judged = certify_infeasible(problem, FrictionLaw::coulomb, ray, options);
    CHECK(judged.infeasible == (effort < 0.05));
    CHECK((judged.impulse_needed == 0) == (effort > 0.05));
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

TEST_CASE("infeasibility: a slide is proven in any direction of the tangents",
          "[solvers][example]") {
  const KleinBrake<double> brake{.friction = 0.6};
  // The shoe may also move a little across the belt, which runs at an angle to the tangents.
  const auto judge = [&](double angle) {
    Eigen::Matrix2d turn;
    turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    ContactProblem<double> problem(0.01);
    carom::MatrixX<double> mass = carom::MatrixX<double>::Identity(2, 2), rows(3, 2);
    mass(0, 0) = brake.inertia;
    rows << brake.height, 0, 0, 1e-6, brake.offset, 0;
    rows.topRows<2>() = (turn * rows.topRows<2>()).eval();
    Vector3<double> bias(0, 0, 0);
    bias.head<2>() = turn * Eigen::Vector2d(-brake.belt, 0);
    problem.add_body(mass, Vector<double, 2>(-brake.press, 0));
    problem.add_contact(0, rows,
                        carom::WeightedContact<double>{brake.friction, {1e-3, 1e-3}, bias, true});
    VectorX<double> ray(3), multipliers(3);
    ray << 0, 0, 1;
    multipliers << 0, 0, brake.height / brake.offset;
    InfeasibilityOptions<double> options{.velocity_bound = 1e3};
    options.slides = {{0, turn.col(0), multipliers}};
    return certify_infeasible(problem, FrictionLaw::coulomb, ray, options);
  };
  for (const double angle : {0.0, 0.5, 2.0, -1.0}) {
    CAPTURE(angle);
    CHECK(judge(angle).slides_proven == 1);
    CHECK(judge(angle).infeasible);
  }
}

TEST_CASE("infeasibility: a slide without direction, multipliers or bound proves nothing",
          "[solvers][example]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const KleinBrake<double> brake{.friction = 0.6};
  // The shoe, and its support that also goes across the belt.
  for (const bool across : {false, true}) {
    ContactProblem<double> problem(0.01);
    carom::MatrixX<double> mass = carom::MatrixX<double>::Identity(2, 2), rows(3, 2);
    mass(0, 0) = brake.inertia;
    rows << brake.height, 0, 0, across ? 1 : 0, brake.offset, 0;
    problem.add_body(mass, Vector<double, 2>(-brake.press, 0));
    problem.add_contact(
        0, rows,
        carom::WeightedContact<double>{
            brake.friction, {1e-3, 1e-3}, Vector3<double>(-brake.belt, 0, 0), true});
    VectorX<double> ray(3), multipliers(3);
    ray << 0, 0, 1;
    multipliers << 0, 0, brake.height / brake.offset;
    const auto proven = [&](const Vector<double, 2>& direction, const VectorX<double>& p,
                            double bound) {
      InfeasibilityOptions<double> options{.velocity_bound = bound};
      options.slides = {{0, direction, p}};
      return certify_infeasible(problem, FrictionLaw::coulomb, ray, options).slides_proven;
    };
    CAPTURE(across);
    CHECK(proven({1, 0}, multipliers, 1e3) == 1);
    CHECK(proven({1, 0}, multipliers, 0) == (across ? 0 : 1));  // no bound: any speed across
    CHECK(proven({0, 0}, multipliers, 1e3) == 0);
    CHECK(proven({1, 0}, VectorX<double>::Constant(3, nan), 1e3) == 0);
    CHECK(proven({-1, 0}, multipliers, 1e3) == 0);
  }
}

TEST_CASE("infeasibility: a contact that nothing moves in any row counts by what it asks for",
          "[solvers][example]") {
  for (const double asked : {0.5, 0.0, -0.5}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(carom::SquareMatrix<double, 3>::Identity(), Vector3<double>(0, 0, -1));
    problem.add_contact(
        0, carom::SquareMatrix<double, 3>::Zero(),
        carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Vector3<double>(0, 0, asked), true});
    VectorX<double> ray(3);
    ray << 0, 0, 1;
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      CAPTURE(asked, to_string(law));
      CHECK(certify_infeasible(problem, law, ray).infeasible == (asked > 0));
      CHECK(certify_infeasible(problem, law, carom::refine_ray(problem, law)).infeasible ==
            (asked > 0));
      ray(2) = -1;
      CHECK(certify_infeasible(problem, law, ray).cone_violation == Approx(1));
      ray(2) = 1;
    }
  }
}

TEMPLATE_TEST_CASE("infeasibility: large impulses are not forbidden, however heavy the plate",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(41u);
  const int decades = std::is_same_v<Scalar, float> ? 9 : 24;  // of masses
  for (int sample = 0; sample < 40; ++sample) {
    PlateOnGrains<Scalar> tower;
    tower.grains = 1 + sample % 4;
    tower.ratio = Scalar(std::pow(10.0, decades * (sample % 8) / 7.0));
    tower.mass = source.positive(decades / 2);
    tower.fall = source.positive(decades / 3);
    tower.down = source.template vector<3>(1, 0).normalized();
    tower.as_one_body = sample % 5 == 4;
    const auto problem = make_plate_on_grains(tower);
    const VectorX<Scalar> rest = resting_impulses(tower);
    VectorX<Scalar> alike = VectorX<Scalar>::Zero(rest.size());
    for (Index row = 2; row < rest.size(); row += 3) alike(row) = 1;
    VectorX<Scalar> shifted = rest;
    shifted(2) *= Scalar(1.5);
    CAPTURE(sample, tower.grains, tower.ratio, tower.mass, tower.fall, tower.as_one_body);
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      CHECK(carom::certify(dual_of(problem), rest, law).natural_map_error <=
            natural_map_noise(dual_of(problem), law, rest).relative);
      for (const VectorX<Scalar>& ray : {rest, alike, shifted, carom::refine_ray(problem, law),
                                         carom::refine_ray(problem, law, rest)}) {
        const auto judged = certify_infeasible(problem, law, ray);
        CAPTURE(judged.cancellation, judged.drive, judged.velocity_needed, judged.impulse_needed);
        CHECK(!judged.infeasible);
      }
      // A ceiling that comes down on the plate leaves no room.
      auto twin = problem;
      const VectorX<Scalar> press = add_ceiling(twin, tower, tower.fall);
      CHECK(certify_infeasible(twin, law, press).infeasible);
      CHECK(certify_infeasible(twin, law, carom::refine_ray(twin, law, press)).infeasible);
      if (tower.as_one_body) continue;  // its search looks at the masses within a body
      CHECK(certify_infeasible(twin, law, carom::refine_ray(twin, law)).infeasible);
    }
  }
}

TEMPLATE_TEST_CASE("infeasibility: where no gap asks for speed no ray proves anything",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(42u);
  for (int sample = 0; sample < 60; ++sample) {
    ContactProblem<Scalar> problem(source.positive(4));
    const int bodies = 1 + sample % 4;
    for (int b = 0; b < bodies; ++b) {
      problem.add_body(source.positive(12) * carom::SquareMatrix<Scalar, 3>::Identity(),
                       Vector3<Scalar>(source.template vector<3>(8)));
    }
    VectorX<Scalar> ray = VectorX<Scalar>::Zero(6 * bodies);
    for (int b = 0; b < bodies; ++b) {
      const Vector3<Scalar> n = source.template vector<3>(1, 0).normalized();
      const Scalar gap = sample % 2 == 0 ? Scalar(0) : source.positive(8);
      for (const Scalar side : {Scalar(1), Scalar(-1)}) {
        problem.add_contact(b, carom::examples::contact_axes(Vector3<Scalar>(side * n)),
                            carom::RigidContact<Scalar>{.gap = gap, .friction = 1});
      }
      ray(6 * b + 2) = ray(6 * b + 5) = source.positive(12);
    }
    CAPTURE(sample, bodies);
    const auto judged = certify_infeasible(problem, FrictionLaw::coulomb, ray);
    CHECK(!judged.infeasible);
    CHECK(judged.cancellation == 0);
    CHECK(judged.velocity_needed == 0);
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      CHECK(!certify_infeasible(problem, law, carom::refine_ray(problem, law)).infeasible);
    }
  }
}

TEMPLATE_TEST_CASE("infeasibility: a wedge of any angle lets go, at a speed that has no bound",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  const bool single = std::is_same_v<Scalar, float>;
  VectorSource<Scalar> source(43u);
  for (const double angle : {1e-1, 1e-3, single ? 1e-4 : 1e-7, single ? 3e-5 : 1e-11, 0.0}) {
    for (const double unit : {1e-9, 1.0, 1e9}) {
      const Vector3<Scalar> n = source.template vector<3>(1, 0).normalized();
      const Vector3<Scalar> out = n.unitOrthogonal();
      const Vector3<Scalar> second =
          Scalar(-std::cos(angle)) * n + Scalar(std::sin(angle)) * out;  // v = out c 2/angle
      ContactProblem<Scalar> problem(Scalar(0.01));
      problem.add_body(source.positive(12) * carom::SquareMatrix<Scalar, 3>::Identity(),
                       Vector3<Scalar>(Scalar(unit) * source.template vector<3>(1, 0)));
      for (const Vector3<Scalar>& normal : {n, second}) {
        const Index i = problem.add_contact(0, carom::examples::contact_axes(normal),
                                            carom::RigidContact<Scalar>{.friction = 0});
        const auto [tangent, regularization] = problem.friction_contact_law(i).regularization;
        problem.set_law(i,
                        {0, {tangent, regularization}, Vector3<Scalar>(0, 0, Scalar(unit)), true});
      }
      VectorX<Scalar> ray = VectorX<Scalar>::Zero(6);
      ray(2) = ray(5) = 1;
      CAPTURE(angle, unit);
      for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
        CHECK(certify_infeasible(problem, law, ray).infeasible == (angle == 0));
        CHECK(certify_infeasible(problem, law, carom::refine_ray(problem, law)).infeasible ==
              (angle == 0));
      }
    }
  }
}

TEMPLATE_TEST_CASE("infeasibility: a contact that nothing moves counts by what it asks for",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  for (const double unit : {1e-9, 1.0, 1e9}) {  // of length
    for (const auto& one : {std::pair{true, 0.0}, {false, 0.0}, {true, 0.1}, {false, 0.1}}) {
      const bool alone = one.first;
      const double noise = one.second;
      const Scalar length = Scalar(unit), fall = Scalar(0.0981) * length, step = Scalar(0.01);
      // The surface comes up to the body's place in one step from a gap, or the gap is an overlap.
      const auto judge = [&](const Scalar& gap, bool overlaps = false) {
        ContactProblem<Scalar> problem(step);
        problem.add_body(carom::SquareMatrix<Scalar, 3>::Identity(), Vector3<Scalar>(0, 0, -fall));
        carom::RigidContact<Scalar> law{.friction = 1, .correction = 1};
        (overlaps ? law.gap : law.surface_velocity.z()) = overlaps ? gap : Scalar(-gap / step);
        carom::SquareMatrix<Scalar, 3> rows = carom::SquareMatrix<Scalar, 3>::Identity();
        rows(2, 2) = Scalar(noise) * epsilon;
        problem.add_contact(0, rows, law);
        if (!alone) {
          problem.add_contact(0, carom::SquareMatrix<Scalar, 3>::Identity(),
                              carom::RigidContact<Scalar>{.friction = 1});
        }
        VectorX<Scalar> ray = VectorX<Scalar>::Zero(problem.impulse_count());
        ray(2) = 1;
        bool held = certify_infeasible(problem, FrictionLaw::coulomb, ray).infeasible;
        CHECK(held == certify_infeasible(problem, FrictionLaw::coulomb,
                                         carom::refine_ray(problem, FrictionLaw::coulomb))
                          .infeasible);
        return held;
      };
      CAPTURE(unit, alone, noise);
      // Positions have the size of a body: their rounding is 1/20 of it times ε.
      CHECK(!judge(-epsilon / 20 * length));
      CHECK(!judge(0));
      CHECK(!judge(Scalar(1e-3) * length));
      // A normal that rounding moves may be moved, at a speed that has no bound.
      CHECK(judge(Scalar(-1e-3) * length) == (noise == 0));
      CHECK(judge(-length) == (noise == 0));
      // An overlap asks for nothing that an answer has to grant.
      CHECK(!judge(-length, true));
    }
  }
}

TEST_CASE("infeasibility: NaN proves nothing", "[solvers][example]") {
  const auto problem = carom::examples::make_closing_slot(ClosingSlot<double>{});
  VectorX<double> ray = carom::examples::closing_slot_ray<double>();
  ray(5) = std::numeric_limits<double>::quiet_NaN();
  CHECK(!certify_infeasible(problem, FrictionLaw::convex, ray).infeasible);
  CHECK(std::isinf(certify_infeasible(problem, FrictionLaw::convex, ray).cone_violation));
  ray.setZero();
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const auto none = certify_infeasible(problem, law, ray);
    CHECK(!none.infeasible);
    CHECK((none.cancellation == 0 && none.drive == 0 && none.cone_violation == 0));
    CHECK(none.cone_violation_block == -1);
    CHECK((none.velocity_needed == 0 && none.velocity_scale == 0));
  }
  const DelassusProblem<double> empty;
  CHECK(!certify_infeasible(empty, FrictionLaw::coulomb, VectorX<double>()).infeasible);
}

TEMPLATE_TEST_CASE("infeasibility: products beyond the range of the type prove nothing",
                   "[solvers][input]", float, double) {
  using Scalar = TestType;
  const auto problem = carom::testing::make_overflowing<Scalar>(true);
  const DelassusProblem<Scalar> dual = dual_of(problem);
  const VectorX<Scalar> zero = VectorX<Scalar>::Zero(6);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    for (const Scalar along : {Scalar(1), Scalar(-1)}) {
      const VectorX<Scalar> ray = (VectorX<Scalar>(6) << 0, 0, along, 0, 0, 1).finished();
      for (const auto& judged :
           {certify_infeasible(problem, law, ray), certify_infeasible(dual, law, ray)}) {
        CHECK(!judged.infeasible);
        CHECK(std::isinf(judged.cone_violation));
        CHECK(judged.velocity_needed == 0);
      }
    }
    CHECK(refine_ray(problem, law) == zero);
    CHECK(refine_ray(dual, law) == zero);
  }
  CHECK(find_slide(problem, 0, Vector<Scalar, 2>(1, 0)).multipliers.size() == 0);
}

}  // namespace infeasibility_test
