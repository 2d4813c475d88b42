// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/contact_impact.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace chatter_test {

using carom::ChatterWatch;

namespace {

/// Impact at which a geometric series of intervals is called chatter, or −1.
int called_at(double first, double ratio, double step) {
  ChatterWatch<double> watch;
  watch.prepare(2);
  double time = 10, interval = first;
  for (int k = 0; k < 60; ++k) {
    if (watch.see(1, time, true, step)) return k;
    time += interval;
    interval *= ratio;
  }
  return -1;
}

}  // namespace

TEST_CASE("chatter: a series that ends within a step is called", "[variational][law]") {
  // What is left after an interval T is T r/(1 − r), to be less than the step.
  CHECK(called_at(1e-3, 0.5, 1) == 4);  // three shrinking intervals at least
  CHECK(called_at(1, 0.5, 0.1) == 5);   // after the interval 1/16
  CHECK(called_at(1, 0.5, 0.01) == 8);  // after 1/128
  CHECK(called_at(1e-3, 0.99, 0.1) == 4);
  CHECK(called_at(1e-2, 0.99, 0.1) == -1);  // 0.99 left over: slow to end
}

TEST_CASE("chatter: contacts are told apart and forgotten", "[variational][example]") {
  ChatterWatch<double> watch;
  watch.prepare(2);
  for (int k = 0; k < 20; ++k) CHECK_FALSE(watch.see(k % 2, 1 + 0.01 * k, true, 0.001));
  watch.forget_all();
  const auto series = [&](int from, int to) {
    bool called = false;
    for (int k = from; k < to; ++k) called = watch.see(0, 100 - 1 / double(1 << k), true, 1.0);
    return called;
  };
  CHECK_FALSE(series(0, 4));
  watch.forget(0);
  CHECK_FALSE(series(4, 8));
  CHECK(series(8, 9));
  watch.forget_all();
  CHECK_FALSE(series(9, 13));
}

}  // namespace chatter_test

namespace contact_impact_test {

using namespace carom::testing;
using carom::ContactImpact, carom::ImpactResolver, carom::Index, carom::LegendreMap;
using carom::MatrixX, carom::MechanicalState, carom::StepSolver, carom::VectorX;

namespace {

/// A thrown body on a floor before a slope of 45 degrees.
struct OnFloorAtSlope : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1);
    out(1) = q(0) + q(1);
  }
};

/// A system with what ContactImpact needs of a stepper.
template <typename System>
struct Stage {
  System system;
  StepSolver<System> solver;
  LegendreMap<System> legendre;
  ContactImpact<System, ImpactResolver<double>> impact{ImpactResolver<double>(), {}};
  MatrixX<double> rows = MatrixX<double>::Zero(system.gap_count(), 2);
  VectorX<double> velocity = VectorX<double>::Zero(2);
  carom::ImpactStepReport<double> report;

  Stage() {
    solver.prepare(system);
    legendre.prepare(system, system.gap_count());
    impact.prepare(system, system.gap_count());
    impact.start_step();
  }
  [[nodiscard]] bool resolve(MechanicalState<double>& state) {
    return impact.resolve({system, solver, legendre, rows, velocity}, state, 0.01, report);
  }
};

}  // namespace

TEST_CASE("contact_impact: a held contact does not constrain the outcome of an impact",
          "[variational][example]") {
  Stage<OnFloorAtSlope> stage;
  // It slides along the floor to the slope, which turns it upwards.
  MechanicalState<double> state{0, numbers<double>({0, 0}), numbers<double>({-2, 0})};
  stage.solver.hold(0);
  stage.solver.write_rows(stage.system, state.q, stage.rows);
  REQUIRE(stage.legendre.constrain(stage.system, state.q, 0, {stage.rows, 1}, stage.velocity,
                                   state.momentum));
  REQUIRE(stage.resolve(state));
  CHECK((state.momentum - numbers<double>({0, 2})).norm() <= rounding(64, 1.0));
  CHECK(stage.report.reflections == 1);
  CHECK_FALSE(stage.solver.holds(0));
}

namespace {

/// A thrown body over a floor, its gap the root of its height: vertical slope where it closes.
struct Rooted : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = sqrt(q(1));
  }
};

}  // namespace

TEST_CASE("contact_impact: a gap without a finite gradient is reported, the momentum stays",
          "[variational][input]") {
  Stage<Rooted> stage;
  MechanicalState<double> state{0, numbers<double>({1, 0}), numbers<double>({-2, -4})};
  REQUIRE(stage.legendre.write_velocity(stage.system, state.q, state.momentum, 0, stage.velocity));
  CHECK_FALSE(stage.resolve(state));
  CHECK(stage.report.status == carom::SolveStatus::not_finite);
  CHECK(state.momentum == numbers<double>({-2, -4}));
}

}  // namespace contact_impact_test
