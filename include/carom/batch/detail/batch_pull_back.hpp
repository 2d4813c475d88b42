// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_pull_back.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Differentiates problems of a batch that have been solved: many by groups of lanes, or one in a
/// thread of a graphics processor.
template <RealScalar Scalar>
class BatchPullBack {
 public:
  /// @param memory  of BatchWorkspace::worker(), or of the thread: for the cells of the largest
  ///                island.
  CAROM_DEVICE BatchPullBack(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                             const BatchGradients<Scalar>& gradients, Scalar* memory) noexcept
      : view_(view), answers_(answers), gradients_(gradients), memory_(memory) {
    const auto& [data, stride, offsets] = answers.velocity;
    view_.guess = {data, stride, offsets};
  }

  /// Writes gradients and statuses by groups of so many lanes.
  /// @param problems  those of one pattern one after the other.
  template <int LaneCount>
  void run(FrictionLaw law, const Index* problems, int count) const noexcept {
    for (int i = 0; i < count; ++i) begin(problems[i]);
    for_each_island(view_, law, problems, count,
                    [&](auto law_of_options, const LaneMap& island, int from, int to) {
                      for_each_width<Scalar, LaneCount>(
                          from, to, [&](auto lanes, int first, int end) {
                            run<decltype(law_of_options)::value, decltype(lanes)::value>(
                                island.view(), problems + first, end - first);
                          });
                    });
    for (int i = 0; i < count; ++i) {
      if (is_differentiated(problems[i]) || !view_.has_pattern(problems[i])) continue;
      for (const LaneMap& island : view_.pattern(problems[i]).islands()) {
        clear<Lanes<Scalar, 1>, 1>(island.view(), problems[i]);
      }
    }
  }
  /// Writes the gradients and the status of one problem in a thread whose numbers stand between
  /// those of others.
  /// @param patterns  DevicePattern of all patterns.
  template <FrictionLaw Law, int Stride, typename Pattern>
  CAROM_DEVICE void run_thread(const Pattern* patterns, Index problem) const noexcept {
    using Number = Lanes<Scalar, 1>;
    begin(problem);
    if (!view_.has_pattern(problem)) return;
    const Pattern& pattern = patterns[view_.pattern_number(problem)];
    const Index in_lane[1] = {problem};
    for (int i = 0; i < pattern.island_count && is_differentiated(problem); ++i) {
      run_group<Law, Number, Stride>(pattern.islands[i], in_lane, 1);
    }
    if (is_differentiated(problem)) return;
    for (int i = 0; i < pattern.island_count; ++i) {
      clear<Number, Stride>(pattern.islands[i], problem);
    }
  }

 private:
  CAROM_DEVICE void begin(Index problem) const noexcept {
    SolveStatus& status = gradients_.statuses[problem];
    status = SolveStatus::converged;
    if (answers_.reports != nullptr) status = answers_.reports[problem].status;
    if (!view_.has_pattern(problem)) status = SolveStatus::not_finite;
    if (gradients_.boundary_counts != nullptr) gradients_.boundary_counts[problem] = 0;
  }
  [[nodiscard]] CAROM_DEVICE bool is_differentiated(Index problem) const noexcept {
    return gradients_.statuses[problem] == SolveStatus::converged;
  }
  template <FrictionLaw Law, int Width>
  void run(const LaneMapView& island, const Index* problems, int count) const noexcept {
    for (int first = 0; first < count; first += Width) {
      const int used = (std::min)(Width, count - first);
      Index in_lanes[Width];
      // Lanes without a problem of their own repeat the last one.
      for (int l = 0; l < Width; ++l) in_lanes[l] = problems[first + (std::min)(l, used - 1)];
      run_group<Law, Lanes<Scalar, Width>, Width>(island, in_lanes, used);
    }
  }
  /// An island of the problems in the lanes.
  /// @param used  lanes whose gradients are written.
  template <FrictionLaw Law, typename Number, int Stride>
  CAROM_DEVICE void run_group(const LaneMapView& island, const Index (&in_lanes)[Number::count],
                              int used) const noexcept {
    const LaneLayout layout = island.layout(Law);
    const LaneCells<Number, Stride> cells(memory_);
    const LaneGradientExchange<Number, Stride> exchange(island, layout, cells, gradients_);
    const bool answered = answers_.impulse.data != nullptr || !layout.rigid;
    const auto valid = LaneExchange<Number, Stride>(island, layout, cells).read(view_, in_lanes);
    exchange.read_slopes(in_lanes);
    if (layout.rigid && answered) exchange.read_impulses(answers_.impulse, in_lanes);
    LaneState<Number, Stride> state(layout, cells);
    LanePullBack<Number, Stride, Law> pull_back(state, gradients_.boundary_counts != nullptr);
    const auto found = pull_back.run();
    Scalar usable[Number::count], on_boundaries[Number::count];
    as_numbers(valid & found).store(usable);
    pull_back.boundary_count().store(on_boundaries);
    for (int l = 0; l < used; ++l) {
      if (!is_differentiated(in_lanes[l])) continue;
      if (answered && usable[l] > Scalar(0)) {
        exchange.write(in_lanes[l], l, int(on_boundaries[l]));
      } else {
        gradients_.statuses[in_lanes[l]] = SolveStatus::not_finite;
      }
    }
  }
  template <typename Number, int Stride>
  CAROM_DEVICE void clear(const LaneMapView& island, Index problem) const noexcept {
    const LaneLayout layout = island.layout(FrictionLaw::convex);
    const LaneCells<Number, Stride> cells(memory_);
    LaneGradientExchange<Number, Stride>(island, layout, cells, gradients_).clear(problem);
  }

  BatchView<Scalar> view_;
  const BatchAnswers<Scalar>& answers_;
  const BatchGradients<Scalar>& gradients_;
  Scalar* memory_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
