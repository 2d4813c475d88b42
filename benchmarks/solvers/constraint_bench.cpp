// SPDX-License-Identifier: BSD-3-Clause
#include <benchmark/benchmark.h>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

namespace {

using Rows = Eigen::Matrix<double, 1, 6>;
using Point = Eigen::Matrix<double, 3, 6>;

/// A hanging chain of rods: each joined to the one above at a point, its hinge turned by a motor of
/// limited effort, held back by dry friction and stopped at a limit that every other one is at.
carom::ContactProblem<double> make_chain(int links) {
  const double dt = 0.01, mass = 0.5, half = 0.1, error = 0.02;
  carom::ContactProblem<double> problem(dt);
  const Eigen::Vector3d top(0, 0, half), bottom(0, 0, -half);
  Eigen::Matrix<double, 6, 1> inertia, falling = Eigen::Matrix<double, 6, 1>::Zero();
  inertia << 2e-3, 2e-3, 1e-4, mass, mass, mass;
  falling(5) = -9.81 * dt;
  Rows hinge = Rows::Zero();
  hinge(1) = 1;
  for (int i = 0; i < links; ++i) {
    const auto link = problem.add_body(inertia.asDiagonal().toDenseMatrix(), falling);
    const auto add = [&](const auto& here, const auto& above, const auto& law) {
      if (i == 0) {
        problem.add_constraint(link, here, law);
      } else {
        problem.add_constraint(link, here, link - 1, (-above).eval(), law);
      }
    };
    add(carom::point_rows(top), carom::point_rows(bottom), carom::Bilateral<double>{.rows = 3});
    add(hinge, hinge,
        carom::Motor<double>{.position_error = i % 3 == 0 ? 0.5 : -error,
                             .position_gain = 40,
                             .velocity_gain = 1,
                             .effort_limit = 5});
    add(hinge, hinge, carom::DryFriction<double>{.effort_limit = 0.1});
    add(hinge, hinge, carom::JointLimit<double>{.gap = i % 2 == 0 ? 0.0 : 0.3});
  }
  return problem;
}

/// A step of the chain from its free velocity. Counters: as of the problems in a file.
void solve_chain(benchmark::State& state) {
  const auto problem = make_chain(int(state.range(0)));
  carom::SapSolver<double> solver(carom::SapOptions<double>{.tolerance = 1e-8});
  solver.prepare(problem);
  Eigen::VectorXd velocity;
  carom::SolveReport<double> report;
  for (auto _ : state) {
    velocity = problem.free_velocity();
    report = solver.solve(problem, velocity);
  }
  if (!report.converged()) return state.SkipWithError("not converged");
  state.SetItemsProcessed(state.iterations() * problem.block_count());
  state.counters["iterations"] = report.iterations;
  state.counters["residual"] =
      certify(problem, velocity, Eigen::VectorXd(solver.impulse())).residual;
}

}  // namespace

BENCHMARK(solve_chain)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);
