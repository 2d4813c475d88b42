// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/derivative/linearized_hessian.hpp"

#include "carom/solvers/sap_derivative.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/limit_change.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace linearized_hessian_test {

using carom::ContactProblem, carom::ProblemDifferential, carom::SapDerivative, carom::VectorX;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::draw_change;
using carom::testing::draw_constrained, carom::testing::draw_limits, carom::testing::draw_matrix;
using carom::testing::for_each_drawn, carom::testing::moved_problem, carom::testing::rounding;
using carom::testing::solve;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

template <typename Visit>
void for_each_problem(int count, const Visit& visit) {
  for_each_drawn(
      {count, 4411u},
      [](VectorSource<double>& source, const std::vector<int>& sizes) {
        return draw_constrained(source, sizes, 5);
      },
      visit);
}

}  // namespace

TEST_CASE("linearized_hessian: each datum moves the solution as differences say",
          "[solvers][derivative]") {
  int used = 0, crossed = 0, limited = 0;
  const int rounds = carom::testing::sweep(15, 30);
  for_each_problem(rounds, [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
    const auto problem = build(raw);
    const Eigen::VectorXd velocity = solve(problem, 1e-15);
    SapDerivative<double> derivative({.boundary_tolerance = 3e-4});
    const auto report = derivative.linearize(problem, velocity);
    REQUIRE(report.usable());
    if (report.boundary_count > 0) return;  // a step might cross it
    auto all = draw_change(source, problem);
    draw_limits(source, problem, all);
    for (int part = 0; part < 6; ++part) {
      ProblemDifferential<double> change;
      change.set_zero(problem);
      if (part == 0) change.free_velocity = all.free_velocity;
      if (part == 1) change.bias_velocity = all.bias_velocity;
      if (part == 2) change.friction = all.friction;
      if (part == 3) change.regularization = all.regularization;
      if (part == 4) change.matrices = all.matrices;
      if (part == 5) change.lower = all.lower, change.upper = all.upper;
      Eigen::VectorXd moved;
      CHECK(derivative.push_forward(problem, change, moved).converged());
      const double h = 1e-5;
      const Eigen::VectorXd ahead = solve(moved_problem(raw, change, h, false), 1e-15),
                            behind = solve(moved_problem(raw, change, -h, false), 1e-15);
      const double error = ((ahead - behind) / (2 * h) - moved).norm();
      if (part == 5) limited += moved.norm() > 1e-3;
      // The boundaries of cones other than the contacts' are not looked for: a
      // step may cross one.
      ++used;
      if (error > 3e-7 * (1 + moved.norm() + velocity.norm())) ++crossed;
    }
  });
  CAPTURE(used, crossed, limited);
  CHECK(used >= 50);
  CHECK(limited >= 8);
  CHECK(crossed <= used / 50);
}

TEMPLATE_TEST_CASE("linearized_hessian: the two products are each other's transposes",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  for (const double limit : {1e12, 0.0}) {  // a factor, conjugate gradients
    WorstCase identity("<u, J w> = <J'u, w>");
    for_each_problem(30, [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
      const auto problem = build<Scalar>(raw);
      const VectorX<Scalar> velocity = solve(problem, Scalar(1e-6));
      SapDerivative<Scalar> derivative({.factor_work_limit = limit});
      REQUIRE(derivative.linearize(problem, velocity).usable());
      auto w = draw_change(source, problem);
      draw_limits(source, problem, w);
      const VectorX<Scalar> u = draw_matrix(source, velocity.size(), 1).template cast<Scalar>();
      const VectorX<Scalar> g =
          draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
      VectorX<Scalar> moved, pushed;
      ProblemDifferential<Scalar> gradient;
      gradient.set_zero(problem);
      static_cast<void>(derivative.push_forward(problem, w, moved, pushed));
      static_cast<void>(derivative.pull_back(problem, u, g, gradient));
      const Scalar size = u.norm() * moved.norm() + g.norm() * pushed.norm() +
                          gradient.regularization.cwiseProduct(w.regularization).norm() +
                          gradient.bias_velocity.norm() * w.bias_velocity.norm() +
                          gradient.matrices.cwiseProduct(w.matrices).norm();
      identity.see(std::abs(u.dot(moved) + g.dot(pushed) - gradient.dot(w)),
                   rounding(limit > 0 ? 3000 : 200000, size));
    });
    identity.check(30);
  }
}

