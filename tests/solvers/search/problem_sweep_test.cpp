// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/problem_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "carom/contact/dual.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/every_block.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"

namespace problem_sweep_test {

using carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw, carom::VectorX;
using carom::detail::ProblemSweep;
using carom::testing::build, carom::testing::by_compliance, carom::testing::by_solver,
    carom::testing::by_settling, carom::testing::make_stack, carom::testing::rounding,
    carom::testing::VectorSource;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// A stack, rigid and compliant, and blocks of every shape.
[[nodiscard]] std::vector<ContactProblem<double>> make_problems(VectorSource<double>& source) {
  std::vector<ContactProblem<double>> problems;
  for (const double push : {0.0, 0.5}) {
    problems.push_back(build<double>(make_stack({.count = 3, .push = push})));
    problems.push_back(problems.back());
    problems.back().make_rigid();
  }
  problems.push_back(carom::testing::draw_every_block(source));
  problems.push_back(carom::testing::draw_every_block(source, {.bond = 0}));
  return problems;
}

/// How far an impulse is outside of its sets.
[[nodiscard]] double outside(const ContactProblem<double>& problem, const VectorX<double>& gamma) {
  double worst = 0;
  problem.for_each_block([&](const auto& block) {
    const auto own = block.read(gamma);
    worst = std::max(worst, (own - block.nearest_unweighted(own)).norm());
  });
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("problem_sweep: the answer of a problem stays as it is", "[solvers][law]", float,
                   double) {
  VectorSource<double> source(3);
  for (const FrictionLaw law : laws) {
    for (const auto& drawn : make_problems(source)) {
      const auto raw = make_stack({.count = 3, .push = 0.5});
      const ContactProblem<TestType> problem = [&] {
        if constexpr (std::is_same_v<TestType, double>) return drawn;
        return build<TestType>(raw);
      }();
      ContactSolver<TestType> solver({.law = law, .tolerance = rounding<TestType>(1e3, 1)});
      VectorX<TestType> velocity;
      REQUIRE(solver.solve(problem, velocity).converged());
      VectorX<TestType> impulse = solver.impulse();
      const VectorX<TestType> answer = impulse;
      ProblemSweep<TestType> sweep;
      sweep.start(problem, law, impulse.data());
      for (int k = 0; k < 4; ++k) sweep.sweep(problem, impulse.data());
      CHECK((impulse - answer).norm() <= rounding<TestType>(30000, 1) * answer.norm());
      VectorX<TestType> swept(problem.velocity_count()), expected;
      sweep.write_velocity(problem, swept.data());
      write_velocity(problem, impulse, expected);
      CHECK((swept - expected).norm() <= rounding<TestType>(200, 1 + expected.norm()));
    }
  }
}

TEST_CASE("problem_sweep: impulses end in their sets, the convex law's dual cost falls",
          "[solvers][law]") {
  VectorSource<double> source(5);
  for (const auto& problem : make_problems(source)) {
    for (const FrictionLaw law : laws) {
      VectorX<double> impulse(problem.impulse_count()), velocity;
      for (int i = 0; i < impulse.size(); ++i) impulse(i) = 2 * source.unit() - 1;
      ProblemSweep<double> sweep;
      sweep.start(problem, law, impulse.data());
      CHECK(outside(problem, impulse) <= rounding(50, 1 + impulse.norm()));
      double before = dual_cost(problem, impulse, velocity);
      for (int k = 0; k < 30; ++k) {
        sweep.sweep(problem, impulse.data());
        CHECK(outside(problem, impulse) <= rounding(50, 1 + impulse.norm()));
        if (law == FrictionLaw::coulomb || problem.rigid_count() > 0) continue;
        const double now = dual_cost(problem, impulse, velocity);
        CHECK(now <= before + rounding(1e3, 1 + std::abs(before)));
        before = now;
      }
    }
  }
}

TEST_CASE("problem_sweep: sweeps converge to the answer under either law", "[solvers][law]") {
  for (const bool rigid : {false, true}) {
    auto problem = build<double>(make_stack({.count = 2, .push = 0.1}));
    if (rigid) problem.make_rigid();
    for (const FrictionLaw law : laws) {
      CAPTURE(rigid, to_string(law));
      VectorX<double> impulse = VectorX<double>::Zero(problem.impulse_count());
      VectorX<double> velocity(problem.velocity_count());
      ProblemSweep<double> sweep;
      sweep.start(problem, law, impulse.data());
      double changed = 1;
      for (int k = 0; k < 20000 && changed > 1e-24; ++k) {
        changed = sweep.sweep(problem, impulse.data());
      }
      sweep.write_velocity(problem, velocity.data());
      // Compliant corners that share a load settle slowly.
      CHECK(judge_answer(problem, law, velocity, impulse).residual <=
            (rigid ? by_solver(1e-10) : by_settling(1e-3)));
    }
  }
}

TEST_CASE("problem_sweep: a guess adds no energy, however large it is", "[solvers][law]") {
  for (const bool rigid : {false, true}) {
    auto problem = build<double>(make_stack({.count = 4, .push = 0}));
    if (rigid) problem.make_rigid();
    ContactSolver<double> solver;
    VectorX<double> velocity;
    REQUIRE(solver.solve(problem, velocity).converged());
    const double whole = std::abs(dual_cost(problem, VectorX<double>(solver.impulse()), velocity));
    for (const double factor : {0.0, 0.5, 1.0, 3.0, 1e6}) {
      VectorX<double> impulse = factor * solver.impulse();
      ProblemSweep<double> sweep;
      sweep.start(problem, FrictionLaw::coulomb, impulse.data());
      const VectorX<double> given = impulse;
      sweep.limit_energy(problem, impulse.data());
      // the cost of rigid contacts, which sweeps see without R, is a little less
      const double cost = dual_cost(problem, impulse, velocity);
      CHECK(cost <= (rigid ? by_compliance(1e-2) * whole : rounding(10, 1.0 + factor)));
      const double expected = std::min(factor, 2.0);  // a parabola, zero at 0 and 2
      CHECK((impulse - expected * solver.impulse()).norm() <=
            by_solver(1e-6) * (1 + solver.impulse().norm()));
      VectorX<double> swept(problem.velocity_count()), pushed;
      sweep.write_velocity(problem, swept.data());
      write_velocity(problem, impulse, pushed);
      CHECK((swept - pushed).norm() <= rounding(1000, 1 + factor));
      CHECK((factor <= 2) == (impulse == given));
    }
  }
}

TEST_CASE("problem_sweep: impulses with a least magnitude are not scaled down", "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix<double, 1, 1>(1.0), Eigen::Matrix<double, 1, 1>(0.0));
  carom::WeightedBlock<double> law{.set = carom::free_impulses<double>(1)};
  law.set.lower(0) = 1;
  law.set.upper(0) = 3;
  law.regularization(0) = 1e-3;
  for (int k = 0; k < 2; ++k) problem.add_constraint(0, Eigen::Matrix<double, 1, 1>(1.0), law);
  for (const double given : {2.0, 0.0, 7.0}) {  // adds energy
    VectorX<double> impulse = VectorX<double>::Constant(2, given);
    ProblemSweep<double> sweep;
    sweep.start(problem, FrictionLaw::coulomb, impulse.data());
    const VectorX<double> inside = VectorX<double>::Constant(2, std::clamp(given, 1.0, 3.0));
    CHECK(impulse == inside);
    sweep.limit_energy(problem, impulse.data());
    CHECK(impulse == inside);
  }
}

TEST_CASE("problem_sweep: a guess that only adds energy is dropped", "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, 1));  // flies apart
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Eigen::Vector3d::Zero()});
  for (const bool rigid : {false, true}) {
    if (rigid) problem.make_rigid();
    VectorX<double> impulse(3), velocity(3);
    impulse << 0.1, 0, 2;
    ProblemSweep<double> sweep;
    sweep.start(problem, FrictionLaw::coulomb, impulse.data());
    sweep.limit_energy(problem, impulse.data());
    CHECK(impulse.isZero(0));
    sweep.write_velocity(problem, velocity.data());
    CHECK(velocity == problem.free_velocity());
  }
}

TEST_CASE("problem_sweep: a contact that nothing moves gets finite impulses", "[solvers][input]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.1, 0, -1));
  const carom::WeightedContact<double> law{0.5, {1e-3, 1e-3}, Eigen::Vector3d::Zero()};
  problem.add_contact(0, Eigen::Matrix3d::Identity(), law);
  problem.add_contact(0, Eigen::Matrix3d::Zero(), law);
  problem.make_rigid();
  for (const FrictionLaw friction : laws) {
    VectorX<double> impulse = VectorX<double>::Constant(problem.impulse_count(), 0.5), velocity(3);
    ProblemSweep<double> sweep;
    sweep.start(problem, friction, impulse.data());
    for (int k = 0; k < 50; ++k) sweep.sweep(problem, impulse.data());
    CHECK(impulse.allFinite());
    CHECK(outside(problem, impulse) <= rounding(50, 1 + impulse.norm()));
    sweep.write_velocity(problem, velocity.data());
    const VectorX<double> alone = impulse.head<3>();
    CHECK((velocity - problem.free_velocity() - alone).norm() <= rounding(50, 1.0));
    CHECK(velocity(2) >= -rounding(50, 1.0));
  }
}

}  // namespace problem_sweep_test
