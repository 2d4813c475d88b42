// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "ensemble/random_step.hpp"
#include "ensemble/step_tally.hpp"

namespace carom::ensemble {

/// Solves random steps one at a time and counts the results.
class SingleStep {
 public:
  static constexpr const char* name = "single-step";

  explicit SingleStep(std::uint64_t seed)
      : seed_(seed),
        coulomb_({.tolerance = StepTally::tolerance}),
        convex_({.tolerance = StepTally::tolerance}) {}

  [[nodiscard]] static TallyLayout layout() { return StepTally::layout(); }

  /// Solves problem `index` and adds it to a tally of layout().
  void run(std::uint64_t index, Tally& tally) {
    step_.make(seed_, index);
    const SolveReport<double> report = solve();
    StepTally::add(index, step_, {report.status, report.iterations, report.residual}, velocity_,
                   impulse_, tally);
  }

 private:
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
  std::uint64_t seed_;
  RandomStep step_;
  ContactSolver<double> coulomb_;
  SapSolver<double> convex_;
  VectorX<double> velocity_, impulse_;
};

}  // namespace carom::ensemble
