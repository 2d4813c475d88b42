// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/bilateral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace bilateral_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::Bilateral, carom::Compliance, carom::ContactProblem, carom::Index;
using carom::testing::draw_matrix, carom::testing::VectorSource;
using Eigen::Matrix3d, Eigen::Vector3d, Eigen::VectorXd;
using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Vector6d = Eigen::Matrix<double, 6, 1>;

namespace {

/// A free body's momentum matrix: spin first, then velocity.
Matrix6d free_body(double mass, double inertia) {
  Matrix6d momentum = mass * Matrix6d::Identity();
  momentum.topLeftCorner<3, 3>() = inertia * Matrix3d::Identity();
  return momentum;
}

}  // namespace

TEST_CASE("bilateral: rows are the velocities of points and frames", "[contact][oracle]") {
  VectorSource<double> source(3u);
  for (int sample = 0; sample < 20; ++sample) {
    const Vector3d arm = draw_matrix(source, 3, 1), spin = draw_matrix(source, 3, 1),
                   velocity = draw_matrix(source, 3, 1);
    const Vector3d towards = Vector3d(draw_matrix(source, 3, 1)).normalized();
    const Matrix3d axes =
        Eigen::Quaterniond(draw_matrix(source, 4, 1).data()).normalized().matrix();
    Vector6d twist;
    twist << spin, velocity;
    const Vector3d expected = velocity + spin.cross(arm);
    CHECK((carom::point_rows(arm) * twist - expected).norm() < rounding(50, 1.0));
    CHECK(std::abs((carom::distance_row(towards, arm) * twist)(0) - towards.dot(expected)) <
          rounding(50, 1.0));
    Vector6d frame;
    frame << axes * expected, axes * spin;
    CHECK((carom::frame_rows(axes, arm) * twist - frame).norm() < rounding(50, 1.0));
  }
}

TEST_CASE("bilateral: a soft spring obeys its law row by row", "[contact][oracle]") {
  VectorSource<double> source(5u);
  for (int rows = 1; rows <= 6; ++rows) {
    const double dt = 0.01, k = 300, tau = 0.03;
    ContactProblem<double> problem(dt);
    const VectorXd free = draw_matrix(source, 7, 1);
    problem.add_body(2 * Eigen::MatrixXd::Identity(7, 7), free);
    const Eigen::MatrixXd j = draw_matrix(source, rows, 7);
    Bilateral<double> law{.rows = rows, .stiffness = k, .dissipation_time = tau, .near_rigid = 0};
    law.error.head(rows) = draw_matrix(source, rows, 1);
    problem.add_constraint(0, j, law);
    const auto solution =
        carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-14});
    const VectorXd rates = j * solution.velocity;
    for (int i = 0; i < rows; ++i) {
      CHECK(solution.impulse(i) == Approx(-dt * k * (law.error(i) + dt * rates(i) + tau * rates(i)))
                                       .epsilon(by_solver(1e-9)));
      CHECK(solution.contact_velocity(i) == Approx(rates(i)).epsilon(rounding(5000, 1.0)));
    }
    CHECK((2 * (solution.velocity - free) - j.transpose() * solution.impulse).norm() <
          rounding(5000, 1.0));
  }
}

TEST_CASE("distance: a step of a pendulum in closed form", "[contact][example]") {
  // A rod from the origin to a body at (3, 0, -4) m that swings at 2 m/s and falls.
  const double dt = 0.01, m = 2, w = 1 / m;
  const Vector3d along(0.6, 0, -0.8);
  Vector6d free = Vector6d::Zero();
  free.tail<3>() = 2 * Vector3d(0.8, 0, 0.6) - dt * 9.81 * Vector3d::UnitZ();
  ContactProblem<double> problem(dt);
  problem.add_body(free_body(m, 0.3), free);
  problem.add_constraint(
      0, carom::distance_row<double>(along, Vector3d::Zero()),
      Bilateral<double>{.error = Vector6d::Unit(0) * 1e-3, .compliance = Compliance::step});
  const auto solution =
      carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-14});
  const double r = w / (4 * std::numbers::pi * std::numbers::pi);
  const double gamma = (-1e-3 / dt - along.dot(free.tail<3>())) / (w + r);
  CHECK(solution.impulse(0) == Approx(gamma).epsilon(by_solver(1e-10)));
  const Vector3d expected = free.tail<3>() + w * gamma * along;
  CHECK((solution.velocity.tail<3>() - expected).norm() < rounding(5000, 1.0));
  CHECK(solution.velocity.head<3>().norm() == 0);
}

