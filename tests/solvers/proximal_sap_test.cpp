// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/proximal_sap.hpp"

#include <cmath>
#include <limits>

#include "carom/solvers/gauss_seidel.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/dual_solver_laws.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"

namespace proximal_sap_test {

using carom::ContactProblem, carom::DelassusForm, carom::DelassusProblem, carom::FrictionLaw,
    carom::Index, carom::ProximalSap, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::draw_problem, carom::testing::VectorSource;

namespace {

template <typename Scalar = double>
DelassusProblem<Scalar> dual_of(const ContactProblem<Scalar>& bodies) {
  DelassusProblem<Scalar> problem;
  DelassusForm<Scalar>().write(bodies, problem);
  return problem;
}

/// A body of three velocities on a plane, by its centre.
carom::testing::RawProblem make_block(double mass, double friction, const Eigen::Vector3d& v) {
  carom::testing::RawProblem raw;
  raw.bodies.push_back({mass * Eigen::Matrix3d::Identity(), v});
  carom::testing::RawContact contact;
  contact.first_jacobian = Eigen::Matrix3d::Identity();
  contact.law = {friction, {1e-3, 1e-3}, Eigen::Vector3d::Zero(), true};
  raw.contacts.push_back(contact);
  return raw;
}

}  // namespace

TEMPLATE_TEST_CASE("proximal_sap: random bodies, rigid or not, by either law", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<double> source(41u);
  for (int round = 0; round < 12; ++round) {
    auto raw = draw_problem(source, {{6, 6, 3, 6}, 1 + round / 2, 1, 1});
    for (auto& contact : raw.contacts) {
      contact.law.friction = std::min(contact.law.friction, 0.3);
      contact.law.bias_velocity.setZero();
    }
    for (const bool rigid : {false, true}) {
      const auto bodies = build<Scalar>(rigid ? make_rigid(raw) : raw);
      for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        const Scalar tolerance = single ? Scalar(1e-4) : Scalar(1e-9);
        ProximalSap<Scalar> solver({.law = law, .tolerance = tolerance});
        VectorX<Scalar> velocity = bodies.free_velocity();
        const auto report = solver.solve(bodies, velocity);
        const auto dual = dual_of(bodies);
        const auto certificate = certify(dual, VectorX<Scalar>(solver.impulse()), law);
        CAPTURE(round, to_string(law), rigid, report.residual, report.iterations,
                certificate.natural_map_error, to_string(report.status));
        CHECK(report.converged());
        CHECK(report.residual <= tolerance);
        CHECK(std::abs(report.residual - certificate.natural_map_error) <=
              carom::testing::rounding(2000, Scalar(1)));
        VectorX<Scalar> expected = velocity;
        write_velocity(bodies, solver.impulse(), expected);
        CHECK(velocity == expected);
      }
    }
  }
}

TEST_CASE("proximal_sap: the compliant convex problem is SapSolver's own", "[solvers][law]") {
  VectorSource<double> source(42u);
  for (int round = 0; round < 6; ++round) {
    const auto bodies = build(draw_problem(source, {{6, 6, 3}, 6, 1, 1}));
    ProximalSap<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-11});
    carom::SapSolver<double> sap({.tolerance = 1e-12});
    VectorX<double> velocity = bodies.free_velocity(), expected = velocity;
    CHECK(solver.solve(bodies, velocity).converged());
    CHECK(sap.solve(bodies, expected).residual <= 1e-10);
    CHECK((velocity - expected).norm() <= 1e-7 * (1 + expected.norm()));
  }
}

TEST_CASE("proximal_sap: agrees with Gauss-Seidel on a rigid stack, hyperstatic",
          "[solvers][law]") {
  const auto bodies =
      build(make_rigid(carom::testing::make_stack({.count = 3, .copies = 2, .push = 0.3})));
  const auto dual = dual_of(bodies);
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    ProximalSap<double> solver({.law = law, .tolerance = 1e-10});
    VectorX<double> velocity = bodies.free_velocity(), other = velocity;
    const auto report = solver.solve(bodies, velocity);
    CAPTURE(to_string(law), report.residual, report.iterations);
    CHECK(report.converged());
    carom::GaussSeidel<double> sweeps({.law = law, .tolerance = 1e-10, .iteration_limit = 1000000});
    VectorX<double> impulse = VectorX<double>::Zero(dual.row_count());
    CHECK(sweeps.solve(dual, impulse).converged());
    write_velocity(bodies, impulse, other);  // impulses are many, velocities one
    CHECK((velocity - other).norm() <= 1e-6);
  }
}

