// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/step_solver.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace step_solver_test {

using namespace carom::testing;
using carom::Index, carom::MechanicalState, carom::Quadrature, carom::SolveStatus;
using carom::StepSolver, carom::VectorX;

namespace {

/// A body thrown in the plane with a floor.
struct ThrownOnFloor : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1);
  }
};

}  // namespace

TEST_CASE("step_solver: the step's equations hold", "[variational][law]") {
  const DoublePendulum<double> system;
  StepSolver<DoublePendulum<double>> solver;
  solver.prepare(system);
  const MechanicalState<double> now{0, numbers<double>({1, -0.5}), numbers<double>({0.5, 1})};
  for (const double h : {0.3, 0.1, 1e-3, -0.1}) {
    const auto report = solver.solve(system, now, h, now.q);
    REQUIRE(report.converged());
    CHECK(report.residual <= report.residual_target);
    CHECK(report.iterations >= 1);
    auto& action = solver.action();
    action.write_slopes(system, now.q, solver.q_next(), 0, h);
    CHECK((now.momentum + action.left).norm() <= rounding(32, 4.0 + 4 / std::abs(h)));
    CHECK((solver.momentum_next() - action.right).norm() <= rounding(32, 4.0 + 4 / std::abs(h)));
  }
}

TEST_CASE("step_solver: dq/dh is the path's rate", "[variational][derivative]") {
  const DoublePendulum<double> system;
  StepSolver<DoublePendulum<double>> solver;
  solver.prepare(system);
  const MechanicalState<double> now{0, numbers<double>({1, -0.5}), numbers<double>({0.5, 1})};
  const auto end = [&](double h) {
    REQUIRE(solver.solve(system, now, h, now.q).converged());
    return solver.q_next();
  };
  const VectorX<double> slope = (end(0.1001) - end(0.0999)) / 0.0002;
  VectorX<double> rate(2);
  static_cast<void>(end(0.1));
  REQUIRE(solver.refresh(system, now, 0.1));
  solver.write_rate(rate);
  // The slope is a difference of solutions.
  CHECK((rate - slope).norm() < by_differences(1e-6) * slope.norm());
}

TEST_CASE("step_solver: a held contact carries the weight", "[variational][example]") {
  const ThrownOnFloor system;
  StepSolver<ThrownOnFloor> solver;
  solver.prepare(system);
  const MechanicalState<double> now{0, numbers<double>({1, 0}), numbers<double>({4, 0})};
  solver.hold(0);
  solver.hold(0);
  CHECK(solver.held().size() == 1);
  CHECK(solver.rows(system) == 1);
  REQUIRE(solver.solve(system, now, 0.1, now.q).converged());
  CHECK(std::abs(solver.q_next()(1)) <= rounding(4, 1.0));
  CHECK(std::abs(solver.q_next()(0) - 1.2) <= rounding(8, 1.0));
  CHECK(std::abs(solver.multipliers()(0) - 0.5 * 2 * 9.81 * 0.1) <= rounding(16, 2.0));
  solver.release(0);
  CHECK_FALSE(solver.holds(0));
  REQUIRE(solver.solve(system, now, 0.1, now.q).converged());
  CHECK(std::abs(solver.q_next()(1) + 9.81 / 2 * 0.01) <= rounding(16, 1.0));
}

TEST_CASE("step_solver: one correction squares the error of the guess", "[variational][law]") {
  const DoublePendulum<double> system;
  StepSolver<DoublePendulum<double>> solver;
  solver.prepare(system);
  const MechanicalState<double> now{0, numbers<double>({1, -0.5}), numbers<double>({0.5, 1})};
  REQUIRE(solver.solve(system, now, 0.1, now.q).converged());
  const VectorX<double> exact = solver.q_next();
  const VectorX<double> off = numbers<double>({1, -2});
  const auto error = [&](double size) {
    REQUIRE(solver.correct(system, now, 0.1, exact + size * off));
    return (solver.q_next() - exact).norm();
  };
  const double coarse = error(1e-2), fine = error(1e-3);
  // An error of the method, of order 2.
  CHECK(coarse < by_step(1e-3));
  CHECK(std::abs(std::log10(coarse / fine) - 2) < 0.05);
  MechanicalState<double> bad = now;
  bad.momentum(0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(solver.correct(system, bad, 0.1, now.q));
}

TEST_CASE("step_solver: the contact that pulls most is released", "[variational][law]") {
  // Thrown upwards from a floor that holds it.
  const ThrownOnFloor system;
  StepSolver<ThrownOnFloor> solver;
  solver.prepare(system);
  MechanicalState<double> now{0, numbers<double>({1, 0}), numbers<double>({4, 3})};
  solver.hold(0);
  REQUIRE(solver.solve(system, now, 0.1, now.q).converged());
  CHECK(solver.multipliers()(0) < 0);
  CHECK(solver.release_pulling(system) == 0);
  CHECK(solver.held().empty());
  now.momentum(1) = -3;
  solver.hold(0);
  REQUIRE(solver.solve(system, now, 0.1, now.q).converged());
  CHECK(solver.release_pulling(system) == -1);
  CHECK(solver.holds(0));
}

TEST_CASE("step_solver: equations without a solution are reported", "[variational][edge]") {
  const Oscillator<double> massless{0, 0};
  StepSolver<Oscillator<double>> solver;
  solver.prepare(massless);
  MechanicalState<double> now{0, numbers<double>({1}), numbers<double>({1})};
  CHECK(solver.solve(massless, now, 0.1, now.q).status == SolveStatus::no_progress);
  const Oscillator<double> fine;
  now.momentum(0) = std::numeric_limits<double>::infinity();
  CHECK(solver.solve(fine, now, 0.1, now.q).status == SolveStatus::not_finite);
}

}  // namespace step_solver_test