TEST_CASE("weld: two bodies move as one up to R", "[contact][example]") {
  VectorSource<double> source(6u);
  const Vector3d arm(0.2, -0.1, 0.4), centre = Vector3d(1, 2, 3);  // first at 0, second at centre
  const double m1 = 2, i1 = 0.3, m2 = 5, i2 = 0.7;
  const Vector6d free1 = draw_matrix(source, 6, 1), free2 = draw_matrix(source, 6, 1);
  // The rigid whole keeps momentum and angular momentum, M V = sum T' A v*.
  const Matrix6d to_second = carom::frame_rows<double>(Matrix3d::Identity(), centre);
  Matrix6d transfer = Matrix6d::Zero();  // (spin, velocity) of the second from the first's
  transfer.topRows<3>() = to_second.bottomRows<3>();
  transfer.bottomRows<3>() = to_second.topRows<3>();
  const Matrix6d a1 = free_body(m1, i1), a2 = free_body(m2, i2);
  const Matrix6d whole = a1 + transfer.transpose() * a2 * transfer;
  const Vector6d together = whole.llt().solve(a1 * free1 + transfer.transpose() * (a2 * free2));
  double error = 1;
  for (const double near_rigid : {1.0, 1e-2, 1e-4}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(a1, free1);
    problem.add_body(a2, free2);
    const Matrix6d rows1 = carom::frame_rows<double>(Matrix3d::Identity(), arm);
    const Matrix6d rows2 = -carom::frame_rows<double>(Matrix3d::Identity(), arm - centre);
    problem.add_constraint(
        0, rows1, 1, rows2,
        Bilateral<double>{.rows = 6, .near_rigid = near_rigid, .compliance = Compliance::step});
    const auto solution =
        carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-13});
    const Vector6d& r = problem.law(0).regularization;
    const Vector6d gamma = solution.impulse;
    const Vector6d apart =
        rows1 * solution.velocity.head<6>() + rows2 * solution.velocity.tail<6>();
    CHECK((apart + r.cwiseProduct(gamma)).norm() < by_solver(1e-9));  // J v = -R gamma
    const double off = (solution.velocity.head<6>() - together).norm() +
                       (solution.velocity.tail<6>() - transfer * together).norm();
    CHECK(off < (near_rigid == 1.0 ? 0.2 : error / 1000));
    error = off;
  }
  CHECK(error < by_solver(1e-7));
}

TEST_CASE("point: leaves the spin free", "[contact][example]") {
  ContactProblem<double> problem(0.01);
  Vector6d free = Vector6d::Zero();
  free << 0.1, 0.2, 7, 3, 0, 0;
  problem.add_body(free_body(2, 0.3), free);
  problem.add_constraint(0, carom::point_rows<double>(Vector3d(0, 0, 0.5)),
                         Bilateral<double>{.rows = 3});
  const auto solution = carom::solve_contact(problem);
  CHECK((carom::point_rows<double>(Vector3d(0, 0, 0.5)) * solution.velocity).norm() <
        by_solver(1e-7));
  CHECK(solution.velocity(2) == Approx(7).epsilon(rounding(5000, 1.0)));  // about the arm
}

TEST_CASE("coupler: velocities in their ratio", "[contact][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Matrix3d::Identity(), Vector3d(1, 2, 3));
  problem.add_constraint(0, carom::coupler_row<double>(3, 2, 0, -4.0), Bilateral<double>{});
  const auto solution = carom::solve_contact(problem);
  CHECK(solution.velocity(2) == Approx(-4 * solution.velocity(0)).epsilon(by_solver(1e-7)));
  CHECK(solution.velocity(1) == 2);
  // Least change: v = v* - J (J v*)/(J J'), J = (4, 0, 1).
  CHECK(solution.velocity(0) == Approx(1 - 4 * 7 / 17.0).epsilon(by_solver(1e-7)));
}

TEST_CASE("bilateral: every joint of a rigid chain carries the weight below it",
          "[contact][example]") {
  const int links = 20;
  const double dt = 0.01, mass = 0.5, gravity = 9.81;
  std::vector<Vector3d> velocity(links, Vector3d::Zero()), error = velocity;
  carom::SapSolver<double> solver({.tolerance = 1e-12});
  int most = 0;
  VectorXd impulse;
  for (int step = 0; step < 600; ++step) {
    ContactProblem<double> problem(dt);
    for (const Vector3d& v : velocity) {
      problem.add_body(mass * Matrix3d::Identity(), Vector3d(v - dt * gravity * Vector3d::UnitZ()));
    }
    for (int k = 0; k < links; ++k) {
      Bilateral<double> joint{.rows = 3, .compliance = Compliance::step};
      joint.error.head<3>() = error[std::size_t(k)];
      if (k == 0) {
        problem.add_constraint(0, Matrix3d::Identity(), joint);
      } else {
        problem.add_constraint(k, Matrix3d::Identity(), k - 1, Matrix3d(-Matrix3d::Identity()),
                               joint);
      }
    }
    VectorXd v = problem.free_velocity();
    const auto report = solver.solve(problem, v);
    most = std::max(most, report.iterations);
    impulse = solver.impulse();
    for (int k = links - 1; k >= 0; --k) {
      const Vector3d above = k == 0 ? Vector3d::Zero() : Vector3d(v.segment<3>(3 * k - 3));
      velocity[std::size_t(k)] = v.segment<3>(3 * k);
      error[std::size_t(k)] += dt * (velocity[std::size_t(k)] - above);
    }
  }
  CHECK(most <= 2);  // linear
  for (int k = 0; k < links; ++k) {
    CHECK(impulse(3 * k + 2) == Approx(dt * mass * gravity * (links - k)).epsilon(by_solver(1e-7)));
    CHECK(error[std::size_t(k)].norm() < by_solver(1e-3));
  }
}

