// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/wrench_contact.hpp"
#include "carom/solvers/sap.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/sweep.hpp"

namespace constraints_test {

using carom::Bilateral, carom::ContactProblem, carom::DryFriction, carom::JointLimit, carom::Motor;
using carom::SapSolver, carom::testing::allocations_of, carom::testing::ConstrainedProblem;

namespace {

/// Bodies, contacts and drawn constraints, and one of each law on the first body, which has six
/// velocities.
void assemble(ContactProblem<double>& problem, const ConstrainedProblem& raw) {
  problem.reset(0.01);
  for (const auto& body : raw.contacts.bodies) {
    problem.add_body(body.momentum, body.free_velocity);
  }
  for (const auto& c : raw.contacts.contacts) {
    if (c.second < 0) {
      problem.add_contact(c.first, c.first_jacobian, c.law);
    } else {
      problem.add_contact(c.first, c.first_jacobian, c.second, c.second_jacobian, c.law);
    }
  }
  for (const auto& c : raw.constraints) {
    if (c.second < 0) {
      problem.add_constraint(c.first, c.first_jacobian, c.law);
    } else {
      problem.add_constraint(c.first, c.first_jacobian, c.second, c.second_jacobian, c.law);
    }
  }
  const Eigen::Matrix<double, 1, 6> row = Eigen::Matrix<double, 1, 6>::Ones();
  problem.add_constraint(0, row,
                         JointLimit<double>{.gap = 0.01, .compliance = carom::Compliance::step});
  problem.add_constraint(0, row, Motor<double>{.velocity_gain = 3, .effort_limit = 5});
  problem.add_constraint(0, row, DryFriction<double>{.effort_limit = 1, .relative_slip = 1e-3});
  const auto frame =
      carom::frame_rows<double>(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
  problem.add_constraint(0, frame, Bilateral<double>{.rows = 6, .stiffness = 10});
  carom::WrenchContact<double> wheel;
  wheel.contact = {.gap = 0, .stiffness = 1e4, .friction = 0.5};
  wheel.rolling_friction = 0.1;
  problem.add_constraint(0, frame, wheel);
}

}  // namespace

TEST_CASE("real time: after the largest step, constraints allocate nothing", "[real_time]") {
  carom::testing::VectorSource<double> source(1702u);
  std::vector<ConstrainedProblem> steps;
  for (int step = 0; step < 12; ++step) {
    steps.push_back(carom::testing::draw_constrained(
        source, {6, 30, 7, 1, 6}, step == 0 ? carom::testing::sweep(30, 60) : 2 + step));
  }
  for (const double limit : {1e9, 0.0}) {
    ContactProblem<double> problem(0.01);
    SapSolver<double> solver({.factor_work_limit = limit});
    Eigen::VectorXd velocity;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      if (step == 0) {
        assemble(problem, steps[step]);
        velocity = problem.free_velocity();
        CHECK(solver.solve(problem, velocity).converged());
        continue;
      }
      bool converged = false;
      const std::size_t allocations = allocations_of([&] {
        assemble(problem, steps[step]);
        velocity = problem.free_velocity();
        converged = solver.solve(problem, velocity).converged();
      });
      CAPTURE(step);
      CHECK(allocations == 0);
      CHECK(converged);
    }
  }
}

}  // namespace constraints_test