TEST_CASE("proximal_sap: a sliding block stays on the plane, a resting one does not creep",
          "[solvers][example]") {
  for (const double angle : {0.0, 0.3, 0.46, 0.6}) {
    const double fall = 0.0981;
    const Eigen::Vector3d v(angle == 0 ? 2.0 : fall * std::sin(angle), 0, -fall * std::cos(angle));
    const auto bodies = build(make_block(3, 0.5, v));
    ProximalSap<double> solver({.tolerance = 1e-13});
    VectorX<double> velocity = v;
    CHECK(solver.solve(bodies, velocity).converged());
    const double along = std::max(0.0, v(0) + 0.5 * v(2));
    CAPTURE(angle, velocity);
    CHECK(std::abs(velocity(2)) <= 1e-11);
    CHECK(std::abs(velocity(0) - along) <= 1e-11);
  }
}

TEST_CASE("proximal_sap: nothing to do, and a guess that is no number", "[solvers][law]") {
  ContactProblem<double> none(0.01);
  none.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
  VectorX<double> velocity = VectorX<double>::Zero(3);
  ProximalSap<double> solver;
  CHECK(solver.solve(none, velocity).converged());
  CHECK(velocity == Eigen::Vector3d(1, 2, 3));
  const auto open = build(make_block(1, 0.5, {1, 0, 1}));
  CHECK(solver.solve(open, velocity).iterations == 0);
  CHECK(velocity == Eigen::Vector3d(1, 0, 1));
  velocity(1) = std::numeric_limits<double>::quiet_NaN();
  const auto report = solver.solve(open, velocity);
  CHECK(report.status == SolveStatus::not_finite);
  CHECK(std::isnan(velocity(1)));
  CHECK(velocity(0) == 1);
  const auto slides = build(make_block(1, 0.1, {1, 0, -1}));
  velocity.setZero();
  ProximalSap<double> idle({.iteration_limit = 0});
  CHECK(idle.solve(slides, velocity).status == SolveStatus::iteration_limit);
  CHECK(velocity == slides.free_velocity());
}

TEST_CASE("proximal_sap: constraints keep their own compliance", "[solvers][law]") {
  VectorSource<double> source(43u);
  for (int round = 0; round < 6; ++round) {
    const auto raw = carom::testing::draw_constrained(source, {6, 3, 6}, 4);
    const auto bodies = carom::testing::build<double>(raw);
    const auto dual = dual_of(bodies);
    ProximalSap<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-9});
    VectorX<double> velocity = bodies.free_velocity();
    const auto report = solver.solve(bodies, velocity);
    const auto certificate = certify(dual, VectorX<double>(solver.impulse()), FrictionLaw::convex);
    CAPTURE(round, report.residual, certificate.natural_map_error);
    CHECK(report.converged());
    CHECK(certificate.natural_map_error <= 1.001e-9);
  }
}

TEST_CASE("proximal_sap: a ball with rolling friction slides along the plane, not off it",
          "[solvers][example]") {
  const double mass = 2, radius = 0.1, inertia = 0.4 * mass * radius * radius, weight = 0.0981;
  const double friction = 0.5, rolling = 0.02;
  ContactProblem<double> problem(0.01);
  VectorX<double> masses(6), free = VectorX<double>::Zero(6);
  masses << mass, mass, mass, inertia, inertia, inertia;
  free(0) = 3;
  free(2) = -weight;
  problem.add_body(Eigen::MatrixXd(masses.asDiagonal()), free);
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(6, 6);
  jacobian(0, 4) = -radius;
  jacobian(1, 3) = radius;
  carom::WeightedConstraint<double> law;
  law.set = carom::cone_impulses<double>(carom::ImpulseShape::rolling, {friction, rolling, 0.01});
  for (const double softness : {1e-3, 1e-6, 1e-9}) {
    const double tangent = softness / mass, turning = softness / inertia;
    law.regularization << tangent, tangent, tangent, turning, turning, turning;
    ContactProblem<double> ball = problem;
    ball.add_constraint(0, jacobian, law);
    ProximalSap<double> solver({.tolerance = 1e-12});
    VectorX<double> velocity = free;
    const auto report = solver.solve(ball, velocity);
    CAPTURE(softness, report.residual, report.iterations, velocity.transpose());
    CHECK(report.converged());
    const double normal = mass * weight / (1 + softness);
    CHECK(solver.impulse()(2) == Approx(normal).epsilon(1e-9));
    CHECK(velocity(0) == Approx(3 - friction * normal / mass).epsilon(1e-10));
    CHECK(velocity(4) == Approx((friction * radius - rolling) * normal / inertia).epsilon(1e-9));
    CHECK(std::abs(velocity(2) + softness * weight / (1 + softness)) <= 1e-10);
  }
}

TEST_CASE("proximal_sap: options are kept as given", "[solvers][example]") {
  carom::testing::check_options_kept<ProximalSap<double>>();
}

TEST_CASE("proximal_sap: where squares overflow the end is told and the velocity is a number",
          "[solvers][input]") {
  const auto bodies = build(make_block(1, 0.5, {1e153, 0, -1e153}));
  ProximalSap<double> solver;
  VectorX<double> velocity = bodies.free_velocity();
  CHECK(solver.solve(bodies, velocity).status == SolveStatus::not_finite);
  CHECK(velocity.allFinite());
}

}  // namespace proximal_sap_test
