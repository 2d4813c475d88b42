// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/smoothed_contact.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/coulomb_derivative.hpp"

#include "support/catch.hpp"
#include "support/limit_change.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace smoothed_contact_test {

using carom::ContactProblem, carom::CoulombDerivative, carom::Index, carom::ProblemDifferential;
using carom::SmoothedContact, carom::SolveStatus;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::draw_all_kinds;
using carom::testing::draw_change, carom::testing::draw_limits, carom::testing::for_each_drawn;
using carom::testing::moved_problem, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

static_assert(noexcept(std::declval<SmoothedContact<double>&>().solve(
    std::declval<const ContactProblem<double>&>(), 1.0, std::declval<Eigen::VectorXd&>())));

namespace {

struct Point {
  Eigen::VectorXd velocity, impulse;
  bool found = false;
};

Point smooth(const ContactProblem<double>& problem, double product) {
  SmoothedContact<double> smoothed;
  Point point;
  point.found = smoothed.solve(problem, product, point.velocity).converged();
  point.impulse = smoothed.impulse();
  return point;
}

/// A mass on a rigid floor.
ContactProblem<double> make_mass(const Eigen::Vector3d& free, double friction = 0.5) {
  ContactProblem<double> problem(0.01);
  problem.add_body(2 * Eigen::Matrix3d::Identity(), free);
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::RigidContact<double>{.gap = 0, .friction = friction});
  return problem;
}

}  // namespace

TEST_CASE("smoothed_contact: a mass that falls on a floor, in closed form", "[solvers][scene]") {
  // m (v + s) = γ = κ/v: v = −s/2 + √(s²/4 + κ/m).
  for (const double product : {1e-1, 1e-4, 1e-8}) {
    for (const double fall : {1.0, 0.0, -1.0}) {
      const Point point = smooth(make_mass({0, 0, -fall}), product);
      CAPTURE(product, fall);
      REQUIRE(point.found);
      const double root = std::sqrt(fall * fall / 4 + product / 2);
      const double expected = fall > 0 ? product / 2 / (fall / 2 + root) : root - fall / 2;
      CHECK(std::abs(point.velocity.z() - expected) <= rounding(1000, 1.0));
      CHECK(point.impulse.z() * point.velocity.z() ==
            Approx(product).epsilon(carom::testing::by_conditioning(1e-6)));
    }
  }
}

TEST_CASE("smoothed_contact: friction on the path obeys its formula, and stuck masses creep",
          "[solvers][law]") {
  const double product = 1e-3, mu = 0.5;
  for (const double push : {0.0, 0.2, 0.5, 2.0}) {
    const Point point = smooth(make_mass({push, 0, -1}, mu), product);
    REQUIRE(point.found);
    const double half = product / point.impulse.z() / 2, slip = mu * point.velocity.x();
    const double zeta = half + std::sqrt(half * half + slip * slip);
    CAPTURE(push);
    CHECK(std::abs(point.impulse.x() + point.impulse.z() * mu * slip / zeta) <=
          rounding(100000, 1.0));
    CHECK((point.velocity.x() > 0) == (push > 0));
  }
}

TEST_CASE("smoothed_contact: the smoothed derivative by each datum is that of differences",
          "[solvers][derivative]") {
  WorstCase near("finite differences"), identity("<u, J w> = <J'u, w>");
  int used = 0;
  for_each_drawn(
      {carom::testing::sweep(8, 24), 31u}, draw_all_kinds,
      [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
        const bool rigid = source.unit() < 0.5;
        ContactProblem<double> problem = build(raw);
        if (rigid) problem.make_rigid();
        auto all = draw_change(source, problem);
        draw_limits(source, problem, all);
        const double product = source.pick({1e-1, 1e-2});
        const Point point = smooth(problem, product);
        if (!point.found) return;
        ++used;
        CoulombDerivative<double> derivative;
        REQUIRE(derivative.linearize_smoothed(problem, point.velocity, point.impulse, product)
                    .usable());
        CHECK(derivative.one_sided().empty());
        for (int part = 0; part < carom::testing::part_count; ++part) {
          const auto change = carom::testing::take_part(problem, all, part);
          Eigen::VectorXd moved, pushed;
          CHECK(derivative.push_forward(problem, change, moved, pushed).converged());
          const auto difference = [&](double h, Eigen::VectorXd& velocity) {
            const Point ahead = smooth(moved_problem(raw, change, h, rigid), product);
            const Point behind = smooth(moved_problem(raw, change, -h, rigid), product);
            velocity = (ahead.velocity - behind.velocity) / (2 * h);
            return ahead.found && behind.found;
          };
          Eigen::VectorXd wide, close;
          if (!difference(2e-4, wide) || !difference(1e-4, close)) continue;
          const double size = 1 + moved.norm() + point.velocity.norm();
          near.see(((4 * close - wide) / 3 - moved).norm(),
                   carom::testing::by_differences(1e-7) * size, part, rigid, used);
        }
        Eigen::VectorXd moved;
        CHECK(derivative.push_forward(problem, all, moved).converged());
        ProblemDifferential<double> gradient;
        gradient.set_zero(problem);
        const Eigen::VectorXd u = carom::testing::draw_matrix(source, moved.size(), 1);
        CHECK(derivative.pull_back(problem, u, gradient).converged());
        identity.see(std::abs(u.dot(moved) - gradient.dot(all)),
                     rounding(20000, u.norm() * moved.norm() + gradient.matrices.norm()));
      });
  CHECK(used >= 6);
  near.check(40);
  identity.check(6);
}

