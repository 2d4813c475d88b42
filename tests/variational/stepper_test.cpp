// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/stepper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace stepper_test {

using namespace carom::testing;
using carom::Index, carom::Quadrature, carom::SolveStatus;
using carom::VariationalStepper, carom::VectorX;

namespace {

struct Walled {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::sqrt;
    return v(0) * v(0) / 2.0 - 1.0 / sqrt(q(0));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("stepper: free fall is exact for any step", "[variational][example]", float,
                   double) {
  using Scalar = TestType;
  for (const double h : {0.01, 0.3, 2.0}) {
    VariationalStepper<Thrown<Scalar>> stepper(Thrown<Scalar>{});
    auto state = stepper.make_state(numbers<Scalar>({0, 1}), numbers<Scalar>({3, 4}));
    for (int k = 1; k <= 20; ++k) {
      REQUIRE(stepper.step(state, Scalar(h)).converged());
      const double t = k * h, x = 3 * t, y = 1 + 4 * t - 9.81 / 2 * t * t;
      const Scalar scale = Scalar(2 + t * t * 10 + std::abs(x));
      CAPTURE(h, k, state.q);
      CHECK(std::abs(state.q(0) - Scalar(x)) <= rounding(16 * k, scale));
      CHECK(std::abs(state.q(1) - Scalar(y)) <= rounding(16 * k, scale));
      CHECK(std::abs(state.momentum(1) - 2 * Scalar(4 - 9.81 * t)) <=
            rounding(16 * k, scale / Scalar(std::min(h, 1.0))));
      CHECK(std::abs(state.time - Scalar(t)) <= rounding(k, Scalar(t)));
    }
  }
}

TEST_CASE("stepper: the oscillator turns by tan(Omega h/2) = omega h/2 and keeps its energy",
          "[variational][oracle]") {
  using Scalar = double;
  const Oscillator<Scalar> system{Scalar(2), Scalar(18)};  // omega = 3
  for (const double h : {0.1, 0.5, 3.0}) {
    VariationalStepper<Oscillator<Scalar>> stepper(system);
    auto state = stepper.make_state(numbers<Scalar>({1}), numbers<Scalar>({0}));
    const double turn = 2 * std::atan(3 * h / 2);
    for (int k = 1; k <= 100; ++k) {
      REQUIRE(stepper.step(state, Scalar(h)).converged());
      CAPTURE(h, k);
      CHECK(std::abs(state.q(0) - Scalar(std::cos(k * turn))) <= rounding(16 * k, Scalar(1)));
      CHECK(std::abs(state.momentum(0) + Scalar(6 * std::sin(k * turn))) <=
            rounding(16 * k, Scalar(20)));
      CHECK(std::abs(stepper.energy(state) - 9) <= rounding(8 * k, Scalar(20)));
    }
  }
}

TEST_CASE("stepper: the pendulum from rest at pi/2 errs by the numbers of the midpoint rule",
          "[variational][oracle]") {
  // L = v²/2 + cos q, q(10) = -.946862453256; errors 3.285e-3, 8.202e-4, 2.050e-4, 5.124e-5.
  const double expected[] = {3.285e-3, 8.202e-4, 2.050e-4, 5.124e-5};
  VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{});
  double h = 0.1, before = 0;
  int steps = 100;
  for (int level = 0; level < 7; ++level, h /= 2, steps *= 2) {
    auto state = stepper.make_state(numbers<double>({std::numbers::pi / 2}), numbers<double>({0}));
    int iterations = 0;
    for (int k = 0; k < steps; ++k) iterations += stepper.step(state, h).iterations;
    const double error = state.q(0) + 0.946862453256;
    CAPTURE(level, error, before);
    if (level < 4) CHECK(std::abs(error - expected[level]) <= by_digits(0.5e-3) * expected[level]);
    if (level == 6) CHECK(std::abs(std::log2(before / error) - 2) < 0.0005);
    CHECK(iterations <= 2 * steps + 20);
    before = error;
  }
}

TEST_CASE("stepper: the pendulum's energy stays within h²/24", "[variational][law]") {
  // 4.166625e-6 at h = .01 for energy p²/2 - cos q, which starts at 0.
  VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{});
  auto state = stepper.make_state(numbers<double>({std::numbers::pi / 2}), numbers<double>({0}));
  double lowest = 0, highest = 0;
  for (int k = 0; k < 20'000; ++k) {
    REQUIRE(stepper.step(state, 0.01).converged());
    const double energy = state.momentum(0) * state.momentum(0) / 2 - std::cos(state.q(0));
    lowest = std::min(lowest, energy);
    highest = std::max(highest, energy);
  }
  CHECK(lowest > -rounding(20'000, 1.0));
  // The step at the peak is off it by up to half a step.
  CHECK(std::abs(highest - 4.166625e-6) < by_step(1e-9));
}

TEST_CASE("stepper: Kepler's ellipse keeps its angular momentum", "[variational][law]") {
  // Eccentricity .6, semi-axis 1, from the pericentre.
  VariationalStepper<Kepler<double>> stepper(Kepler<double>{});
  auto state = stepper.make_state(numbers<double>({0.4, 0}), numbers<double>({0, 2}));
  const double start = 0.8;
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    REQUIRE(stepper.step(state, 0.01).converged());
    const double moment = state.q(0) * state.momentum(1) - state.q(1) * state.momentum(0);
    worst = std::max(worst, std::abs(moment - start));
  }
  CHECK(worst <= rounding(64, 1.0));
}

TEST_CASE("stepper: steps back undo steps", "[variational][law]") {
  using Scalar = double;
  for (const auto& rule : {Quadrature<Scalar>::midpoint(), Quadrature<Scalar>::verlet(),
                           Quadrature<Scalar>::symmetric_rectangle(Scalar(0.3))}) {
    VariationalStepper<DoublePendulum<Scalar>> stepper(DoublePendulum<Scalar>{}, {rule});
    const auto start = stepper.make_state(numbers<Scalar>({1, 0.5}), numbers<Scalar>({0, 1}));
    auto state = start;
    for (int k = 0; k < 50; ++k) REQUIRE(stepper.step(state, Scalar(0.05)).converged());
    CHECK((state.q - start.q).norm() > Scalar(0.1));
    for (int k = 0; k < 50; ++k) REQUIRE(stepper.step(state, Scalar(-0.05)).converged());
    CHECK((state.q - start.q).norm() <= rounding(4000, Scalar(4)));
    CHECK((state.momentum - start.momentum).norm() <= rounding(4000, Scalar(4)));
  }
}

TEST_CASE("stepper: Lagrangian, parts and differentiated forms step alike",
          "[variational][oracle]") {
  VariationalStepper<DoublePendulum<double>> whole(DoublePendulum<double>{});
  VariationalStepper<DoublePendulumByParts<double>> parts(DoublePendulumByParts<double>{});
  auto a = whole.make_state(numbers<double>({1, 2}), numbers<double>({0.5, -1}));
  auto b = parts.make_state(numbers<double>({1, 2}), numbers<double>({0.5, -1}));
  for (int k = 0; k < 100; ++k) {
    const auto done = whole.step(a, 0.02);
    REQUIRE(done.converged());
    REQUIRE(parts.step(b, 0.02).iterations == done.iterations);
  }
  CHECK((a.q - b.q).norm() <= rounding(8192, 1.0));
  CHECK((a.momentum - b.momentum).norm() <= rounding(8192, 1.0));
  CHECK(std::abs(whole.energy(a) - parts.energy(b)) <= rounding(8192, 1.0));
}

TEST_CASE("stepper: quadratures have their stated order", "[variational][law]") {
  const auto error = [](const Quadrature<double>& rule, int steps) {
    VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{}, {rule});
    auto state = stepper.make_state(numbers<double>({std::numbers::pi / 2}), numbers<double>({0}));
    for (int k = 0; k < steps; ++k) static_cast<void>(stepper.step(state, 10.0 / steps));
    return std::abs(state.q(0) + 0.946862453256);
  };
  const auto order = [&](const Quadrature<double>& rule) {
    return std::log2(error(rule, 1000) / error(rule, 2000));
  };
  CHECK(std::abs(order(Quadrature<double>::midpoint()) - 2) < 0.01);
  CHECK(std::abs(order(Quadrature<double>::verlet()) - 2) < 0.01);
  CHECK(std::abs(order(Quadrature<double>::symmetric_rectangle(0.2)) - 2) < 0.01);
  CHECK(std::abs(order(Quadrature<double>::rectangle(0.0)) - 1) < 0.1);
  CHECK(std::abs(order(Quadrature<double>::rectangle(0.8)) - 1) < 0.1);
}

