// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>

#include "carom/linalg/detail/crew.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A task of any executor.
struct AnyTask {
  void operator()(Index /*number*/) const noexcept {}
};

/// What has the shape of an executor: executor(count, task) calls task(i) for every i in
/// [0, count), in any order, on any threads, and returns when all are done.
template <typename Executor>
concept ExecutorLike = std::invocable<Executor&, Index, AnyTask>;

/// Tasks of an executor that share one piece of work: no more threads than these can share it.
inline constexpr Index crew_size = 32;

/// Calls lead(crew) once, with a crew that all tasks of a call of the executor share.
template <typename Executor, typename Lead>
void lead_crew(Executor& executor, const Lead& lead) noexcept {
  Crew crew;
  executor(crew_size, [&](Index) { crew.join([&] { lead(crew); }); });
}

/// Loops over items in ranges of one length, on the thread that calls or shared by a crew. A sum is
/// taken range by range, and the ranges' sums are added in their order, so that it has the same
/// bits on any number of threads, and without any.
template <Index Length>
class RangeLoop {
 public:
  /// Items of a range.
  static constexpr Index length = Length;

  /// One range after the other, on the thread that calls.
  RangeLoop() noexcept = default;
  explicit RangeLoop(Crew& crew) noexcept : crew_(&crew) {}

  /// Calls task(begin, end) for all ranges of [0, count).
  /// @pre  count ≤ length · Crew::chunk_limit.
  template <typename Task>
  void operator()(Index count, const Task& task) const noexcept {
    run(count, {&task, [](const void* of, Index begin, Index end) {
                  (*static_cast<const Task*>(of))(begin, end);
                }});
  }

  /// Calls task(begin, end, part) for all ranges, each with a part of its own.
  /// @param empty  what a part is before its range has added to it, and what adds nothing by +=.
  /// @return  the sum of the parts.
  /// @note  Allocates.
  template <typename Part, typename Task>
  [[nodiscard]] Part sum(Index count, const Part& empty, const Task& task) const {
    Sequence<Part> parts;
    parts.reserve(range_count(count));
    for (Index k = 0; k < range_count(count); ++k) parts.push_back(empty);
    (*this)(count, [&](Index begin, Index end) {
      Part part = empty;  // on a thread's own stack, away from what others write
      task(begin, end, part);
      parts[begin / length] = part;
    });
    Part total = empty;
    for (const Part& part : parts) total += part;
    return total;
  }

 private:
  /// A task whatever its type, so that the threads' code is compiled once for all.
  struct RangeTask {
    const void* task;
    void (*call)(const void* task, Index begin, Index end);
  };
  [[nodiscard]] static Index range_count(Index count) noexcept {
    return (count + length - 1) / length;
  }
  void run(Index count, const RangeTask& task) const noexcept {
    const auto run_range = [&](Index k) {
      task.call(task.task, k * length, (std::min)(count, (k + 1) * length));
    };
    if (crew_ != nullptr) return crew_->run(range_count(count), run_range);
    for (Index k = 0; k < range_count(count); ++k) Crew::call(run_range, k);
  }

  Crew* crew_ = nullptr;
};

/// Items that take about a microsecond each.
using FixedRanges = RangeLoop<128>;
/// Items that take some hundred nanoseconds each, to copy: a range takes much longer than a crew
/// needs to hand it out, and a few thousand items still make one for every thread.
using SharedLoop = RangeLoop<512>;

/// Calls task(ranges) with loops that all tasks of a call of the executor share. Where no loop has
/// more than one range the executor is not called.
/// @param count  items of the longest loop.
template <typename Executor, typename Task>
void share_ranges(Executor& executor, Index count, const Task& task) {
  if (count <= FixedRanges::length) return task(FixedRanges());
  lead_crew(executor, [&](Crew& crew) { task(FixedRanges(crew)); });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
