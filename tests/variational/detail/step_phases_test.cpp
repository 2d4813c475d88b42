// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/step_phases.hpp"

#include <cmath>
#include <limits>

#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace step_machine_test {

using namespace carom::testing;
using carom::ImpactResolver, carom::ImpactStepOptions, carom::ImpactStepReport;
using carom::MechanicalState, carom::PlasticImpact, carom::SolveStatus, carom::StepMachine;

namespace {

/// A unit mass on a line between a wall at zero and, with width > 0, another one.
struct Corridor : OnLine {
  double width = 1;
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0) * (width - q(0));
  }
};

/// The same mass over a floor at zero, with weight.
struct Ball : OnLine {
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return v(0) * v(0) / 2.0 - 10.0 * q(0);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
  }
};

}  // namespace

TEST_CASE("step_machine: a step without contact is one flight", "[variational][example]") {
  StepMachine<Ball, ImpactResolver<double>> machine({}, ImpactResolver<double>(), {});
  MechanicalState<double> state{0, numbers<double>({5}), numbers<double>({0})};
  machine.start_step();
  ImpactStepReport<double> report;
  REQUIRE(machine.run(state, 0.1, report));
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.solves == 1);
  CHECK(report.impacts == 0);
  CHECK(std::abs(state.q(0) - 4.95) <= rounding(8, 5.0));
}

TEST_CASE("step_machine: flights and impacts alternate until the step is over",
          "[variational][oracle]") {
  // Speed 4 between walls 1 apart, from the middle: walls at t = 1/8, 3/8, 5/8, 7/8.
  StepMachine<Corridor, ImpactResolver<double>> machine({}, ImpactResolver<double>(), {});
  MechanicalState<double> state{0, numbers<double>({0.5}), numbers<double>({4})};
  machine.start_step();
  ImpactStepReport<double> report;
  REQUIRE(machine.run(state, 0.2, report));
  REQUIRE(machine.run(state, 0.2, report));
  CHECK(report.impacts == 2);
  REQUIRE(machine.events().size() == 2);
  CHECK(std::abs(machine.events()[0].time - 0.125) <= rounding(1 << 16, 1.0));  // the root's share
  CHECK(std::abs(machine.events()[1].time - 0.375) <= rounding(1 << 16, 1.0));
  CHECK(std::abs(state.q(0) - 0.1) <= rounding(1 << 18, 1.0));
}

TEST_CASE("step_machine: a contact at rest is held, and go_back releases it",
          "[variational][example]") {
  StepMachine<Ball, PlasticImpact<double>> machine({}, PlasticImpact<double>(), {});
  MechanicalState<double> state{0, numbers<double>({0}), numbers<double>({0})};
  machine.start_step();
  ImpactStepReport<double> report;
  REQUIRE(machine.run(state, 0.1, report));
  CHECK(machine.held().size() == 1);
  CHECK(std::abs(machine.held_impulses()(0) - 1) <= rounding(8, 1.0));  // weight × h
  machine.go_back();
  CHECK(machine.held().empty());
  CHECK(machine.held_impulses()(0) == 0);
}

TEST_CASE("step_machine: a run that fails says why", "[variational][edge]") {
  ImpactStepOptions<double> options;
  options.event_limit = 1;
  StepMachine<Corridor, ImpactResolver<double>> machine({}, ImpactResolver<double>(), options);
  MechanicalState<double> state{0, numbers<double>({0.5}), numbers<double>({40})};
  machine.start_step();
  ImpactStepReport<double> report;
  CHECK_FALSE(machine.run(state, 0.1, report));
  CHECK(report.status == SolveStatus::iteration_limit);
  state = {0, numbers<double>({0.5}), numbers<double>({std::nan("")})};
  CHECK_FALSE(machine.run(state, 0.1, report));
  CHECK(report.status == SolveStatus::not_finite);
}

}  // namespace step_machine_test
