// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/wrench_contact.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/surface.hpp"
#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace wrench_contact_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::CompliantContact, carom::ContactProblem, carom::ImpulseShape, carom::WrenchContact;
using carom::testing::draw_matrix, carom::testing::VectorSource;
using Eigen::Matrix3d, Eigen::Vector3d;
using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Vector6d = Eigen::Matrix<double, 6, 1>;

namespace {

const double dt = 0.01, gravity = 9.81, mass = 2, radius = 0.25;
const double inertia = 0.4 * mass * radius * radius;

/// A sphere on a plane whose normal is z, under gravity and a force, for some steps.
struct Sphere {
  Vector6d velocity = Vector6d::Zero(), change = Vector6d::Zero();  ///< the last step's
  Eigen::VectorXd impulse;
  double gap = 0;

  void step(WrenchContact<double> law, const Vector3d& force, int count) {
    Matrix6d momentum = mass * Matrix6d::Identity();
    momentum.topLeftCorner<3, 3>() = inertia * Matrix3d::Identity();
    const Matrix6d rows = carom::frame_rows<double>(Matrix3d::Identity(), Vector3d(0, 0, -radius));
    const auto height = law.shape == ImpulseShape::rolling            ? 6
                        : law.shape == ImpulseShape::spinless_rolling ? 5
                                                                      : 4;
    Eigen::MatrixXd jacobian = rows.topRows(height);
    if (height == 4) jacobian.row(3) = rows.row(5);
    for (int k = 0; k < count; ++k) {
      law.contact.gap = gap;
      Vector6d free = velocity;
      free.tail<3>() += dt * force / mass;
      ContactProblem<double> problem(dt);
      problem.add_body(momentum, free);
      problem.add_constraint(0, jacobian, law);
      const auto solution =
          carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-13});
      change = solution.velocity - velocity;
      velocity = solution.velocity;
      impulse = solution.impulse;
      gap += dt * velocity(5);
    }
  }
};

const CompliantContact<double> ground{
    .gap = 0, .stiffness = 1e5, .dissipation_time = 0.01, .friction = 0.8};

}  // namespace

TEST_CASE("wrench: a sphere on an incline rolls only above its limit", "[contact][example]") {
  const double roll = 0.02;  // tan(limit) = 0.02/0.25 = 0.08
  const std::vector<std::pair<ImpulseShape, double>> cases{
      {ImpulseShape::rolling, 0.04},          {ImpulseShape::rolling, 0.079},
      {ImpulseShape::rolling, 0.081},         {ImpulseShape::rolling, 0.2},
      {ImpulseShape::spinless_rolling, 0.04}, {ImpulseShape::spinless_rolling, 0.2}};
  for (const auto& [shape, slope] : cases) {
    const WrenchContact<double> law{.contact = ground, .shape = shape, .rolling_friction = roll};
    const double cosine = 1 / std::sqrt(1 + slope * slope), sine = slope * cosine;
    Sphere sphere;
    sphere.step(law, mass * gravity * Vector3d(sine, 0, -cosine), 400);
    if (slope < roll / radius) {
      // Creeps at R m_roll, and does not speed up.
      CHECK(std::abs(sphere.change(3)) < by_solver(1e-10));
      CHECK(sphere.impulse(4) ==
            Approx(-dt * mass * gravity * sine * radius).epsilon(by_solver(1e-6)));
      CHECK(sphere.velocity(1) < 0.02);
    } else {
      const double expected = (gravity * sine - gravity * cosine * roll / radius) /
                              (1 + inertia / mass / radius / radius);
      CHECK(sphere.change(3) / dt == Approx(expected).epsilon(by_solver(1e-7)));
      CHECK(sphere.change(1) * radius == Approx(sphere.change(3)).epsilon(by_solver(1e-7)));
    }
  }
}

TEST_CASE("wrench: torsional friction slows a spinning body at a constant rate",
          "[contact][example]") {
  const double torsional = 0.03;
  for (const ImpulseShape shape : {ImpulseShape::torsional, ImpulseShape::rolling}) {
    const WrenchContact<double> law{
        .contact = ground, .shape = shape, .torsional_friction = torsional};
    Sphere sphere;
    sphere.velocity(2) = 100;
    // The convex law throws a fast spinning body up first; it lands and settles.
    sphere.step(law, mass * gravity * Vector3d(0, 0, -1), 500);
    CHECK(sphere.velocity(2) > 10);
    CHECK(sphere.change(2) / dt ==
          Approx(-torsional * mass * gravity / inertia).epsilon(by_solver(1e-6)));
    sphere.step(law, mass * gravity * Vector3d(0, 0, -1), 1000);
    CHECK(std::abs(sphere.velocity(2)) < by_solver(1e-9));
  }
}

