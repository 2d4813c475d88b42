// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/solve_limits.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/fake_clock.hpp"

using carom::SolveLimits, carom::testing::FakeClock;

TEST_CASE("solve_limits: without a clock there is no deadline", "[core][example]") {
  CHECK_FALSE(SolveLimits().is_over());
  CHECK_FALSE(SolveLimits{.deadline = -1}.is_over());
  CHECK(SolveLimits().iteration_limit == (std::numeric_limits<int>::max)());
}

TEST_CASE("solve_limits: the deadline has come when the clock shows it", "[core][example]") {
  FakeClock clock;
  const SolveLimits limits = clock.until(2);
  CHECK_FALSE(limits.is_over());  // 0
  CHECK_FALSE(limits.is_over());  // 1
  CHECK(limits.is_over());        // 2
  CHECK(limits.is_over());
  CHECK(clock.calls == 4);
  CHECK_FALSE(clock.until(std::numeric_limits<double>::infinity()).is_over());
  CHECK(clock.until(std::numeric_limits<double>::quiet_NaN()).is_over());
}

TEST_CASE("solve_limits: another limit of iterations leaves the clock", "[core][example]") {
  FakeClock clock;
  const SolveLimits limits = clock.until(1).with_iterations(7);
  CHECK(limits.iteration_limit == 7);
  CHECK_FALSE(limits.is_over());
  CHECK(limits.is_over());
}

TEST_CASE("solve_limits: a deadline is a finite time on a clock", "[core][example]") {
  FakeClock clock;
  CHECK_FALSE(SolveLimits().has_deadline());
  CHECK_FALSE(SolveLimits{.deadline = 1}.has_deadline());
  CHECK_FALSE(clock.until(std::numeric_limits<double>::infinity()).has_deadline());
  CHECK(clock.until(2).has_deadline());
  CHECK(clock.until(std::numeric_limits<double>::quiet_NaN()).has_deadline());
  CHECK(clock.calls == 0);  // the clock is not read
}
