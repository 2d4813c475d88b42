// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/batch_chunk.hpp"
#include "carom/batch/detail/batch_work.hpp"
#include "carom/core/detail/run_tasks.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Count of problems that are solved in one group of lanes: the numbers of one register under the
/// caller's compiler flags.
template <RealScalar Scalar>
inline constexpr int batch_lane_count = detail::lane_register_bytes > int(sizeof(Scalar))
                                            ? detail::lane_register_bytes / int(sizeof(Scalar))
                                            : 1;

/// Memory for solve_batch(), allocated once and reused by all calls.
/// @tparam LaneCount  count of problems in one group; the bits of the answers do not depend on it.
template <RealScalar Scalar, int LaneCount = batch_lane_count<Scalar>>
class BatchWorkspace
    : public detail::BatchMemory<BatchView<Scalar>,
                                 detail::LaneQueue<Scalar, LaneCount, FrictionLaw::coulomb>> {};

/// Result of a batch of problems.
struct BatchReport {
  Index converged = 0;   ///< problems
  Index faults = 0;      ///< problems with a fault in their numbers
  Index first_bad = -1;  ///< first problem that has not converged; −1: none.
  /// Whether the workspace was prepared for the batch. If not, nothing is solved or written.
  bool prepared = true;
};

namespace detail {

/// Calls visit(memory of a worker, indices of problems, their count) for all problems of a batch.
template <RealScalar Scalar, int LaneCount, typename Executor, typename Visit>
void for_each_chunk(const BatchView<Scalar>& view, BatchWorkspace<Scalar, LaneCount>& workspace,
                    Executor&& executor, const Visit& visit) noexcept {
  constexpr int capacity = BatchChunk<Scalar, LaneCount>::capacity;
  std::atomic<Index> next = 0;
  detail::run_tasks(executor, Index(workspace.workers()), [&](Index worker) {
    for (;;) {
      const Index first = next.fetch_add(capacity, std::memory_order_relaxed);
      if (first >= view.count) return;
      const int count = int((std::min)(Index(capacity), view.count - first));
      Index problems[capacity];
      for (int i = 0; i < count; ++i) problems[i] = workspace.problem(first + i);
      visit(workspace.worker(int(worker)), problems, count);
    }
  });
}

template <RealScalar Scalar>
[[nodiscard]] BatchReport not_prepared(const BatchView<Scalar>& view) noexcept {
  BatchReport report;
  report.first_bad = view.count > 0 ? 0 : -1;
  report.prepared = false;
  return report;
}

template <RealScalar Scalar>
[[nodiscard]] BatchReport summarize(const BatchView<Scalar>& view,
                                    const BatchAnswers<Scalar>& answers) noexcept {
  BatchReport report;
  for (Index i = 0; i < view.count; ++i) {
    const BatchProblemReport<Scalar>& problem = answers.reports[i];
    report.faults += Index(problem.fault != BatchFault::none);
    if (problem.status == SolveStatus::converged) {
      ++report.converged;
    } else if (report.first_bad < 0) {
      report.first_bad = i;
    }
  }
  return report;
}

}  // namespace detail

/// Solves all problems of a batch in the lanes of registers, under the law of the options.
///
/// Each problem is solved with the method and the tolerance of SapSolver. The bits of its answer do
/// not depend on the rest of the batch: any count and order of problems, lanes, workers and
/// threads. A problem with a fault has it in its report and changes no other problem.
/// @param workspace  prepared for this batch, or another for which is_prepared_for() is true.
/// @param executor   executor(count, task) calls task(i) for each i in [0, count), in any order, on
///                   any threads, and returns when all calls are done; count is that of the
///                   workers.
/// @note  Real-time safe: no allocation, no exception, at most iteration_limit iterations for each
///        problem.
template <RealScalar Scalar, int LaneCount, typename Executor>
BatchReport solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                        const SapOptions<Scalar>& options,
                        BatchWorkspace<Scalar, LaneCount>& workspace,
                        Executor&& executor) noexcept {
  if (!workspace.is_prepared_for(view)) return detail::not_prepared(view);
  detail::for_each_chunk(view, workspace, executor, [&](Scalar* memory, auto& problems, int count) {
    detail::BatchChunk<Scalar, LaneCount>(view, answers, options, memory).solve(problems, count);
  });
  return detail::summarize(view, answers);
}

/// The same on the calling thread.
template <RealScalar Scalar, int LaneCount>
BatchReport solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                        const SapOptions<Scalar>& options,
                        BatchWorkspace<Scalar, LaneCount>& workspace) noexcept {
  return solve_batch(view, answers, options, workspace, detail::RunInOrder());
}

}  // namespace CAROM_ABI
}  // namespace carom