TEST_CASE("stepper: Stoermer-Verlet is the leapfrog", "[variational][oracle]") {
  VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{}, {Quadrature<double>::verlet()});
  auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0.3}));
  double q = 1, p = 0.3;
  const double h = 0.1;
  for (int k = 0; k < 100; ++k) {
    REQUIRE(stepper.step(state, h).converged());
    p -= h / 2 * std::sin(q);
    q += h * p;
    p -= h / 2 * std::sin(q);
    CHECK(std::abs(state.q(0) - q) <= rounding(200, 1.0));
    CHECK(std::abs(state.momentum(0) - p) <= rounding(200, 1.0));
  }
}

TEST_CASE("stepper: forces enter by the midpoint", "[variational][oracle]") {
  // m q'' = -k q - c q' + cos t: with unit mass and stiffness the midpoint rule is linear,
  // (p1 - p0)/h = -qm - c vm + cos(tm), (q1 - q0)/h = (p0 + p1)/2.
  VariationalStepper<DrivenOscillator<double>> stepper(DrivenOscillator<double>{});
  auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0}));
  double q = 1, p = 0;
  const double h = 0.1, c = 0.3;
  for (int k = 0; k < 200; ++k) {
    REQUIRE(stepper.step(state, h).converged());
    const double push = std::cos((k + 0.5) * h);
    // q1 = q0 + h pm, pm = p0 + h/2 (push - qm - c pm), qm = q0 + h/2 pm
    const double mean = (p + h / 2 * (push - q)) / (1 + h / 2 * (c + h / 2));
    q += h * mean;
    p = 2 * mean - p;
    CHECK(std::abs(state.q(0) - q) <= rounding(400, 1.0));
    CHECK(std::abs(state.momentum(0) - p) <= rounding(400, 1.0));
  }
}

