// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/simple_systems.hpp"

#include <cmath>

#include "carom/variational/stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace simple_systems_test {

using carom::testing::by_differences, carom::testing::by_step, carom::testing::rounding;

using namespace carom::examples;
using carom::VariationalStepper, carom::VectorX;
using carom::testing::numbers;

namespace {

/// Largest distance of the energy from its start in steps of 1 ms.
template <typename System>
double energy_error(const System& system, const VectorX<double>& q, const VectorX<double>& v,
                    double duration) {
  VariationalStepper<System> stepper(system);
  auto state = stepper.make_state(q, v);
  const double start = stepper.energy(state);
  double worst = 0;
  while (state.time < duration) {
    REQUIRE(stepper.step(state, 1e-3).converged());
    worst = std::max(worst, std::abs(stepper.energy(state) - start));
  }
  return worst;
}

}  // namespace

TEST_CASE("simple_systems: Lagrangians give the textbooks' accelerations", "[scenes][example]") {
  const auto push = [](const auto& system, const VectorX<double>& q) {
    VariationalStepper stepper(system);
    auto state = stepper.make_state(q, VectorX<double>::Zero(q.size()));
    REQUIRE(stepper.step(state, 1e-3).converged());
    VectorX<double> v(q.size());
    REQUIRE(stepper.write_velocity(state, v));
    return VectorX<double>(v / 1e-3);
  };
  CHECK(push(BouncingBall{2, 3}, numbers<double>({5}))(0) == Approx(-3));
  CHECK(push(PointPendulum{2, 5, 3}, numbers<double>({0.4}))(0) ==
        Approx(-1.5 * std::sin(0.4)).epsilon(by_differences(1e-5)));
  CHECK(push(SpringMass{2, 3}, numbers<double>({4}))(0) ==
        Approx(-6).epsilon(by_differences(1e-5)));
  CHECK(push(KeplerOrbit{}, numbers<double>({0, 2}))(1) ==
        Approx(-0.25).epsilon(by_differences(1e-5)));
  // Both rods aslant by a little: the lower one, seen from the upper one's end, stays behind.
  const auto both = push(PointDoublePendulum{1, 1, 1, 1, 9.81}, numbers<double>({0.01, 0.01}));
  CHECK(both(0) == Approx(-9.81 * 0.01).epsilon(by_step(1e-3)));
  CHECK(std::abs(both(1)) < by_step(1e-4));
}

TEST_CASE("simple_systems: energy is kept", "[scenes][law]") {
  CHECK(energy_error(PointPendulum{}, numbers<double>({1.5}), numbers<double>({0}), 2) <
        by_step(1e-4));
  CHECK(energy_error(PointDoublePendulum{0.7, 1.2, 2, 0.4, 9.81}, numbers<double>({1.5, -1}),
                     numbers<double>({0, 1}), 2) < by_step(1e-3));
  CHECK(energy_error(SpringMass{2, 3}, numbers<double>({1}), numbers<double>({-2}), 2) <
        rounding(5000, 1.0));
  CHECK(energy_error(KeplerOrbit{}, numbers<double>({0.4, 0}), numbers<double>({0, 2}), 2) <
        by_step(1e-4));
}

}  // namespace simple_systems_test
