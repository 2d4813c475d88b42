// SPDX-License-Identifier: BSD-3-Clause
// Contact problems at the edge of what a step can hold: mass ratios, rigid limits, repeated and
// redundant contacts. Each is solved and certified, and compared with the oracle of the dual.
#include <cmath>
#include <limits>

#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/dual_oracle.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace extreme_problems_test {

using carom::testing::by_solver;

using carom::CompliantContact, carom::ContactProblem, carom::ContactSolution, carom::Index;
using carom::solve_contact;
using carom::testing::assemble, carom::testing::convert_vector, carom::testing::read_back;
using carom::testing::rounding, carom::testing::solve_by_dual_oracle;

namespace {

using Long = long double;

/// Solves, and compares with the oracle within both certified bounds.
ContactSolution<double> solve_and_compare(const ContactProblem<double>& problem,
                                          int oracle_limit = 100000) {
  const auto solution = solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-11});
  const auto dense = assemble<Long>(read_back(problem));
  const auto exact = solve_by_dual_oracle<Long>(dense, 1e-13L, oracle_limit);
  const Long error = dense.energy_norm(convert_vector<Long>(solution.velocity) - exact.velocity);
  const Long size = dense.energy_norm(dense.free_velocity);
  CAPTURE(to_string(solution.report.status), solution.report.residual, exact.iterations);
  CHECK(solution.report.converged());
  CHECK(exact.error_bound <= by_solver(1e-9L) * size);
  CHECK(error <= solution.report.error_bound + exact.error_bound + rounding(100, 1.0) * size);
  CHECK(certify(problem, solution).cone_violation <=
        rounding(5000, 1.0) * (1 + solution.impulse.norm()));
  return solution;
}

const Eigen::Matrix3d identity = Eigen::Matrix3d::Identity();
const Eigen::Vector3d falling(0.2, 0, -1);

/// A column of point masses on the ground, each on the one below.
ContactProblem<double> stack(const std::vector<double>& masses, double friction, double stiffness) {
  ContactProblem<double> problem(0.01);
  for (const double mass : masses) problem.add_body(mass * identity, falling);
  const CompliantContact<double> law{.gap = -1e-4,
                                     .stiffness = stiffness,
                                     .dissipation_time = 0.01,
                                     .friction = friction,
                                     .compliance = carom::detail::is_finite(stiffness)
                                                       ? carom::Compliance::stiffness
                                                       : carom::Compliance::step};
  problem.add_contact(0, identity, law);
  for (Index i = 1; i < Index(masses.size()); ++i) {
    problem.add_contact(i - 1, -identity, i, identity, law);
  }
  return problem;
}

}  // namespace

TEST_CASE("extreme problems: a million to one in mass, the heavy one below or above",
          "[scenes][oracle]") {
  for (const double friction : {0.0, 0.5, 10.0}) {
    CAPTURE(friction);
    solve_and_compare(stack({1, 1e6}, friction, 1e7));
    solve_and_compare(stack({1e6, 1}, friction, 1e7));
    solve_and_compare(stack({1e-3, 1e3}, friction, 1e5));
    solve_and_compare(stack({1, 1e3, 1}, friction, 1e6));
  }
}

TEST_CASE("extreme problems: extreme stiffness is softened to what the step resolves",
          "[scenes][oracle]") {
  const auto reference = solve_and_compare(stack({1, 2, 3}, 0.5, 1e20));
  const auto infinite =
      solve_and_compare(stack({1, 2, 3}, 0.5, std::numeric_limits<double>::infinity()));
  CHECK((reference.velocity - infinite.velocity).norm() <= by_solver(1e-10));
  // A rigid contact brings approach to a stop, to within the softening of one step.
  CHECK(std::abs(reference.velocity(2)) <= 0.1);
}

TEST_CASE("extreme problems: without friction nothing is dragged along", "[scenes][scene]") {
  const auto solution = solve_and_compare(stack({1, 2, 3}, 0, 1e6));
  for (Index i = 0; i < 3; ++i) {
    CHECK(solution.velocity(3 * i) == Approx(0.2).epsilon(rounding(50, 1.0)));
    CHECK(solution.impulse(3 * i) == 0);
    CHECK(solution.impulse(3 * i + 1) == 0);
    CHECK(solution.impulse(3 * i + 2) > 0);
  }
}

