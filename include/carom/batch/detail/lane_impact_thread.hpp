// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_impact_answer.hpp"
#include "carom/batch/detail/lane_impact_diagnosis.hpp"
#include "carom/batch/detail/lane_impact_reflect.hpp"
#include "carom/batch/detail/lane_impact_setup.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One impact of a batch, resolved by one thread whose numbers stand between those of others, which
/// resolve impacts of their own. What LaneImpactQueue does for lanes, without a queue.
/// @tparam Stride  threads whose cells stand side by side
template <RealScalar Scalar, int Stride>
class LaneImpactThread {
 public:
  using Number = carom::Lanes<Scalar, 1>;
  using Cells = LaneCells<Number, Stride>;
  using Names = LaneImpactLayout;

  /// @param memory  the thread's first number, for the cells of the impact.
  CAROM_DEVICE LaneImpactThread(const ImpactBatchView<Scalar>& view,
                                const ImpactBatchAnswers<Scalar>& answers,
                                const ImpactBatchOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// Writes the answer and the report.
  /// @param pattern  of the problem
  CAROM_DEVICE void resolve(const ImpactPatternView& pattern, Index problem) const noexcept {
    const LaneImpactCells<Cells> cells{LaneImpactLayout(pattern, options_.law), Cells(memory_)};
    begin(cells, problem);
    reflect(cells, problem);
    LaneImpactAnswer<Cells>(cells).write(view_, answers_, problem);
    ImpactProblemReport<Scalar>& report = answers_.reports[problem];
    if (report.status != ImpactStatus::not_finite) return;
    ImpactInspection<Scalar, Stride>(view_, options_, pattern, problem).find(memory_, report);
  }

 private:
  [[nodiscard]] CAROM_DEVICE bool is_swept() const noexcept {
    return options_.order == ImpactOrder::sweep;
  }
  CAROM_DEVICE void begin(const LaneImpactCells<Cells>& cells, Index problem) const noexcept {
    read_impacts(view_, &problem, cells);
    LaneImpactSetup<Cells>(cells).begin(options_.law, options_.resolver.tolerance,
                                        view_.momentum.data == nullptr);
    if (is_swept() && wrong_impact_entry(view_, problem, cells.layout.m) >= 0) {
      cells.set(Names::status, Number(Scalar(ImpactStatus::not_finite)));
    }
  }
  CAROM_DEVICE void reflect(const LaneImpactCells<Cells>& cells, Index problem) const noexcept {
    const LaneImpactLayout& at = cells.layout;
    const int length = is_swept() ? view_.length_of_sequence(problem) : 0;
    const LaneImpactSequence sequence{length > 0 ? view_.sequence.of(problem) : nullptr, length};
    // What only the beginning needed has room for the row that is chosen.
    const Cells chosen = cells.cells.from(at.square_at);
    for (int k = 0; k < at.n + at.m; ++k) chosen.set(k, Number(0));
    const LaneImpactReflector<Number, Stride> reflector(
        cells, chosen, options_.order, most_reflections<Number>(options_.resolver.reflection_limit),
        &sequence);
    while (any(cells.get(Names::status) < Number(0))) reflector.step();
  }

  const ImpactBatchView<Scalar>& view_;
  const ImpactBatchAnswers<Scalar>& answers_;
  const ImpactBatchOptions<Scalar>& options_;
  Scalar* memory_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
