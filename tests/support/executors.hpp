// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "carom/core/scalar.hpp"

/// @file
/// Executors that a result must not depend on: executor(count, task) calls task(i) for every i.
namespace carom::testing {

/// One after the other, from the last.
struct Backwards {
  template <typename Task>
  void operator()(Index count, const Task& task) const {
    for (Index i = count; i-- > 0;) task(i);
  }
};

/// A thread for every task.
struct ThreadEach {
  template <typename Task>
  void operator()(Index count, const Task& task) const {
    std::vector<std::thread> threads;
    for (Index i = 0; i < count; ++i) threads.emplace_back([&task, i] { task(i); });
    for (std::thread& thread : threads) thread.join();
  }
};

/// Some threads that take the tasks in a drawn order, each after a drawn delay.
struct Shuffled {
  int thread_count;
  unsigned seed;

  template <typename Task>
  void operator()(Index count, const Task& task) const {
    std::mt19937 engine(seed);
    std::vector<Index> order(std::size_t(count), 0);
    std::iota(order.begin(), order.end(), Index(0));
    std::shuffle(order.begin(), order.end(), engine);
    std::vector<unsigned> delays;  // [µs]
    for (Index i = 0; i < count; ++i) delays.push_back(unsigned(engine() % 300));
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t k = next++; k < order.size(); k = next++) {
        std::this_thread::sleep_for(std::chrono::microseconds(delays[k]));
        task(order[k]);
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < thread_count; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
  }
};

template <typename Visit>
void for_each_executor(const Visit& visit) {
  visit(Backwards{});
  visit(ThreadEach{});
  for (const int threads : {2, 3, 5}) visit(Shuffled{threads, 77u + unsigned(threads)});
}

/// Calls every task twice, from two threads.
struct Twice {
  template <typename Task>
  void operator()(Index count, const Task& task) const {
    std::thread other([&] {
      for (Index i = 0; i < count; ++i) task(i);
    });
    for (Index i = count; i-- > 0;) task(i);
    other.join();
  }
};

/// Forgets all tasks beyond the first `kept`.
struct Forgetful {
  Index kept = 0;

  template <typename Task>
  void operator()(Index count, const Task& task) const {
    for (Index i = 0; i < std::min(count, kept); ++i) task(i);
  }
};

/// Throws after half of the tasks.
struct Throwing {
  template <typename Task>
  void operator()(Index count, const Task& task) const {
    for (Index i = 0; i < count / 2; ++i) task(i);
    throw std::runtime_error("no more threads");
  }
};

}  // namespace carom::testing
