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
int called_at(double first, double ratio, double step, bool lost = true) {
  ChatterWatch<double> watch;
  watch.prepare(2);
  double time = 10, interval = first;
  for (int k = 0; k < 60; ++k) {
    if (watch.see(1, time, lost, step)) return k;
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

TEST_CASE("chatter: lossless and even sequences are not", "[variational][law]") {
  CHECK(called_at(1e-3, 0.5, 1, false) == -1);
  CHECK(called_at(1e-3, 1.0, 1) == -1);
  CHECK(called_at(1e-3, 1.1, 1) == -1);
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

/// A thrown body in a corner.
struct InCorner : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1);
    out(1) = q(0);
  }
};

/// A thrown body on a floor before a slope of 45 degrees.
struct OnFloorAtSlope : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1);
    out(1) = q(0) + q(1);
  }
};

}  // namespace

TEST_CASE("contact_impact: closed contacts reflect, open ones do not", "[variational][law]") {
  const InCorner system;
  StepSolver<InCorner> solver;
  solver.prepare(system);
  LegendreMap<InCorner> legendre;
  legendre.prepare(system, 2);
  ContactImpact<InCorner, ImpactResolver<double>> impact(ImpactResolver<double>(), {});
  impact.prepare(system, 2);
  impact.start_step();
  MatrixX<double> rows = MatrixX<double>::Zero(2, 2);
  VectorX<double> velocity = VectorX<double>::Zero(2);
  carom::ImpactStepReport<double> report;

  MechanicalState<double> state{0, numbers<double>({1, 0}), numbers<double>({-2, -4})};
  REQUIRE(legendre.write_velocity(system, state.q, state.momentum, 0, velocity));
  REQUIRE(impact.resolve({system, solver, legendre, rows, velocity}, state, 0.01, report));
  CHECK((state.momentum - numbers<double>({-2, 4})).norm() <= rounding(64, 1.0));
  CHECK(impact.events().size() == 1);
  CHECK(impact.events()[0].contact == 0);

  solver.hold(0);  // thrown off by the next blow
  state = {1, numbers<double>({0, 0}), numbers<double>({-2, -4})};
  REQUIRE(impact.resolve({system, solver, legendre, rows, velocity}, state, 0.01, report));
  CHECK((state.momentum - numbers<double>({2, 4})).norm() <= rounding(64, 1.0));
  CHECK(report.impacts == 2);
  CHECK(report.reflections == 3);
  CHECK_FALSE(solver.holds(0));
  impact.go_back();
  CHECK(impact.events().empty());
}

TEST_CASE("contact_impact: a held contact does not constrain the outcome of an impact",
          "[variational][example]") {
  const OnFloorAtSlope system;
  StepSolver<OnFloorAtSlope> solver;
  solver.prepare(system);
  LegendreMap<OnFloorAtSlope> legendre;
  legendre.prepare(system, 2);
  ContactImpact<OnFloorAtSlope, ImpactResolver<double>> impact(ImpactResolver<double>(), {});
  impact.prepare(system, 2);
  impact.start_step();
  MatrixX<double> rows = MatrixX<double>::Zero(2, 2);
  VectorX<double> velocity = VectorX<double>::Zero(2);
  carom::ImpactStepReport<double> report;

  // It slides along the floor to the slope, which turns it upwards.
  MechanicalState<double> state{0, numbers<double>({0, 0}), numbers<double>({-2, 0})};
  solver.hold(0);
  solver.write_rows(system, state.q, rows);
  REQUIRE(legendre.constrain(system, state.q, 0, {rows, 1}, velocity, state.momentum));
  REQUIRE(impact.resolve({system, solver, legendre, rows, velocity}, state, 0.01, report));
  CHECK((state.momentum - numbers<double>({0, 2})).norm() <= rounding(64, 1.0));
  CHECK(report.reflections == 1);
  CHECK_FALSE(solver.holds(0));
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
  const Rooted system;
  StepSolver<Rooted> solver;
  solver.prepare(system);
  LegendreMap<Rooted> legendre;
  legendre.prepare(system, 1);
  ContactImpact<Rooted, ImpactResolver<double>> impact(ImpactResolver<double>(), {});
  impact.prepare(system, 1);
  impact.start_step();
  MatrixX<double> rows = MatrixX<double>::Zero(1, 2);
  VectorX<double> velocity = VectorX<double>::Zero(2);
  carom::ImpactStepReport<double> report;
  MechanicalState<double> state{0, numbers<double>({1, 0}), numbers<double>({-2, -4})};
  REQUIRE(legendre.write_velocity(system, state.q, state.momentum, 0, velocity));
  CHECK_FALSE(impact.resolve({system, solver, legendre, rows, velocity}, state, 0.01, report));
  CHECK(report.status == carom::SolveStatus::not_finite);
  CHECK(state.momentum == numbers<double>({-2, -4}));
}

}  // namespace contact_impact_test
