// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/answer_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/towers.hpp"

namespace answer_error_test {

using carom::AnswerError, carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw;
using carom::Index, carom::judge_answer, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::by_conditioning, carom::testing::by_digits;
using carom::testing::by_solver, carom::testing::draw_matrix;
using carom::testing::draw_problem, carom::testing::make_rigid, carom::testing::make_tower;
using carom::testing::RawContact, carom::testing::RawProblem, carom::testing::rounding,
    carom::testing::tower_load;
using carom::testing::TowerShape, carom::testing::VectorSource;

namespace {

/// A direction along which nothing moves counts by a hundredth of its body's motion, and multiplies
/// rounding by a hundred.
constexpr double least_share = 100;
constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// A contact of a body with the world, its axes those of the velocity.
RawContact make_contact(Index body) {
  RawContact contact;
  contact.first = body;
  contact.first_jacobian = Eigen::Matrix3d::Identity();
  contact.law.friction = 0.5;
  return contact;
}

/// A block of 2 kg on a floor, μ = 1/2, sliding at a speed along x; weight for one step of 10 ms.
ContactProblem<double> make_sliding(double speed) {
  RawProblem raw;
  raw.bodies.push_back({2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(speed, 0, -0.0981)});
  raw.contacts.push_back(make_contact(0));
  return build<double>(make_rigid(raw));
}

/// A problem, its velocity and impulses in other units: of mass, length and time.
struct Units {
  double mass, length, time;
};
RawProblem in_units(RawProblem raw, const Units& units) {
  const double speed = units.length / units.time;
  for (auto& body : raw.bodies) {
    body.momentum *= units.mass;
    body.free_velocity *= speed;
  }
  for (auto& contact : raw.contacts) {
    contact.law.bias_velocity *= speed;
    contact.law.regularization.tangent /= units.mass;
    contact.law.regularization.normal /= units.mass;
  }
  return raw;
}

}  // namespace

TEST_CASE("answer_error: a sliding block, every error at its own scale", "[solvers][example]") {
  const double weight = 2 * 0.0981;
  for (const double speed : {1.0, 100.0}) {
    CAPTURE(speed);
    const auto problem = make_sliding(speed);
    Eigen::VectorXd impulse = Eigen::Vector3d(-weight / 2, 0, weight);
    Eigen::VectorXd velocity = problem.free_velocity() + impulse / 2;
    const auto judge = [&] {
      return judge_answer(problem, FrictionLaw::coulomb, velocity, impulse);
    };
    CHECK(judge().residual <= rounding(20, least_share));
    SECTION("falling is measured by the fall, however fast the block slides") {
      velocity(2) -= 0.01 * 0.0981;
      const double scale = std::max(0.0981, speed / 100);
      const double wanted = 0.01 * 0.0981 / scale;
      CHECK(std::abs(judge().block_error - wanted) <= by_conditioning(1e-6) * wanted);
      CHECK(judge().block == 0);
    }
    SECTION("friction is measured by the load") {
      impulse(0) *= 0.99;
      velocity = problem.free_velocity() + impulse / 2;
      // The load, or what changes the normal velocity by its scale.
      const double load = std::max(weight, 2 * std::max(0.0981, speed / 100));
      const double wanted = 0.01 * weight / load;
      CHECK(std::abs(judge().block_error - wanted) <= by_conditioning(1e-8) * wanted);
      CHECK(judge().body_error <= rounding(20, least_share));
    }
    SECTION("momentum is measured by all that acts on the body") {
      const double gross = impulse.norm() / std::sqrt(2.0);
      velocity(1) += 0.01 * gross / std::sqrt(2.0);
      const double free = std::sqrt(2.0) * problem.free_velocity().norm() / 100;
      const double wanted = 0.01 * gross / std::max(gross, free);
      CHECK(std::abs(judge().body_error - wanted) <= by_digits(1e-2) * wanted);
      CHECK(judge().body == 0);
    }
    SECTION("no impulse at all is no answer") {
      impulse.setZero();
      velocity = problem.free_velocity();
      CHECK(judge().residual >= 0.05);
    }
  }
}

TEST_CASE("answer_error: without an error no block and no body is named", "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, 1));  // flies apart
  problem.add_contact(0, Eigen::Matrix3d::Identity(), carom::RigidContact<double>{.friction = 0.5});
  for (const FrictionLaw law : laws) {
    const auto exact = judge_answer(problem, law, VectorX<double>(problem.free_velocity()),
                                    VectorX<double>(VectorX<double>::Zero(3)));
    CHECK(exact == AnswerError<double>());
    CHECK((exact.residual == 0 && exact.block == -1 && exact.body == -1));
  }
}

TEST_CASE("answer_error: units, order and a copy beside it do not matter", "[solvers][law]") {
  VectorSource<double> source(711u);
  for (int round = 0; round < 20; ++round) {
    RawProblem raw = draw_problem(source, {{6, 3, 6, 1}, 5, 3, 2});
    if (round % 2 == 0) raw = make_rigid(raw);
    const auto problem = build<double>(raw);
    const Eigen::VectorXd velocity =
        problem.free_velocity() + draw_matrix(source, problem.velocity_count(), 1);
    const Eigen::VectorXd impulse = draw_matrix(source, problem.impulse_count(), 1);
    for (const FrictionLaw law : laws) {
      const AnswerError<double> own = judge_answer(problem, law, velocity, impulse);
      CAPTURE(round, to_string(law), own.block_error, own.body_error);
      for (const Units& units : {Units{1e9, 1, 1},
                                 {1e-9, 1, 1},
                                 {1, 1e9, 1},
                                 {1, 1e-9, 1},
                                 {1, 1, 1e9},
                                 {1, 1, 1e-9},
                                 {1e-6, 1e5, 1e-3}}) {
        const auto other = build<double>(in_units(raw, units));
        const double speed = units.length / units.time;
        const auto found = judge_answer(other, law, speed * velocity, speed * units.mass * impulse);
        CHECK(std::abs(found.block_error - own.block_error) <= rounding(200, own.block_error));
        CHECK(std::abs(found.body_error - own.body_error) <= rounding(200, own.body_error));
        CHECK((found.block == own.block && found.body == own.body));
      }
      // The same problem a second time beside it, in units that would drown the first.
      RawProblem both = raw, copy = in_units(raw, {1e6, 1e3, 1});
      for (auto& contact : copy.contacts) {
        contact.first += Index(raw.bodies.size());
        if (contact.second >= 0) contact.second += Index(raw.bodies.size());
      }
      both.bodies.insert(both.bodies.end(), copy.bodies.begin(), copy.bodies.end());
      both.contacts.insert(both.contacts.end(), copy.contacts.begin(), copy.contacts.end());
      Eigen::VectorXd v(2 * velocity.size()), gamma = Eigen::VectorXd::Zero(2 * impulse.size());
      v << velocity, Eigen::VectorXd(1e3 * problem.free_velocity());
      gamma.head(impulse.size()) = impulse;
      const auto beside = judge_answer(build<double>(both), law, v, gamma);
      CHECK(std::abs(beside.body_error - own.body_error) <= rounding(200, own.body_error));
    }
  }
}

TEST_CASE("answer_error: what is not finite is infinitely far", "[solvers][regression]") {
  const auto problem = make_sliding(1);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double broken : {std::nan(""), infinity, -infinity}) {
    Eigen::VectorXd velocity = problem.free_velocity(), impulse = Eigen::VectorXd::Zero(3);
    velocity(1) = broken;
    CHECK(judge_answer(problem, FrictionLaw::coulomb, velocity, impulse).residual == infinity);
    velocity = problem.free_velocity();
    impulse(2) = broken;
    const auto judged = judge_answer(problem, FrictionLaw::convex, velocity, impulse);
    CHECK(judged.residual == infinity);
    CHECK(judged.block == 0);
  }
}

