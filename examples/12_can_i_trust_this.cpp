// SPDX-License-Identifier: BSD-3-Clause
// Can I trust this answer, and what if the solver did not get there?
//
// A heap of 60 spheres and boxes is solved with ever fewer iterations. Every answer, stopped early
// or not, comes with a bound on its distance to the exact one, in the norm of kinetic energy. The
// bound is checked against an answer to 1e-14. An answer that stopped early is a good start: the
// next call continues from it. The problem itself is written to a file that `carom solve` replays.
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "carom/carom.hpp"

#include "scenes/pile.hpp"

namespace {

using Vector = Eigen::VectorXd;

/// |v| in the norm of A [sqrt J].
double norm(const carom::ContactProblem<double>& problem, Vector velocity) {
  problem.whiten(carom::as_span(velocity));
  return velocity.norm();
}

}  // namespace

int main() try {
  const carom::examples::Pile heap = carom::examples::make_pile({.body_count = 60});
  Vector exact = heap.guess;
  bool right =
      carom::SapSolver<double>({.tolerance = 1e-14}).solve(heap.problem, exact).converged();

  std::printf("iterations  status           residual  distance <= bound [sqrt J]  worst body\n");
  Vector velocity, stopped;
  for (const int limit : {0, 5, 10, 200}) {
    velocity = heap.guess;
    carom::SapSolver<double> solver({.iteration_limit = limit});
    const auto report = solver.solve(heap.problem, velocity);
    const auto certificate = certify(heap.problem, velocity);
    const double distance = norm(heap.problem, velocity - exact);
    std::printf("%10d  %-15s  %8.1e  %8.1e <= %-14.1e  %10d\n", report.iterations,
                to_string(report.status), report.residual, distance,
                certificate.velocity_error_bound, int(certificate.velocity_residual_body));
    const double rounding = 1e-14 * norm(heap.problem, exact);
    right = right && distance <= certificate.velocity_error_bound + rounding &&
            std::abs(certificate.velocity_residual - report.residual) <
                1e-3 * report.residual + 1e-14 &&
            report.converged() == (report.residual <= report.residual_target);
    if (limit == 10) stopped = velocity;
  }
  // Where it did not converge: go on from where it stopped, and keep the problem for later.
  const auto resumed = carom::SapSolver<double>().solve(heap.problem, stopped);
  const auto path = std::filesystem::temp_directory_path() / "carom_example_12.txt";
  write_problem(heap.problem, path.string(), stopped);
  const auto bytes = std::filesystem::file_size(path);
  std::filesystem::remove(path);
  std::printf("from the third answer %d more; the problem is a file of %d kB\n", resumed.iterations,
              int(bytes / 1000));
  right = right && resumed.converged() && resumed.iterations < 10 && bytes > 100'000 &&
          norm(heap.problem, stopped - exact) <= resumed.error_bound + 1e-14;
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
