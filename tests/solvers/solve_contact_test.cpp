// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/solve_contact.hpp"

#include <cmath>
#include <type_traits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace solve_contact_test {

using carom::testing::by_solver;

using carom::ContactProblem, carom::ContactSolution, carom::SapSolver, carom::solve_contact;
using carom::testing::build, carom::testing::draw_problem, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("solve_contact: one call gives what the solver gives from the free velocity",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(60u);
  for (int sample = 0; sample < 5; ++sample) {
    const auto problem = build<Scalar>(draw_problem(source, {.sizes = {6, 1, 3}}));
    const Scalar target = std::is_same_v<Scalar, float> ? Scalar(1e-3) : Scalar(1e-10);
    const carom::SapOptions<Scalar> options{.tolerance = target};
    const ContactSolution<Scalar> solution = solve_contact(problem, options);
    SapSolver<Scalar> solver(options);
    carom::VectorX<Scalar> velocity = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(sample, report.residual);
    CHECK(report.converged());
    CHECK(solution.report.status == report.status);
    CHECK(solution.report.iterations == report.iterations);
    CHECK(solution.report.residual == report.residual);
    CHECK(solution.report.residual_target == target);
    CHECK((solution.velocity == velocity));
    CHECK((solution.impulse == solver.impulse()));
    CHECK((solution.contact_velocity == solver.contact_velocity()));
    const auto certificate = certify(problem, velocity, solution.impulse);
    CHECK(solution.certificate.residual == certificate.residual);
    CHECK(solution.certificate.natural_map_error == certificate.natural_map_error);
    CHECK(solution.certificate.worst_block == certificate.worst_block);
  }
}

TEST_CASE("solve_contact: a ball dropped on the floor stops there", "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(), {.gap = 0, .stiffness = 1e12});
  const auto solution = solve_contact(problem);
  CHECK(solution.report.converged());
  // Softened to Rₙ = w/(4π²), w = √3/(3 m): v = −1/(1 + W/Rₙ), W = 1/m.
  const double stiff = 4 * std::acos(-1.0) * std::acos(-1.0) * std::sqrt(3.0);
  CHECK(solution.velocity(2) == Approx(-1 / (1 + stiff)).epsilon(by_solver(1e-9)));
  CHECK(solution.impulse(2) == Approx(2 * (1 - 1 / (1 + stiff))).epsilon(by_solver(1e-9)));
  CHECK(solution.certificate.residual < by_solver(1e-7));
}

}  // namespace solve_contact_test
