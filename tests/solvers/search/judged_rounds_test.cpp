// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/judged_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/contact/dual.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace judged_rounds_test {

using carom::ContactMethod, carom::ContactProblem, carom::ContactSolverOptions;
using carom::FrictionLaw, carom::Index, carom::SolveLimits, carom::SolveReport;
using carom::SolveStatus, carom::VectorX;
using carom::detail::AnswerJudge, carom::detail::ContactSolverTuning;
using carom::detail::avoids_factor, carom::detail::begins_on_bodies, carom::detail::follows_path;
using carom::detail::is_proximal, carom::detail::JudgedRounds, carom::detail::sap_options;
using carom::testing::FakeClock, carom::testing::RawContact, carom::testing::RawProblem;
using carom::testing::rounding;

namespace {

/// A block of 2 kg on a floor, pushed down at 1 m/s.
template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_block(bool rigid = true) {
  RawProblem raw;
  raw.bodies.push_back({2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1)});
  RawContact contact;
  contact.first_jacobian = Eigen::Matrix3d::Identity();
  contact.law.friction = 0.5;
  contact.law.rigid = rigid;
  raw.contacts.push_back(contact);
  return carom::testing::build<Scalar>(raw);
}

/// A method that reaches whatever tolerance it is asked for, by its own measure, in two iterations,
/// while its impulse is off by `blind` times as much.
template <typename Scalar>
struct Method {
  ContactProblem<Scalar> problem = make_block<Scalar>();
  Scalar blind = 1, left = Scalar(0.5);  ///< left: the error that it reports, per tolerance
  int iterations = 2;
  SolveStatus status = SolveStatus::converged;
  VectorX<Scalar> velocity = VectorX<Scalar>::Zero(3), impulse = velocity;
  std::vector<Scalar> asked;
  std::vector<SolveLimits> limits;

