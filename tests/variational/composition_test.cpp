// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/composition.hpp"

#include <cmath>
#include <numbers>
#include <span>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

using namespace carom::testing;
using carom::composed_step, carom::Quadrature, carom::suzuki_shares, carom::VariationalStepper;
using carom::yoshida_shares;

namespace {

double pendulum_error(const Quadrature<double>& rule, std::span<const double> shares, int steps) {
  VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{}, {rule});
  auto state = stepper.make_state(numbers<double>({std::numbers::pi / 2}), numbers<double>({0}));
  auto saved = state;
  for (int k = 0; k < steps; ++k) {
    const auto report = composed_step(stepper, state, 10.0 / steps, shares, saved);
    if (!report.converged()) return 1;
  }
  return std::abs(state.q(0) + 0.946862453256);
}

}  // namespace

TEST_CASE("composition: shares sum to one and their cubes to nothing", "[variational][law]") {
  double sum = 0, cubes = 0;
  for (const double w : yoshida_shares<double>()) sum += w, cubes += w * w * w;
  CHECK(std::abs(sum - 1) <= rounding(4, 1.0));
  CHECK(std::abs(cubes) <= rounding(16, 5.0));
  sum = cubes = 0;
  for (const double w : suzuki_shares<double>()) sum += w, cubes += w * w * w;
  CHECK(std::abs(sum - 1) <= rounding(4, 1.0));
  CHECK(std::abs(cubes) <= rounding(16, 1.0));
}

TEST_CASE("composition: both rules are of order 4", "[variational][law]") {
  const auto yoshida = yoshida_shares<double>();
  const auto suzuki = suzuki_shares<double>();
  for (const auto& rule : {Quadrature<double>::midpoint(), Quadrature<double>::verlet()}) {
    const double y1 = pendulum_error(rule, yoshida, 100), y2 = pendulum_error(rule, yoshida, 200);
    const double s1 = pendulum_error(rule, suzuki, 50), s2 = pendulum_error(rule, suzuki, 100);
    CAPTURE(y1, y2, s1, s2);
    CHECK(std::abs(std::log2(y1 / y2) - 4) < 0.1);
    CHECK(std::abs(std::log2(s1 / s2) - 4) < 0.1);
    CHECK(s2 < y1 / 10);
  }
}

TEST_CASE("composition: a failure brings the state back", "[variational][edge]") {
  VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{});
  auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0}));
  auto saved = state;
  state.momentum(0) = std::numeric_limits<double>::infinity();
  const auto shares = yoshida_shares<double>();
  CHECK_FALSE(composed_step<Pendulum<double>>(stepper, state, 0.1, shares, saved).converged());
  CHECK(state.q(0) == 1);
  CHECK(state.time == 0);
}
