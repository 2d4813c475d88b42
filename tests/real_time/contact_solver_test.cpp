// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/contact_solver.hpp"

#include <vector>

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/fake_clock.hpp"
#include "support/stacks.hpp"

namespace contact_solver_test {

using carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw, carom::VectorX;
using carom::testing::allocations_of;

namespace {

/// Allocations while a solver solves a problem, cold and from its own impulses.
std::size_t count_allocations(ContactSolver<double>& solver, const ContactProblem<double>& problem,
                              VectorX<double>& velocity, VectorX<double>& impulse) {
  velocity = problem.free_velocity();
  const VectorX<double> guess = 0.9 * impulse;
  bool converged = false, again = false;
  const std::size_t count = allocations_of([&] {
    for (const double deadline : {0, 1, 2, 4, 8, 16}) {
      carom::testing::FakeClock clock;
      solver.set_limits(clock.until(deadline));
      static_cast<void>(solver.solve(problem, velocity));
      static_cast<void>(solver.solve_from(problem, guess, velocity));
      velocity = problem.free_velocity();
    }
    solver.set_limits({});
    converged = solver.solve(problem, velocity).converged();
    impulse *= 0.9;
    again = solver.solve_from(problem, impulse, velocity).converged();
  });
  CHECK((converged && again));
  return count;
}

}  // namespace

TEST_CASE("real time: a problem seen before is solved by Coulomb's law without allocation",
          "[real_time]") {
  carom::testing::VectorSource<double> source(71u);
  std::vector<ContactProblem<double>> problems;
  problems.push_back(carom::testing::build<double>(carom::testing::make_stack({.count = 6})));
  problems[0].make_rigid();
  for (const int constraints : {0, 4, 8}) {
    problems.push_back(carom::testing::build<double>(
        carom::testing::draw_constrained(source, {6, 3, 6, 2}, constraints)));
  }
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const auto& problem : problems) {
      ContactSolver<double> solver({.law = law, .tolerance = 1e-9});
      VectorX<double> velocity = problem.free_velocity();
      CHECK(solver.solve(problem, velocity).converged());
      VectorX<double> impulse = solver.impulse();
      impulse *= 0.9;
      CHECK(solver.solve_from(problem, impulse, velocity).converged());
      impulse = solver.impulse();
      for (int step = 0; step < 2; ++step) {
        CAPTURE(to_string(law), problem.impulse_count(), step);
        CHECK(count_allocations(solver, problem, velocity, impulse) == 0);
        impulse = solver.impulse();
      }
    }
  }
}

TEST_CASE("real time: a prepared contact solver allocates nothing, by any method", "[real_time]") {
  using carom::ContactMethod;
  carom::testing::VectorSource<double> source(73u);
  std::vector<ContactProblem<double>> problems;
  problems.push_back(carom::testing::build<double>(carom::testing::make_stack({.count = 4})));
  problems.push_back(
      carom::testing::build<double>(carom::testing::draw_constrained(source, {6, 3, 6, 2}, 4)));
  problems.push_back(problems[0]);
  problems.back().make_rigid();
  for (const auto& problem : problems) {
    for (const ContactMethod method :
         {ContactMethod::automatic, ContactMethod::sap, ContactMethod::interior_point}) {
      if (method == ContactMethod::sap && problem.rigid_count() > 0) continue;
      for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        ContactSolver<double> solver(
            {.law = law, .method = method, .tolerance = 1e-6, .iteration_limit = 300});
        solver.prepare(problem);
        VectorX<double> velocity = problem.free_velocity();
        bool converged = false, again = false;
        const std::size_t allocations = allocations_of([&] {
          converged = solver.solve(problem, velocity).converged();
          again = solver.solve_from(problem, 0.9 * solver.impulse(), velocity).converged();
        });
        CAPTURE(to_string(law), to_string(method), problem.block_count(), problem.rigid_count());
        CHECK(allocations == 0);
        // One method alone may stop at its limit.
        if (method == ContactMethod::automatic) CHECK((converged && again));
      }
    }
  }
}

TEST_CASE("real time: after its largest problem a contact solver allocates nothing for smaller",
          "[real_time]") {
  std::vector<ContactProblem<double>> problems;
  for (const int count : {6, 2, 4, 6}) {
    problems.push_back(carom::testing::build<double>(carom::testing::make_stack({.count = count})));
    problems.back().make_rigid();
  }
  ContactSolver<double> solver({.tolerance = 1e-9});
  for (const auto& problem : problems) solver.prepare(problem);
  for (const auto& problem : problems) {
    VectorX<double> velocity = problem.free_velocity();
    bool converged = false;
    const std::size_t allocations =
        allocations_of([&] { converged = solver.solve(problem, velocity).converged(); });
    CAPTURE(problem.block_count());
    CHECK(allocations == 0);
    CHECK(converged);
  }
}

}  // namespace contact_solver_test
