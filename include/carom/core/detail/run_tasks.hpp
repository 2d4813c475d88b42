// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Calls function(i) once for each i in [0, count) by a user's executor, whatever the executor
/// does: each call of its task takes the next i that is left. If the executor calls a task twice,
/// the second call finds nothing to do; what it has not called when it returns, or when it throws,
/// runs here, on the calling thread.
/// @param executor  executor(count, task) calls task(i) for each i, on any threads, and returns
/// after
///                  them.
/// @param function  must not throw.
template <typename Executor, typename Function>
void run_tasks(Executor&& executor, Index count, Function&& function) noexcept {
  std::atomic<Index> next{0};
  const auto run_next = [&]() noexcept {
    const Index i = next.fetch_add(1, std::memory_order_relaxed);
    if (i < count) function(i);
    return i < count;
  };
  const auto task = [&](Index) noexcept { run_next(); };
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  try {
    executor(count, task);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the tasks it owes run below
  }
#else
  executor(count, task);
#endif
  while (run_next()) {
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
