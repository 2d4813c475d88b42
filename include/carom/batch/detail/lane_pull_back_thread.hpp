// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/device_patterns.hpp"
#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_gradient_exchange.hpp"
#include "carom/batch/detail/lane_pull_back.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One problem of a batch, differentiated by one thread whose numbers stand between those of
/// others. What BatchPullBack does for groups of lanes.
/// @tparam Stride  threads whose cells stand side by side
template <RealScalar Scalar, FrictionLaw Law, int Stride>
class LanePullBackThread {
 public:
  using Number = carom::Lanes<Scalar, 1>;
  using Cells = LaneCells<Number, Stride>;
  using Exchange = LaneGradientExchange<Number, Stride>;

  /// @param memory  the thread's first number, for the cells of the largest island.
  CAROM_DEVICE LanePullBackThread(const BatchView<Scalar>& view,
                                  const BatchAnswers<Scalar>& answers,
                                  const BatchGradients<Scalar>& gradients, Scalar* memory) noexcept
      : view_(view), answers_(answers), gradients_(gradients), cells_(memory) {
    const auto& [data, stride, offsets] = answers.velocity;
    view_.guess = {data, stride, offsets};
  }

  /// Writes the gradients and the status.
  CAROM_DEVICE void run(const DevicePatternsView& patterns, Index problem) const noexcept {
    SolveStatus& status = gradients_.statuses[problem];
    status = SolveStatus::not_finite;
    if (gradients_.boundary_counts != nullptr) gradients_.boundary_counts[problem] = 0;
    if (!view_.has_pattern(problem)) return;
    status = SolveStatus::converged;
    if (answers_.reports != nullptr) status = answers_.reports[problem].status;
    const int pattern = view_.pattern_number(problem), count = patterns.island_count(pattern);
    for (int i = 0; i < count && status == SolveStatus::converged; ++i) {
      if (!run(patterns.island(pattern, i), problem)) status = SolveStatus::not_finite;
    }
    for (int i = 0; i < count && status != SolveStatus::converged; ++i) {
      const LaneMapView island = patterns.island(pattern, i);
      Exchange(island, island.layout(Law), cells_, gradients_).clear(problem);
    }
  }

 private:
  /// @return  whether there is a derivative.
  [[nodiscard]] CAROM_DEVICE bool run(const LaneMapView& island, Index problem) const noexcept {
    const LaneLayout layout = island.layout(Law);
    if (layout.rigid && answers_.impulse.data == nullptr) return false;
    const Index in_lane[1] = {problem};
    const auto valid = LaneExchange<Number, Stride>(island, layout, cells_).read(view_, in_lane);
    const Exchange exchange(island, layout, cells_, gradients_);
    exchange.read_slopes(in_lane);
    if (layout.rigid) exchange.read_impulses(answers_.impulse, in_lane);
    LaneState<Number, Stride> state(layout, cells_);
    LanePullBack<Number, Stride, Law> pull_back(state, gradients_.boundary_counts != nullptr);
    if (!any(pull_back.run() & valid)) return false;
    exchange.write(problem, 0, int(pull_back.boundary_count().value));
    return true;
  }

  BatchView<Scalar> view_;
  const BatchAnswers<Scalar>& answers_;
  const BatchGradients<Scalar>& gradients_;
  Cells cells_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