TEST_CASE("linearized_hessian: a motor at its limit does not respond to its target",
          "[solvers][scene]") {
  // One mass m, a motor row γ = (v̂ − v)/R within ±b, so v = v* + γ/m.
  const double mass = 2, weight = 0.25, target = 3;
  for (const double bound : {10.0, 0.5}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::Matrix<double, 1, 1>(mass), Eigen::Matrix<double, 1, 1>(0.0));
    carom::WeightedBlock<double> law;
    law.set = carom::bounded_impulse(-bound, bound);
    law.regularization(0) = weight;
    law.bias_velocity(0) = target;
    problem.add_constraint(0, Eigen::Matrix<double, 1, 1>(1.0), law);
    const Eigen::VectorXd velocity = solve(problem, 1e-15);
    const bool limited = bound < target / (weight + 1 / mass);
    SapDerivative<double> derivative;
    REQUIRE(derivative.linearize(problem, velocity).usable());
    ProblemDifferential<double> gradient;
    gradient.set_zero(problem);
    CHECK(derivative.pull_back(problem, Eigen::VectorXd::Ones(1), gradient).converged());
    const double share = limited ? 0 : 1 / (1 + mass * weight);  // v = v̂/(1 + m R)
    CHECK(gradient.bias_velocity(0) == Approx(share));
    CHECK(gradient.regularization(0) == Approx(-mass * target * share * share));
    CHECK(gradient.free_velocity(0) == Approx(1 - share));
    CHECK(derivative.other_block(0).impulse(0) == Approx(limited ? bound : mass * velocity(0)));
    CHECK(derivative.boundary(0) == carom::RegionBoundary::none);
  }
}

TEST_CASE("linearized_hessian: no change of the data moves nothing, more contacts are laid out",
          "[solvers][law]") {
  VectorSource<double> source(4412u);
  for (const double limit : {1e12, 0.0}) {  // a factor, conjugate gradients
    SapDerivative<double> reused({.factor_work_limit = limit});
    ContactProblem<double> problem(0.01);
    for (int b = 0; b < 2; ++b) {
      problem.add_body((b + 1) * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.1 * b, 0, -1));
    }
    const carom::WeightedContact<double> law{0.5, {1e-2, 2e-2}, Eigen::Vector3d::Zero()};
    problem.add_contact(0, Eigen::Matrix3d::Identity(), law);
    for (int k = 0; k < 4; ++k) {  // one contact more between the same bodies, then a body more
      if (k == 3) problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0.2, -1));
      problem.add_contact(k < 3 ? 1 : 2, draw_matrix(source, 3, 3), k < 3 ? 0 : 1,
                          draw_matrix(source, 3, 3), law);
      const Eigen::VectorXd velocity = solve(problem, 1e-15);
      SapDerivative<double> fresh({.factor_work_limit = limit});
      REQUIRE(reused.linearize(problem, velocity).usable());
      REQUIRE(fresh.linearize(problem, velocity).usable());
      ProblemDifferential<double> change;
      change.set_zero(problem);
      Eigen::VectorXd moved, expected;
      CHECK(reused.push_forward(problem, change, moved).converged());
      CHECK(moved.isZero(0));
      change.free_velocity.setOnes();
      CHECK(reused.push_forward(problem, change, moved).converged());
      CHECK(fresh.push_forward(problem, change, expected).converged());
      CHECK(moved == expected);
    }
  }
}

}  // namespace linearized_hessian_test
