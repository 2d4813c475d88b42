// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/sequence.hpp"
#include "carom/linalg/detail/shared_loop.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Loops over items in ranges of one length, whoever goes through them. A sum is taken range by
/// range, and the ranges' sums are added in their order, so that it has the same bits on any number
/// of threads, and without any.
class FixedRanges {
 public:
  /// Items of a range, for items that take about a microsecond each.
  static constexpr Index length = 128;

  /// One range after the other, on the thread that calls.
  FixedRanges() noexcept = default;
  explicit FixedRanges(Crew& crew) noexcept : crew_(&crew) {}

  /// Calls task(begin, end) for all ranges of [0, count).
  /// @pre  count ≤ length · Crew::chunk_limit.
  template <typename Task>
  void operator()(Index count, const Task& task) const {
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
  void run(Index count, const RangeTask& task) const {
    const auto run_range = [&](Index k) {
      task.call(task.task, k * length, (std::min)(count, (k + 1) * length));
    };
    if (crew_ != nullptr) return crew_->run(range_count(count), run_range);
    for (Index k = 0; k < range_count(count); ++k) Crew::call(run_range, k);
  }

  Crew* crew_ = nullptr;
};

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
