// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/lock_sleep.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/waiting_turns.hpp"

namespace lock_sleep_test {

using carom::detail::LockSleep, carom::testing::take_turns;

TEST_CASE("lock_sleep: two threads that wait in turn lose no wake-up", "[linalg][law]") {
  CHECK(take_turns<LockSleep, int>(2000));
  CHECK(take_turns<LockSleep, std::uint64_t>(2000));
}

TEST_CASE("lock_sleep: a number that differs already is not waited for", "[linalg][example]") {
  std::atomic<int> number{1};
  LockSleep().wait(number, 0);
  CHECK(number == 1);
}

// A number that takes long to compare, so that it changes between the comparison and the sleep.
struct SlowNumber {
  int value = 0;
  friend bool operator!=(const SlowNumber& a, const SlowNumber& b) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return a.value != b.value;
  }
};

TEST_CASE("lock_sleep: a change between comparison and sleep wakes the thread", "[linalg][law]") {
  LockSleep sleep;
  std::atomic<SlowNumber> number{SlowNumber{0}};
  std::atomic<bool> begun{false};
  std::atomic<bool> woken{false};
  std::thread sleeper([&] {
    begun = true;
    sleep.wait(number, SlowNumber{0});
    woken = true;
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  number = SlowNumber{1};
  sleep.wake(number);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!woken && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  CHECK(woken);
  sleep.wake(number);
  sleeper.join();
}

TEST_CASE("lock_sleep: one call wakes all, and one object serves two numbers", "[linalg][law]") {
  LockSleep sleep;
  std::atomic<int> gate{0};
  std::atomic<std::uint64_t> arrived{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      ++arrived;
      sleep.wake(arrived);
      sleep.wait(gate, 0);
      ++gate;
    });
  }
  for (std::uint64_t now = arrived; now < 4; now = arrived) sleep.wait(arrived, now);
  gate = 1;
  sleep.wake(gate);
  for (std::thread& thread : threads) thread.join();
  CHECK(gate == 5);
}

}  // namespace lock_sleep_test
