// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/initial_state.hpp"

#include <limits>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

namespace initial_state_test {

using namespace carom::testing;
using carom::LegendreMap, carom::MechanicalState, carom::detail::make_state,
    carom::detail::state_fault;

TEST_CASE("initial_state: a fault names what does not fit", "[variational][input]") {
  const Thrown<double> body;
  const auto two = numbers<double>({1, 2}), three = numbers<double>({1, 2, 3});
  const auto broken = numbers<double>({1, std::numeric_limits<double>::infinity()});
  const auto starts = [](const carom::Fault& fault, const std::string& start) {
    CAPTURE(fault, start);
    return fault.compare(0, start.size(), start) == 0;
  };
  CHECK(state_fault(body, {0, two, two}).empty());
  CHECK(starts(state_fault(body, {0, three, two}), "configuration entries"));
  CHECK(starts(state_fault(body, {0, two, three}), "momentum entries"));
  CHECK(starts(state_fault(body, {0, two, broken}), "momentum"));
  CHECK(starts(state_fault(body, {std::numeric_limits<double>::quiet_NaN(), two, two}), "time"));
}

TEST_CASE("initial_state: a state is made from a velocity, or refused", "[variational][input]") {
  const Thrown<double> body;
  LegendreMap<Thrown<double>> legendre;
  legendre.prepare(body);
  const auto q = numbers<double>({1, 2});
  const MechanicalState<double> state =
      make_state(body, legendre, q, numbers<double>({3, -1}), 4.0);
  CHECK(state.time == 4);
  CHECK(state.momentum == body.mass * numbers<double>({3, -1}));
  CHECK_THROWS_AS(make_state(body, legendre, q, numbers<double>({3}), 0.0), std::invalid_argument);
}

}  // namespace initial_state_test
