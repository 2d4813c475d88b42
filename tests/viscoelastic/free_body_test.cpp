// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/free_body.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/Dense>

#include "carom/linalg/detail/growing.hpp"

#include "support/box_body.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace free_body_test {

using carom::testing::by_differences, carom::testing::by_step;

using carom::FreeBody, carom::FreeBodyState, carom::Growing, carom::Index, carom::MatrixX,
    carom::VectorX, carom::Vector3;
using carom::testing::make_box, carom::testing::rounding;

namespace {

FreeBodyState<double> tumbling() {
  FreeBodyState<double> state;
  state.position << 1, -2, 0.5;
  state.orientation << 0.1, -0.5, 0.3, 0.7;
  state.orientation.normalize();
  state.velocity << 0.3, -0.2, 1;
  state.rate << 2, -1, 3;
  return state;
}

struct Arrays {
  Growing<MatrixX<double>> mass, jacobian;
  Growing<VectorX<double>> acceleration, points, drift, velocity, displacement;
  Arrays() {
    mass.grow(6, 6);
    jacobian.grow(12, 6);
    points.grow(12);
    drift.grow(12);
    for (auto* v : {&acceleration, &velocity, &displacement}) v->grow(6);
  }
};

}  // namespace

TEST_CASE("free_body: J v and drift are the points' motion", "[viscoelastic][derivative]") {
  const FreeBody<double> box = make_box();
  Arrays now, next, last;
  const FreeBodyState<double> state = tumbling();
  box.write_contacts(state, now.points, now.jacobian, now.drift);
  box.write_velocity(state, now.velocity);
  const double h = 1e-5;
  FreeBodyState<double> ahead = state, behind = state;
  now.displacement = h * now.velocity;
  box.advance(ahead, now.displacement, now.velocity);
  now.displacement = -h * now.velocity;
  box.advance(behind, now.displacement, now.velocity);
  box.write_contacts(ahead, next.points, next.jacobian, next.drift);
  box.write_contacts(behind, last.points, last.jacobian, last.drift);
  const VectorX<double> rate = (next.points - last.points) / (2 * h);
  const VectorX<double> bend = (next.points - 2 * now.points + last.points) / (h * h);
  CHECK((rate - now.jacobian * now.velocity).norm() <= by_differences(1e-8));
  CHECK((bend - now.drift).norm() <= by_differences(1e-4));
}

TEST_CASE("free_body: free motion keeps momentum and energy", "[viscoelastic][law]") {
  FreeBody<double> box = make_box();
  box.gravity.setZero();
  FreeBodyState<double> state = tumbling();
  Arrays a;
  const auto spin = [&] {
    box.write_dynamics(state, a.mass, a.acceleration);
    return Vector3<double>(a.mass.bottomRightCorner<3, 3>() * state.rate);
  };
  const Vector3<double> before = spin();
  const double energy = box.energy(state);
  const int steps = 2000;
  const double h = 1e-4;
  for (int k = 0; k < steps; ++k) {
    box.write_dynamics(state, a.mass, a.acceleration);
    box.write_velocity(state, a.velocity);
    a.displacement = h * (a.velocity + h / 2 * a.acceleration);
    a.velocity += h * a.acceleration;
    box.advance(state, a.displacement, a.velocity);
  }
  CHECK((spin() - before).norm() <= by_step(1e-3) * before.norm());
  CHECK(std::abs(box.energy(state) - energy) <= by_step(1e-3) * energy);
  CHECK(std::abs(state.orientation.norm() - 1) <= rounding(8, 1.0));
  const auto r = FreeBody<double>::rotation(state);
  CHECK((r * r.transpose() - carom::SquareMatrix<double, 3>::Identity()).norm() <=
        rounding(20, 1.0));
  CHECK(r.determinant() > 0);
}

TEST_CASE("free_body: without a word it falls along −z with 9.81 m/s²", "[viscoelastic][example]") {
  const FreeBody<double> body(2, carom::SquareMatrix<double, 3>::Identity(), {});
  Arrays a;
  body.write_dynamics(FreeBodyState<double>(), a.mass, a.acceleration);
  CHECK(a.acceleration.head<3>() == Vector3<double>(0, 0, -9.81));
  CHECK(a.acceleration.tail<3>().isZero(0));
}

TEST_CASE("free_body: bad bodies are refused", "[viscoelastic][example]") {
  const carom::SquareMatrix<double, 3> inertia = carom::SquareMatrix<double, 3>::Identity();
  CHECK_THROWS_AS(FreeBody<double>(0, inertia, {}), std::invalid_argument);
  CHECK_THROWS_AS(FreeBody<double>(-1, inertia, {}), std::invalid_argument);
  CHECK_THROWS_AS(FreeBody<double>(std::nan(""), inertia, {}), std::invalid_argument);
  carom::SquareMatrix<double, 3> flat = inertia;
  flat(2, 2) = 0;
  CHECK_THROWS_AS(FreeBody<double>(1, flat, {}), std::invalid_argument);
  flat << 1, 2, 0, 2, 1, 0, 0, 0, 1;
  CHECK_THROWS_AS(FreeBody<double>(1, flat, {}), std::invalid_argument);
  const double inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(FreeBody<double>(1, inertia, {{0, 0, 0}, {0, inf, 0}}),
                    Catch::Contains("point 1 entry 1"));
}

}  // namespace free_body_test
