// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/concepts.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"

/// @file
/// The laws of ContactSolverFor. `make(law, tolerance, limit)` returns a solver;
/// check_contact_laws() checks all of it.
namespace carom::testing {

/// The residual of an answer, in the measure that a report names.
template <typename Scalar>
[[nodiscard]] Scalar certified_residual(const ContactProblem<Scalar>& problem,
                                        const VectorX<Scalar>& velocity,
                                        const VectorX<Scalar>& impulse, FrictionLaw law,
                                        ResidualMeasure measure) {
  if (measure == ResidualMeasure::momentum_balance) {
    return certify(problem, velocity, impulse).residual;
  }
  if (measure == ResidualMeasure::block_error) {
    return judge_answer(problem, law, velocity, impulse).residual;
  }
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  return certify(dual, impulse, law).natural_map_error;
}

/// The report says what certify() finds in its measure, and the answer is finite.
template <typename Scalar, typename Solver>
void check_contact_report(const ContactProblem<Scalar>& problem, const Solver& solver,
                          const VectorX<Scalar>& velocity, const SolveReport<Scalar>& report) {
  const VectorX<Scalar> impulse = solver.impulse();
  REQUIRE(impulse.size() == problem.impulse_count());
  REQUIRE(velocity.size() == problem.velocity_count());
  REQUIRE((impulse.allFinite() && velocity.allFinite()));
  REQUIRE(report.measure != ResidualMeasure::own);
  const Scalar certified =
      certified_residual(problem, velocity, impulse, solver.options().law, report.measure);
  CAPTURE(to_string(report.status), to_string(report.measure), report.residual, certified);
  CHECK(std::abs(report.residual - certified) <= rounding(1000, 1 + certified));
  CHECK(report.residual_target == solver.options().tolerance);
  CHECK((!report.converged() || report.residual <= report.residual_target));
}

/// All laws of ContactSolverFor, on compliant contact.
template <typename Make>
void check_contact_laws(const Make& make) {
  using Solver = decltype(make(FrictionLaw::coulomb, 1e-6, 1));
  static_assert(ContactSolverFor<Solver, ContactProblem<double>>);
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    CAPTURE(to_string(law));
    VectorSource<double> source(81u);
    Solver kept = make(law, 1e-9, 500);
    for (int round = 0; round < 6; ++round) {
      CAPTURE(round);
      const auto problem = draw_bodies<double>(source, 1 + round);
      // A solver that was kept and one that was prepared give the same numbers as a fresh one.
      Solver fresh = make(law, 1e-9, 500), prepared = make(law, 1e-9, 500);
      prepared.prepare(problem);
      VectorX<double> velocity = problem.free_velocity(), one = velocity, other = velocity;
      const auto report = fresh.solve(problem, velocity);
      CHECK(report.converged());
      check_contact_report(problem, fresh, velocity, report);
      CHECK(prepared.solve(problem, one).iterations == report.iterations);
      CHECK(kept.solve(problem, other).iterations == report.iterations);
      CHECK((one == velocity && other == velocity));
      // From its own answer it stays there.
      const auto again = fresh.solve(problem, velocity);
      CHECK(again.converged());
      CHECK((velocity - one).norm() <= by_solver(1e-6) * (1 + one.norm()));
    }
    const auto stack = build(make_stack({.count = 3, .push = 0.3}));
    for (const int limit : {0, 1, 3}) {  // limits hold, by the options and by the caller
      for (const bool by_caller : {false, true}) {
        Solver solver = make(law, 1e-13, by_caller ? 500 : limit);
        if (by_caller) solver.set_limits({.iteration_limit = limit});
        VectorX<double> velocity = stack.free_velocity();
        const auto report = solver.solve(stack, velocity);
        CAPTURE(limit, by_caller);
        CHECK(report.iterations <= limit);
        CHECK((report.converged() || report.status == SolveStatus::iteration_limit));
        check_contact_report(stack, solver, velocity, report);
      }
    }
    FakeClock clock;  // that is over before it begins
    kept.set_limits(clock.until(0));
    VectorX<double> velocity = stack.free_velocity();
    const auto late = kept.solve(stack, velocity);
    CHECK(late.status == SolveStatus::deadline);
    CHECK(late.iterations == 0);
    check_contact_report(stack, kept, velocity, late);
    kept.set_limits({});
    // Bodies that nothing touches keep their free velocity.
    ContactProblem<double> apart(0.01);
    apart.add_body(2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
    velocity = apart.free_velocity();
    const auto nothing = kept.solve(apart, velocity);
    CHECK(nothing.converged());
    CHECK(nothing.iterations == 0);
    CHECK((velocity - apart.free_velocity()).norm() <= rounding(5, 1.0));
  }
}

}  // namespace carom::testing
