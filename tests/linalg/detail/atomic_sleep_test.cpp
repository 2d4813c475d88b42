// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/atomic_sleep.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace atomic_sleep_test {

using carom::detail::AtomicSleep;

// Two threads that wait for each other in turn come to an end only if no wake-up is lost.
template <bool by_system, typename Number>
void check_turns(int rounds) {
  AtomicSleep<by_system> sleep;
  std::atomic<Number> turn{0};
  std::vector<int> order;
  const auto player = [&](Number own) {
    for (int round = 0; round < rounds; ++round) {
      for (Number now = turn.load(std::memory_order_acquire); now % 2 != own;
           now = turn.load(std::memory_order_acquire)) {
        sleep.wait(turn, now);
      }
      order.push_back(int(own));
      turn.fetch_add(1, std::memory_order_acq_rel);
      sleep.wake(turn);
    }
  };
  std::thread other([&] { player(1); });
  player(0);
  other.join();
  bool in_turn = order.size() == std::size_t(2 * rounds);
  for (std::size_t k = 0; k < order.size(); ++k) in_turn = in_turn && order[k] == int(k % 2);
  CHECK(in_turn);
}

TEST_CASE("atomic_sleep: two threads that wait in turn lose no wake-up", "[linalg][law]") {
  check_turns<carom::detail::atomic_sleeps_by_system, int>(2000);
  check_turns<carom::detail::atomic_sleeps_by_system, std::uint64_t>(2000);
  check_turns<false, int>(2000);
  check_turns<false, std::uint64_t>(2000);
}

// A number that takes long to compare, so that it changes between the comparison and the sleep.
struct SlowNumber {
  int value = 0;
  friend bool operator!=(const SlowNumber& a, const SlowNumber& b) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return a.value != b.value;
  }
};

TEST_CASE("atomic_sleep: a change between comparison and sleep wakes the thread", "[linalg][law]") {
  AtomicSleep<false> sleep;
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

TEST_CASE("atomic_sleep: a number that differs already is not waited for", "[linalg][example]") {
  std::atomic<int> number{1};
  AtomicSleep<>().wait(number, 0);
  AtomicSleep<false>().wait(number, 0);
  CHECK(number == 1);
}

TEST_CASE("atomic_sleep: one call wakes all, and one object serves two numbers", "[linalg][law]") {
  AtomicSleep<false> sleep;
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

}  // namespace atomic_sleep_test
