// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/law_check.hpp"

#include <cmath>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "ensemble/random_step.hpp"

namespace law_check_test {

using carom::testing::by_solver, carom::testing::clearly, carom::testing::rounding;

using namespace carom::ensemble;
using carom::Index, carom::VectorX;

struct Solved {
  RandomStep step;
  VectorX<double> velocity, impulse;
  bool converged = false;

  explicit Solved(std::uint64_t index) {
    step.make(1, index);
    velocity = step.guess;
    if (step.law == StepLaw::convex) {
      carom::SapSolver<double> solver({.tolerance = 1e-10});
      converged = solver.solve(step.problem, velocity).converged();
      impulse = solver.impulse();
      return;
    }
    carom::ContactSolver<double> solver({.tolerance = 1e-10});
    converged = solver.solve(step.problem, velocity).converged();
    impulse = solver.impulse();
  }
  /// Sets v so that momentum is balanced for any impulses.
  void balance() {
    velocity.setZero();
    for (Index i = 0; i < step.problem.block_count(); ++i) {
      step.problem.friction_contact(i).add_momentum(
          carom::Vector3<double>(impulse.segment<3>(3 * i)), velocity);
    }
    step.problem.whiten_momentum(carom::as_span(velocity));
    velocity += step.problem.whitened_free_velocity();
    step.problem.unwhiten(carom::as_span(velocity));
  }
  [[nodiscard]] LawViolation violation() const { return check_law(step, velocity, impulse); }
};

TEST_CASE("law_check: solved steps of every law obey it, and each fault shows in its part",
          "[ensemble][law]") {
  int seen[3] = {}, slides = 0;
  for (std::uint64_t index = 0; index < 60; ++index) {
    Solved solved(index);
    CAPTURE(index);
    REQUIRE(solved.converged);
    ++seen[int(solved.step.law)];
    CHECK(solved.violation().worst() < by_solver(1e-6));
    if (!(solved.impulse.norm() > 0)) continue;
    Index strongest = 0;
    const carom::ContactProblem<double>& problem = solved.step.problem;
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (solved.impulse(3 * i + 2) > solved.impulse(3 * strongest + 2)) strongest = i;
    }

    Solved faulty = solved;
    faulty.velocity *= 1.01;
    CHECK(faulty.violation().balance > clearly(1e-6));

    faulty = solved;
    faulty.impulse(3 * strongest) =
        (1 + problem.friction_contact_law(strongest).friction) * faulty.impulse(3 * strongest + 2);
    CHECK(faulty.violation().cone > clearly(1e-2));
    faulty = solved;
    faulty.impulse *= -1;
    CHECK(faulty.violation().cone > clearly(1e-2));

    faulty = solved;
    faulty.impulse *= 0.5;  // too weak to hold, or to stop what slides
    faulty.balance();
    CHECK(faulty.violation().balance < rounding(5000, 1.0));
    CHECK(faulty.violation().normal > clearly(1e-6));

    const double mu = problem.friction_contact_law(strongest).friction;
    const double held = solved.impulse.segment<2>(3 * strongest).norm();
    if (solved.step.law != StepLaw::rigid || mu < 0.1 || !(held > 0)) continue;
    const carom::Vector3<double> u = problem.friction_contact(strongest).velocity(solved.velocity);
    if (u.head<2>().norm() < 1e-3 * solved.velocity.norm()) continue;
    ++slides;
    faulty = solved;
    faulty.impulse.segment<2>(3 * strongest) *= -1;  // friction pushes
    CHECK(faulty.violation().friction > clearly(1e-6));
  }
  for (const int count : seen) CHECK(count > 5);
  CHECK(slides > 0);
}

}  // namespace law_check_test
