// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/step_machine.hpp"

#include <cmath>

#include "carom/impact/resolve.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace flight_guess_test {

using namespace carom::testing;
using carom::FlightGuess, carom::MechanicalState, carom::VectorX;

TEST_CASE("flight_guess: exact in steady acceleration, whatever the spans", "[variational][law]") {
  const auto place = [](double t) { return numbers<double>({1 + 2 * t - 3 * t * t, 4 * t * t}); };
  const auto rate = [](double t) { return numbers<double>({2 - 6 * t, 8 * t}); };
  FlightGuess<double> flight;
  flight.prepare(2);
  VectorX<double> guess(2);
  const MechanicalState<double> state{0.1, place(0.1), rate(0.1)};
  // Nothing known: a straight line.
  flight.write(state, rate(0.1), 0.3, guess);
  CHECK((guess - (place(0.1) + 0.3 * rate(0.1))).norm() <= rounding(8, 1.0));
  flight.remember(rate(0), state, 0.1);
  for (const double span : {0.3, 0.1, 1e-6}) {
    flight.write(state, rate(0.1), span, guess);
    CHECK((guess - place(0.1 + span)).norm() <= rounding(64, 1.0));
  }
  // Another momentum, as after an impact, or another place: a straight line again.
  MechanicalState<double> other = state;
  other.momentum(0) += 1;
  flight.write(other, rate(0.1), 0.3, guess);
  CHECK((guess - (place(0.1) + 0.3 * rate(0.1))).norm() <= rounding(8, 1.0));
  other = state;
  other.q(1) += 1;
  flight.write(other, rate(0.1), 0.3, guess);
  CHECK((guess - (other.q + 0.3 * rate(0.1))).norm() <= rounding(8, 1.0));
}

}  // namespace flight_guess_test

namespace step_machine_test {

using namespace carom::testing;
using carom::ImpactResolver, carom::ImpactStepOptions, carom::ImpactStepReport;
using carom::MechanicalState, carom::SolveStatus, carom::StepMachine;

namespace {

/// A unit mass on a line between a wall at zero and, with width > 0, another one.
struct Corridor : OnLine {
  double width = 1;
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0) * (width - q(0));
  }
};

}  // namespace

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