TEST_CASE("stepper: holonomic constraints hold, to order 2", "[variational][law]") {
  // The rod pendulum from the horizontal is the pendulum: angle from the bottom.
  double before = 0;
  for (const int steps : {500, 1000, 2000}) {
    VariationalStepper<RodPendulum<double>> stepper(RodPendulum<double>{});
    auto state = stepper.make_state(numbers<double>({1, 0}), numbers<double>({0, 0}));
    double broken = 0, moving_off = 0, energy = 0;
    for (int k = 0; k < steps; ++k) {
      REQUIRE(stepper.step(state, 10.0 / steps).converged());
      broken = std::max(broken, std::abs(state.q.norm() - 1));
      moving_off = std::max(moving_off, std::abs(state.q.dot(state.momentum)));
      energy = std::max(energy, std::abs(stepper.energy(state)));
    }
    const double error = std::abs(std::atan2(state.q(0), -state.q(1)) + 0.946862453256);
    CHECK(broken <= rounding(16, 1.0));
    CHECK(moving_off <= rounding(64, 1.0));
    CHECK(energy < 100.0 / steps / steps);
    if (before > 0) CHECK(std::abs(std::log2(before / error) - 2) < 0.05);
    before = error;
  }
}

TEST_CASE("stepper: the multiplier is the impulse of the constraint", "[variational][example]") {
  // Hanging at rest: of the weight's momentum h one half goes in at the step's start, so that
  // lambda C = (0, h/2) with C = (0, -1).
  VariationalStepper<RodPendulum<double>> stepper(RodPendulum<double>{});
  auto state = stepper.make_state(numbers<double>({0, -1}), numbers<double>({0, 0}));
  REQUIRE(stepper.step(state, 0.1).converged());
  REQUIRE(stepper.step(state, 0.1).converged());
  CHECK(state.q(1) == -1);
  CHECK(std::abs(stepper.multipliers()(0) + 0.05) <= rounding(16, 1.0));
}

