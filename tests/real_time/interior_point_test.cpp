// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/interior_point.hpp"

#include <utility>
#include <vector>

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/dual_problems.hpp"
#include "support/friction_files.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"

namespace interior_point_test {

using carom::ContactProblem, carom::FrictionLaw, carom::InteriorPointSolver, carom::VectorX;
using carom::testing::allocations_of;

TEST_CASE("real time: a prepared interior point allocates nothing, without a guess or with one",
          "[real_time]") {
  carom::testing::VectorSource<double> source(72u);
  std::vector<ContactProblem<double>> problems;
  problems.push_back(carom::testing::build<double>(carom::testing::make_stack({.count = 6})));
  problems[0].make_rigid();
  for (const int constraints : {0, 4, 8}) {
    problems.push_back(carom::testing::build<double>(
        carom::testing::draw_constrained(source, {6, 3, 6, 2}, constraints)));
  }
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const auto& problem : problems) {
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-9});
      solver.prepare(problem);
      VectorX<double> velocity(problem.velocity_count());
      VectorX<double> guess = VectorX<double>::Zero(problem.impulse_count());
      bool converged = false, again = false;
      const std::size_t count = allocations_of([&] {
        converged = solver.solve(problem, velocity).converged();
        guess = 0.9 * solver.impulse();
        again = solver.solve_from(problem, guess, velocity).converged();
      });
      CAPTURE(to_string(law), problem.impulse_count());
      CHECK((converged && again));
      CHECK(count == 0);
    }
  }
}

}  // namespace interior_point_test

// In impulses, without bodies.
namespace interior_point_impulses_test {

using carom::InteriorPointSolver, carom::DelassusProblem, carom::FrictionLaw, carom::Index;
using carom::testing::allocations_of, carom::testing::assemble_dual, carom::testing::draw_dual;

namespace {

/// Solves every problem once prepared, counting, then again.
void check_prepared_solves(const std::vector<DelassusProblem<double>>& problems, FrictionLaw law,
                           int sweeps) {
  for (const DelassusProblem<double>& problem : problems) {
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-9, .sweeps = sweeps});
    Eigen::VectorXd impulse = Eigen::VectorXd::Zero(problem.row_count());
    solver.prepare(problem);
    int first = 0, second = 0;
    bool converged = false;
    const std::size_t allocations = allocations_of([&] {
      const auto report = solver.solve(problem, impulse);
      converged = report.converged();
      first = report.iterations;
      impulse.setZero();
      second = solver.solve(problem, impulse).iterations;
    });
    CAPTURE(to_string(law), sweeps, problem.count(), first);
    CHECK(converged);
    CHECK(allocations == 0);
    CHECK(first == second);
  }
}

}  // namespace

TEST_CASE("real time: a prepared interior point in impulses allocates nothing", "[real_time]") {
  carom::testing::VectorSource<double> source(1801u);
  std::vector<DelassusProblem<double>> problems;
  for (const int contacts : {1, 4, 12, carom::testing::sweep(16, 25)}) {
    problems.push_back(assemble_dual(draw_dual(source, {contacts, 3, 0.5, true, 0.0})));
  }
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const int sweeps : {0, 30}) check_prepared_solves(problems, law, sweeps);
  }
  problems.clear();
  for (const auto& file : carom::testing::friction_files()) {
    auto problem = carom::testing::read_friction_dual(file);
    if (problem.count() > carom::testing::sweep(30, 1000)) continue;
    problems.push_back(std::move(problem));
  }
  for (const int sweeps : {0, 30}) check_prepared_solves(problems, FrictionLaw::coulomb, sweeps);
}

TEST_CASE("real time: islands of contact allocate nothing after the largest problem",
          "[real_time]") {
  carom::testing::VectorSource<double> source(1802u);
  carom::testing::DualData data = draw_dual(source, {12, 12, 0.5, true, 0.1});
  Index row = 0;
  for (std::size_t i = 0; i < data.sets.size(); ++i) {  // every third contact apart
    const Index rows = data.sets[i].rows;
    if (i % 3 == 0) {
      const Eigen::MatrixXd own = data.w.block(row, row, rows, rows);
      data.w.middleRows(row, rows).setZero();
      data.w.middleCols(row, rows).setZero();
      data.w.block(row, row, rows, rows) = own;
    }
    row += rows;
  }
  check_prepared_solves({assemble_dual(data)}, FrictionLaw::coulomb, 0);
  check_prepared_solves({assemble_dual(data)}, FrictionLaw::convex, 5);
}

}  // namespace interior_point_impulses_test
