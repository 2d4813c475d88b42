// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/contact_solver.hpp"

namespace carom::testing {

/// ContactSolver as the answer to RigidWorld's problems: remembers the report and the worst error.
struct WorldSolver {
  ContactSolver<double> solver;
  SolveReport<double> report;  ///< of the last solve
  double worst = 0;            ///< natural map error of all solves

  explicit WorldSolver(double tolerance = 1e-13, FrictionLaw law = FrictionLaw::coulomb)
      : solver({.law = law, .tolerance = tolerance}) {}

  void operator()(const ContactProblem<double>& problem, VectorX<double>& velocity,
                  VectorX<double>& impulse) {
    report = solver.solve(problem, velocity);
    worst = std::max(worst, report.residual);
    impulse = solver.impulse();
  }
};

}  // namespace carom::testing
