// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/deadline_laws.hpp"
#include "support/dual_problems.hpp"
#include "support/dual_solver_laws.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace interior_point_test {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::InteriorPointSolver,
    carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::draw_constrained, carom::testing::draw_problem,
    carom::testing::DualShape, carom::testing::sweep, carom::testing::VectorSource;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return InteriorPointSolver<Scalar>(
      {.law = law, .tolerance = tolerance, .iteration_limit = limit});
};

/// Bodies and contacts drawn so that impulses exist.
template <typename Scalar>
ContactProblem<Scalar> draw_bodies(VectorSource<double>& source, int contacts) {
  auto raw = draw_problem(source, {{6, 6, 3, 6}, contacts, 1, 1});
  for (auto& contact : raw.contacts) {
    contact.law.friction = std::min(contact.law.friction, 0.3);
    contact.law.bias_velocity.setZero();
  }
  return build<Scalar>(raw);
}

/// The report is what can be measured of the answer, and the velocity is that of the impulses.
template <typename Scalar>
void check_answer(const ContactProblem<Scalar>& problem, const InteriorPointSolver<Scalar>& solver,
                  const VectorX<Scalar>& velocity, const carom::SolveReport<Scalar>& report) {
  using carom::testing::rounding;
  carom::DelassusForm<Scalar> form;
  carom::DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  const VectorX<Scalar>& impulse = solver.impulse();
  REQUIRE(impulse.size() == problem.impulse_count());
  const auto certificate = certify(dual, impulse, solver.options().law);
  CAPTURE(to_string(report.status), report.iterations, report.residual);
  CHECK(std::abs(report.residual - certificate.natural_map_error) <=
        rounding(200, 1 + certificate.natural_map_error));
  CHECK(report.residual_target == solver.options().tolerance);
  CHECK((!report.converged() || report.residual <= report.residual_target));
  CHECK(certificate.cone_violation <= rounding(100, Scalar(1) + impulse.norm()));
  VectorX<Scalar> expected;
  write_velocity(problem, impulse, expected);
  CHECK(velocity == expected);
}

}  // namespace

TEST_CASE("interior_point: problems in impulses of all shapes, compliant", "[solvers][law]") {
  for (const double regularization : {0.1, 0.01}) {
    carom::testing::check_random_problems<double>(
        make, sweep(5, 20), DualShape{8, 3, 0.3, true, regularization}, 1e-10, 1000);
  }
  carom::testing::check_random_problems<float>(make, sweep(5, 20), DualShape{8, 3, 0.3, true, 0.1},
                                               1e-4f, 1000);
}

TEST_CASE("interior_point: what every solver in impulses promises", "[solvers][law]") {
  carom::testing::check_boundaries(make);
  carom::testing::check_best_iterate(make);
  carom::testing::check_scales(make);
  carom::testing::check_closed_forms(make);
  carom::testing::check_order(make);
  carom::testing::check_against_sap(make);
  const auto other = [](FrictionLaw law, double tolerance, int limit) {
    return carom::GaussSeidel<double>(
        {.law = law, .tolerance = tolerance, .iteration_limit = limit});
  };
  carom::testing::check_agreement(make, other);
}

TEMPLATE_TEST_CASE("interior_point: random bodies, rigid or not, by either law", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<double> source(61u);
  for (int round = 0; round < 10; ++round) {
    auto problem = draw_bodies<Scalar>(source, 1 + round / 2);
    for (const bool rigid : {false, true}) {
      if (rigid) problem.make_rigid();
      for (const FrictionLaw law : laws) {
        const Scalar tolerance = single ? Scalar(1e-4) : Scalar(1e-11);
        InteriorPointSolver<Scalar> solver({.law = law, .tolerance = tolerance});
        VectorX<Scalar> velocity;
        const auto report = solver.solve(problem, velocity);
        CAPTURE(round, to_string(law), rigid);
        CHECK(report.converged());
        check_answer(problem, solver, velocity, report);
        const VectorX<Scalar> impulse = solver.impulse();
        const auto again = solver.solve_from(problem, impulse, velocity);
        CHECK(again.iterations == 0);
        CHECK(solver.impulse() == impulse);
      }
    }
  }
}

TEST_CASE("interior_point: on bodies as in impulses", "[solvers][oracle]") {
  VectorSource<double> source(62u);
  for (int round = 0; round < 4; ++round) {
    const auto problem = draw_bodies<double>(source, 3);  // compliant: one answer
    for (const FrictionLaw law : laws) {
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-12});
      VectorX<double> velocity;
      REQUIRE(solver.solve(problem, velocity).converged());
      carom::DelassusForm<double> form;
      carom::DelassusProblem<double> dual;
      form.write(problem, dual);
      VectorX<double> impulse = VectorX<double>::Zero(problem.impulse_count());
      REQUIRE(solver.solve(dual, impulse).converged());
      CHECK((impulse - solver.impulse()).norm() <= 1e-8 * (1 + impulse.norm()));
    }
  }
}