TEST_CASE("smoothed_contact: bias of velocities and derivatives falls in proportion to κ",
          "[solvers][law]") {
  const auto problem = make_mass({2, 0, -1});  // slides
  carom::ContactSolver<double> solver({.tolerance = 1e-14});
  Eigen::VectorXd exact;
  REQUIRE(solver.solve(problem, exact).converged());
  CoulombDerivative<double> derivative, smoothed;
  REQUIRE(derivative.linearize(problem, exact, solver.impulse()).usable());
  ProblemDifferential<double> change;
  change.set_zero(problem);
  change.friction(0) = change.free_velocity(2) = 1;
  Eigen::VectorXd moved, moved_smoothly;
  CHECK(derivative.push_forward(problem, change, moved).converged());
  double last[2] = {0, 0};
  for (const double product : {1e-3, 1e-4, 1e-5}) {
    const Point point = smooth(problem, product);
    REQUIRE(point.found);
    REQUIRE(smoothed.linearize_smoothed(problem, point.velocity, point.impulse, product).usable());
    CHECK(smoothed.push_forward(problem, change, moved_smoothly).converged());
    const double bias[2] = {(point.velocity - exact).norm(), (moved_smoothly - moved).norm()};
    for (int k = 0; k < 2; ++k) {
      CAPTURE(product, k, bias[k]);
      CHECK(bias[k] > 0);
      if (last[k] > 0) {
        CHECK(last[k] / bias[k] == Approx(10).epsilon(carom::testing::by_step(0.05)));
      }
      last[k] = bias[k];
    }
  }
}

TEST_CASE("smoothed_contact: without friction the energy of the bias is at most κ per contact",
          "[solvers][law]") {
  WorstCase bounded("bias");
  VectorSource<double> source(8u);
  for (int sample = 0; sample < 20; ++sample) {
    auto raw = carom::testing::draw_problem(source, {.sizes = {6, 3, 6}, .contact_count = 5});
    for (auto& contact : raw.contacts) contact.law.friction = 0;
    auto problem = build(raw);
    if (sample % 2 == 0) problem.make_rigid();
    carom::ContactSolver<double> solver({.tolerance = 1e-12});
    Eigen::VectorXd exact;
    if (!solver.solve(problem, exact).converged()) continue;
    for (const double product : {1e-1, 1e-3}) {
      const Point point = smooth(problem, product);
      if (!point.found) continue;
      Eigen::VectorXd bias = point.velocity - exact;
      problem.whiten(carom::as_span(bias));
      bounded.see(bias.squaredNorm(), product * double(problem.block_count()), product);
    }
  }
  bounded.check(20);
}

TEST_CASE("smoothed_contact: friction acts on what sticks, where the law says zero",
          "[solvers][example]") {
  const double product = 1e-3;
  const auto problem = make_mass({0.3, 0, -1});
  const Point point = smooth(problem, product);
  REQUIRE(point.found);
  CoulombDerivative<double> derivative;
  REQUIRE(derivative.linearize_smoothed(problem, point.velocity, point.impulse, product).usable());
  ProblemDifferential<double> gradient;
  gradient.set_zero(problem);
  CHECK(derivative.pull_back(problem, Eigen::VectorXd(Eigen::Vector3d::UnitX()), gradient)
            .converged());
  CHECK(gradient.friction(0) < -carom::testing::clearly(1e-4));
}

TEST_CASE("smoothed_contact: numbers that are not finite are reported", "[solvers][input]") {
  auto problem = make_mass({0, 0, -1});
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Eigen::Vector3d free(0, 0, bad);
    problem.set_free_velocity({free.data(), 3});
    SmoothedContact<double> smoothed;
    Eigen::VectorXd velocity;
    CHECK(smoothed.solve(problem, 1e-4, velocity).status == SolveStatus::not_finite);
  }
}

}  // namespace smoothed_contact_test
