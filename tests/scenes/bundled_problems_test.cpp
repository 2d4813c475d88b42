// SPDX-License-Identifier: BSD-3-Clause
// Every problem of examples/data, solved to 1e-10 by Newton and by an unrelated method.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/sap_derivative.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/dual_oracle.hpp"
#include "support/residual_noise.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

#include "io/text_problem.hpp"

namespace bundled_problems_test {

using carom::testing::by_conditioning;

using carom::testing::by_differences, carom::testing::by_solver;

using carom::Index, carom::SapSolver, carom::VectorX;
using carom::files::read_text_problem, carom::files::TextProblem;
using carom::testing::assemble, carom::testing::convert_vector, carom::testing::read_back;
using carom::testing::rounding, carom::testing::solve_by_dual_oracle;

namespace {

constexpr Index oracle_size = 180;  ///< impulses up to which the oracle takes part of a second

std::vector<std::string> bundled_problems() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CAROM_SOURCE_DIR "/examples/data")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void compare_with_oracle(const TextProblem& given, double tolerance) {
  SapSolver<double> solver({.tolerance = 1e-11});
  VectorX<double> velocity = given.guess;
  const auto report = solver.solve(given.problem, velocity);
  CHECK(report.converged());
  const auto dense = assemble<double>(read_back(given.problem));
  const auto exact = solve_by_dual_oracle<double>(dense, tolerance);
  const double size = std::max(dense.energy_norm(velocity), dense.energy_norm(dense.free_velocity));
  const double error = dense.energy_norm(velocity - exact.velocity);
  CAPTURE(report.iterations, report.residual, exact.iterations, exact.error_bound / size);
  CHECK(report.error_bound <= by_solver(1e-10) * size);
  CHECK(exact.error_bound <= tolerance * size);
  CHECK(error <= report.error_bound + exact.error_bound + rounding(1000, size));
}

}  // namespace

TEST_CASE("bundled problems: from the given guess each converges within its certificate",
          "[scenes][law]") {
  const auto paths = bundled_problems();
  CHECK(paths.size() >= 6);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const TextProblem given = read_text_problem(path);
    SapSolver<double> solver({.tolerance = 1e-10});
    VectorX<double> velocity = given.guess;
    if (velocity.size() > 100) continue;  // in the slow suite
    const auto report = solver.solve(given.problem, velocity);
    const auto certificate =
        carom::certify(given.problem, velocity, VectorX<double>(solver.impulse()));
    CHECK(report.converged());
    CHECK(certificate.residual <= by_solver(1.01e-10));
    CHECK(certificate.natural_map_error <= by_solver(1e-7));
    CHECK(certificate.cone_violation <= rounding(5000, 1.0) * (1 + solver.impulse().norm()));
    CHECK(std::abs(certificate.duality_gap) <=
          rounding(5000, 1.0) * primal_cost(given.problem, velocity));
  }
}

TEST_CASE("bundled problems: the reported residual is the recomputed one, also when stopped short",
          "[scenes][law]") {
  int stopped = 0;
  for (const std::string& path : bundled_problems()) {
    const TextProblem given = read_text_problem(path);
    const bool large = given.guess.size() > 100;
    for (const int limit : {0, 1, 3, 8, 200}) {
      if (large && limit > carom::testing::sweep(1, 8))
        continue;  // enough of them to see, in a plain run
      CAPTURE(path, limit);
      SapSolver<double> solver({.iteration_limit = limit});
      VectorX<double> velocity = given.guess;
      const auto report = solver.solve(given.problem, velocity);
      const VectorX<double> impulse = solver.impulse();
      const auto pair = carom::certify(given.problem, velocity, impulse);
      const auto alone = carom::certify(given.problem, velocity);
      const double noise = carom::testing::residual_noise(given.problem, velocity, impulse);
      stopped += report.status == carom::SolveStatus::iteration_limit ? 1 : 0;
      CHECK(noise < by_differences(1e-6));
      CHECK(std::abs(report.residual - pair.residual) <= noise);
      CHECK(std::abs(report.residual - alone.residual) <= noise);
      CHECK(report.error_bound <=
            pair.velocity_error_bound * (1 + by_conditioning(1e-6)) +
                noise * (1 + pair.velocity_error_bound /
                                 std::max(report.residual, std::numeric_limits<double>::min())));
    }
  }
  CHECK(stopped >= 8);
}

