// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/interior_point.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/stacks.hpp"

namespace interior_point_test {

using carom::ContactProblem, carom::FrictionLaw, carom::InteriorPointSolver, carom::VectorX;
using carom::testing::AllocationGuard;

TEST_CASE("real time: a prepared interior point allocates nothing, from nothing or from a guess",
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
      const std::size_t before = carom::testing::allocation_count;
      const AllocationGuard guard;
      const bool converged = solver.solve(problem, velocity).converged();
      guess = 0.9 * solver.impulse();
      const bool again = solver.solve_from(problem, guess, velocity).converged();
      const std::size_t count = carom::testing::allocation_count - before;
      Eigen::internal::set_is_malloc_allowed(true);
      CAPTURE(to_string(law), problem.impulse_count());
      CHECK((converged && again));
      CHECK(count == 0);
    }
  }
}

}  // namespace interior_point_test
