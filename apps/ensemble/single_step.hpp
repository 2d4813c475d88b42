// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "ensemble/law_check.hpp"
#include "ensemble/random_step.hpp"
#include "ensemble/tally.hpp"

namespace carom::ensemble {

/// Solves random steps and counts the results: how often solvers converge, in how many iterations,
/// to what residual, and whether the answers obey the law that was asked for.
class SingleStep {
 public:
  static constexpr const char* name = "single-step";

  explicit SingleStep(std::uint64_t seed)
      : seed_(seed), coulomb_({.tolerance = tolerance}), convex_({.tolerance = tolerance}) {}

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

  /// Solves problem `index` and adds it to a tally of layout().
  void run(std::uint64_t index, Tally& tally) {
    step_.make(seed_, index);
    const SolveReport<double> report = solve();
    const LawViolation violation = check_law(step_, velocity_, impulse_);
    const auto law = std::size_t(step_.law);
    const auto first = law * (1 + outcome_names.size() + part_names.size());
    const auto outcome = std::size_t(report.status);
    ++tally.counters[first];
    ++tally.counters[first + 1 + outcome];
    if (report.converged()) {
      const double parts[] = {violation.balance, violation.cone, violation.normal,
                              violation.friction};
      for (std::size_t k = 0; k < part_names.size(); ++k) {
        if (!(parts[k] <= allowance)) ++tally.counters[first + 1 + outcome_names.size() + k];
      }
    }
    const auto iterations = std::uint64_t(report.iterations);
    tally.count_bin(3 * law, decade_bin(report.residual, residual_low, residual_high));
    tally.count_bin(3 * law + 1, doubling_bin(iterations));
    tally.count_bin(3 * law + 2, decade_bin(violation.worst(), residual_low, residual_high));
    tally.largest[3 * law].see(double(iterations), index);
    tally.largest[3 * law + 1].see(report.residual, index);
    if (report.converged()) tally.largest[3 * law + 2].see(violation.worst(), index);
    tally.sums[2 * law].add(double(iterations));
    tally.sums[2 * law + 1].add(kept_energy());
    tally.sums[2 * law_names.size()].add(double(step_.problem.block_count()));
    Digest digest(index);
    digest.take(std::uint64_t(outcome));
    digest.take(iterations);
    digest.take_all(velocity_);
    digest.take_all(impulse_);
    tally.finish_problem(digest);
  }

  /// The problem run last.
  [[nodiscard]] const RandomStep& step() const noexcept { return step_; }

 private:
  static constexpr std::array law_names{"rigid, Coulomb", "compliant, Coulomb",
                                        "compliant, convex"};
  /// In the order of SolveStatus.
  static constexpr std::array outcome_names{"converged", "iteration limit", "no progress",
                                            "deadline",  "infeasible",      "not finite"};
  static constexpr std::array part_names{"the balance of momentum", "the cone", "the normal's law",
                                         "the law of friction"};
  static constexpr int residual_low = -17, residual_high = 0, iteration_bins = 12;
  /// What the solvers are asked for [-], and how much of a violation a converged answer may have:
  /// residuals are relative to the whole problem, and some contacts' parts are small.
  static constexpr double tolerance = 1e-10, allowance = 1e-6;

  SolveReport<double> solve() {
    velocity_ = step_.guess;
    if (step_.law == StepLaw::convex) {
      const SolveReport<double> report = convex_.solve(step_.problem, velocity_);
      impulse_ = convex_.impulse();
      return report;
    }
    const SolveReport<double> report = coulomb_.solve(step_.problem, velocity_);
    impulse_ = coulomb_.impulse();
    return report;
  }
  [[nodiscard]] double kept_energy() const {
    VectorX<double> whitened = velocity_;
    step_.problem.whiten(carom::as_span(whitened));
    return whitened.squaredNorm() / step_.problem.whitened_free_velocity().squaredNorm();
  }

  std::uint64_t seed_;
  RandomStep step_;
  ContactSolver<double> coulomb_;
  SapSolver<double> convex_;
  VectorX<double> velocity_, impulse_;
};

}  // namespace carom::ensemble
