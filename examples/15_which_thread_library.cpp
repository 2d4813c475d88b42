// SPDX-License-Identifier: BSD-3-Clause
// Which thread library does a solve need?
//
// None of its own: the solver hands numbered tasks to a function of yours, the executor, which runs
// each once, in any order, on threads of its choice. Here are executors on std::thread, and on
// OpenMP and oneTBB where this was compiled with them. The velocities of twelve heaps after a step
// have the bits of a single thread with each.
#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>

#if __has_include(<oneapi/tbb/parallel_for.h>)
#include <oneapi/tbb/parallel_for.h>
#define EXAMPLE_HAS_TBB
#endif

#include "carom/carom.hpp"

#include "scenes/pile.hpp"

namespace {

using carom::Index;

bool run() {
  const carom::examples::Pile heaps = carom::examples::make_piles(12, {.body_count = 30});
  carom::SapSolver<double> solver;
  Eigen::VectorXd expected = heaps.guess;
  bool holds = solver.solve(heaps.problem, expected).converged();
  const auto compare = [&](const char* name, const auto& executor) {
    Eigen::VectorXd velocity = heaps.guess;
    const auto report = solver.solve(heaps.problem, velocity, executor);
    const bool equal = report.converged() && velocity == expected;
    std::printf("%-12s %s\n", name, equal ? "same bits" : "other bits");
    holds = holds && equal;
  };

  compare("std::thread", [](Index count, const auto& task) {
    std::atomic<Index> next{0};
    const auto work = [&] {
      for (Index i = next++; i < count; i = next++) task(i);
    };
    std::thread second(work);
    work();
    second.join();
  });
#ifdef _OPENMP
  compare("OpenMP", [](Index count, const auto& task) {
#pragma omp parallel for schedule(dynamic)
    for (Index i = 0; i < count; ++i) task(i);
  });
#endif
#ifdef EXAMPLE_HAS_TBB
  compare("oneTBB",
          [](Index count, const auto& task) { oneapi::tbb::parallel_for(Index(0), count, task); });
#endif
  return holds;
}

}  // namespace

int main() {
  try {
    return run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
