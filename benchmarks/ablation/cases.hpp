// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"
#include "carom/core/solve_report.hpp"

namespace carom::benchmarks {

/// The sums over a group of cases.
struct GroupResult {
  int cases = 0, solved = 0;
  long iterations = 0;     ///< linear systems, or sweeps and steps of solvers without systems
  double digits = 0;       ///< Σ −log₁₀ of the residuals, at most 16 each
  double seconds = 0;      ///< of the processor
  std::uint64_t bits = 0;  ///< changes with any bit of any answer

  /// Adds a case. A problem that has no answer counts as solved where the solver proves that.
  void add(const SolveReport<double>& report, const VectorX<double>& answer,
           SolveStatus wanted = SolveStatus::converged) {
    ++cases;
    solved += report.status == wanted ? 1 : 0;
    iterations += report.iterations;
    digits -= std::log10(std::clamp(report.residual, 1e-16, 1e16));
    for (const double number : answer) {
      std::uint64_t own = 0;
      std::memcpy(&own, &number, sizeof own);
      bits = (bits ^ own) * 1099511628211u;
    }
  }
};

/// Adds a case and the time that its solve takes.
template <typename Solve>
void timed(GroupResult& result, const Solve& solve) {
  const std::clock_t start = std::clock();
  solve();
  result.seconds += double(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Problems of one kind, and the solver that they are given to.
struct Group {
  std::string name;
  std::function<GroupResult()> run;
};

/// @param data  the folder examples/data.
[[nodiscard]] std::vector<Group> groups_on_bodies(const std::string& data);
[[nodiscard]] std::vector<Group> groups_in_impulses(const std::string& data);

}  // namespace carom::benchmarks
