// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/batch_diagnosis.hpp"
#include "carom/batch/detail/batch_runs.hpp"
#include "carom/batch/detail/batch_totals.hpp"
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
  void take(const LaneMap& island, const LaneOutcome<Scalar>& outcome, Index problem,
            BatchTotals<Scalar>& totals) noexcept;
  template <FrictionLaw Law>
  void solve(const LaneMap& island, const Index* problems, int first, int end) noexcept;

  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  const SapOptions<Scalar>& options_;
  Scalar* memory_;
  BatchTotals<Scalar> totals_[capacity];
};

// --- implementation ---

/// Takes over what an island came to.
template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::take(const LaneMap& island, const LaneOutcome<Scalar>& outcome,
                                         Index problem, BatchTotals<Scalar>& totals) noexcept {
  BatchProblemReport<Scalar>& report = answers_.reports[problem];
  if (!totals.take(outcome, report)) return;
  const auto found = BatchInspection<Scalar>(view_, problem).find(island.view(), memory_);
  report.fault = found.fault;
  report.item = found.item;
}

template <RealScalar Scalar, int LaneCount>
template <FrictionLaw Law>
void BatchChunk<Scalar, LaneCount>::solve(const LaneMap& island, const Index* problems, int first,
                                          int end) noexcept {
  for_each_width<Scalar, LaneCount>(first, end, [&](auto lanes, int begin, int stop) {
    LaneQueue<Scalar, decltype(lanes)::value, Law> queue(island, view_, answers_, memory_);
    queue.solve(problems + begin, stop - begin,
                {options_.tolerance, options_.iteration_limit, options_.line_search_tolerance},
                [&](int i, const LaneOutcome<Scalar>& outcome) {
                  take(island, outcome, problems[begin + i], totals_[begin + i]);
                });
  });
}

template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::solve(const Index* problems, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    totals_[i] = {};
    BatchProblemReport<Scalar>& report = answers_.reports[problems[i]];
    report = {.status = SolveStatus::converged};
    if (!view_.has_pattern(problems[i])) report = report_without_pattern<Scalar>();
  }
  for_each_island(view_, options_.law, problems, count,
                  [&](auto law, const LaneMap& island, int first, int end) {
                    solve<decltype(law)::value>(island, problems, first, end);
                  });
  for (int i = 0; i < count; ++i) {
    if (!view_.has_pattern(problems[i])) continue;
    const bool rigid = view_.pattern(problems[i]).is_rigid();
    totals_[i].finish(options_.law == FrictionLaw::convex && !rigid, answers_.reports[problems[i]]);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
