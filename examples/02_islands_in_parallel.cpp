// SPDX-License-Identifier: BSD-3-Clause
// Does it matter who solves which island?
//
// Twelve heaps of spheres and boxes stand apart, so contacts connect bodies of one heap alone:
// there are twelve islands. A pool of threads takes them one after the other. The velocities after
// the step are those of a single thread, to the last bit, for any number of threads.
#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include "carom/carom.hpp"

#include "scenes/pile.hpp"

namespace {

using carom::Index;

/// An executor: every thread takes the next island until none is left.
struct Pool {
  int thread_count;

  template <typename Task>
  void operator()(Index count, const Task& task) const {
    std::atomic<Index> next{0};
    const auto work = [&] {
      for (Index i = next++; i < count; i = next++) task(i);
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < thread_count; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
  }
};

int run() {
  const carom::examples::Pile heaps = carom::examples::make_piles(12, {.body_count = 30});
  carom::SapSolver<double> solver;
  Eigen::VectorXd expected = heaps.guess;
  const auto alone = solver.solve(heaps.problem, expected);
  std::printf("islands %d, iterations %d, relative residual %.1e\n",
              int(solver.graph().islands().size()), alone.iterations, alone.residual);
  std::printf("threads  same bits\n");
  bool same = alone.converged() && solver.graph().islands().size() == 12;
  for (const int threads : {1, 2, 3, 8}) {
    Eigen::VectorXd velocity = heaps.guess;
    const auto report = solver.solve(heaps.problem, velocity, Pool{threads});
    const bool equal = velocity == expected && report.residual == alone.residual;
    std::printf("%7d  %s\n", threads, equal ? "yes" : "no");
    same = same && equal;
  }
  return same ? 0 : 1;
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