TEST_CASE("wrench: a bond hangs until pulled by more than itself", "[contact][example]") {
  // A ceiling: its normal points down, a weight hangs from it.
  const auto hang = [&](double bond, double weight, int steps) {
    double velocity = 0, gap = 0, impulse = 0;
    WrenchContact<double> law{
        .contact = {.gap = 0, .stiffness = 1e6, .dissipation_time = 0.01, .friction = 0.5},
        .shape = ImpulseShape::friction,
        .bond = bond};
    for (int k = 0; k < steps; ++k) {
      law.contact.gap = gap;
      ContactProblem<double> problem(dt);
      problem.add_body(mass * Matrix3d::Identity(), Vector3d(0, 0, velocity + dt * weight / mass));
      problem.add_constraint(0, Matrix3d::Identity(), law);
      const auto solution =
          carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-13});
      velocity = solution.velocity(2);
      impulse = solution.impulse(2);
      gap += dt * velocity;
    }
    return Vector3d(velocity, impulse, gap);
  };
  const Vector3d held = hang(20, 19.9, 500);
  CHECK(std::abs(held(0)) < by_solver(1e-9));
  CHECK(held(1) == Approx(-dt * 19.9).epsilon(by_solver(1e-8)));
  CHECK(held(2) > 0);
  CHECK(held(2) < by_solver(1e-2));
  const Vector3d falls = hang(20, 25, 1);  // slows the fall by all it has
  CHECK(falls(1) == Approx(-dt * 20).epsilon(rounding(5000, 1.0)));
  CHECK(falls(0) == Approx(dt * (25 - 20) / mass).epsilon(rounding(5000, 1.0)));
}

TEST_CASE("wrench: a bond widens the friction cone", "[contact][example]") {
  const WrenchContact<double> law{.contact = {.gap = 0, .stiffness = 1e5, .friction = 0.5},
                                  .shape = ImpulseShape::friction,
                                  .bond = 30};
  const auto push = [&](double force) {
    ContactProblem<double> problem(dt);
    problem.add_body(mass * Matrix3d::Identity(), Vector3d(dt * force / mass, 0, 0));
    problem.add_constraint(0, Matrix3d::Identity(), law);
    return carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-13}).impulse;
  };
  CHECK(push(14.9)(0) == Approx(-dt * 14.9).epsilon(by_solver(2e-3)));  // mu (f_n + F) = 15 N
  const Eigen::VectorXd slides = push(40);
  CHECK(slides(0) == Approx(-0.5 * (slides(2) + dt * 30)).epsilon(by_solver(1e-9)));
}

TEST_CASE("wrench: elliptic friction is the round one of scaled tangents", "[contact][oracle]") {
  VectorSource<double> source(31u);
  const double mu1 = 0.7, mu2 = 0.2;
  for (int sample = 0; sample < 30; ++sample) {
    const Vector3d free = Vector3d(draw_matrix(source, 3, 1)) - Vector3d(0, 0, 1);
    const carom::WeightedContact<double> round{1, {1e-3, 2e-2}, {0, 0, 0}};
    ContactProblem<double> scaled(dt), direct(dt);
    scaled.add_body(mass * Matrix3d::Identity(), free);
    direct.add_body(mass * Matrix3d::Identity(), free);
    scaled.add_contact(0, carom::scaled_tangents(Matrix3d::Identity(), mu1, mu2), round);
    carom::WeightedBlock<double> law;
    law.set = carom::cone_impulses<double>(ImpulseShape::elliptic, {mu1, mu2, 0});
    law.regularization.head<3>() << 1e-3 / (mu1 * mu1), 1e-3 / (mu2 * mu2), 2e-2;
    direct.add_constraint(0, Matrix3d::Identity(), law);
    const auto a = carom::solve_contact(scaled, carom::SapOptions<double>{.tolerance = 1e-13});
    const auto b = carom::solve_contact(direct, carom::SapOptions<double>{.tolerance = 1e-13});
    CHECK((a.velocity - b.velocity).norm() < by_solver(1e-10));
    CHECK(std::abs(a.impulse(0) * mu1 - b.impulse(0)) < by_solver(1e-10));
    CHECK(std::abs(a.impulse(1) * mu2 - b.impulse(1)) < by_solver(1e-10));
  }
}

TEST_CASE("wrench: elliptic friction dissipates most of all impulses in its ellipse",
          "[contact][law]") {
  const double mu1 = 0.7, mu2 = 0.2;
  const WrenchContact<double> law{
      .contact = {.gap = 0, .stiffness = 1e6, .friction = mu1, .relative_slip = 1e-6},
      .shape = ImpulseShape::elliptic,
      .second_friction = mu2};
  ContactProblem<double> problem(dt);
  problem.add_body(mass * Matrix3d::Identity(), Vector3d(2, 3, -0.5));
  problem.add_constraint(0, Matrix3d::Identity(), law);
  const auto solution =
      carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-14});
  const Vector3d g = solution.impulse;
  CHECK(std::hypot(g(0) / mu1, g(1) / mu2) == Approx(g(2)).epsilon(by_solver(1e-10)));
  // The ellipse's point that works most against u_t: g_i ~ -mu_i^2 u_i.
  const double across =
      g(0) * mu2 * mu2 * solution.velocity(1) - g(1) * mu1 * mu1 * solution.velocity(0);
  CHECK(std::abs(across) < by_solver(1e-5) * g.norm());
  CHECK(g(0) < 0);
}