TEMPLATE_TEST_CASE("answer_error: towers of any masses rest, at any tolerance and along any axis",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  constexpr bool wide = std::is_same_v<Scalar, double>;
  const std::vector<double> ratios =
      wide ? std::vector<double>{1, 1e3, 1e8, 1e12} : std::vector<double>{1, 300, 1e3, 1e5};
  const std::vector<double> tolerances = wide ? std::vector<double>{1e-1, 1e-3, 1e-6, 1e-8, 1e-12}
                                              : std::vector<double>{1e-1, 1e-3, 1e-5};
  const Eigen::Vector3d axes[] = {{0, 0, 1}, {0.6, 0, 0.8}, {-1, 0, 0}};
  for (const FrictionLaw law : laws) {
    for (const double ratio : ratios) {
      int last = 1 << 20;  // systems: a looser tolerance takes no more
      for (auto tolerance = tolerances.rbegin(); tolerance != tolerances.rend(); ++tolerance) {
        int most = 0;
        for (const int count : {1, 2, 3, 10}) {
          TowerShape shape;
          shape.masses.assign(std::size_t(count), 1.0);
          shape.masses.back() = ratio;
          shape.up = axes[count % 3];
          const ContactProblem<Scalar> problem = make_tower<Scalar>(shape);
          ContactSolver<Scalar> solver({.law = law, .tolerance = Scalar(*tolerance)});
          VectorX<Scalar> velocity;
          const auto report = solver.solve(problem, velocity);
          const VectorX<Scalar> impulse = solver.impulse();
          CAPTURE(to_string(law), ratio, *tolerance, count, to_string(report.status),
                  report.residual, report.iterations);
          REQUIRE(report.converged());
          most = (std::max)(most, report.iterations);
          const double slack = 10 * *tolerance + rounding(100 * count, Scalar(1));
          CHECK(std::abs(impulse(2) / tower_load(shape) - 1) <= slack);
          CHECK(velocity.template lpNorm<Eigen::Infinity>() <= slack * count * shape.speed);
          const auto judged = judge_answer(problem, law, velocity, impulse);
          CHECK(judged.residual <= Scalar(*tolerance) + rounding(100, Scalar(1)));
        }
        CHECK(most <= last);
        last = most;
      }
    }
  }
}

