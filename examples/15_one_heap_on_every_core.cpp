// SPDX-License-Identifier: BSD-3-Clause
// Can one heap use more than one core, and whose threads are these?
//
// A heap is one island. The solver hands the work within it to an executor: executor(count, task)
// calls task(i) for every i below count, on threads of your choice: here of the standard library,
// of oneTBB and of OpenMP. Velocities and certificates are those of one thread, to the last bit.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>
#ifdef CAROM_EXAMPLE_TBB
#include <oneapi/tbb/parallel_for.h>
#endif

#include "carom/carom.hpp"

#include "scenes/pile.hpp"

namespace {

using carom::Index;
const auto standard_threads = [](Index count, const auto& task) {
  std::atomic<Index> next{0};
  const auto work = [&] {
    for (Index i = next++; i < count; i = next++) task(i);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
};
#ifdef CAROM_EXAMPLE_TBB
const auto one_tbb = [](Index count, const auto& task) {
  oneapi::tbb::parallel_for(Index(0), count, [&](Index i) { task(i); });
};
#endif
#ifdef _OPENMP
const auto openmp = [](Index count, const auto& task) {
#pragma omp parallel for schedule(dynamic)
  for (Index i = 0; i < count; ++i) task(i);
};
#endif

int run() {
  const carom::examples::Pile heap = carom::examples::make_pile({.body_count = 450});
  carom::SapSolver<double> solver;
  Eigen::VectorXd expected = heap.guess;
  bool good = solver.solve(heap.problem, expected).converged();
  const auto certificate = certify(heap.problem, expected);
  const auto compare = [&](const char* name, const auto& executor) {
    Eigen::VectorXd velocity = heap.guess;
    const auto start = std::chrono::steady_clock::now();
    const auto report = solver.solve(heap.problem, velocity, executor);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    good = good && velocity == expected && certify(heap.problem, velocity, executor) == certificate;
    std::printf("%-12s %7.3f s, %d iterations, same bits so far: %s\n", name, time.count(),
                report.iterations, good ? "yes" : "no");
  };
  compare("std::thread", standard_threads);
#ifdef CAROM_EXAMPLE_TBB
  compare("oneTBB", one_tbb);
#endif
#ifdef _OPENMP
  compare("OpenMP", openmp);
#endif
  return good ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
