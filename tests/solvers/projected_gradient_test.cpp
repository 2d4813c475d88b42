// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/projected_gradient.hpp"

#include "carom/contact/delassus_form.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/dual_problems.hpp"
#include "support/impulse_solver_laws.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace projected_gradient_test {

using carom::testing::by_solver;

using carom::FrictionLaw, carom::ProjectedGradient, carom::VectorX;

namespace {

const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return ProjectedGradient<Scalar>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
};

}  // namespace

TEST_CASE("projected_gradient: obeys the laws of every solver in impulses", "[solvers][law]") {
  carom::testing::check_impulse_laws(make);
}

TEST_CASE("projected_gradient: needs no block of W but the contacts' own", "[solvers][law]") {
  carom::testing::VectorSource<double> source(17u);
  carom::DelassusForm<double> form, free_form;
  carom::DelassusProblem<double> dual, matrix_free;
  const int samples = carom::testing::sweep(4, 10);
  int solved = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const auto problem = carom::testing::build(
        carom::testing::draw_constrained(source, {6, 6, 3, 6}, 2 + sample % 4));
    form.write(problem, dual);
    free_form.write_matrix_free(problem, matrix_free);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      Eigen::VectorXd gamma = Eigen::VectorXd::Zero(dual.row_count()), other = gamma;
      auto solver = make(law, 1e-9, 100000);
      const auto written = solver.solve(dual, other);
      const auto report = solver.solve(matrix_free, gamma);
      CHECK(report.converged() == written.converged());
      if (law == FrictionLaw::convex) CHECK(report.converged());
      if (!report.converged()) continue;
      ++solved;
      CHECK(certify(dual, gamma, law).natural_map_error <= by_solver(1.0001e-9));
      CHECK((gamma - other).norm() <= by_solver(1e-5) * (1 + other.norm()));
    }
  }
  CHECK(10 * solved >= 9 * 2 * samples);
}

TEST_CASE("projected_gradient: a tolerance below round-off ends when nothing changes",
          "[solvers][law]") {
  carom::testing::VectorSource<double> source(18u);
  const int ended =
      carom::testing::count_ended_at_rest(make, FrictionLaw::convex, 20000, 1e-12, [&](int round) {
        return assemble_dual(draw_dual(source, {1 + round % 3, 2, 0.3, false, 0.3}));
      });
  CHECK(ended > 0);
}

TEST_CASE("projected_gradient: what is beyond the range of the type is reported",
          "[solvers][input]") {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    const auto problem =
        assemble_dual(carom::testing::make_block(1, 0.5, Eigen::Vector3d(1e200, 0, -1e200)));
    VectorX<double> impulse = VectorX<double>::Zero(3);
    const auto report = make(law, 1e-8, 100).solve(problem, impulse);
    CHECK(report.status == carom::SolveStatus::not_finite);
    CHECK(report.iterations == 0);
    CHECK(impulse.isZero(0));
  }
}

}  // namespace projected_gradient_test
