// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "cli/chained_solver.hpp"
#include "linearized_step.hpp"
#include "problem_data.hpp"
#include "shared_recorder.hpp"

namespace carom::python {

/// How a step is to be solved.
struct SolveSettings {
  FrictionLaw law = FrictionLaw::coulomb;
  bool rigid = false;        ///< Whether every contact is taken as rigid.
  double tolerance = 1e-8;   ///< [-], > 0
  int iteration_limit = -1;  ///< < 0: the solver's own.
  double deadline = std::numeric_limits<double>::infinity();  ///< [s] from the start of a solve.

  bool operator==(const SolveSettings&) const = default;
};

/// Where a solve begins.
using SolveGuess = cli::ChainedSolver::Guess;

/// The answer to a step.
struct StepAnswer {
  VectorX<double> velocity, impulse, contact_velocity;  ///< v, γ and J v, the latter stacked.
  SolveReport<double> report;
  double seconds = 0;
};

/// A step with its answer.
struct SolvedStep : StepAnswer {
  std::shared_ptr<const ProblemData> data;  ///< As it was given.
  bool rigid = false;                       ///< Whether every contact of it was taken as rigid.
  FrictionLaw law = FrictionLaw::coulomb;

  /// Its derivative, made when first asked for.
  /// @throws std::invalid_argument  where the answer is not finite or has none.
  [[nodiscard]] LinearizedStep& linearized() const;
  /// The data as solved: with every contact rigid where they were taken as rigid.
  [[nodiscard]] const ProblemData& solved() const;
  /// Holds it while it is used: its memory is one.
  [[nodiscard]] std::mutex& linearized_lock() const noexcept { return lock_; }

 private:
  mutable std::mutex lock_;
  mutable std::shared_ptr<const ProblemData> solved_;  ///< The data as solved, for the derivative.
  mutable std::unique_ptr<LinearizedStep> linearized_;
};

/// Solves steps under settings by cli::ChainedSolver, records them if there is a recorder, and
/// keeps the memory.
class StepSolver {
 public:
  explicit StepSolver(const SolveSettings& settings)
      : settings_(settings),
        solver_({settings.law, settings.tolerance, settings.iteration_limit}) {}
  [[nodiscard]] const SolveSettings& settings() const noexcept { return settings_; }

  /// Solves a step; all of its answer is written but the seconds.
  void solve(const ProblemData& data, const SolveGuess& guess, const SolveLimits& limits,
             StepAnswer& step, SharedRecorder* recorder = nullptr);

 private:
  SolveSettings settings_;
  cli::ChainedSolver solver_;
  std::optional<ProblemData> rigid_;  ///< The last problem, its contacts taken as rigid.
};

/// A step to be solved under the settings.
[[nodiscard]] std::shared_ptr<SolvedStep> make_step(std::shared_ptr<const ProblemData> data,
                                                    const SolveSettings& settings);

}  // namespace carom::python