TEST_CASE("extreme problems: friction of ten holds everything that is pressed", "[scenes][scene]") {
  const auto solution = solve_and_compare(stack({1, 2, 3}, 10, 1e6));
  for (Index i = 0; i < 3; ++i) {
    CHECK(std::abs(solution.velocity(3 * i)) <= 0.01);
    CHECK(std::abs(solution.impulse(3 * i)) < 10 * solution.impulse(3 * i + 2));
  }
}

TEST_CASE("extreme problems: the same contact four times over carries the same load",
          "[scenes][oracle]") {
  // Four contacts with R each act as one with R/4.
  ContactProblem<double> one(0.01), four(0.01);
  using Law = carom::WeightedContact<double>;
  one.add_body(2 * identity, falling);
  one.add_contact(0, identity, Law{0.5, {1e-4, 1e-2}, Eigen::Vector3d::Zero()});
  four.add_body(2 * identity, falling);
  for (int i = 0; i < 4; ++i) {
    four.add_contact(0, identity, Law{0.5, {4e-4, 4e-2}, Eigen::Vector3d::Zero()});
  }
  const auto single = solve_and_compare(one), shared = solve_and_compare(four);
  CHECK((single.velocity - shared.velocity).norm() <= rounding(50000, 1.0));
  for (Index i = 0; i < 4; ++i) {
    CHECK((shared.impulse.segment<3>(3 * i) - single.impulse / 4).norm() <= by_solver(1e-9));
  }
}

TEST_CASE("extreme problems: a table on twelve legs, whose loads are not determined",
          "[scenes][oracle]") {
  ContactProblem<double> problem(0.01);
  Eigen::VectorXd free = Eigen::VectorXd::Zero(6);
  free << 0.1, -0.2, 0.05, 0.3, 0, -0.1;  // spin, then fall
  Eigen::VectorXd diagonal(6);
  diagonal << 0.3, 0.4, 0.6, 10, 10, 10;
  problem.add_body(diagonal.asDiagonal().toDenseMatrix(), free);
  for (int leg = 0; leg < 12; ++leg) {
    const double angle = leg * std::acos(-1.0) / 6;
    const Eigen::Vector3d arm(0.5 * std::cos(angle), 0.3 * std::sin(angle), -0.4);
    Eigen::Matrix<double, 3, 6> jacobian;
    jacobian << 0, arm.z(), -arm.y(), 1, 0, 0,  //
        -arm.z(), 0, arm.x(), 0, 1, 0,          //
        arm.y(), -arm.x(), 0, 0, 0, 1;
    problem.add_contact(0, jacobian,
                        {.gap = 0, .stiffness = 1e20, .dissipation_time = 0, .friction = 0.5});
  }
  const auto solution = solve_and_compare(problem);
  double carried = 0;
  for (Index leg = 0; leg < 12; ++leg) carried += solution.impulse(3 * leg + 2);
  CHECK(carried == Approx(10 * (solution.velocity(5) + 0.1)).epsilon(by_solver(1e-9)));
}

TEST_CASE("extreme problems: bodies of 1, 2, 3, 6, 7 and 30 velocities in one problem",
          "[scenes][oracle]") {
  carom::testing::VectorSource<double> source(123u);
  for (int sample = 0; sample < 3; ++sample) {
    CAPTURE(sample);
    const auto raw = carom::testing::draw_problem(
        source, {.sizes = {30, 1, 6, 2, 7, 3, 6}, .contact_count = 10, .stiffness_decades = 0.5});
    solve_and_compare(carom::testing::build(raw));
  }
}

TEST_CASE("extreme problems: weights near the bottom of a double still end in a finite answer",
          "[scenes][example]") {
  // R twenty decades below W: beyond what the digits can hold, so only sanity is asked for.
  ContactProblem<double> problem(0.01);
  problem.add_body(identity, falling);
  problem.add_body(identity, falling);
  const carom::WeightedContact<double> law{0.5, {1e-20, 1e-20}, Eigen::Vector3d::Zero()};
  for (int i = 0; i < 3; ++i) {
    problem.add_contact(0, identity, law);
    problem.add_contact(0, -identity, 1, identity, law);
  }
  const auto solution = solve_contact(problem, carom::SapOptions<double>{});
  CHECK(solution.velocity.allFinite());
  CHECK(solution.impulse.allFinite());
  CHECK(solution.velocity.norm() <= 10);
}

}  // namespace extreme_problems_test