TEST_CASE("stepper: bad states are refused by name, bad numbers leave the state",
          "[variational][edge]") {
  VariationalStepper<DoublePendulum<double>> stepper(DoublePendulum<double>{});
  const auto refusal = [&](const VectorX<double>& q, const VectorX<double>& v, double t) {
    try {
      static_cast<void>(stepper.make_state(q, v, t));
    } catch (const std::invalid_argument& refused) {
      return std::string(refused.what());
    }
    return std::string("accepted");
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(numbers<double>({1}), numbers<double>({1, 2}), 0) ==
        "configuration entries: expected as many as the system has coordinates, got 1");
  CHECK(refusal(numbers<double>({1, 2}), numbers<double>({1, 2, 3}), 0) ==
        "velocity entries: expected as many as the system has coordinates, got 3");
  CHECK(refusal(numbers<double>({1, nan}), numbers<double>({1, 2}), 0) ==
        "configuration entry 1: expected a finite number, got nan");
  CHECK(refusal(numbers<double>({1, 2}), numbers<double>({1, 2}), nan) ==
        "time: expected a finite number, got nan");
  auto state = stepper.make_state(numbers<double>({1, 2}), numbers<double>({1, 2}));
  state.momentum(0) = nan;
  CHECK(stepper.step(state, 0.1).status == SolveStatus::not_finite);
  CHECK(state.q(0) == 1);
  CHECK(state.time == 0);
}

TEST_CASE("stepper: a step too large for Newton is halved", "[variational][edge]") {
  // Driven against a wall of potential 1/sqrt(q): the first guess lies behind it.
  VariationalStepper<Walled> stepper(Walled{});
  auto state = stepper.make_state(numbers<double>({0.5}), numbers<double>({-2}));
  const double energy = stepper.energy(state);
  int halved = 0;
  for (int k = 0; k < 10; ++k) {
    const auto report = stepper.step(state, 0.5);
    REQUIRE(report.converged());
    if (report.substeps > 1) ++halved;
    CHECK(report.residual <= report.residual_target);
    CHECK(std::abs(state.time - 0.5 * (k + 1)) <= rounding(k, 5.0));
  }
  CHECK(halved > 0);
  CHECK(halved < 10);
  CHECK(state.q(0) > 2);
  CHECK(std::abs(stepper.energy(state) - energy) < 0.5);
}

TEST_CASE("stepper: a mass matrix that is singular somewhere is reported", "[variational][edge]") {
  struct Vanishing : Oscillator<double> {};
  VariationalStepper<Vanishing> stepper(Vanishing{{0.0, 1.0}});
  auto state = stepper.make_state(numbers<double>({1}), numbers<double>({1}));
  const auto report = stepper.step(state, 0.1);
  CHECK(report.status == SolveStatus::no_progress);
  CHECK(state.q(0) == 1);
  CHECK(std::isnan(stepper.energy(state)));
}

namespace {

/// A weight on a rod whose mass is taken away after some instant.
struct Fading : RodPendulum<double> {
  double end = 1;
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T& t) const {
    const T whole = RodPendulum<double>::lagrangian(q, v, t);
    return t > end ? T(0.0 * whole) : whole;
  }
};

}  // namespace

TEST_CASE("stepper: a momentum beyond the largest number is refused", "[variational][input]") {
  const Oscillator<double> system{2, 18};
  VariationalStepper<Oscillator<double>> stepper(system);
  CHECK_THROWS_WITH(stepper.make_state(numbers<double>({1}), numbers<double>({1.7e308})),
                    Catch::Contains("momentum at the configuration entry 0: expected a finite "
                                    "number"));
}

TEST_CASE("stepper: without a mass at its end a step of a constrained system fails",
          "[variational][edge]") {
  Fading system;
  VariationalStepper<Fading> stepper(system);
  auto state = stepper.make_state(numbers<double>({0, -1}), numbers<double>({1, 0}));
  REQUIRE(stepper.step(state, 0.5).converged());
  const auto before = state;
  const auto report = stepper.step(state, 0.6);  // its midpoint is at 0.8, its end at 1.1
  CHECK(report.status == SolveStatus::no_progress);
  CHECK(state.q == before.q);
  CHECK(state.momentum == before.momentum);
  CHECK(state.time == before.time);
}

}  // namespace stepper_test