TEST_CASE("answer_error: a light body beside a heavy one is solved as if alone",
          "[solvers][scene]") {
  for (const FrictionLaw law : laws) {
    for (const double ratio : {1e-9, 1e-6, 1e-3, 1e3, 1e9}) {
      for (const double speed : {1e-6, 1e-3, 1.0, 1e3}) {
        for (const double tolerance : {1e-1, 1e-3, 1e-6}) {
          RawProblem raw;
          for (const bool other : {false, true}) {
            const double mass = other ? ratio : 1, own = other ? speed : 1;
            raw.bodies.push_back(
                {mass * Eigen::Matrix3d::Identity(), Eigen::Vector3d(3 * own, 0, -own)});
            raw.contacts.push_back(make_contact(Index(other)));
          }
          const auto problem = build<double>(make_rigid(raw));
          ContactSolver<double> solver({.law = law, .tolerance = tolerance});
          Eigen::VectorXd velocity;
          const auto report = solver.solve(problem, velocity);
          CAPTURE(to_string(law), ratio, speed, tolerance, velocity.transpose());
          REQUIRE(report.converged());
          // Coulomb: v = (3 − μ, 0, 0); the convex law separates with μ times its slip.
          const double slip = law == FrictionLaw::coulomb ? 2.5 : (3 - 0.5) / 1.25;
          for (const bool other : {false, true}) {
            const double own = other ? speed : 1;
            const Eigen::Vector3d v = velocity.segment<3>(3 * Index(other)) / own;
            const double rise = law == FrictionLaw::coulomb ? 0 : slip / 2;
            CHECK((v - Eigen::Vector3d(slip, 0, rise)).norm() <= by_solver(10 * tolerance));
          }
        }
      }
    }
  }
}

}  // namespace answer_error_test
