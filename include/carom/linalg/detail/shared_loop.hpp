// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>

#include "carom/linalg/detail/crew.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A loop over items whose work is apart, in ranges that a crew shares.
class SharedLoop {
 public:
  /// Items of a range. One takes some hundred nanoseconds to copy, so a range takes much longer
  /// than a crew needs to hand it out, and a few thousand items still make one for every thread.
  static constexpr Index length = 512;

  /// On the thread that calls, in one range.
  SharedLoop() noexcept = default;
  explicit SharedLoop(Crew& crew) noexcept : crew_(&crew) {}

  /// Calls task(begin, end) for ranges that make up [0, count).
  /// @pre  count ≤ length · Crew::chunk_limit.
  template <typename Task>
  void operator()(Index count, const Task& task) const noexcept {
    if (crew_ == nullptr) return call(task, 0, count);
    crew_->run((count + length - 1) / length,
               [&](Index k) { call(task, k * length, (std::min)(count, (k + 1) * length)); });
  }

 private:
  /// The same code with a crew and without.
  template <typename Task>
  CAROM_ONE_CODE static void call(const Task& task, Index begin, Index end) noexcept {
    task(begin, end);
  }

  Crew* crew_ = nullptr;
};

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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