TEST_CASE("bilateral: without a stiffness the rows hold exactly, and their error goes",
          "[contact][law]") {
  VectorSource<double> source(77u);
  for (const double scale : {1e-6, 1.0, 1e6}) {
    for (int rows = 1; rows <= 6; ++rows) {
      for (const double correction : {0.2, 1.0}) {
        const double dt = 0.01;
        ContactProblem<double> problem(dt);
        const VectorXd free = draw_matrix(source, 7, 1);
        problem.add_body(scale * Eigen::MatrixXd::Identity(7, 7), free);
        const Eigen::MatrixXd j = draw_matrix(source, rows, 7);
        Bilateral<double> law{.rows = rows, .correction = correction};
        law.error.head(rows) = draw_matrix(source, rows, 1) / 100;
        problem.add_constraint(0, j, law);
        const auto solution = carom::solve_contact(problem);
        CHECK(solution.report.converged());
        const VectorXd off = j * solution.velocity + correction / dt * law.error.head(rows);
        CHECK(off.norm() < by_solver(1e-6) * (1 + free.norm()));
      }
    }
  }
  // Step by step the error falls by the share, and so does the speed.
  double error = 0.01, speed = 3;
  for (int step = 0; step < 60; ++step) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::MatrixXd::Identity(1, 1), VectorXd::Constant(1, speed));
    Bilateral<double> law;
    law.error(0) = error;
    problem.add_constraint(0, Eigen::MatrixXd::Identity(1, 1), law);
    speed = carom::solve_contact(problem).velocity(0);
    CHECK(speed == Approx(-0.2 * error / 0.01).epsilon(by_solver(1e-6)).margin(by_solver(1e-9)));
    error += 0.01 * speed;
  }
  CHECK(std::abs(error) < by_solver(1e-6));
  CHECK(std::abs(speed) < by_solver(1e-4));
}

TEST_CASE("bilateral: joints that contradict each other have an answer between them",
          "[contact][law]") {
  // Two bars hold one point at places that differ by e: it goes half way, whatever the load.
  for (const double mass : {1e-3, 1.0, 1e3}) {
    for (const double e : {0.0, 1e-12, 1e-6, 1e-2}) {
      ContactProblem<double> problem(0.01);
      problem.add_body(mass * Matrix3d::Identity(), Vector3d(0.3, 0, -0.0981));
      for (const double error : {0.0, e}) {
        problem.add_constraint(0, Matrix3d::Identity(),
                               Bilateral<double>{.rows = 3, .error = error * Vector6d::Ones()});
      }
      const auto solution = carom::solve_contact(problem);
      CAPTURE(mass, e, to_string(solution.report.status));
      CHECK(solution.report.converged());
      const Vector3d expected = Vector3d::Constant(-0.2 * e / 2 / 0.01);
      CHECK((solution.velocity - expected).norm() < by_solver(1e-6) * (0.3 + expected.norm()));
    }
  }
}

TEST_CASE("bilateral: data are refused by name", "[contact][input]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Matrix3d::Identity(), Vector3d::Zero());
  const auto refusal = [&](const Bilateral<double>& law) {
    return problem.check_constraint(0, Matrix3d::Identity(), law);
  };
  CHECK(refusal({.rows = 3}).empty());
  CHECK(refusal({.rows = 0}) == "constraint 0: rows: expected a number in [1, 6], got 0");
  CHECK(refusal({.rows = 7}) == "constraint 0: rows: expected a number in [1, 6], got 7");
  CHECK(refusal({.rows = 2}) == "constraint 0: Jacobian rows: expected 2, got 3");
  Bilateral<double> off{.rows = 3};
  off.error(1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(off) == "constraint 0: error entry 1: expected a finite number, got nan");
  CHECK(refusal({.rows = 3, .stiffness = -2}) ==
        "constraint 0: stiffness: expected a number > 0, got -2");
  const std::string idle = "expected its default, as without a stiffness nothing gives way, got ";
  CHECK(refusal({.rows = 3, .dissipation_time = 0.5}) ==
        "constraint 0: dissipation time: " + idle + "0.5");
  CHECK(refusal({.rows = 3, .near_rigid = 0.5}) ==
        "constraint 0: near-rigid factor: " + idle + "0.5");
  CHECK(refusal({.rows = 3, .stiffness = 7, .compliance = Compliance::step}) ==
        "constraint 0: stiffness: expected none, as its compliance is that of the step, got 7");
  CHECK(refusal({.rows = 3, .stiffness = 7, .correction = 1}) ==
        "constraint 0: correction: expected its default, as it is of what does not give way, "
        "got 1");
  CHECK(refusal({.rows = 3, .correction = 1.5}) ==
        "constraint 0: correction: expected a number in [0, 1], got 1.5");
}

}  // namespace bilateral_test
