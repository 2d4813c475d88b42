// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "carom/core/solve_report.hpp"

#include "ensemble/law_check.hpp"
#include "ensemble/random_step.hpp"
#include "ensemble/tally.hpp"

namespace carom::ensemble {

/// The report of a solver for a step.
struct StepReport {
  SolveStatus status;
  int iterations;
  double residual;  ///< [-]
};

/// Counts the results of random steps: how often a solver converges, its iteration counts, its
/// residuals, and whether the answers obey the required law.
class StepTally {
 public:
  /// Tolerance of the solvers [-].
  static constexpr double tolerance = 1e-10;

  [[nodiscard]] static TallyLayout layout() {
    TallyLayout layout;
    for (const char* law : law_names) {
      const std::string of(law);
      const auto first = int(layout.counters.size());
      layout.counters.push_back({of, -1});
      for (const char* outcome : outcome_names) {
        layout.counters.push_back({of + ", " + outcome, first});
      }
      for (const char* part : part_names) {
        layout.counters.push_back({of + ", converged but violates " + part, first + 1});
      }
      layout.histograms.push_back({of + ": residual", decade_bins(residual_low, residual_high)});
      layout.histograms.push_back({of + ": iterations", doubling_bins(iteration_bins)});
      layout.histograms.push_back(
          {of + ": largest violation of the law", decade_bins(residual_low, residual_high)});
      layout.largest.push_back(of + ": iterations");
      layout.largest.push_back(of + ": residual");
      layout.largest.push_back(of + ": violation of a converged answer");
      layout.sums.push_back(of + ": iterations");
      layout.sums.push_back(of + ": kinetic energy kept of that without contact");
    }
    layout.sums.emplace_back("contacts");
    return layout;
  }

  /// Adds the answer to problem `index` to a tally of layout().
  static void add(std::uint64_t index, const RandomStep& step, const StepReport& answer,
                  const VectorX<double>& velocity, const VectorX<double>& impulse, Tally& tally) {
    const LawViolation violation = check_law(step, velocity, impulse);
    const auto law = std::size_t(step.law);
    const auto first = law * (1 + outcome_names.size() + part_names.size());
    const auto outcome = std::size_t(answer.status);
    const bool converged = answer.status == SolveStatus::converged;
    ++tally.counters[first];
    ++tally.counters[first + 1 + outcome];
    if (converged) {
      const double parts[] = {violation.balance, violation.cone, violation.normal,
                              violation.friction};
      for (std::size_t k = 0; k < part_names.size(); ++k) {
        if (!(parts[k] <= allowance)) ++tally.counters[first + 1 + outcome_names.size() + k];
      }
    }
    const auto iterations = std::uint64_t(answer.iterations);
    tally.count_bin(3 * law, decade_bin(answer.residual, residual_low, residual_high));
    tally.count_bin(3 * law + 1, doubling_bin(iterations));
    tally.count_bin(3 * law + 2, decade_bin(violation.worst(), residual_low, residual_high));
    tally.largest[3 * law].see(double(iterations), index);
    tally.largest[3 * law + 1].see(answer.residual, index);
    if (converged) tally.largest[3 * law + 2].see(violation.worst(), index);
    tally.sums[2 * law].add(double(iterations));
    tally.sums[2 * law + 1].add(kept_energy(step, velocity));
    tally.sums[2 * law_names.size()].add(double(step.problem.block_count()));
    Digest digest(index);
    digest.take(std::uint64_t(outcome));
    digest.take(iterations);
    digest.take_all(velocity);
    digest.take_all(impulse);
    tally.finish_problem(digest);
  }

 private:
  static constexpr std::array law_names{"rigid, Coulomb", "compliant, Coulomb",
                                        "compliant, convex"};
  /// In the order of SolveStatus.
  static constexpr std::array outcome_names{"converged", "iteration limit", "no progress",
                                            "deadline",  "infeasible",      "not finite"};
  static constexpr std::array part_names{"the balance of momentum", "the cone", "the normal's law",
                                         "the law of friction"};
  static constexpr int residual_low = -17, residual_high = 0, iteration_bins = 12;
  /// Permitted violation of a converged answer [-]: residuals are relative to the whole problem,
  /// and the parts of some contacts are small.
  static constexpr double allowance = 1e-6;

  [[nodiscard]] static double kept_energy(const RandomStep& step, const VectorX<double>& velocity) {
    VectorX<double> whitened = velocity;
    step.problem.whiten(carom::as_span(whitened));
    return whitened.squaredNorm() / step.problem.whitened_free_velocity().squaredNorm();
  }
};

}  // namespace carom::ensemble
