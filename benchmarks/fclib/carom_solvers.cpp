// SPDX-License-Identifier: BSD-3-Clause
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/projected_gradient.hpp"

#include "fclib/solver_run.hpp"
#include "peers/admm.hpp"

namespace carom::benchmarks {

namespace {

/// A solver of carom that stops only by time or by its own status.
template <typename SolverType, typename Options>
Solver solver_of(std::string name) {
  const auto prepare = [](const ContactFile& file, double tolerance) -> Solve {
    Options options;
    options.tolerance = tolerance;
    options.iteration_limit = std::numeric_limits<int>::max() / 4;
    auto solver = std::make_shared<SolverType>(options);
    return [solver = std::move(solver), &file] {
      Answer answer;
      answer.impulse = VectorX<double>::Zero(file.dual.row_count());
      const double begin = thread_seconds();
      const SolveReport<double> report = solver->solve(file.dual, answer.impulse);
      answer.cpu_seconds = thread_seconds() - begin;
      answer.info = report.status == SolveStatus::converged ? 0 : 1;
      answer.iterations = report.iterations;
      answer.residual = report.residual;
      return answer;
    };
  };
  return {std::move(name), prepare};
}

}  // namespace

double thread_seconds() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::vector<Solver> carom_solvers() {
  return {solver_of<InteriorPointSolver<double>, InteriorPointOptions<double>>("carom:newton"),
          solver_of<GaussSeidel<double>, GaussSeidelOptions<double>>("carom:gauss_seidel"),
          solver_of<ProjectedGradient<double>, ProjectedGradientOptions<double>>(
              "carom:projected_gradient"),
          solver_of<Admm<double>, AdmmOptions<double>>("carom:admm")};
}

}  // namespace carom::benchmarks
