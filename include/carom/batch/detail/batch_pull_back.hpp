// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/detail/batch_runs.hpp"
#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_gradient_exchange.hpp"
#include "carom/batch/detail/lane_pull_back.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Differentiates some problems of a batch, one group of lanes after the other.
template <RealScalar Scalar, int LaneCount>
class BatchPullBack {
 public:
  /// @param memory  of BatchWorkspace::worker().
  BatchPullBack(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                const BatchGradients<Scalar>& gradients, FrictionLaw law, Scalar* memory) noexcept
      : view_(view), answers_(answers), gradients_(gradients), law_(law), memory_(memory) {
    const auto& [data, stride, offsets] = answers.velocity;
    view_.guess = {data, stride, offsets};
  }

  /// @param problems  those of one pattern one after the other.
  void run(const Index* problems, int count) const noexcept {
    for (int i = 0; i < count; ++i) {
      SolveStatus& status = gradients_.statuses[problems[i]];
      status = SolveStatus::converged;
      if (answers_.reports != nullptr) status = answers_.reports[problems[i]].status;
      if (!view_.has_pattern(problems[i])) status = SolveStatus::not_finite;
      if (gradients_.boundary_counts != nullptr) gradients_.boundary_counts[problems[i]] = 0;
    }
    for_each_island(view_, law_, problems, count,
                    [&](auto law, const LaneMap& island, int first, int end) {
                      run<decltype(law)::value>(island, problems + first, end - first);
                    });
    for (int i = 0; i < count; ++i) {
      const bool differentiated = gradients_.statuses[problems[i]] == SolveStatus::converged;
      if (!differentiated && view_.has_pattern(problems[i])) clear(problems[i]);
    }
  }

 private:
  template <FrictionLaw Law>
  void run(const LaneMap& island, const Index* problems, int count) const noexcept {
    for_each_width<Scalar, LaneCount>(0, count, [&](auto lanes, int first, int end) {
      run<Law, decltype(lanes)::value>(island, problems + first, end - first);
    });
  }
  template <FrictionLaw Law, int Width>
  void run(const LaneMap& island, const Index* problems, int count) const noexcept {
    using Number = carom::Lanes<Scalar, Width>;
    using Cells = LaneCells<Number, Width>;
    const LaneLayout layout = island.layout(Law);
    const Cells cells(memory_);
    const LaneExchange<Number> data(island.view(), layout, cells);
    const LaneGradientExchange<Number> exchange(island.view(), layout, cells, gradients_);
    const bool answered = answers_.impulse.data != nullptr || !layout.rigid;
    for (int first = 0; first < count; first += Width) {
      const int used = (std::min)(Width, count - first);
      Index in_lanes[Width];
      // Lanes without a problem of their own repeat the last one.
      for (int l = 0; l < Width; ++l) {
        in_lanes[l] = problems[first + (std::min)(l, used - 1)];
      }
      const auto valid = data.read(view_, in_lanes);
      exchange.read_slopes(in_lanes);
      if (layout.rigid && answered) exchange.read_impulses(answers_.impulse, in_lanes);
      LaneState<Number, Width> state(layout, cells);
      LanePullBack<Number, Width, Law> pull_back(state, gradients_.boundary_counts != nullptr);
      const auto found = pull_back.run();
      Scalar usable[Width], on_boundaries[Width];
      as_numbers(valid & found).store(usable);
      pull_back.boundary_count().store(on_boundaries);
      for (int l = 0; l < used; ++l) {
        SolveStatus& status = gradients_.statuses[in_lanes[l]];
        if (status != SolveStatus::converged) continue;
        if (answered && usable[l] > Scalar(0)) {
          exchange.write(in_lanes[l], l, int(on_boundaries[l]));
        } else {
          status = SolveStatus::not_finite;
        }
      }
    }
  }
  void clear(Index problem) const noexcept {
    using Number = carom::Lanes<Scalar, 1>;
    const LaneCells<Number, 1> cells(memory_);
    for (const LaneMap& island : view_.pattern(problem).islands()) {
      const LaneLayout layout = island.layout();
      LaneGradientExchange<Number>(island.view(), layout, cells, gradients_).clear(problem);
    }
  }

  BatchView<Scalar> view_;
  const BatchAnswers<Scalar>& answers_;
  const BatchGradients<Scalar>& gradients_;
  FrictionLaw law_;
  Scalar* memory_;
};

template <RealScalar Scalar>
[[nodiscard]] Index count_differentiated(const BatchGradients<Scalar>& gradients,
                                         Index count) noexcept {
  return Index(std::count(gradients.statuses, gradients.statuses + count, SolveStatus::converged));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
