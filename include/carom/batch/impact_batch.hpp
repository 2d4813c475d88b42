// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>

#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/detail/lane_impact_queue.hpp"
#include "carom/batch/impact_batch_view.hpp"
#include "carom/core/detail/run_tasks.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Count of impacts that are resolved in one group of lanes: two registers under the caller's
/// compiler flags. The operations of one reflection depend on each other, so that two registers of
/// impacts need the time of one. With one register, an impact needed up to 1.5 times the time; four
/// registers were not faster than two.
template <RealScalar Scalar>
inline constexpr int impact_lane_count = detail::lane_register_bytes > int(sizeof(Scalar))
                                             ? 2 * detail::lane_register_bytes / int(sizeof(Scalar))
                                             : 1;

/// Memory for resolve_batch(), allocated once and reused by all calls.
/// @tparam LaneCount  count of problems in one group; the bits of the answers do not depend on it.
template <RealScalar Scalar, int LaneCount = impact_lane_count<Scalar>>
class ImpactBatchWorkspace
    : public detail::BatchMemory<ImpactBatchView<Scalar>,
                                 detail::LaneImpactQueue<Scalar, LaneCount>> {};

/// Result of a batch of impacts.
struct ImpactBatchReport {
  Index resolved = 0;     ///< problems
  Index wedged = 0;       ///< problems that no motion opens; resolved plastically
  Index faults = 0;       ///< problems with a fault in their numbers
  Index first_bad = -1;   ///< first problem that is neither resolved nor wedged; −1: none.
  Index reflections = 0;  ///< of all problems
  /// Whether the workspace was prepared for the batch. If not, nothing is resolved or written.
  bool prepared = true;
};

/// Resolves all impacts of a batch in the lanes of registers: each as ImpactResolver, PlasticImpact
/// or RestitutionImpact, with the same answer up to rounding.
///
/// The bits of an answer do not depend on the rest of the batch: any count and order of problems,
/// lanes, workers and threads. A problem with a fault has it in its report and changes no other
/// problem.
/// @param workspace  prepared for this batch, or another for which is_prepared_for() is true.
/// @param executor   executor(count, task) calls task(i) for each i in [0, count), in any order, on
///                   any threads, and returns when all calls are done; count is that of the
///                   workers.
/// @note  Real-time safe: no allocation, no exception, at most reflection_limit reflections for
///        each problem.
template <RealScalar Scalar, int LaneCount, typename Executor>
ImpactBatchReport resolve_batch(const ImpactBatchView<Scalar>& view,
                                const ImpactBatchAnswers<Scalar>& answers,
                                const ImpactBatchOptions<Scalar>& options,
                                ImpactBatchWorkspace<Scalar, LaneCount>& workspace,
                                Executor&& executor) noexcept {
  using Queue = detail::LaneImpactQueue<Scalar, LaneCount>;
  ImpactBatchReport report;
  report.prepared = workspace.is_prepared_for(view);
  if (!report.prepared) {
    report.first_bad = view.count > 0 ? 0 : -1;
    return report;
  }
  constexpr Index chunk = 1024;  // count of problems that a worker receives at a time
  std::atomic<Index> next = 0;
  detail::run_tasks(executor, Index(workspace.workers()), [&](Index worker) {
    Index first = 0, end = 0;
    const auto take = [&] {
      if (first < end) return true;
      first = next.fetch_add(chunk, std::memory_order_relaxed);
      end = (std::min)(first + chunk, view.count);
      return first < end;
    };
    while (take()) {
      if (!view.has_pattern(workspace.problem(first))) {
        answers.reports[workspace.problem(first++)] = detail::impact_without_pattern<Scalar>();
        continue;
      }
      const int pattern = view.pattern_number(workspace.problem(first));
      Queue queue(view.patterns[pattern], view, answers, options, workspace.worker(int(worker)));
      while (take() && view.pattern_number(workspace.problem(first)) == pattern) {
        queue.push(workspace.problem(first++));
      }
      queue.finish();
    }
  });
  for (Index i = 0; i < view.count; ++i) {
    const ImpactProblemReport<Scalar>& problem = answers.reports[i];
    report.reflections += problem.reflections;
    report.faults += Index(problem.fault != ImpactFault::none);
    report.resolved += Index(problem.status == ImpactStatus::resolved);
    report.wedged += Index(problem.status == ImpactStatus::wedged);
    const bool good =
        problem.status == ImpactStatus::resolved || problem.status == ImpactStatus::wedged;
    if (!good && report.first_bad < 0) report.first_bad = i;
  }
  return report;
}

/// The same on the calling thread.
template <RealScalar Scalar, int LaneCount>
ImpactBatchReport resolve_batch(const ImpactBatchView<Scalar>& view,
                                const ImpactBatchAnswers<Scalar>& answers,
                                const ImpactBatchOptions<Scalar>& options,
                                ImpactBatchWorkspace<Scalar, LaneCount>& workspace) noexcept {
  return resolve_batch(view, answers, options, workspace, detail::RunInOrder());
}

}  // namespace CAROM_ABI
}  // namespace carom
