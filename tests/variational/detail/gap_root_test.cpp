// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/gap_root.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace gap_root_test {

using namespace carom::testing;
using carom::GapRoot, carom::Index, carom::MatrixX, carom::MechanicalState, carom::StepSolver,
    carom::VectorX;

namespace {

/// A throw in the plane: a floor, a wall at x = 1 and a round post about (0.5, 0) of radius 0.1.
struct Court : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 3; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = q(1);
    out(1) = 1.0 - q(0);
    out(2) = sqrt((q(0) - 0.5) * (q(0) - 0.5) + q(1) * q(1)) - 0.1;
  }
};

struct Found {
  Index contact;
  double time;
  VectorX<double> q;
  int solves;
};

Found first_contact(const VectorX<double>& q, const VectorX<double>& v, double span) {
  const Court system;
  GapRoot<Court> root;
  root.prepare(system);
  const MechanicalState<double> state{0, q, 2 * v};
  auto& solver = root.solver();
  solver.gaps().write_gradients(system, q);
  const VectorX<double> gaps = solver.gaps().values;
  const MatrixX<double> gradients = solver.gaps().gradients;
  REQUIRE(solver.solve(system, state, span, q).converged());
  root.start(state, span, v, gaps, gradients, 1e-9);
  double time = 0;
  const Index contact = root.find_first(system, state, 1e-13, time);
  CHECK_FALSE(root.failed());
  return {contact, time, solver.q_next(), root.solves()};
}

}  // namespace

TEST_CASE("gap_root: the first of several contacts, to the last digits", "[variational][oracle]") {
  // Falls from height 1 through y = 0 at t = sqrt(2/g); the wall comes at 1/vx.
  const double floor_time = std::sqrt(2 / 9.81);
  const Found floor = first_contact(numbers<double>({0, 1}), numbers<double>({2, 0}), 1);
  CHECK(floor.contact == 0);
  CHECK(std::abs(floor.time - floor_time) <= rounding(8192, 1.0));
  CHECK(std::abs(floor.q(1)) <= rounding(8192, 1.0));
  CHECK(floor.solves <= 5);
  const Found wall = first_contact(numbers<double>({0, 1}), numbers<double>({2.5, 0}), 1);
  CHECK(wall.contact == 1);
  CHECK(std::abs(wall.time - 0.4) <= rounding(8192, 1.0));
  const Found none = first_contact(numbers<double>({0, 1}), numbers<double>({0, 0}), 0.3);
  CHECK(none.contact == -1);
  CHECK(none.time == 0.3);
  CHECK(none.solves == 0);
  CHECK(std::abs(none.q(1) - (1 - 9.81 / 2 * 0.09)) <= rounding(64, 1.0));
}

TEST_CASE("gap_root: a post crossed between the ends of the step is found", "[variational][edge]") {
  // Past the post in a parabola of this height: over it for heights above 0.1, into it below.
  const auto flight = [](double height, double speed) {
    // Thrown so that the parabola's top is above the post.
    const double rise = 0.5 / speed, v = 9.81 * rise;
    return first_contact(numbers<double>({0, height - v * rise / 2}), numbers<double>({speed, v}),
                         0.95 / speed);
  };
  for (const double speed : {20.0, 50.0}) {
    for (const double height : {0.02, 0.05, 0.09, 0.0999}) {
      const Found hit = flight(height, speed);
      CAPTURE(speed, height);
      CHECK(hit.contact == 2);
      CHECK(std::abs(std::hypot(hit.q(0) - 0.5, hit.q(1)) - 0.1) <= rounding(65536, 1.0));
      CHECK(hit.q(0) < 0.5);
    }
    CHECK(flight(0.1001, speed).contact == -1);
    CHECK(flight(0.2, speed).contact == -1);
  }
}

TEST_CASE("gap_root: the correction of a rough point squares the error of its guess",
          "[variational][law]") {
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

}  // namespace gap_root_test
