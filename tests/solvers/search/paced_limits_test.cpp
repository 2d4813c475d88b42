// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/paced_limits.hpp"

#include "support/catch.hpp"

namespace paced_limits_test {

using carom::SolveLimits;
using carom::detail::Pace, carom::detail::PacedLimits;

namespace {

/// A clock that is set by hand.
struct Clock {
  double time = 0;
  [[nodiscard]] SolveLimits until(double deadline) noexcept {
    return {.iteration_limit = 7,
            .now = [](void* self) noexcept { return static_cast<Clock*>(self)->time; },
            .context = this,
            .deadline = deadline};
  }
};

}  // namespace

TEST_CASE("paced_limits: over as soon as an iteration like the longest would end late",
          "[solvers][law]") {
  Clock clock;
  const SolveLimits given = clock.until(10);
  PacedLimits pace(given, 0);
  const SolveLimits limits = pace.limits();
  CHECK(limits.iteration_limit == 7);
  CHECK_FALSE(limits.is_over());
  clock.time = 3;  // the longest: 3
  CHECK_FALSE(limits.is_over());
  clock.time = 4;
  CHECK_FALSE(limits.is_over());
  clock.time = 6.5;
  CHECK_FALSE(limits.is_over());
  clock.time = 7.5;
  CHECK(limits.is_over());
  CHECK(pace.longest() == 3);
  CHECK_FALSE(given.is_over());
}

TEST_CASE("paced_limits: what is expected and what is reserved count before anything is measured",
          "[solvers][law]") {
  Clock clock;
  const SolveLimits given = clock.until(10);
  PacedLimits expecting(given, 4);
  CHECK_FALSE(expecting.limits().is_over());
  expecting.reserve(7);
  CHECK(expecting.limits().is_over());
  clock.time = 1;
  expecting.reserve(4);
  CHECK_FALSE(expecting.limits().is_over());
  clock.time = 2.5;
  CHECK(expecting.limits().is_over());
}

TEST_CASE("paced_limits: without a clock there is no deadline", "[solvers][law]") {
  SolveLimits given;
  given.deadline = -1;
  PacedLimits pace(given, 1e9);
  CHECK_FALSE(pace.limits().is_over());
  CHECK(pace.longest() == 0);
}

TEST_CASE("paced_limits: an iteration that took long by chance is forgotten", "[solvers][law]") {
  Pace pace;
  pace.learn(1);
  CHECK(pace.expected == 1);
  for (int k = 0; k < 20; ++k) pace.learn(0.125);
  CHECK(pace.expected == 0.125);
}

}  // namespace paced_limits_test
