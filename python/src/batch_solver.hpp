// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "batch_problems.hpp"
#include "step_solver.hpp"

namespace carom::python {

/// Where the answers of all problems go, one after the other; null: nobody wants these.
struct AnswerArrays {
  double* velocity = nullptr;          ///< v [m/s, rad/s], from BatchProblems::velocity_start() on.
  double* impulse = nullptr;           ///< γ [N·s], from BatchProblems::impulse_start() on.
  double* contact_velocity = nullptr;  ///< J v [m/s, rad/s], alike.
  double* seconds = nullptr;           ///< Of each solve on its thread [s].
  SolveReport<double>* reports = nullptr;  ///< Never null.
};

/// The answers, in the order of the problems.
class BatchSolution {
 public:
  BatchSolution(std::shared_ptr<const BatchProblems> problems, const SolveSettings& settings);

  [[nodiscard]] const BatchProblems& problems() const noexcept { return *problems_; }
  [[nodiscard]] Index count() const noexcept { return problems_->count(); }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  [[nodiscard]] const VectorX<double>& contact_velocity() const noexcept {
    return contact_velocity_;
  }
  [[nodiscard]] const VectorX<double>& seconds() const noexcept { return seconds_; }
  [[nodiscard]] const SolveReport<double>& report(Index i) const noexcept {
    return reports_[std::size_t(i)];
  }

  /// Where answers are to be written.
  [[nodiscard]] AnswerArrays arrays() noexcept;
  /// Takes the answer to problem i.
  void take(Index i, std::shared_ptr<SolvedStep> step);
  /// The step of one problem with its answer, made when first asked for.
  /// @param reader  of these problems, of the thread that asks. Several threads may ask at once.
  [[nodiscard]] std::shared_ptr<SolvedStep> step(Index i, ProblemReader& reader) const;

 private:
  std::shared_ptr<const BatchProblems> problems_;
  SolveSettings settings_;
  VectorX<double> velocity_, impulse_, contact_velocity_, seconds_;
  std::vector<SolveReport<double>> reports_;
  mutable std::mutex lock_;
  mutable std::vector<std::shared_ptr<SolvedStep>> steps_;  ///< Those asked for; empty: none was.
};

/// Solves the problems on several threads, each by the solver of its thread. The answers are those
/// of single solves, to the last bit, whatever the number of threads.
/// @param threads  ≥ 1; this one takes part.
/// @param ask      called now and then by this thread with the share of problems begun; true ends
///                 the batch early, and problems that have not begun get the status `deadline` at
///                 their free velocity. Empty: nothing ends it.
/// @throws what a solve threw, such as std::bad_alloc, or ProblemReader::read().
void solve_all(const BatchProblems& problems, const SolveSettings& settings, int threads,
               const std::function<bool(double)>& ask, const AnswerArrays& answers);

}  // namespace carom::python
