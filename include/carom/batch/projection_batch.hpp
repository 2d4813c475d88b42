// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/detail/batch_projection.hpp"
#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/projection_batch_view.hpp"
#include "carom/batch/solve_batch.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Projects all points of a batch onto their sets, several per instruction: the nearest points in
/// the metrics of their weights, those of nearest_impulse() but for rounding.
///
/// An answer has the same bits whatever else is in the batch: any number and order of points, lanes
/// and threads. A point with bad numbers has its fault and changes no other.
/// @tparam LaneCount  points side by side; the answers have the same bits for any number.
/// @param executor    executor(count, task) calls task(i) for every i in [0, count), in any order,
///                    on any threads, and returns when all are done; a task has 1024 points.
/// @pre   faults for every point; rows from 1 to 6 for intervals.
/// @note  Real-time safe: no memory but the view's, no exception, bounded work.
template <RealScalar Scalar, int LaneCount = batch_lane_count<Scalar>, typename Executor>
ProjectionBatchReport project_batch(const ProjectionBatchView<Scalar>& view,
                                    const ProjectionBatchAnswers<Scalar>& answers,
                                    Executor&& executor) noexcept {
  constexpr Index chunk = 1024;
  executor((view.count + chunk - 1) / chunk, [&](Index task) {
    const detail::BatchProjection<Scalar, LaneCount> projection(view, answers);
    projection.run(task * chunk, (std::min)((task + 1) * chunk, view.count));
  });
  ProjectionBatchReport report;
  for (Index i = 0; i < view.count; ++i) {
    if (answers.faults[i].fault == ProjectionFault::none) {
      ++report.projected;
    } else if (report.first_bad < 0) {
      report.first_bad = i;
    }
  }
  return report;
}

/// The same on this thread.
template <RealScalar Scalar, int LaneCount = batch_lane_count<Scalar>>
ProjectionBatchReport project_batch(const ProjectionBatchView<Scalar>& view,
                                    const ProjectionBatchAnswers<Scalar>& answers) noexcept {
  return project_batch<Scalar, LaneCount>(view, answers, detail::RunInOrder());
}

}  // namespace CAROM_ABI
}  // namespace carom
