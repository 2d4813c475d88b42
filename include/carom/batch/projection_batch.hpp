// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/detail/batch_projection.hpp"
#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/projection_batch_view.hpp"
#include "carom/batch/solve_batch.hpp"
#include "carom/core/detail/run_tasks.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Projects all points of a batch onto their sets, several per instruction: the nearest points in
/// the metrics of their weights, equal to those of nearest_impulse() up to rounding.
///
/// The bits of an answer do not depend on the rest of the batch: any count and order of points,
/// lanes and threads. A point with a fault is reported and changes no other point.
/// @tparam LaneCount  count of points in one group; the bits of the answers do not depend on it.
/// @param executor    executor(count, task) calls task(i) for each i in [0, count), in any order,
///                    on any threads, and returns when all calls are done; a task has 1024 points.
/// @pre   one fault entry for each point; 1 to 6 rows for intervals.
/// @note  Real-time safe: no memory except that of the view, no exception, bounded work.
template <RealScalar Scalar, int LaneCount = batch_lane_count<Scalar>, typename Executor>
ProjectionBatchReport project_batch(const ProjectionBatchView<Scalar>& view,
                                    const ProjectionBatchAnswers<Scalar>& answers,
                                    Executor&& executor) noexcept {
  constexpr Index chunk = 1024;
  detail::run_tasks(executor, (view.count + chunk - 1) / chunk, [&](Index task) {
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

/// The same on the calling thread.
template <RealScalar Scalar, int LaneCount = batch_lane_count<Scalar>>
ProjectionBatchReport project_batch(const ProjectionBatchView<Scalar>& view,
                                    const ProjectionBatchAnswers<Scalar>& answers) noexcept {
  return project_batch<Scalar, LaneCount>(view, answers, detail::RunInOrder());
}

}  // namespace CAROM_ABI
}  // namespace carom
