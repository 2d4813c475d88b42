// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/solve_or_prove.hpp"

#include "support/catch.hpp"
#include "support/plate_on_grains.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"

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

TEST_CASE("solve_or_prove: a plate on grains is never proven to have no answer",
          "[solvers][scene]") {
  for (const int grains : {1, 3}) {
    for (const double ratio : {1e2, 1e6, 1e8, 1e12}) {
      carom::testing::PlateOnGrains<double> tower{.grains = grains, .ratio = ratio};
      tower.down = carom::Vector3<double>(0.3, 0.1 * grains, -1).normalized();
      const auto problem = make_plate_on_grains(tower);
      for (const double tolerance : {1e-3, 1e-8, 1e-12}) {
        ContactSolver<double> solver({.law = FrictionLaw::coulomb, .tolerance = tolerance});
        VectorX<double> velocity, ray;
        const auto report = solve_or_prove(solver, problem, velocity, ray);
        CAPTURE(grains, ratio, tolerance, to_string(report.status));
        CHECK(report.status != SolveStatus::infeasible);
        CHECK(ray.size() == 0);
        const VectorX<double> impulse = solver.impulse();
        CHECK(!certify_infeasible(problem, FrictionLaw::coulomb, impulse).infeasible);
      }
    }
  }
}

TEST_CASE("solve_or_prove: a gap at rounding that nothing can open is nothing to do",
          "[solvers][scene]") {
  for (const double gap : {-1e-17, -1e-19, 0.0, 1e-17}) {
    carom::ContactProblem<double> problem(0.002);
    const Eigen::Vector3d fall(0, 0, -0.01962);
    problem.add_body(Eigen::Matrix3d(Eigen::Matrix3d::Identity()), fall);
    problem.add_contact(0, Eigen::Matrix3d(Eigen::Matrix3d::Identity()),
                        carom::RigidContact<double>{.friction = 0.5});
    Eigen::Matrix3d turns = Eigen::Matrix3d::Identity();
    turns(2, 2) = 0;
    problem.add_contact(0, turns,
                        carom::RigidContact<double>{.gap = gap, .friction = 0.5, .correction = 1});
    ContactSolver<double> solver({.law = FrictionLaw::coulomb, .tolerance = 1e-8});
    VectorX<double> velocity, ray;
    CAPTURE(gap);
    CHECK(solve_or_prove(solver, problem, velocity, ray).status != SolveStatus::infeasible);
    CHECK(velocity.norm() <= carom::testing::by_solver(1e-8) * fall.norm());
  }
}

TEST_CASE("solve_or_prove: walls that overlap a body leave it no answer at any speed",
          "[solvers][scene]") {
  for (const double speed : {0.0, 1e-6, 1.0, 1e3}) {
    carom::examples::ClosingSlot<double> slot{.closing = 0.1, .friction = 0.5};
    slot.across = carom::Vector3<double>(0.6, 0, 0.8);
    slot.free_velocity = speed * carom::Vector3<double>(0, 1, 0) + speed * slot.across;
    const auto problem = make_closing_slot(slot);
    CAPTURE(speed);
    VectorX<double> ray = refine_ray(problem, FrictionLaw::coulomb);
    CHECK(certify_infeasible(problem, FrictionLaw::coulomb, ray).infeasible);
    ContactSolver<double> solver({.law = FrictionLaw::coulomb, .tolerance = 1e-8});
    VectorX<double> velocity;
    const auto report = solve_or_prove(solver, problem, velocity, ray);
    if (report.status != SolveStatus::infeasible) CHECK(ray.size() == 0);
  }
}

TEST_CASE("solve_or_prove: what stalls with an answer is no proof, and the solve goes on",
          "[solvers][law]") {
  const auto problem = build(make_rigid(carom::testing::make_stack({.count = 3, .push = 0.3})));
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    ContactSolver<double> solver({.law = law, .tolerance = 1e-30});  // below any rounding
    VectorX<double> velocity, ray = VectorX<double>::Ones(7);
    const auto report = solve_or_prove(solver, problem, velocity, ray);
    CAPTURE(to_string(law), to_string(report.status), report.iterations);
    CHECK_FALSE(report.converged());
    // The same two solves by hand.
    using Tuning = carom::detail::ContactSolverTuning;
    ContactSolver<double> by_hand({.law = law, .tolerance = 1e-30});
    by_hand.set_limits(carom::SolveLimits().with_iterations(Tuning::proof_systems));
    VectorX<double> expected;
    const int taken = by_hand.solve(problem, expected).iterations;
    REQUIRE(taken > 0);
    by_hand.set_limits(
        carom::SolveLimits().with_iterations(solver.options().iteration_limit - taken));
    const VectorX<double> impulse = by_hand.impulse();
    const auto second = by_hand.solve_from(problem, impulse, expected);
    CHECK(report.iterations == taken + second.iterations);
    CHECK(report.residual == second.residual);
    CHECK(velocity == expected);
    CHECK(report.status != SolveStatus::infeasible);
    CHECK(ray.size() == 0);
    CHECK(report.residual <= carom::testing::by_solver(1e-9));
    CHECK(report.iterations <= solver.options().iteration_limit);
    CHECK(solver.limits().iteration_limit == carom::SolveLimits().iteration_limit);
  }
}

TEST_CASE("solve_or_prove: of many blocks none is searched for a proof", "[solvers][law]") {
  carom::ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  const carom::RigidContact<double> contact{.friction = 0.5};
  while (problem.block_count() < carom::detail::ContactSolverTuning::proof_blocks) {
    problem.add_contact(problem.add_body(unit, Eigen::Vector3d(0.1, 0, -1)), unit, contact);
  }
  // One more mass between stops that leave it no room.
  const auto mass = problem.add_body(unit, Eigen::Vector3d(Eigen::Vector3d::Zero()));
  problem.add_contact(mass, unit, contact);
  problem.set_law(
      problem.block_count() - 1,
      carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Eigen::Vector3d(0, 0, 1), true});
  problem.add_contact(mass, Eigen::Matrix3d(-unit), contact);
  ContactSolver<double> solver({.law = FrictionLaw::coulomb, .iteration_limit = 60});
  VectorX<double> velocity, ray = VectorX<double>::Ones(7);
  const auto report = solve_or_prove(solver, problem, velocity, ray);
  CHECK_FALSE(report.converged());
  CHECK(report.status != SolveStatus::infeasible);
  CHECK(ray.size() == 0);
  const VectorX<double> proof = refine_ray(problem, FrictionLaw::coulomb, solver.impulse());
  CHECK(certify_infeasible(problem, FrictionLaw::coulomb, proof).infeasible);
}

}  // namespace solve_or_prove_test