  SolveReport<Scalar> solve(JudgedRounds<Scalar>& rounds) {
    rounds.reserve(problem);
    return rounds.solve(problem, velocity, impulse,
                        [&](const Scalar& tolerance, const SolveLimits& given) {
                          asked.push_back(tolerance);
                          limits.push_back(given);
                          impulse << 0, 0, 2 * (1 + blind * tolerance);
                          write_velocity(problem, impulse, velocity);
                          SolveReport<Scalar> report;
                          report.status = status;
                          report.iterations = iterations;
                          report.residual = left * tolerance;
                          return report;
                        });
  }
  [[nodiscard]] Scalar judged() const {
    return judge_answer(problem, FrictionLaw::coulomb, velocity, impulse).residual;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("judged_rounds: an answer is accepted at the tolerance, and not above",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  Method<Scalar> method;
  JudgedRounds<Scalar> first(FrictionLaw::coulomb, Scalar(0.125), 100);
  static_cast<void>(method.solve(first));
  const Scalar error = method.judged();
  REQUIRE(error > Scalar(0));
  // The error of an answer is that of judge_answer(), bit by bit.
  for (const bool above : {false, true}) {
    JudgedRounds<Scalar> rounds(FrictionLaw::coulomb,
                                above ? std::nextafter(error, Scalar(0)) : error, 100);
    SolveReport<Scalar> report;
    CHECK(rounds.judge(method.problem, method.velocity, method.impulse, report) == !above);
    CHECK(report.residual == error);
    CHECK(report.worst_block == 0);
    CHECK(report.measure == carom::ResidualMeasure::block_error);
    CHECK(report.residual_target == (above ? std::nextafter(error, Scalar(0)) : error));
  }
}

TEMPLATE_TEST_CASE("judged_rounds: a method is asked for as much more as its answer lacks",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  const Scalar tolerance(1e-3F);
  for (const Scalar blind : {Scalar(0.5), Scalar(5), Scalar(200)}) {
    Method<Scalar> method;
    method.blind = blind;
    JudgedRounds<Scalar> rounds(FrictionLaw::coulomb, tolerance, 100);
    const auto report = method.solve(rounds);
    CAPTURE(blind);
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.residual <= tolerance);
    CHECK(report.residual == method.judged());
    CHECK(report.iterations == 2 * int(method.asked.size()));
    CHECK(method.asked.front() == tolerance);
    CHECK(method.asked.size() == (blind < 1 ? 1U : 2U));
    if (blind < 1) continue;
    // What it met by its own measure, times half of the missing factor.
    method.impulse << 0, 0, 2 * (1 + blind * tolerance);
    write_velocity(method.problem, method.impulse, method.velocity);
    const Scalar lacking = tolerance / method.judged();
    CHECK(std::abs(method.asked[1] - tolerance / 2 * (lacking / 2)) <=
          rounding<Scalar>(8, method.asked[1]));
  }
}

TEST_CASE("judged_rounds: a method that cannot do better is asked four times",
          "[solvers][example]") {
  const double tolerance = 1e-6;
  Method<double> method;
  JudgedRounds<double> rounds(FrictionLaw::coulomb, tolerance, 100);
  method.blind = 1e15;
  const auto report = method.solve(rounds);
  CHECK(report.status == SolveStatus::no_progress);
  REQUIRE(method.asked.size() == 4);
  CHECK(report.iterations == 8);
  CHECK(report.residual == method.judged());
  // Of a factor beyond a thousand, a thousandth of what was met is asked for.
  for (std::size_t k = 1; k < 4; ++k) {
    const double wanted = method.asked[k - 1] / 2 / 1000;
    CHECK(std::abs(method.asked[k] - wanted) <= rounding(4, wanted));
  }
  CHECK(rounds.next_tolerance(1, 2 * tolerance) == 0.25);
  CHECK(rounds.next_tolerance(1, 1e9) == 1e-3);
}

TEST_CASE("judged_rounds: one limit of iterations holds for all rounds together",
          "[solvers][example]") {
  for (const bool by_caller : {false, true}) {
    Method<double> method;
    method.blind = 1e15;
    JudgedRounds<double> rounds(FrictionLaw::coulomb, 1e-6, by_caller ? 100 : 3);
    FakeClock clock;
    rounds.set_limits(clock.until(1e9).with_iterations(by_caller ? 3 : 100));
    CHECK(rounds.limits().iteration_limit == (by_caller ? 3 : 100));
    const auto report = method.solve(rounds);
    CHECK(report.status == SolveStatus::iteration_limit);
    CHECK(report.iterations == 4);
    REQUIRE(method.limits.size() == 2);
    CHECK(method.limits[0].iteration_limit == 3);
    CHECK(method.limits[1].iteration_limit == 1);
    CHECK(method.limits[1].context == &clock);
    CHECK(method.limits[1].deadline == 1e9);
    CHECK(rounds.limits_after(2).iteration_limit == 1);
    CHECK(rounds.limits_after(7).iteration_limit == 0);
  }
}

TEST_CASE("judged_rounds: how a method ends decides whether it is asked again",
          "[solvers][example]") {
  JudgedRounds<double> rounds(FrictionLaw::coulomb, 1e-3, 100);
  for (const auto status : {SolveStatus::iteration_limit, SolveStatus::deadline,
                            SolveStatus::no_progress, SolveStatus::not_finite}) {
    Method<double> method;
    method.status = status;
    method.blind = 1000;  // its answer is not good enough
    auto report = method.solve(rounds);
    CHECK(report.status == status);
    CHECK(method.asked.size() == 1);
    CHECK(report.residual == method.judged());
    // An answer that is good enough is one, though the method wanted more.
    method.blind = 0.1;
    report = method.solve(rounds);
    CHECK(report.status == (status == SolveStatus::not_finite ? status : SolveStatus::converged));
  }
}

TEST_CASE("judged_rounds: a method that finds no error of its own is not asked for less",
          "[solvers][example]") {
  JudgedRounds<double> rounds(FrictionLaw::coulomb, 1e-3, 100);
  Method<double> method;
  method.blind = 1000;
  method.left = 0;
  const auto report = method.solve(rounds);
  CHECK(report.status == SolveStatus::no_progress);
  CHECK(method.asked.size() == 1);
  CHECK(report.residual == method.judged());
}

TEST_CASE("judged_rounds: a guess that is not finite is refused with the target it was given",
          "[solvers][example]") {
  const JudgedRounds<double> rounds(FrictionLaw::convex, 1e-5, 100);
  const auto report = rounds.refuse();
  CHECK(report.status == SolveStatus::not_finite);
  CHECK(report.measure == carom::ResidualMeasure::block_error);
  CHECK(report.residual_target == 1e-5);
  CHECK(report.residual == std::numeric_limits<double>::infinity());
  CHECK(report.error_bound == std::numeric_limits<double>::infinity());
  CHECK(report.iterations == 0);
}

TEST_CASE("judged_rounds: a rigid contact may be measured with the softness it has for a solver",
          "[solvers][example]") {
  // With R the answer is ((1/m) + R) γ = 1 m/s.
  const auto problem = make_block<double>(true);
  double softness = 0;
  problem.for_each_block([&](const auto& block) { softness = block.regularization()(2); });
  REQUIRE(softness > 0);
  VectorX<double> impulse = Eigen::Vector3d(0, 0, 1 / (0.5 + softness)), velocity;
  write_velocity(problem, impulse, velocity);
  SolveReport<double> soft, rigid;
  JudgedRounds<double> softened(FrictionLaw::coulomb, rounding(20, 1.0), 1, true),
      exact(FrictionLaw::coulomb, rounding(20, 1.0), 1);
  CHECK(softened.judge(problem, velocity, impulse, soft));
  CHECK_FALSE(exact.judge(problem, velocity, impulse, rigid));
  CHECK(rigid.residual == judge_answer(problem, FrictionLaw::coulomb, velocity, impulse).residual);
}

TEST_CASE("judged_rounds: rigid or compliant, law and size choose the first method",
          "[solvers][example]") {
  const auto rigid = make_block<double>(true), soft = make_block<double>(false);
  using Options = ContactSolverOptions<double>;
  const auto make = [](ContactMethod method, FrictionLaw law) {
    Options options;
    options.method = method;
    options.law = law;
    return options;
  };
  for (const auto law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    const Options automatic = make(ContactMethod::automatic, law);
    CHECK(begins_on_bodies(automatic, soft));
    CHECK_FALSE(begins_on_bodies(automatic, rigid));
    for (const auto* problem : {&rigid, &soft}) {
      CHECK(begins_on_bodies(make(ContactMethod::sap, law), *problem));
      CHECK_FALSE(begins_on_bodies(make(ContactMethod::interior_point, law), *problem));
      CHECK_FALSE(begins_on_bodies(make(ContactMethod::proximal, law), *problem));
      CHECK(is_proximal(make(ContactMethod::proximal, law), *problem));
      CHECK_FALSE(is_proximal(make(ContactMethod::sap, law), *problem));
      CHECK_FALSE(is_proximal(automatic, *problem));
      CHECK_FALSE(avoids_factor(automatic, *problem));
    }
    CHECK(follows_path(automatic));
    CHECK(follows_path(make(ContactMethod::interior_point, law)));
    CHECK_FALSE(follows_path(make(ContactMethod::sap, law)));
    CHECK_FALSE(follows_path(make(ContactMethod::proximal, law)));
  }
}

TEST_CASE("judged_rounds: large heaps avoid a factor, rigid ones from the start",
          "[solvers][example]") {
  ContactSolverOptions<double> options;
  for (const bool rigid : {false, true}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
    carom::WeightedContact<double> law{0.5, {0.1, 0.1}, Eigen::Vector3d::Zero()};
    law.rigid = rigid;
    while (problem.block_count() < ContactSolverTuning::proximal_blocks - 1) {
      problem.add_contact(0, Eigen::Matrix3d::Identity(), law);
    }
    for (const bool large : {false, true}) {
      for (const auto friction : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        options.law = friction;
        const bool convex = friction == FrictionLaw::convex;
        options.method = ContactMethod::automatic;
        CHECK(avoids_factor(options, problem) == (large && rigid == convex));
        CHECK(is_proximal(options, problem) == (large && rigid && convex));
        options.method = ContactMethod::sap;
        CHECK_FALSE(avoids_factor(options, problem));
      }
      problem.add_contact(0, Eigen::Matrix3d::Identity(), law);
    }
  }
}

TEST_CASE("judged_rounds: the first solver is asked for a start, or for the whole answer",
          "[solvers][example]") {
  ContactSolverOptions<double> options;
  options.law = FrictionLaw::convex;
  options.iteration_limit = 17;
  for (const double tolerance : {1e-9, 1e-6, 1e-2}) {
    options.tolerance = tolerance;
    options.method = ContactMethod::sap;
    CHECK(sap_options(options).tolerance == tolerance);
    CHECK(sap_options(options).iteration_limit == 17);
    CHECK(sap_options(options).law == FrictionLaw::convex);
    options.method = ContactMethod::automatic;
    CHECK(sap_options(options).tolerance == std::min(tolerance / 3, 1e-4));
    CHECK(sap_options(options).iteration_limit == SolveLimits().iteration_limit);
    CHECK(sap_options(options).law == FrictionLaw::convex);
  }
  // Steps of the start: few under Coulomb's law, unless a factor of all bodies costs more.
  ContactProblem<double> problem(0.01);
  using Tuning = ContactSolverTuning;
  while (problem.body_count() < Tuning::heap_bodies - 1) {
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  }
  CHECK(carom::detail::first_steps(FrictionLaw::coulomb, problem) == Tuning::coulomb_steps);
  CHECK(carom::detail::first_steps(FrictionLaw::convex, problem) == Tuning::convex_steps);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  CHECK(carom::detail::first_steps(FrictionLaw::coulomb, problem) == Tuning::heap_steps);
  CHECK(carom::detail::first_steps(FrictionLaw::convex, problem) == Tuning::convex_steps);
}

}  // namespace judged_rounds_test
