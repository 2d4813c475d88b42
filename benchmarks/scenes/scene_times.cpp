// SPDX-License-Identifier: BSD-3-Clause
// Times of whole scenes: bodies that fall into a bin and settle, step by step, and one large
// problem of packed balls. Prints a row per solver.
//   carom_scene_times [falling|packed] [steps or balls] [part of a solver's name] [deadline in ms]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/sap.hpp"

#include "scenes/falling_solids.hpp"

namespace {

using carom::ContactSolver, carom::FrictionLaw, carom::InteriorPointSolver, carom::SapSolver;
using carom::SolveLimits, carom::SolveReport;
using carom::examples::FallingSolids, carom::examples::make_falling_solids;
using carom::examples::make_packed_balls, carom::examples::SolidContact;

/// Processor time [s], which other programs distort less than the time of day.
double milliseconds_since(std::clock_t start) {
  return 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Limits that end after so many milliseconds of processor time; infinity: no limit.
SolveLimits limits_of(double milliseconds) {
  if (!std::isfinite(milliseconds)) return {};
  const auto now = [](void*) noexcept { return double(std::clock()) / CLOCKS_PER_SEC; };
  return {.now = now, .deadline = now(nullptr) + milliseconds / 1e3};
}

/// Solves a prepared scene: leaves velocity and impulse in it.
using Solve = std::function<SolveReport<double>(FallingSolids&, const SolveLimits&)>;

struct Row {
  std::string name;
  SolidContact kind;
  Solve solve;
};

template <typename Solver>
Solve by_velocity(Solver& solver) {
  return [&](FallingSolids& scene, const SolveLimits& limits) {
    solver.set_limits(limits);
    const auto report = solver.solve(scene.problem(), scene.velocity);
    scene.impulse = solver.impulse();
    return report;
  };
}
template <typename Solver>
Solve by_impulse(Solver& solver) {
  return [&](FallingSolids& scene, const SolveLimits& limits) {
    solver.set_limits(limits);
    const auto report = solver.solve_from(scene.problem(), scene.impulse, scene.velocity);
    scene.impulse = solver.impulse();
    return report;
  };
}

/// Largest memory of the process so far [MiB].
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/// 300 balls and 100 boxes fall into a bin; only solving is timed.
void run_falling(const Row& row, int steps, double deadline) {
  FallingSolids scene = make_falling_solids(300, 100, row.kind);
  double sum = 0, largest = 0, deepest = 0, digits = 0;
  std::size_t contacts = 0;
  int failed = 0, worst = 0;
  long iterations = 0;
  for (int k = 0; k < steps; ++k) {
    scene.prepare();
    contacts = std::max(contacts, scene.touches().size());
    deepest = std::max(deepest, scene.deepest());
    const auto start = std::clock();
    const auto report = row.solve(scene, limits_of(deadline));
    const double time = milliseconds_since(start);
    sum += time;
    largest = std::max(largest, time);
    iterations += report.iterations;
    worst = std::max(worst, report.iterations);
    failed += report.converged() ? 0 : 1;
    digits += std::log10(std::max(report.residual, 1e-16)) / steps;
    scene.advance();
  }
  std::printf("%-34s %8.2f %8.2f %7.1f %5d %7d %8.1e %8zu %9.2f %9.3f\n", row.name.c_str(),
              sum / steps, largest, double(iterations) / steps, worst, failed, std::pow(10, digits),
              contacts, 1e3 * deepest, scene.kinetic_energy());
  std::fflush(stdout);
}

void run_packed(const Row& row, int balls) {
  FallingSolids scene = make_packed_balls(balls, 0.03);
  scene.prepare();
  const double before = peak_memory();
  const auto start = std::clock();
  const auto report = row.solve(scene, {});
  std::printf("%-34s %9.0f %8.0f %6d %10.1e %-16s %8zu\n", row.name.c_str(),
              milliseconds_since(start), peak_memory() - before, report.iterations, report.residual,
              carom::to_string(report.status), scene.touches().size());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  const bool packed = !given.empty() && given[0] == "packed";
  const int size = given.size() > 1 ? std::atoi(given[1].c_str()) : packed ? 2000 : 300;
  const std::string wanted = given.size() > 2 ? given[2] : "";
  const double deadline =
      given.size() > 3 ? std::atof(given[3].c_str()) : std::numeric_limits<double>::infinity();
  if (size <= 0 || (!packed && !given.empty() && given[0] != "falling")) {
    std::puts("usage: carom_scene_times [falling|packed] [steps or balls] [solver] [ms]");
    return 2;
  }
  constexpr double tolerance = 1e-8;
  SapSolver<double> sap({.tolerance = tolerance});
  SapSolver<double> sap_exact({.law = FrictionLaw::coulomb, .tolerance = tolerance});
  ContactSolver<double> exact({.law = FrictionLaw::coulomb, .tolerance = tolerance});
  ContactSolver<double> given_law({.law = FrictionLaw::coulomb, .tolerance = tolerance});
  ContactSolver<double> convex({.law = FrictionLaw::convex, .tolerance = tolerance});
  InteriorPointSolver<double> path({.law = FrictionLaw::coulomb, .tolerance = tolerance});
  InteriorPointSolver<double> convex_path({.law = FrictionLaw::convex, .tolerance = tolerance});
  const std::vector<Row> falling{
      {"SapSolver", SolidContact::compliant, by_velocity(sap)},
      {"SapSolver, rolling friction", SolidContact::rolling, by_velocity(sap)},
      {"SapSolver, Coulomb's law", SolidContact::compliant, by_velocity(sap_exact)},
      {"ContactSolver, compliant", SolidContact::compliant, by_velocity(given_law)},
      {"ContactSolver, rigid", SolidContact::rigid, by_impulse(exact)},
      {"InteriorPointSolver, rigid", SolidContact::rigid, by_impulse(path)}};
  const std::vector<Row> one{{"InteriorPointSolver", SolidContact::rigid, by_velocity(convex_path)},
                             {"ContactSolver", SolidContact::rigid, by_velocity(convex)}};
  if (packed) {
    std::printf("%d packed balls, rigid, convex law, to 1e-8, one solve from nothing\n", size);
    std::printf("%-34s %9s %8s %6s %10s %-16s %8s\n", "solver", "ms", "MiB more", "iter",
                "residual", "status", "contacts");
  } else {
    std::printf("300 balls and 100 boxes fall into a bin, %d steps of 1/60 s, to 1e-8\n", size);
    std::printf("%-34s %8s %8s %7s %5s %7s %8s %8s %9s %9s\n", "solver", "ms mean", "largest",
                "iter", "most", "failed", "residual", "contacts", "deepest mm", "at end J");
  }
  for (const Row& row : packed ? one : falling) {
    if (row.name.find(wanted) == std::string::npos) continue;
    packed ? run_packed(row, size) : run_falling(row, size, deadline);
  }
  return 0;
}
