// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/tolerance.hpp"

/// @file
/// What solvers must return when the time is over, by a clock that counts how often it is read.
namespace carom::testing {

/// What can be measured of an answer.
struct Judged {
  double residual;  ///< as the report should have it
  double outside;   ///< how far impulses are outside of their cones, relative to them
  double merit;     ///< what a later deadline does not make worse
};

/// Solves under later and later deadlines until one is late enough.
/// @param solve  solve(limits) starts from the beginning and returns the report.
/// @param judge  judge() measures the answer.
template <typename Solve, typename Judge>
void check_deadlines(const Solve& solve, const Judge& judge) {
  double last = std::numeric_limits<double>::infinity();
  bool converged = false;
  for (int deadline = 0; deadline < 2000 && !converged; deadline += 1 + deadline / 4) {
    FakeClock clock;
    const auto report = solve(clock.until(deadline));
    const auto [residual, outside, merit] = judge();
    CAPTURE(deadline, to_string(report.status), report.iterations, report.residual, merit, last);
    converged = report.converged();
    CHECK((converged || report.status == SolveStatus::deadline));
    CHECK(outside <= rounding(10, 1.0));
    CHECK(std::abs(report.residual - residual) <= rounding(1000, 1 + residual));
    CHECK(merit <= last * (1 + rounding(1000, 1.0)));
    if (deadline == 0) {
      CHECK(report.status == SolveStatus::deadline);
      CHECK(report.iterations == 0);
    }
    last = merit;
  }
  CHECK(converged);
}

/// Of a solver of problems in impulses: from a guess that no cone holds.
template <typename Solver>
void check_dual_deadlines(Solver solver, const DelassusProblem<double>& problem) {
  VectorX<double> impulse;
  check_deadlines(
      [&](const SolveLimits& limits) {
        solver.set_limits(limits);
        impulse.setConstant(problem.row_count(), -1);
        return solver.solve(problem, impulse);
      },
      [&] {
        const auto certificate = certify(problem, impulse, solver.options().law);
        const double error = certificate.natural_map_error;
        return Judged{error, certificate.cone_violation / (1 + impulse.norm()), error};
      });
}

}  // namespace carom::testing
