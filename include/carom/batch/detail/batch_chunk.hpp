// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/batch/detail/batch_diagnosis.hpp"
#include "carom/batch/detail/lane_queue.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Some problems of a batch, solved one group of lanes after the other in memory of its own.
template <RealScalar Scalar, int LaneCount>
class BatchChunk {
 public:
  static constexpr int capacity = 256;
  /// @param memory  of BatchWorkspace::worker().
  BatchChunk(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
             const SapOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// @param problems  at most `capacity`, those of one pattern one after the other.
  void solve(const Index* problems, int count) noexcept;

 private:
  /// Squares summed up over the islands of a problem, as in SapSolver's totals.
  struct Sums {
    Scalar residual, free, pushed;
  };
  void take(const LaneMap& island, const LaneOutcome<Scalar>& outcome, Index problem,
            Sums& sums) noexcept;
  template <FrictionLaw Law>
  void solve(const LaneMap& island, const Index* problems, int first, int end) noexcept;
  void finish(Index problem, int i) noexcept;

  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  const SapOptions<Scalar>& options_;
  Scalar* memory_;
  Sums sums_[capacity];
};

// --- implementation ---

/// Takes over what an island came to.
template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::take(const LaneMap& island, const LaneOutcome<Scalar>& outcome,
                                         Index problem, Sums& sums) noexcept {
  BatchProblemReport<Scalar>& report = answers_.reports[problem];
  sums.residual += rounded_product(outcome.residual, outcome.residual);
  sums.residual += rounded_product(outcome.violation, outcome.violation);
  sums.free += outcome.free_squared;
  sums.pushed += outcome.pushed_squared;
  report.iterations = (std::max)(report.iterations, outcome.iterations);
  if (outcome.status == SolveStatus::converged || report.fault != BatchFault::none) return;
  report.status = outcome.status;
  if (outcome.status != SolveStatus::not_finite) return;
  const auto found = BatchInspection<Scalar>(view_, problem).find(island, memory_);
  report.fault = found.fault;
  report.item = found.item;
}

template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::finish(Index problem, int i) noexcept {
  const auto& [squared, free, pushed] = sums_[i];
  BatchProblemReport<Scalar>& report = answers_.reports[problem];
  const Scalar residual = std::sqrt(squared), scale = std::sqrt((std::max)(free, pushed));
  const bool bounded = options_.law == FrictionLaw::convex && !view_.pattern(problem).is_rigid();
  report.error_bound = !bounded ? std::numeric_limits<Scalar>::infinity() : residual;
  report.residual = scale > Scalar(0) ? residual / scale : residual;
  constexpr Scalar largest = (std::numeric_limits<Scalar>::max)();
  if (residual <= largest && scale <= largest) return;
  report.status = SolveStatus::not_finite;
  report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
}

template <RealScalar Scalar, int LaneCount>
template <FrictionLaw Law>
void BatchChunk<Scalar, LaneCount>::solve(const LaneMap& island, const Index* problems, int first,
                                          int end) noexcept {
  LaneQueue<Scalar, LaneCount, Law> queue(island, view_, answers_, memory_);
  queue.solve(problems + first, end - first,
              {options_.tolerance, options_.iteration_limit, options_.line_search_tolerance},
              [&](int i, const LaneOutcome<Scalar>& outcome) {
                take(island, outcome, problems[first + i], sums_[first + i]);
              });
}

template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::solve(const Index* problems, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    sums_[i] = {};
    answers_.reports[problems[i]] = {.status = SolveStatus::converged};
  }
  for (int first = 0, end = 0; first < count; first = end) {
    while (end < count &&
           view_.pattern_number(problems[end]) == view_.pattern_number(problems[first]))
      ++end;
    for (const LaneMap& island : view_.pattern(problems[first]).islands()) {
      if (options_.law == FrictionLaw::coulomb) {
        solve<FrictionLaw::coulomb>(island, problems, first, end);
      } else {
        solve<FrictionLaw::convex>(island, problems, first, end);
      }
    }
  }
  for (int i = 0; i < count; ++i) finish(problems[i], i);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
