// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/composition.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace composition_test {

using namespace carom::testing;
using carom::composed_step, carom::Quadrature, carom::suzuki_shares, carom::VariationalStepper;
using carom::VectorX, carom::yoshida_shares;

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

/// The double pendulum's state (q, v) at the end by Gragg's rule extrapolated to order 16, in
/// steps of 0.05: an integrator that shares nothing with the stepper.
VectorX<double> reference_end(const VectorX<double>& start, double duration) {
  const auto slope = [](const VectorX<double>& y) {
    // From the Lagrangian by hand: M = (2, c; c, 1), c = cos(q₀ − q₁).
    const double c = std::cos(y(0) - y(1)), s = std::sin(y(0) - y(1));
    const double a = -s * y(3) * y(3) - 2 * std::sin(y(0));
    const double b = s * y(2) * y(2) - std::sin(y(1));
    const double determinant = 2 - c * c;
    VectorX<double> result(4);
    result << y(2), y(3), (a - c * b) / determinant, (2 * b - c * a) / determinant;
    return result;
  };
  const auto gragg = [&](const VectorX<double>& y, double span, int parts) {
    const double h = span / parts;
    VectorX<double> before = y, at = y + h * slope(y);
    for (int k = 1; k < parts; ++k) {
      const VectorX<double> next = before + 2 * h * slope(at);
      before = at;
      at = next;
    }
    return VectorX<double>((before + at + h * slope(at)) / 2);
  };
  VectorX<double> y = start;
  const int steps = int(std::lround(duration / 0.05));
  for (int step = 0; step < steps; ++step) {
    constexpr int rows = 8;
    VectorX<double> table[rows][rows];
    for (int i = 0; i < rows; ++i) {
      table[i][0] = gragg(y, duration / steps, 2 * (i + 1));
      for (int j = 1; j <= i; ++j) {
        const double ratio = double(i + 1) / (i - j + 1);
        table[i][j] =
            table[i][j - 1] + (table[i][j - 1] - table[i - 1][j - 1]) / (ratio * ratio - 1);
      }
    }
    y = table[rows - 1][rows - 1];
  }
  return y;
}

}  // namespace

TEST_CASE("composition: shares sum to one and their cubes to zero", "[variational][law]") {
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

TEST_CASE("composition: smooth motion against an integrator of high order",
          "[variational][oracle]") {
  const VectorX<double> q = numbers<double>({1, -0.5}), v = numbers<double>({0.5, 1});
  VectorX<double> start(4);
  start << q, v;
  const VectorX<double> exact = reference_end(start, 2);
  const auto yoshida = yoshida_shares<double>();
  const auto error = [&](std::span<const double> shares, int steps) {
    VariationalStepper<DoublePendulum<double>> stepper(DoublePendulum<double>{});
    auto state = stepper.make_state(q, v);
    auto saved = state;
    for (int k = 0; k < steps; ++k) {
      REQUIRE(composed_step(stepper, state, 2.0 / steps, shares, saved).converged());
    }
    return (state.q - exact.head(2)).norm();
  };
  const double whole[] = {1};
  const double m1 = error(whole, 200), m2 = error(whole, 400);
  const double y1 = error(yoshida, 200), y2 = error(yoshida, 400);
  CAPTURE(m1, m2, y1, y2);
  CHECK(std::abs(std::log2(m1 / m2) - 2) < 0.05);
  CHECK(std::abs(std::log2(y1 / y2) - 4) < 0.1);
  // An error of the method, of order 4.
  CHECK(y2 < by_step(1e-7));
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

}  // namespace composition_test
