// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/solver_on_bodies.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"

namespace dual_solvers_test {

using carom::DelassusProblem, carom::FrictionLaw, carom::GaussSeidel, carom::ProjectedGradient,
    carom::VisitOrder, carom::VectorX;
using carom::testing::allocations_of;

namespace {

template <typename Solver>
void check_solver(Solver solver, const std::vector<DelassusProblem<double>>& problems) {
  std::vector<VectorX<double>> impulses;
  for (const auto& problem : problems) {
    impulses.push_back(VectorX<double>::Zero(problem.row_count()));
  }
  solver.prepare(problems[0]);
  for (std::size_t step = 0; step < problems.size(); ++step) {
    bool converged = false;
    const std::size_t allocations = allocations_of(
        [&] { converged = solver.solve(problems[step], impulses[step]).converged(); });
    CAPTURE(step);
    CHECK(allocations == 0);
    CHECK(converged);
  }
}

}  // namespace

TEST_CASE("real time: a solver in impulses on bodies allocates nothing once prepared",
          "[real_time]") {
  carom::testing::VectorSource<double> source(75u);
  const auto problem = carom::testing::draw_bodies<double>(source, 4);
  carom::SolverOnBodies<GaussSeidel<double>> solver({.tolerance = 1e-6});
  solver.prepare(problem);
  VectorX<double> velocity = problem.free_velocity();
  bool converged = false, again = false;
  const std::size_t allocations = allocations_of([&] {
    converged = solver.solve(problem, velocity).converged();
    again = solver.solve_from(problem, 0.9 * solver.impulse(), velocity).converged();
  });
  CHECK(allocations == 0);
  CHECK((converged && again));
}

TEST_CASE("real time: after the largest problem, solvers in impulses allocate nothing",
          "[real_time]") {
  carom::testing::VectorSource<double> source(51u);
  std::vector<DelassusProblem<double>> problems;
  for (int step = 0; step < 8; ++step) {
    problems.push_back(assemble_dual(draw_dual(
        source, {step == 0 ? carom::testing::sweep(30, 60) : 2 + 3 * step, 6, 0.3, true, 0.2})));
  }
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    check_solver(GaussSeidel<double>({.law = law, .order = VisitOrder::outward}), problems);
    check_solver(ProjectedGradient<double>({.law = law}), problems);
  }
}

TEST_CASE("real time: after the largest problem, W as a function allocates nothing",
          "[real_time]") {
  ProjectedGradient<double> solver({.law = FrictionLaw::convex});
  std::size_t first = 0;
  std::vector<carom::ContactProblem<double>> problems;
  for (const int boxes : {6, 2, 4, 6}) {
    problems.push_back(carom::testing::build<double>(carom::testing::make_stack({.count = boxes})));
  }
  carom::DelassusForm<double> form;
  DelassusProblem<double> dual;
  for (const auto& problem : problems) {
    form.write_matrix_free(problem, dual);
    VectorX<double> impulse = VectorX<double>::Zero(dual.row_count());
    if (first++ == 0) (void)solver.solve(dual, impulse);
    impulse.setZero();
    bool converged = false;
    const std::size_t allocations = allocations_of([&] {
      form.write_matrix_free(problem, dual);
      converged = solver.solve(dual, impulse).converged();
    });
    CHECK(allocations == 0);
    CHECK(converged);
  }
}

}  // namespace dual_solvers_test
