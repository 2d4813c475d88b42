// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/mechanical_state.hpp"

#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

namespace mechanical_state_test {

using carom::ImpactStepper;
using carom::testing::DoublePendulum, carom::testing::numbers;

TEST_CASE("mechanical_state: a stepper makes the momentum of a velocity",
          "[variational][example]") {
  // L = v₀² + v₁²/2 + v₀ v₁ cos(q₀ − q₁) + …; at equal angles p = (2 v₀ + v₁, v₀ + v₁).
  ImpactStepper<DoublePendulum<double>> stepper({});
  const auto state = stepper.make_state(numbers<double>({1, 1}), numbers<double>({2, 3}), 0.5);
  CHECK(state.time == 0.5);
  CHECK(state.q == numbers<double>({1, 1}));
  CHECK(state.momentum == numbers<double>({7, 5}));
}

}  // namespace mechanical_state_test
