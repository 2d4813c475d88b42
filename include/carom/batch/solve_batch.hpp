// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/batch_chunk.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Problems that are solved side by side: as many as a register holds under the caller's compiler
/// flags.
template <RealScalar Scalar>
inline constexpr int batch_lane_count = detail::lane_register_bytes > int(sizeof(Scalar))
                                            ? detail::lane_register_bytes / int(sizeof(Scalar))
                                            : 1;

/// Memory for solve_batch(), taken once and kept between calls.
/// @tparam LaneCount  problems side by side; the answers have the same bits for any number.
template <RealScalar Scalar, int LaneCount = batch_lane_count<Scalar>>
class BatchWorkspace {
 public:
  /// Bytes that prepare() will take; nothing is padded to the largest problem.
  /// @param workers  parts of the batch that are solved at the same time, ≥ 1: as many as threads.
  [[nodiscard]] static std::size_t bytes(const BatchView<Scalar>& view, int workers) {
    return std::size_t(workers) * worker_size(view) * sizeof(Scalar) +
           order_size(view) * sizeof(Index) + alignment;
  }
  /// Takes the memory and sorts the problems by their patterns.
  /// @note  Cold: allocates beyond the largest batch so far.
  void prepare(const BatchView<Scalar>& view, int workers);

  [[nodiscard]] int workers() const noexcept { return workers_; }
  /// Memory of one worker.
  [[nodiscard]] Scalar* worker(int number) noexcept {
    const auto address = reinterpret_cast<std::size_t>(numbers_.data());
    const std::size_t skip = (alignment - address % alignment) % alignment / sizeof(Scalar);
    return numbers_.data() + skip + std::size_t(number) * worker_size_;
  }
  /// Number of the problem that is solved as the i-th; those of one pattern follow each other.
  [[nodiscard]] Index problem(Index i) const noexcept {
    return order_.empty() ? i : order_[std::size_t(i)];
  }

 private:
  static constexpr std::size_t alignment = 64;  // a line of the cache, and the widest register
  /// Numbers of a worker, a multiple of the alignment.
  [[nodiscard]] static std::size_t worker_size(const BatchView<Scalar>& view);
  [[nodiscard]] static std::size_t order_size(const BatchView<Scalar>& view) noexcept {
    return view.pattern_numbers != nullptr ? std::size_t(view.count) : 0;
  }

  std::vector<Scalar> numbers_;
  std::vector<Index> order_;
  std::size_t worker_size_ = 0;
  int workers_ = 0;
};

/// What became of a batch.
struct BatchReport {
  Index converged = 0;   ///< problems
  Index faults = 0;      ///< problems whose numbers are wrong
  Index first_bad = -1;  ///< first problem that has not converged; −1: none.
};

namespace detail {

/// Calls visit(memory of a worker, numbers of problems, their count) for all problems of a batch.
template <RealScalar Scalar, int LaneCount, typename Executor, typename Visit>
void for_each_chunk(const BatchView<Scalar>& view, BatchWorkspace<Scalar, LaneCount>& workspace,
                    Executor&& executor, const Visit& visit) noexcept {
  constexpr int capacity = BatchChunk<Scalar, LaneCount>::capacity;
  std::atomic<Index> next = 0;
  executor(Index(workspace.workers()), [&](Index worker) {
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

/// Solves all problems of a batch side by side in the lanes of registers, under the law of the
/// options.
///
/// Each problem is solved as SapSolver solves it, to the same tolerance, and its answer has the
/// same bits whatever else is in the batch: any number and order of problems, lanes, workers and
/// threads. A problem with bad numbers has its fault in its report and changes no other.
/// @param workspace  prepared for a batch of these patterns and no more problems.
/// @param executor   executor(count, task) calls task(i) for every i in [0, count), in any order,
///                   on any threads, and returns when all are done; count is that of the workers.
/// @note  Real-time safe: no allocation, no exception, at most iteration_limit iterations for each
///        problem.
template <RealScalar Scalar, int LaneCount, typename Executor>
BatchReport solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                        const SapOptions<Scalar>& options,
                        BatchWorkspace<Scalar, LaneCount>& workspace,
                        Executor&& executor) noexcept {
  detail::for_each_chunk(view, workspace, executor, [&](Scalar* memory, auto& problems, int count) {
    detail::BatchChunk<Scalar, LaneCount>(view, answers, options, memory).solve(problems, count);
  });
  return detail::summarize(view, answers);
}

/// The same on this thread.
template <RealScalar Scalar, int LaneCount>
BatchReport solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                        const SapOptions<Scalar>& options,
                        BatchWorkspace<Scalar, LaneCount>& workspace) noexcept {
  return solve_batch(view, answers, options, workspace, [](Index count, auto&& task) {
    for (Index i = 0; i < count; ++i) task(i);
  });
}

// --- implementation ---

template <RealScalar Scalar, int LaneCount>
std::size_t BatchWorkspace<Scalar, LaneCount>::worker_size(const BatchView<Scalar>& view) {
  using Queue = detail::LaneQueue<Scalar, LaneCount, FrictionLaw::coulomb>;
  std::size_t size = 0;
  int patterns = view.count > 0 ? 1 : 0;
  for (Index i = 0; view.pattern_numbers != nullptr && i < view.count; ++i) {
    patterns = (std::max)(patterns, view.pattern_numbers[i] + 1);
  }
  for (int p = 0; p < patterns; ++p) {
    for (const detail::LaneMap& island : view.patterns[p].islands()) {
      size = (std::max)(size, Queue::memory_size(island.layout(FrictionLaw::coulomb)));
    }
  }
  constexpr std::size_t line = alignment / sizeof(Scalar);
  return (size + line - 1) / line * line;
}

template <RealScalar Scalar, int LaneCount>
void BatchWorkspace<Scalar, LaneCount>::prepare(const BatchView<Scalar>& view, int workers) {
  CAROM_EXPECTS(workers >= 1);
  workers_ = workers;
  worker_size_ = worker_size(view);
  numbers_.resize(std::size_t(workers) * worker_size_ + alignment / sizeof(Scalar));
  order_.resize(order_size(view));
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = Index(i);
  std::stable_sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    return view.pattern_number(a) < view.pattern_number(b);
  });
}

}  // namespace CAROM_ABI
}  // namespace carom
