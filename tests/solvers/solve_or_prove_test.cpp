// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/solve_or_prove.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"

#include "scenes/infeasible.hpp"

namespace solve_or_prove_test {

using carom::ContactSolver, carom::FrictionLaw, carom::SolveStatus, carom::VectorX;

TEST_CASE("solve_or_prove: a slot that closes too fast is proven to have no answer",
          "[solvers][law]") {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    ContactSolver<double> solver({.law = law, .tolerance = 1e-9});
    for (const double share : {0.5, 0.9, 1.1, 2.0}) {
      carom::examples::ClosingSlot<double> slot{.gap = 0.01, .friction = 0.3};
      slot.closing = share * carom::examples::closing_limit(slot);
      const auto problem = make_closing_slot(slot);
      CAPTURE(to_string(law), share);
      VectorX<double> velocity, ray = VectorX<double>::Ones(7);
      const auto report = solve_or_prove(solver, problem, velocity, ray);
      CHECK(report.converged() == (share < 1));
      CHECK(solver.limits().iteration_limit == carom::SolveLimits().iteration_limit);
      if (share < 1) {
        CHECK(ray.size() == 0);
        continue;
      }
      CHECK(report.status == SolveStatus::infeasible);
      CHECK(certify_infeasible(problem, law, ray).infeasible);
    }
  }
}

TEST_CASE("solve_or_prove: within a limit of one system nothing is proven and the limit is kept",
          "[solvers][law]") {
  const auto problem = build(make_rigid(carom::testing::make_stack({.count = 4, .push = 0.3})));
  ContactSolver<double> solver({.tolerance = 1e-12});
  solver.set_limits({.iteration_limit = 1});
  VectorX<double> velocity, ray;
  const auto report = solve_or_prove(solver, problem, velocity, ray);
  CHECK(report.iterations <= 1);
  CHECK(report.status == SolveStatus::iteration_limit);
  CHECK(ray.size() == 0);
  CHECK(solver.limits().iteration_limit == 1);
}

TEST_CASE("solve_or_prove: what has an answer gets the one of solve", "[solvers][law]") {
  for (const bool rigid : {true, false}) {
    const auto raw = carom::testing::make_stack({.count = 3, .push = 0.3});
    const auto problem = build(rigid ? make_rigid(raw) : raw);
    ContactSolver<double> solver({.tolerance = 1e-10}), plain({.tolerance = 1e-10});
    VectorX<double> velocity = problem.free_velocity(), expected = velocity, ray;
    const auto report = solve_or_prove(solver, problem, velocity, ray);
    CHECK(report.converged());
    CHECK(plain.solve(problem, expected).iterations == report.iterations);
    CHECK(velocity == expected);
    CHECK(ray.size() == 0);
  }
}

}  // namespace solve_or_prove_test
