// SPDX-License-Identifier: BSD-3-Clause
// One island on one thread and on more: a wall and a heap of 1000 bodies, heaps of 10,000, 100,000
// and, where asked for, a million, and 20,000 balls packed in a box. Prints a row per scene and
// number of threads, with the time to certify the answer and the memory's bandwidth on as many
// threads beside it. Each answer and its certificate must have the bits of those on one thread.
//   carom_thread_scaling [most threads] [most bodies]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "cli/memory.hpp"
#include "cli/thread_pool.hpp"
#include "scenes/falling_solids.hpp"
#include "scenes/masonry.hpp"
#include "scenes/pile.hpp"

namespace {

using carom::ContactProblem, carom::Index, carom::SapSolver, carom::VectorX;
using carom::cli::ThreadPool;

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Bytes that are read and written per second where each thread adds two of its own arrays.
double bandwidth(int threads, ThreadPool& pool) {
  constexpr Index length = 1 << 22;
  struct Arrays {
    std::vector<double> a, b, c;
  };
  std::vector<Arrays> own(static_cast<std::size_t>(threads));
  pool(threads, [&](Index i) {
    Arrays& arrays = own[std::size_t(i)];
    arrays.a.assign(std::size_t(length), 1.0);
    arrays.b = arrays.c = arrays.a;
  });
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = seconds_now();
    pool(threads, [&](Index i) {
      Arrays& arrays = own[std::size_t(i)];
      for (std::size_t k = 0; k < std::size_t(length); ++k) {
        arrays.a[k] = arrays.b[k] + 0.5 * arrays.c[k];
      }
    });
    const double bytes = 24.0 * double(length) * threads;  // without what a write reads first
    best = std::max(best, bytes / (seconds_now() - start));
  }
  return best;
}

struct Scene {
  std::string name;
  const ContactProblem<double>& problem;
  VectorX<double> guess;
  int repeats;
};

/// Prints the rows of a scene. @return whether all answers have the same bits.
bool measure(const Scene& scene, int most_threads) {
  VectorX<double> alone;
  carom::ContactCertificate<double> alone_certificate;
  double alone_seconds = 0;
  bool same = true;
  for (int threads = 1; threads <= most_threads; threads *= 2) {
    ThreadPool pool(threads);
    SapSolver<double> solver({.tolerance = 1e-8});
    VectorX<double> velocity;
    double cold = 0, warm = 1e300;
    carom::SolveReport<double> report;
    for (int repeat = 0; repeat < scene.repeats; ++repeat) {
      velocity = scene.guess;
      const double start = seconds_now();
      report = solver.solve(scene.problem, velocity, pool);
      const double seconds = seconds_now() - start;
      if (repeat == 0) cold = seconds;
      if (repeat > 0 || scene.repeats == 1) warm = std::min(warm, seconds);
    }
    const VectorX<double> impulse = solver.impulse();
    carom::ContactCertificate<double> certificate;
    double judging = 1e300;
    for (int repeat = 0; repeat < scene.repeats; ++repeat) {
      const double start = seconds_now();
      certificate = certify(scene.problem, velocity, impulse, pool);
      judging = std::min(judging, seconds_now() - start);
    }
    if (threads == 1) {
      alone = velocity;
      alone_certificate = certificate;
      alone_seconds = warm;
    }
    const bool equal = velocity == alone && certificate == alone_certificate;
    same = same && equal;
    std::printf("%-16s %9ld %8d %10.4f %10.4f %6.2f %10.4f %6d %9.1e %8.1f %9.2f  %s\n",
                scene.name.c_str(), long(scene.problem.block_count()), threads, cold, warm,
                alone_seconds / warm, judging, report.iterations, report.residual,
                1e-9 * bandwidth(threads, pool), 1e-9 * carom::cli::peak_memory(),
                equal ? "same bits" : "OTHER BITS");
    std::fflush(stdout);
  }
  return same;
}

bool measure_heap(Index bodies, int repeats, int most_threads) {
  carom::examples::PileShape shape;
  shape.body_count = bodies;
  const carom::examples::Pile pile = carom::examples::make_pile(shape);
  const Scene scene{"heap_" + std::to_string(bodies), pile.problem, pile.guess, repeats};
  return measure(scene, most_threads);
}

bool measure_wall(int repeats, int most_threads) {
  auto world = carom::examples::make_brick_wall({});
  world.rigid = false;
  world.softness = 1e-3;
  const ContactProblem<double> problem = world.problem();
  return measure({"wall_1000", problem, problem.free_velocity(), repeats}, most_threads);
}

bool measure_packed(Index balls, int repeats, int most_threads) {
  auto scene = carom::examples::make_packed_balls(balls, 0.03);
  scene.kind = carom::examples::SolidContact::compliant;
  scene.time_step = 1e-3;
  scene.prepare();
  const VectorX<double> guess = VectorX<double>::Zero(scene.problem().velocity_count());
  return measure({"packed_" + std::to_string(balls), scene.problem(), guess, repeats},
                 most_threads);
}

/// A million bodies on all threads alone, as on one it takes minutes. @return whether it is solved.
bool measure_million(int threads) {
  carom::examples::PileShape shape;
  shape.body_count = 1000000;
  const carom::examples::Pile pile = carom::examples::make_pile(shape);
  ThreadPool pool(threads);
  SapSolver<double> solver({.tolerance = 1e-8});
  VectorX<double> velocity = pile.guess;
  const double start = seconds_now();
  const auto report = solver.solve(pile.problem, velocity, pool);
  const double seconds = seconds_now() - start;
  std::printf("%-16s %9ld %8d %10.4f %10.4f %6s %10s %6d %9.1e %8s %9.2f\n", "heap_1000000",
              long(pile.problem.block_count()), threads, seconds, seconds, "", "",
              report.iterations, report.residual, "", 1e-9 * carom::cli::peak_memory());
  return report.converged();
}

}  // namespace

int main(int count, char** arguments) {
  const int most_threads = count > 1 ? std::atoi(arguments[1]) : 2;
  const double most_bodies = count > 2 ? std::atof(arguments[2]) : 1e5;
  if (most_threads < 1 || !(most_bodies >= 1000)) {
    std::puts("usage: carom_thread_scaling [most threads, from 1] [most bodies, from 1000]");
    return 2;
  }
  std::printf("%-16s %9s %8s %10s %10s %6s %10s %6s %9s %8s %9s\n", "scene", "contacts", "threads",
              "first [s]", "best [s]", "ratio", "judged [s]", "steps", "residual", "GB/s",
              "peak [GB]");
  bool same = measure_wall(20, most_threads);
  same = measure_heap(1000, 20, most_threads) && same;
  if (most_bodies >= 1e4) same = measure_heap(10000, 4, most_threads) && same;
  if (most_bodies >= 2e4) same = measure_packed(20000, 2, most_threads) && same;
  if (most_bodies >= 1e5) same = measure_heap(100000, 2, most_threads) && same;
  if (most_bodies >= 1e6) same = measure_million(most_threads) && same;
  return same ? 0 : 1;
}
