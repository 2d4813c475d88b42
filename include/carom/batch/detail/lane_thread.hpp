// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/batch_diagnosis.hpp"
#include "carom/batch/detail/batch_totals.hpp"
#include "carom/batch/detail/device_patterns.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One problem of a batch, solved by one thread whose numbers stand between those of others, which
/// solve problems of their own. What LaneQueue does for a group of lanes, without a queue.
/// @tparam Stride  threads whose cells stand side by side
template <RealScalar Scalar, FrictionLaw Law, int Stride>
class LaneThread {
 public:
  using Number = carom::Lanes<Scalar, 1>;
  using Cells = LaneCells<Number, Stride>;
  using State = LaneState<Number, Stride>;
  using Solver = LaneRigid<Number, Stride, Law>;

  /// @param memory  the thread's first number, for the cells of the largest island.
  CAROM_DEVICE LaneThread(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                          const SapOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// Writes the answer and the report.
  CAROM_DEVICE void solve(const DevicePatternsView& patterns, Index problem) const noexcept {
    if (!view_.has_pattern(problem)) {
      answers_.reports[problem] = report_without_pattern<Scalar>();
      return;
    }
    BatchProblemReport<Scalar> report;
    report.status = SolveStatus::converged;
    BatchTotals<Scalar> totals;
    bool rigid = false;
    const int pattern = view_.pattern_number(problem);
    for (int i = 0; i < patterns.island_count(pattern); ++i) {
      const LaneMapView island = patterns.island(pattern, i);
      rigid = rigid || island.rigid;
      if (!totals.take(solve(island, problem), report)) continue;
      const auto found = BatchInspection<Scalar, Stride>(view_, problem).find(island, memory_);
      report.fault = found.fault;
      report.item = found.item;
    }
    totals.finish(Law == FrictionLaw::convex && !rigid, report);
    answers_.reports[problem] = report;
  }

 private:
  [[nodiscard]] CAROM_DEVICE LaneOutcome<Scalar> solve(const LaneMapView& island,
                                                       Index problem) const noexcept {
    const LaneLayout layout = island.layout(Law);
    const Cells cells(memory_);
    const LaneExchange<Number, Stride> exchange(island, layout, cells);
    const Index in_lane[1] = {problem};
    const auto valid = exchange.read(view_, in_lane);
    State state(layout, cells);
    Solver solver(state,
                  {options_.tolerance, options_.iteration_limit, options_.line_search_tolerance});
    solver.begin(valid);
    while (any(!solver.ended())) solver.step();
    solver.finish();
    exchange.write(answers_, problem, 0);
    return {SolveStatus(int(solver.status().value)),
            int(solver.iterations().value),
            state.residual.value,
            state.free_squared.value,
            state.pushed_squared.value,
            solver.violation().value};
  }

  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  const SapOptions<Scalar>& options_;
  Scalar* memory_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
