// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/solver_on_bodies.hpp"

#include <cmath>
#include <limits>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/projected_gradient.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace solver_on_bodies_test {

using carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw, carom::GaussSeidel,
    carom::ProjectedGradient, carom::SolverOnBodies, carom::SolveStatus, carom::VectorX;
using carom::testing::by_solver, carom::testing::VectorSource;

namespace {

template <typename Solver>
void check_against_contact_solver(const ContactProblem<double>& problem, FrictionLaw law) {
  VectorX<double> expected = problem.free_velocity();
  CHECK(
      ContactSolver<double>({.law = law, .tolerance = 1e-11}).solve(problem, expected).converged());
  SolverOnBodies<Solver> solver({.law = law, .tolerance = 1e-11, .iteration_limit = 100000});
  solver.prepare(problem);
  VectorX<double> velocity = problem.free_velocity();
  const auto report = solver.solve(problem, velocity);
  CAPTURE(to_string(law), problem.rigid_count(), report.residual);
  CHECK(report.converged());
  CHECK(report.measure == carom::ResidualMeasure::block_error);
  CHECK(report.residual_target == 1e-11);
  CHECK(report.residual == judge_answer(problem, law, velocity, solver.impulse()).residual);
  CHECK((velocity - expected).norm() <= by_solver(1e-7) * (1 + expected.norm()));
  const VectorX<double> impulse = solver.impulse();
  CHECK(solver.solve_from(problem, solver.impulse(), velocity).iterations == 0);
  CHECK((solver.impulse() - impulse).norm() <= by_solver(1e-7) * (1 + impulse.norm()));
}

}  // namespace

TEST_CASE("solver_on_bodies: solvers in impulses find the answer of ContactSolver",
          "[solvers][law]") {
  VectorSource<double> source(68u);
  for (int round = 0; round < 2; ++round) {
    auto problem = carom::testing::draw_bodies<double>(source, 4);
    for (const bool rigid : {false, true}) {
      if (rigid) problem.make_rigid();
      for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        check_against_contact_solver<GaussSeidel<double>>(problem, law);
        check_against_contact_solver<ProjectedGradient<double>>(problem, law);
      }
    }
  }
}

TEST_CASE("solver_on_bodies: limits hold, and impulses that are not finite are refused",
          "[solvers][input]") {
  VectorSource<double> source(69u);
  const auto problem = carom::testing::draw_bodies<double>(source, 6);
  SolverOnBodies<GaussSeidel<double>> solver({.tolerance = 1e-14});
  VectorX<double> velocity;
  solver.set_limits({.iteration_limit = 1});
  const auto one = solver.solve(problem, velocity);
  CHECK(one.iterations <= 1);
  CHECK(velocity.size() == problem.velocity_count());
  VectorX<double> bad = VectorX<double>::Zero(problem.impulse_count());
  bad(0) = std::numeric_limits<double>::quiet_NaN();
  const auto refused = solver.solve_from(problem, bad, velocity);
  CHECK(refused.status == SolveStatus::not_finite);
  CHECK(std::isinf(refused.residual));
  CHECK(solver.impulse().isZero(0));
}

TEMPLATE_TEST_CASE("solver_on_bodies: products beyond the range of the type end the solve",
                   "[solvers][input]", float, double) {
  using Scalar = TestType;
  const auto check = [](auto solver, bool rigid) {
    const auto problem = carom::testing::make_overflowing<Scalar>(rigid);
    VectorX<Scalar> velocity;
    for (const bool prepared : {false, true}) {
      if (prepared) solver.prepare(problem);
      const auto report = solver.solve(problem, velocity);
      CHECK(report.status == SolveStatus::not_finite);
      CHECK(std::isinf(report.residual));
      CHECK(velocity == problem.free_velocity());
      CHECK(solver.impulse().isZero(0));
      const VectorX<Scalar> guess = VectorX<Scalar>::Ones(problem.impulse_count());
      CHECK(solver.solve_from(problem, guess, velocity).status == SolveStatus::not_finite);
      CHECK(solver.impulse() == guess);
    }
  };
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const bool rigid : {false, true}) {
      check(SolverOnBodies<GaussSeidel<Scalar>>({.law = law}), rigid);
      check(SolverOnBodies<ProjectedGradient<Scalar>>({.law = law}), rigid);
    }
  }
}

}  // namespace solver_on_bodies_test
