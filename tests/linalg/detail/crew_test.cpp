// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/crew.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"

namespace crew_test {

using carom::Crew, carom::Index;
using carom::testing::for_each_executor;

TEST_CASE("crew: one task leads, and every chunk runs once before run returns", "[linalg][law]") {
  for_each_executor([](const auto& executor) {
    for (const Index count : {0, 1, 2, 7, 400}) {
      Crew crew;
      std::atomic<int> leaders{0};
      std::vector<int> calls(std::size_t(count), 0);
      bool complete = true;
      executor(8, [&](Index) {
        crew.join([&] {
          ++leaders;
          for (int round = 1; round <= 20; ++round) {
            crew.run(count, [&](Index k) { ++calls[std::size_t(k)]; });
            for (const int own : calls) complete = complete && own == round;
          }
        });
      });
      CAPTURE(count);
      CHECK(leaders == 1);
      CHECK(complete);
    }
  });
}

TEST_CASE("crew: tasks that come while it works help", "[linalg][law]") {
  Crew crew;
  std::vector<std::thread::id> who(2);
  std::atomic<int> inside{0};
  const auto task = [&] {
    crew.join([&] {
      // The first loop alone may run before the other thread is here, so it is repeated.
      for (int round = 0; round < 500 && inside < 2; ++round) {
        inside = 0;
        crew.run(2, [&](Index k) {
          who[std::size_t(k)] = std::this_thread::get_id();
          ++inside;
          const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
          while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        });
        if (who[0] == who[1]) inside = 0;
      }
    });
  };
  std::thread other(task);
  task();
  other.join();
  CHECK(who[0] != who[1]);
}

TEST_CASE("crew: a task that comes within a loop helps with what is left of it", "[linalg][law]") {
  Crew crew;
  std::atomic<bool> begun{false};
  std::atomic<int> inside{0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto wait = [&](const auto& wanted) {
    while (!wanted() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  bool helped = false;
  std::thread other([&] {
    wait([&] { return begun.load(); });
    crew.join([] {});
  });
  crew.join([&] {
    crew.run(3, [&](Index k) {
      if (k == 0) {
        begun = true;
        wait([&] { return !crew.alone(); });
        return;
      }
      ++inside;  // of the two chunks that only two threads can be in at once
      wait([&] { return inside == 2; });
    });
    helped = std::chrono::steady_clock::now() < end;
  });
  other.join();
  CHECK(helped);
}

TEST_CASE("crew: the leader waits for chunks that helpers still run", "[linalg][law]") {
  Crew crew;
  bool complete = true;
  const auto task = [&] {
    crew.join([&] {
      for (int round = 0; round < 20; ++round) {
        std::vector<int> calls(4, 0);
        crew.run(4, [&](Index k) {  // the first chunk lasts longest, whoever takes it
          std::this_thread::sleep_for(std::chrono::milliseconds(k == round % 2 ? 9 : 1));
          ++calls[std::size_t(k)];
        });
        for (const int own : calls) complete = complete && own == 1;
      }
    });
  };
  std::vector<std::thread> helpers;
  for (int k = 0; k < 3; ++k) helpers.emplace_back(task);
  task();
  for (std::thread& helper : helpers) helper.join();
  CHECK(complete);
}

TEST_CASE("crew: tasks that come after the leader has ended return at once", "[linalg][example]") {
  Crew crew;
  int led = 0;
  for (int k = 0; k < 3; ++k) crew.join([&] { ++led; });
  CHECK(led == 1);
}

TEST_CASE("crew: helpers that sleep through a pause wake up for the next loop",
          "[linalg][example]") {
  Crew crew;
  std::vector<std::thread> helpers;
  std::atomic<bool> leading{false};
  long sum = 0;
  std::thread leader([&] {
    crew.join([&] {
      leading = true;
      for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::vector<long> parts(50, 0);
        crew.run(50, [&](Index k) { parts[std::size_t(k)] = long(k); });
        for (const long part : parts) sum += part;
      }
    });
  });
  while (!leading) std::this_thread::yield();
  for (int k = 0; k < 3; ++k) helpers.emplace_back([&] { crew.join([] {}); });
  leader.join();
  for (std::thread& helper : helpers) helper.join();
  CHECK(sum == 3 * 49 * 25);
}

}  // namespace crew_test
