// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/flight_guess.hpp"

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
