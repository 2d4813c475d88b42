// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/atomic_sleep.hpp"

#include <atomic>
#include <cstdint>

#include "support/catch.hpp"
#include "support/waiting_turns.hpp"

namespace atomic_sleep_test {

using carom::detail::AtomicSleep, carom::testing::take_turns;

TEST_CASE("atomic_sleep: two threads that wait in turn lose no wake-up", "[linalg][law]") {
  CHECK(take_turns<AtomicSleep, int>(2000));
  CHECK(take_turns<AtomicSleep, std::uint64_t>(2000));
}

TEST_CASE("atomic_sleep: a number that differs already is not waited for", "[linalg][example]") {
  std::atomic<int> number{1};
  AtomicSleep().wait(number, 0);
  CHECK(number == 1);
}

}  // namespace atomic_sleep_test