TEST_CASE("wrench: without a second friction the ellipse is a circle", "[contact][law]") {
  for (const double heading : {0.0, 0.9, 2.0, 4.5}) {
    for (const double mu : {0.1, 0.3}) {
      ContactProblem<double> problem(dt);
      problem.add_body(mass * Matrix3d::Identity(),
                       Vector3d(std::cos(heading), std::sin(heading), -0.5));
      problem.add_constraint(0, Matrix3d::Identity(),
                             WrenchContact<double>{.contact = {.gap = 0, .friction = mu},
                                                   .shape = ImpulseShape::elliptic});
      const Vector3d after = carom::solve_contact(problem).velocity;
      CHECK(after.head<2>().norm() == Approx(1 - mu * 0.5).epsilon(by_solver(1e-6)));
      CHECK(std::abs(after.z()) < by_solver(1e-6));
    }
  }
}

TEST_CASE("wrench: without a stiffness no row gives way", "[contact][law]") {
  for (const double scale : {1e-3, 1.0, 1e3}) {
    for (const auto& [shape, rows] :
         {std::pair(ImpulseShape::friction, 3), std::pair(ImpulseShape::rolling, 6),
          std::pair(ImpulseShape::spinless_rolling, 5)}) {
      WrenchContact<double> law{.contact = {.gap = 0, .friction = 1}, .shape = shape};
      if (rows > 3) law.rolling_friction = 1;
      if (rows == 6) law.torsional_friction = 1;
      ContactProblem<double> problem(dt);
      Vector6d free = Vector6d::Zero(), push;
      push << 0.1, -0.2, -1, 0.1, 0.2, 0.1;
      free.head(rows) = push.head(rows);
      problem.add_body(scale * Matrix6d::Identity(), free);
      problem.add_constraint(0, Matrix6d::Identity().topRows(rows), law);
      CHECK(problem.is_rigid(0));
      CHECK(carom::solve_contact(problem).velocity.norm() < by_solver(1e-6));
    }
  }
}

TEST_CASE("wrench: data are refused by name", "[contact][input]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Matrix6d::Identity(), Vector6d::Zero());
  const auto refusal = [&](const WrenchContact<double>& law) {
    return problem.check_constraint(0, Matrix6d::Identity(), law);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal({.contact = ground}).empty());
  CHECK(refusal({.contact = {.gap = nan, .stiffness = 1}}) ==
        "constraint 0: gap: expected a finite number, got nan");
  CHECK(refusal({.contact = ground, .rolling_friction = -1}) ==
        "constraint 0: rolling friction: expected a finite number >= 0, got -1");
  CHECK(refusal({.contact = ground, .torsional_friction = nan}) ==
        "constraint 0: torsional friction: expected a finite number >= 0, got nan");
  CHECK(refusal({.contact = ground, .second_friction = -2}) ==
        "constraint 0: second friction: expected a finite number >= 0, got -2");
  CHECK(refusal({.contact = ground, .second_friction = 2}) ==
        "constraint 0: second friction: expected none but of the elliptic shape, got 2");
  CHECK(refusal({.contact = ground, .shape = ImpulseShape::torsional, .rolling_friction = 2}) ==
        "constraint 0: rolling friction: expected 0 of a shape without rolling, got 2");
  CHECK(
      refusal(
          {.contact = ground, .shape = ImpulseShape::spinless_rolling, .torsional_friction = 2}) ==
      "constraint 0: torsional friction: expected 0 of a shape without torsion, got 2");
  CHECK(refusal({.contact = {.gap = 0, .dissipation_time = 2}}) ==
        "constraint 0: dissipation time: expected its default, as without a stiffness nothing "
        "gives way, got 2");
  CHECK(refusal({.contact = ground, .bond = -2}) ==
        "constraint 0: bond: expected a finite number >= 0, got -2");
  CHECK(refusal({.contact = ground, .shape = ImpulseShape::torsional}) ==
        "constraint 0: Jacobian rows: expected 4, got 6");
  CHECK(refusal({.contact = ground, .shape = ImpulseShape::intervals}) ==
        "constraint 0: shape: expected a cone, got intervals");
  CHECK(refusal({.contact = ground, .shape = ImpulseShape::planar}) ==
        "constraint 0: shape: expected one in space, got planar");
}

}  // namespace wrench_contact_test
