// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/soften.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

#include "scenes/infeasible.hpp"

namespace soften_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::VectorX;

namespace {

[[nodiscard]] ContactProblem<double> soften_all(ContactProblem<double> problem, double r) {
  for (Index i = 0; i < problem.block_count(); ++i) {
    auto law = problem.friction_contact_law(i);
    law.rigid = false;
    law.regularization = {r, r};
    problem.set_law(i, law);
  }
  return problem;
}

}  // namespace

TEST_CASE("soften: a slot that closes too fast gets a small R with an answer", "[solvers][law]") {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const double share : {1.1, 2.0}) {
      carom::examples::ClosingSlot<double> slot{.gap = 0.01, .friction = 0.3};
      slot.closing = share * carom::examples::closing_limit(slot);
      const auto problem = make_closing_slot(slot);
      CAPTURE(to_string(law), share);
      const auto answer = carom::soften(problem, {.law = law, .tolerance = 1e-9});
      CHECK(answer.report.converged());
      CHECK(answer.regularization > 0);
      // No impulse is more than a thousand times what stops a body, and of a tenth of R one is.
      const double largest = answer.impulse.lpNorm<Eigen::Infinity>();
      const double most = 1e3 * carom::detail::largest_demand(problem);
      CHECK((largest <= most && 10 * largest > most));
      const auto soft = soften_all(problem, answer.regularization);
      carom::InteriorPointSolver<double> last({.law = law, .tolerance = 1e-9});
      VectorX<double> again;  // the attempts before count too
      CHECK(answer.report.iterations > last.solve(soft, again).iterations);
      carom::DelassusForm<double> form;
      carom::DelassusProblem<double> dual;
      form.write(soft, dual);
      CHECK(certify(dual, answer.impulse, law).natural_map_error <= by_solver(1.01e-9));
      VectorX<double> velocity;
      write_velocity(soft, answer.impulse, velocity);
      CHECK((velocity - answer.velocity).norm() <= rounding(5000, 1.0 + answer.impulse.norm()));
    }
  }
}

TEST_CASE("soften: of products beyond the range of the type no R is found", "[solvers][input]") {
  const auto problem = carom::testing::make_overflowing<double>(true);
  const auto answer = carom::soften(problem, {.tolerance = 1e-9});
  CHECK(answer.report.status == carom::SolveStatus::not_finite);
  CHECK(std::isinf(answer.report.residual));
  CHECK(answer.report.residual_target == 1e-9);
  CHECK(answer.regularization == 0);
  CHECK(answer.velocity == problem.free_velocity());
  CHECK(answer.impulse == VectorX<double>::Zero(6));
}

TEST_CASE("soften: compliant contacts keep their law, rows that nothing moves ask for nothing",
          "[solvers][law]") {
  carom::examples::ClosingSlot<double> slot{.gap = 0.01, .friction = 0.3};
  slot.closing = 2 * carom::examples::closing_limit(slot);
  const auto plain = make_closing_slot(slot);
  const double demand = carom::detail::largest_demand(plain);
  auto problem = plain;
  const carom::WeightedContact<double> law{0.3, {2e-3, 1e-3}, Eigen::Vector3d::Zero()};
  carom::MatrixX<double> rows = carom::MatrixX<double>::Zero(3, 6);
  rows.topRightCorner<2, 2>().setIdentity();  // the normal row stays zero
  const Index floor = problem.add_contact(0, rows, law);
  CHECK(carom::detail::largest_demand(problem) == demand);
  const auto answer = carom::soften(problem, {.tolerance = 1e-9});
  CHECK(answer.report.converged());
  carom::ContactProblem<double> soft = soften_all(plain, answer.regularization);
  REQUIRE(soft.add_contact(0, rows, law) == floor);
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(soft, dual);
  CHECK(certify(dual, answer.impulse, FrictionLaw::coulomb).natural_map_error <=
        by_solver(1.01e-9));
}

TEST_CASE("soften: where no attempt converges it says so", "[solvers][law]") {
  carom::examples::ClosingSlot<double> slot{.gap = 0.01, .friction = 0.3};
  slot.closing = 2 * carom::examples::closing_limit(slot);
  const auto answer = carom::soften(make_closing_slot(slot), {.iteration_limit = 0});
  CHECK_FALSE(answer.report.converged());
  CHECK(answer.regularization == 0);
  CHECK(answer.report.iterations == 0);
}

}  // namespace soften_test