TEST_CASE("interior_point: the compliant convex problem is SapSolver's own", "[solvers][oracle]") {
  VectorSource<double> source(63u);
  for (int round = 0; round < 6; ++round) {
    const auto problem = round < 3 ? build(draw_problem(source, {{6, 6, 3}, 6, 1, 1}))
                                   : build(draw_constrained(source, {6, 3, 6}, 4));
    InteriorPointSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-12});
    VectorX<double> velocity, other = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(round, report.residual, report.iterations);
    CHECK(report.converged());
    carom::SapSolver<double> sap({.tolerance = 1e-13});
    REQUIRE(sap.solve(problem, other).residual < 1e-9);
    CHECK((velocity - other).norm() <= 1e-7 * (1 + other.norm()));
  }
}

TEST_CASE("interior_point: constraints of every shape beside rigid contacts", "[solvers][law]") {
  VectorSource<double> source(64u);
  int converged = 0;
  for (int round = 0; round < 8; ++round) {
    auto problem = build(draw_constrained(source, {6, 3, 6}, 4));
    problem.make_rigid();
    for (const FrictionLaw law : laws) {
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-9});
      VectorX<double> velocity;
      const auto report = solver.solve(problem, velocity);
      CAPTURE(round, to_string(law));
      check_answer(problem, solver, velocity, report);
      converged += report.converged();
    }
  }
  CHECK(converged >= 12);  // the law's path may fold
}

TEST_CASE("interior_point: an executor changes no bit", "[solvers][law]") {
  VectorSource<double> source(65u);
  ContactProblem<double> problem(0.01);
  for (int i = 0; i < 7; ++i) {  // islands of one block each
    const double mass = 0.5 + source.unit();
    const Eigen::Vector3d free(source.unit(), source.unit(), -0.1);
    const auto body = problem.add_body(mass * Eigen::Matrix3d::Identity(), free);
    problem.add_contact(body, Eigen::Matrix3d::Identity(),
                        carom::RigidContact<double>{.gap = 0, .friction = 0.1 * i});
  }
  InteriorPointSolver<double> one({.tolerance = 1e-12}), other({.tolerance = 1e-12});
  VectorX<double> velocity, backwards;
  CHECK(one.solve(problem, velocity).converged());
  const auto reverse = [](Index count, auto&& task) {
    for (Index i = count; i-- > 0;) task(i);
  };
  CHECK(other.solve(problem, backwards, reverse).converged());
  CHECK(velocity == backwards);
  CHECK(one.impulse() == other.impulse());
}

TEST_CASE("interior_point: in time a step takes few systems, one that is solved takes none",
          "[solvers][scene]") {
  const double dt = 0.005, gravity = 9.81, friction = 0.5;
  ContactProblem<double> problem(dt);
  InteriorPointSolver<double> solver({.tolerance = 1e-12});
  VectorX<double> velocity = Eigen::Vector3d(6, 0, 0), impulse;
  int most = 0;
  for (int i = 0; i < 100; ++i) {
    problem.reset(dt);
    const Eigen::Vector3d free_velocity = velocity - Eigen::Vector3d(0, 0, gravity * dt);
    const auto block = problem.add_body(2 * Eigen::Matrix3d::Identity(), free_velocity);
    problem.add_contact(block, Eigen::Matrix3d::Identity(),
                        carom::RigidContact<double>{.gap = 0, .friction = friction});
    const auto report =
        i == 0 ? solver.solve(problem, velocity) : solver.solve_from(problem, impulse, velocity);
    REQUIRE(report.converged());
    impulse = solver.impulse();
    if (i > 0) most = std::max(most, report.iterations);
  }
  CHECK(most <= 4);
  CHECK(std::abs(velocity(0) - (6 - friction * gravity * dt * 100)) < 1e-9);
  CHECK(std::abs(velocity(2)) < 1e-12);
}

TEST_CASE("interior_point: at a deadline it returns the best so far, in its cones",
          "[solvers][real_time]") {
  VectorSource<double> source(66u);
  auto problem = draw_bodies<double>(source, 4);
  problem.make_rigid();
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
    VectorX<double> velocity;
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    carom::testing::check_deadlines(
        [&](const carom::SolveLimits& limits) {
          solver.set_limits(limits);
          return solver.solve(problem, velocity);
        },
        [&] {
          const auto certificate = certify(dual, solver.impulse(), law);
          const double error = certificate.natural_map_error;
          return carom::testing::Judged{
              error, certificate.cone_violation / (1 + solver.impulse().norm()), error};
        });
  }
}

TEST_CASE("interior_point: nothing to do", "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  InteriorPointSolver<double> solver;
  VectorX<double> velocity;
  CHECK(solver.solve(problem, velocity).converged());
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
  CHECK(solver.solve(problem, velocity).converged());
  CHECK(velocity == Eigen::Vector3d(1, 2, 3));
  const InteriorPointSolver<double> kept(
      {.law = FrictionLaw::convex, .tolerance = 1e-5, .iteration_limit = 7});
  CHECK(kept.options().tolerance == 1e-5);
  CHECK(kept.options().iteration_limit == 7);
  CHECK(kept.options().law == FrictionLaw::convex);
}

}  // namespace interior_point_test
