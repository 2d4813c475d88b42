// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/held_friction.hpp"

#include <algorithm>
#include <cmath>

#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace sliding_problem_test {

using carom::Index, carom::SlidingProblem, carom::Vector, carom::VectorX;
using carom::testing::rounding;

TEST_CASE("sliding_problem: nothing takes more energy", "[variational][oracle]") {
  SlidingProblem<double> problem;
  problem.prepare(2);
  problem.response << 2, 0.3, 0.5, 0.1, 0.3, 1, -0.2, 0.4, 0.5, -0.2, 1.5, 0, 0.1, 0.4, 0, 0.8;
  problem.slip << 1, -0.5, 0.2, 0.7;
  problem.friction << 0.5, 0.3;
  problem.normal << 0.7, 5;
  REQUIRE(problem.solve(2).converged());
  const VectorX<double> best = problem.impulse;
  const auto cost = [&](const VectorX<double>& x) {
    return x.dot(problem.response * x) / 2 + problem.slip.dot(x);
  };
  // The first slides, the second sticks.
  CHECK(std::abs(best.head(2).norm() - 0.35) <= rounding(64, 1.0));
  CHECK((problem.slip + problem.response * best).tail(2).norm() <= rounding(8192, 1.0));
  for (int k = 0; k < 400; ++k) {
    VectorX<double> x = best;
    const double angle = 0.31 * k, length = 1e-3 * (k % 7);
    x.head(2) += length * Vector<double, 2>(std::cos(angle), std::sin(angle));
    x.tail(2) += length * Vector<double, 2>(std::sin(1.7 * angle), std::cos(angle));
    if (x.head(2).norm() > 0.35) x.head(2) *= 0.35 / x.head(2).norm();
    CHECK(cost(x) >= cost(best) - rounding(5, 1.0));
  }
}

}  // namespace sliding_problem_test

namespace held_friction_test {

using namespace carom::testing;
using carom::ImpactStepper, carom::Index, carom::MatrixX, carom::MechanicalState;
using carom::PlasticImpact, carom::VectorX;

namespace {

/// A block on an incline; x down the slope, y off it, z across.
struct Block {
  using scalar_type = double;
  double mass = 2, slope = 0.3, roughness = 0.5, gravity = 9.81;
  [[nodiscard]] Index size() const { return 3; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return mass / 2 * (v(0) * v(0) + v(1) * v(1) + v(2) * v(2)) +
           mass * gravity * (std::sin(slope) * q(0) - std::cos(slope) * q(1));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1);
  }
  [[nodiscard]] double friction(Index) const { return roughness; }
  void write_tangents(const VectorX<double>&, Index, MatrixX<double>& out) const noexcept {
    out << 1, 0, 0, 0, 0, 1;
  }
  [[nodiscard]] double braking() const {
    return gravity * (roughness * std::cos(slope) - std::sin(slope));
  }
};

}  // namespace

TEST_CASE("held_friction: a block slides to rest as the closed form says",
          "[variational][oracle]") {
  const Block block;
  const double start = 1.5, stop = start / block.braking();
  for (const double h : {0.01, 0.003}) {
    ImpactStepper<Block, PlasticImpact<double>> stepper(block);
    MechanicalState<double> state{0, numbers<double>({0, 0, 0}),
                                  numbers<double>({start * block.mass, 0, 0})};
    double worst = 0;
    while (state.time < 2 * stop) {
      REQUIRE(stepper.step(state, h).converged());
      const double t = state.time;
      if (t >= stop) continue;
      worst = std::max(worst, std::abs(state.q(0) - (start - block.braking() / 2 * t) * t));
      worst = std::max(worst, std::abs(state.momentum(0) / 2 - (start - block.braking() * t)));
    }
    CAPTURE(h);
    CHECK(worst <= rounding(65536, 1.0));  // exact while it slides
    CHECK(std::abs(state.q(0) - start * stop / 2) < block.braking() * h * h);
    CHECK(std::abs(state.momentum(0)) <= rounding(512, 1.0));
  }
}

TEST_CASE("held_friction: below the friction angle a block stays, above it slides",
          "[variational][example]") {
  Block block;
  block.slope = std::atan(0.5) * 0.999;
  ImpactStepper<Block, PlasticImpact<double>> sticking(block);
  MechanicalState<double> state{0, numbers<double>({0, 0, 0}), numbers<double>({0, 0, 0})};
  for (int k = 0; k < 500; ++k) REQUIRE(sticking.step(state, 0.01).converged());
  CHECK(std::abs(state.q(0)) <= rounding(512, 1.0));
  CHECK(sticking.held().size() == 1);
  block.slope = std::atan(0.5) * 1.1;
  ImpactStepper<Block, PlasticImpact<double>> sliding(block);
  state = {0, numbers<double>({0, 0, 0}), numbers<double>({0, 0, 0})};
  for (int k = 0; k < 100; ++k) REQUIRE(sliding.step(state, 0.01).converged());
  CHECK(std::abs(state.q(0) + block.braking() / 2) <= rounding(65536, 1.0));
}

TEST_CASE("held_friction: friction turns with the slip", "[variational][law]") {
  // Across the slope at its friction angle: the slip turns downhill, and |v| + v_x stays.
  Block block;
  block.slope = std::atan(block.roughness);
  const auto error = [&](double h) {
    ImpactStepper<Block, PlasticImpact<double>> stepper(block);
    MechanicalState<double> state{0, numbers<double>({0, 0, 0}), numbers<double>({0, 0, 2})};
    while (state.time < 0.2 - h / 2) REQUIRE(stepper.step(state, h).converged());
    CHECK(state.momentum(0) > 0.5);
    return std::abs((state.momentum.norm() + state.momentum(0)) / 2 - 1);
  };
  const double coarse = error(0.01), fine = error(0.005);
  CAPTURE(coarse, fine);
  CHECK(coarse < 0.01);
  CHECK(fine < 0.52 * coarse);  // order 1
}

TEST_CASE("held_friction: without friction nothing brakes", "[variational][edge]") {
  Block block;
  block.slope = 0;
  block.roughness = 0;
  ImpactStepper<Block, PlasticImpact<double>> stepper(block);
  MechanicalState<double> state{0, numbers<double>({0, 0, 0}), numbers<double>({2, 0, 0})};
  for (int k = 0; k < 100; ++k) REQUIRE(stepper.step(state, 0.01).converged());
  CHECK(std::abs(state.q(0) - 1) <= rounding(8192, 1.0));
}

}  // namespace held_friction_test