TEST_CASE("bundled problems: two unrelated methods agree within their certified bounds",
          "[scenes][oracle]") {
  int compared = 0;
  for (const std::string& path : bundled_problems()) {
    CAPTURE(path);
    const TextProblem given = read_text_problem(path);
    if (3 * given.problem.block_count() > oracle_size) continue;
    compare_with_oracle(given, 1e-10);
    ++compared;
  }
  CHECK(compared >= 6);
}

TEST_CASE("bundled problems: the large ones agree, too", "[.][scenes][oracle][slow]") {
  for (const std::string& path : bundled_problems()) {
    CAPTURE(path);
    const TextProblem given = read_text_problem(path);
    if (3 * given.problem.block_count() <= oracle_size) continue;
    compare_with_oracle(given, 1e-10);
  }
}

TEST_CASE("bundled problems: friction's direction as an unknown keeps the iterations few",
          "[scenes][regression]") {
  // Newton with the true curvature takes 13, 23, 21 and 19.
  const struct {
    const char* name;
    int most;
  } cases[] = {
      {"pile_n10_s60", 6}, {"pile_n100_s60", 13}, {"rigid_n100_s60", 12}, {"wall_n10", 17}};
  for (const auto& [name, most] : cases) {
    CAPTURE(name);
    const TextProblem given =
        read_text_problem(std::string(CAROM_SOURCE_DIR "/examples/data/") + name + ".txt");
    SapSolver<double> solver({.tolerance = 1e-8});
    VectorX<double> velocity = given.guess;
    const auto report = solver.solve(given.problem, velocity);
    CHECK(report.converged());
    CHECK(report.iterations <= most);
  }
}

TEST_CASE("bundled problems: derivatives of their solutions are those of central differences",
          "[scenes][derivative]") {
  int compared = 0;
  for (const std::string name : {"pile_n1_s30", "pile_n10_s60", "robot_30x16", "mujoco_box_10"}) {
    CAPTURE(name);
    const TextProblem given = read_text_problem(CAROM_SOURCE_DIR "/examples/data/" + name + ".txt");
    const auto raw = read_back(given.problem);
    // One direction of all free velocities, in proportion to them.
    const auto moved = [&](double h) {
      auto data = raw;
      for (std::size_t b = 0; b < data.bodies.size(); ++b) {
        for (Index k = 0; k < data.bodies[b].free_velocity.size(); ++k) {
          data.bodies[b].free_velocity(k) += h * std::cos(double(b) + 2.0 * double(k));
        }
      }
      return carom::testing::build(data);
    };
    const auto solve = [&](const auto& problem) {
      SapSolver<double> solver({.tolerance = 1e-15});
      VectorX<double> velocity = given.guess;
      static_cast<void>(solver.solve(problem, velocity));
      return velocity;
    };
    const auto problem = moved(0);
    const VectorX<double> velocity = solve(problem);
    carom::ProblemDifferential<double> change;
    change.set_zero(problem, carom::DifferentialParts::vectors);
    const VectorX<double> ahead = moved(1).free_velocity();
    change.free_velocity = ahead - problem.free_velocity();
    VectorX<double> results[2];
    for (const int by_factor : {0, 1}) {
      carom::SapDerivative<double> derivative({.factor_work_limit = by_factor == 1 ? 1e300 : 0.0});
      REQUIRE(derivative.linearize(problem, velocity).usable());
      CHECK(derivative.push_forward(problem, change, results[by_factor]).converged());
    }
    CHECK((results[0] - results[1]).norm() <= by_solver(1e-7) * results[1].norm());
    double best = 1;
    for (const double h : {1e-6, 1e-7, 1e-8}) {
      const VectorX<double> difference = (solve(moved(h)) - solve(moved(-h))) / (2 * h);
      best = std::min(best, (difference - results[1]).norm() / results[1].norm());
    }
    CAPTURE(best);
    CHECK(best <= by_differences(1e-5));
    ++compared;
  }
  CHECK(compared == 4);
}

}  // namespace bundled_problems_test
