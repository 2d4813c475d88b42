// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/step_derivative.hpp"

#include <cmath>

#include <Eigen/LU>

#include "carom/variational/stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace step_derivative_test {

using namespace carom::testing;
using carom::Index, carom::MatrixX, carom::MechanicalState, carom::Quadrature;
using carom::StepDerivative, carom::VectorX;

namespace {

MatrixX<double> symplectic_form(Index n) {
  MatrixX<double> omega = MatrixX<double>::Zero(2 * n, 2 * n);
  omega.topRightCorner(n, n).setIdentity();
  omega.bottomLeftCorner(n, n) = -MatrixX<double>::Identity(n, n);
  return omega;
}

/// Central differences of the step; the error is of the order of `step`².
template <typename System>
MatrixX<double> by_differences(const System& system, carom::StepSolver<System>& solver,
                               const MechanicalState<double>& state, double h, double step) {
  const Index n = system.size();
  MatrixX<double> result(2 * n, 2 * n);
  const auto moved = [&](Index c, double by) {
    auto start = state;
    (c < n ? start.q(c) : start.momentum(c - n)) += by;
    REQUIRE(solver.solve(system, start, h, start.q).converged());
    VectorX<double> end(2 * n);
    end << solver.q_next(), solver.momentum_next();
    return end;
  };
  for (Index c = 0; c < 2 * n; ++c) {
    result.col(c) = (moved(c, step) - moved(c, -step)) / (2 * step);
  }
  return result;
}

}  // namespace

TEST_CASE("step_derivative: the flow is symplectic", "[variational][law]") {
  const DoublePendulum<double> system;
  for (const auto& rule : {Quadrature<double>::midpoint(), Quadrature<double>::verlet(),
                           Quadrature<double>::rectangle(0.3)}) {
    StepDerivative<DoublePendulum<double>> derivative({rule});
    derivative.prepare(system);
    carom::VariationalStepper<DoublePendulum<double>> stepper(system, {rule});
    auto state = stepper.make_state(numbers<double>({1, 2}), numbers<double>({0.5, -1}));
    MatrixX<double> y(4, 4);
    for (int k = 0; k < 20; ++k) {
      REQUIRE(derivative.evaluate(system, state, 0.1, state.q, y).converged());
      const MatrixX<double> omega = symplectic_form(2);
      CAPTURE(k, y);
      CHECK((y.transpose() * omega * y - omega).norm() <= rounding(256, y.squaredNorm()));
      CHECK(std::abs(y.determinant() - 1) <= rounding(256, y.squaredNorm()));
      const MatrixX<double> differences =
          by_differences(system, derivative.solver(), state, 0.1, 1e-5);
      // What the differences are good for.
      CHECK((y - differences).norm() <= carom::testing::by_differences(1e-8) * y.norm());
      REQUIRE(stepper.step(state, 0.1).converged());
    }
  }
}

TEST_CASE("step_derivative: forces and constraints are differentiated too",
          "[variational][derivative]") {
  const DrivenOscillator<double> driven;
  StepDerivative<DrivenOscillator<double>> derivative;
  derivative.prepare(driven);
  MechanicalState<double> state{0.4, numbers<double>({1}), numbers<double>({0.2})};
  MatrixX<double> y(2, 2);
  REQUIRE(derivative.evaluate(driven, state, 0.1, state.q, y).converged());
  // What the differences are good for.
  CHECK((y - by_differences(driven, derivative.solver(), state, 0.1, 1e-4)).norm() <=
        carom::testing::by_differences(1e-9));
  // Damping shrinks the area by the midpoint's own factor.
  CHECK(std::abs(y.determinant() - (1 - 0.015 + 0.0025) / (1 + 0.015 + 0.0025)) <=
        rounding(8192, 1.0));

  const RodPendulum<double> rod;
  StepDerivative<RodPendulum<double>> held;
  held.prepare(rod);
  state = {0, numbers<double>({std::sin(0.7), -std::cos(0.7)}), numbers<double>({0.3, 0.2})};
  MatrixX<double> z(4, 4);
  REQUIRE(held.evaluate(rod, state, 0.1, state.q, z).converged());
  // What the differences are good for.
  CHECK((z - by_differences(rod, held.solver(), state, 0.1, 1e-5)).norm() <=
        carom::testing::by_differences(1e-7) * z.norm());
}

}  // namespace step_derivative_test
