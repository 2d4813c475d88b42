// SPDX-License-Identifier: BSD-3-Clause
#include "cli/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace thread_pool_test {

using carom::Index;
using carom::cli::ThreadPool;

TEST_CASE("thread_pool: every task runs once, with any number of threads", "[cli][law]") {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const Index count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      pool(count, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
      bool once = true;
      for (const auto& one : calls) once = once && one == 1;
      CHECK(once);
    }
  }
}

TEST_CASE("thread_pool: tasks run at the same time", "[cli][example]") {
  ThreadPool pool(3);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  pool(3, [&](Index /*i*/) {  // each waits for the other two
    ++arrived;
    while (arrived < 3) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > until) {
        met = false;
        return;
      }
    }
  });
  CHECK(met);
}

TEST_CASE("thread_pool: a task may call the pool, over and over", "[cli][law]") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::atomic<long> sum{0};
    for (int turn = 0; turn < 50; ++turn) {
      pool(4, [&](Index outer) { pool(10, [&](Index inner) { sum += 10 * outer + inner; }); });
    }
    CHECK(sum == 50 * (39 * 40 / 2));
  }
}

TEST_CASE("thread_pool: one thread is the one that calls, in turn", "[cli][example]") {
  ThreadPool pool(1);
  std::vector<Index> order;
  std::set<std::thread::id> on;
  pool(5, [&](Index i) {
    order.push_back(i);
    on.insert(std::this_thread::get_id());
  });
  CHECK(order == std::vector<Index>{0, 1, 2, 3, 4});
  CHECK(on == std::set<std::thread::id>{std::this_thread::get_id()});
}

}  // namespace thread_pool_test
