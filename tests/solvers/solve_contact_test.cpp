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
    const auto of_solution = certify(problem, solution);
    CHECK(of_solution.residual == certificate.residual);
    CHECK(of_solution.natural_map_error == certificate.natural_map_error);
    CHECK(of_solution.worst_block == certificate.worst_block);
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
  CHECK(certify(problem, solution).residual < by_solver(1e-7));
}

TEST_CASE("solve_contact: asked plainly it is Coulomb's law on rigid contact",
          "[solvers][example]") {
  // A block that slides keeps to the ground and loses mu g dt; under the convex law it lifts off.
  const double dt = 0.01, mu = 0.5, gravity = 9.81;
  for (const double mass : {1e-6, 2.0, 1e6}) {
    for (const double heading : {0.0, 0.7, 4.0}) {
      for (const double speed : {1.0, 20.0}) {
        ContactProblem<double> problem(dt);
        const Eigen::Vector3d along(std::cos(heading), std::sin(heading), 0);
        problem.add_body(mass * Eigen::Matrix3d::Identity(),
                         Eigen::Vector3d(speed * along - dt * gravity * Eigen::Vector3d::UnitZ()));
        problem.add_contact(0, Eigen::Matrix3d::Identity(), {.friction = mu});
        const auto solution = solve_contact(problem);
        CHECK(solution.report.converged());
        CHECK((solution.velocity - (speed - mu * gravity * dt) * along).norm() <
              by_solver(1e-6) * speed);
        CHECK(solution.impulse(2) == Approx(mass * gravity * dt).epsilon(by_solver(1e-6)));
        CHECK((solution.contact_velocity - solution.velocity).norm() == 0);
        const auto certificate = certify(problem, solution);
        CHECK(certificate.natural_map_error <= by_solver(1e-6));
        CHECK(std::isinf(certificate.velocity_error_bound));
        const auto convex = solve_contact(
            problem, carom::ContactSolverOptions<double>{.law = carom::FrictionLaw::convex});
        CHECK(std::isinf(certify(problem, convex).velocity_error_bound));  // rigid: none is known
        CHECK(certify(problem, convex).natural_map_error <= by_solver(1e-6));
        CHECK(convex.velocity.z() ==
              Approx(mu * (speed - mu * gravity * dt) / (1 + mu * mu)).epsilon(by_solver(1e-6)));
      }
    }
  }
  ContactProblem<double> soft(dt);
  soft.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.1, 0, -1));
  soft.add_contact(0, Eigen::Matrix3d::Identity(), {.stiffness = 1e3, .friction = 0.5});
  const auto proven =
      solve_contact(soft, carom::ContactSolverOptions<double>{.law = carom::FrictionLaw::convex});
  CHECK(certify(soft, proven).velocity_error_bound < by_solver(1e-6));
}

TEST_CASE("solve_contact: under Coulomb's law impulses are certified by themselves",
          "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0, -0.1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.5, {1e-1, 1e-4}, Eigen::Vector3d::Zero()});
  auto solution = solve_contact(problem);
  CHECK(solution.report.converged());
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(problem, dual);
  for (const double factor : {1.0, 3.0}) {  // friction beyond its bound
    solution.impulse.head<2>() *= factor;
    const auto alone = carom::certify(dual, solution.impulse, carom::FrictionLaw::coulomb);
    const auto certificate = certify(problem, solution);
    CHECK((factor > 1) == (alone.cone_violation > by_solver(1e-6)));
    CHECK(certificate.cone_violation == alone.cone_violation);
    CHECK(certificate.complementarity == alone.complementarity);
    CHECK(certificate.natural_map_error == alone.natural_map_error);
    CHECK(certificate.worst_block == alone.worst_block);
    CHECK((std::isinf(certificate.duality_gap) && std::isinf(certificate.velocity_residual)));
    CHECK(certificate.duality_gap_block == -1);
  }
}

}  // namespace solve_contact_test
