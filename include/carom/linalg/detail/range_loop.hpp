// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <new>

#include "carom/linalg/detail/crew.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A task for any executor.
struct AnyTask {
  void operator()(Index /*number*/) const noexcept {}
};

/// The shape of an executor: executor(count, task) calls task(i) for each i in [0, count), in any
/// order, on any threads, and returns when all calls are done.
template <typename Executor>
concept ExecutorLike = std::invocable<Executor&, Index, AnyTask>;

/// Count of tasks that share one piece of work. It is the largest possible count of threads.
inline constexpr Index crew_size = 32;

/// Calls lead(crew) once, with a crew that all tasks of one executor call share.
template <typename Executor, typename Lead>
void lead_crew(Executor& executor, const Lead& lead) noexcept {
  Crew crew;
  executor(crew_size, [&](Index) { crew.join([&] { lead(crew); }); });
}

/// Whether memory was missing in a task that must not throw, for those who gave it.
class MemoryFault {
 public:
  /// Runs action(); if memory does not suffice for it, remembers that.
  template <typename Action>
  void guard(const Action& action) noexcept {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    try {
      action();
    } catch (const std::bad_alloc&) {
      found_.store(1, std::memory_order_relaxed);
    }
#else
    action();
#endif
  }
  /// Throws std::bad_alloc if memory was missing.
  void report() const {
    if (found_.load(std::memory_order_relaxed) != 0) Eigen::internal::throw_std_bad_alloc();
  }

 private:
  std::atomic<int> found_{0};
};

/// Loops over items in ranges of one length, on the calling thread or shared by a crew. A sum is
/// computed range by range, and the sums of the ranges are added in their order. It therefore has
/// the same bits for any count of threads.
template <Index Length>
class RangeLoop {
 public:
  /// Items of a range.
  static constexpr Index length = Length;

  /// Runs one range after the other on the calling thread.
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

  /// The same for a task that allocates: throws std::bad_alloc, after all ranges, if memory was
  /// missing in one.
  template <typename Task>
  void run_cold(Index count, const Task& task) const {
    MemoryFault fault;
    (*this)(count, [&](Index begin, Index end) { fault.guard([&] { task(begin, end); }); });
    fault.report();
  }

  /// Calls task(begin, end, part) for all ranges, each with its own part.
  /// @param empty  the value of a part before its range adds to it; adding it by += changes
  ///               nothing.
  /// @return  the sum of the parts.
  /// @note  Allocates.
  template <typename Part, typename Task>
  [[nodiscard]] Part sum(Index count, const Part& empty, const Task& task) const {
    Sequence<Part> parts;
    parts.reserve(range_count(count));
    for (Index k = 0; k < range_count(count); ++k) parts.push_back(empty);
    run_cold(count, [&](Index begin, Index end) {
      Part part = empty;  // on the thread's own stack, away from the data of other threads
      task(begin, end, part);
      parts[begin / length] = part;
    });
    Part total = empty;
    for (const Part& part : parts) total += part;
    return total;
  }

 private:
  /// A task of any type, such that the code of the threads is compiled once.
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

/// For items that need about a microsecond each.
using FixedRanges = RangeLoop<128>;
/// For items that need some hundred nanoseconds each, for example copies. A range needs much more
/// time than its distribution to a thread, and a few thousand items still make one range per
/// thread.
using SharedLoop = RangeLoop<512>;

/// Calls task(ranges) with loops that all tasks of one executor call share. If no loop has more
/// than one range, the executor is not called.
/// @param count  items of the longest loop.
template <typename Executor, typename Task>
void share_ranges(Executor& executor, Index count, const Task& task) {
  if (count <= FixedRanges::length) return task(FixedRanges());
  MemoryFault fault;
  lead_crew(executor, [&](Crew& crew) { fault.guard([&] { task(FixedRanges(crew)); }); });
  fault.report();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
