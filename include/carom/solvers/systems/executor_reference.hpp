// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>

#include "carom/core/detail/run_tasks.hpp"
#include "carom/linalg/detail/range_loop.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A reference to an executor of any type, as an argument of SapSolver::solve, by two pointers:
/// functions with this argument need not be templates. The default runs tasks in turn on the thread
/// that calls.
class ExecutorReference {
 public:
  ExecutorReference() noexcept = default;
  /// @param executor  must outlive this object; executor(count, task) calls task(i) for each i in
  ///                  [0, count). Tasks that it forgets, calls twice or leaves by an exception run
  ///                  once all the same, see run_tasks().
  template <typename Executor>
  requires(
      !std::is_same_v<std::remove_cvref_t<Executor>,
                      ExecutorReference>) explicit ExecutorReference(Executor& executor) noexcept
      : executor_(const_cast<void*>(static_cast<const void*>(std::addressof(executor)))),
        run_([](void* context, Index count, const Task& task) {
          (*static_cast<Executor*>(context))(count, task);
        }) {}

  template <typename Function>
  void operator()(Index count, Function&& function) const noexcept {
    if (run_ == nullptr) {
      for (Index i = 0; i < count; ++i) function(i);
      return;
    }
    run_tasks(
        [this](Index tasks, const auto& task) {
          using Stored = std::remove_reference_t<decltype(task)>;
          run_(executor_, tasks,
               Task{static_cast<const void*>(std::addressof(task)),
                    [](const void* context, Index i) noexcept {
                      (*static_cast<Stored*>(context))(i);
                    }});
        },
        count, function);
  }

 private:
  struct Task {
    const void* context;
    void (*call)(const void*, Index) noexcept;
    void operator()(Index i) const noexcept { call(context, i); }
  };

  void* executor_ = nullptr;
  void (*run_)(void*, Index, const Task&) = nullptr;
};

/// Calls task(island, crew) for all islands: large islands one after the other, each with a crew
/// that all tasks of one executor call share; all others in one call, with null.
/// @param is_large  is_large(island).
template <typename IsLarge, typename Task>
void for_each_island(const ExecutorReference& executor, Index count, const IsLarge& is_large,
                     const Task& task) noexcept {
  Index large = 0;
  for (Index i = 0; i < count; ++i) large += is_large(i);
  if (large < count) {
    executor(count, [&](Index i) {
      if (!is_large(i)) task(i, nullptr);
    });
  }
  for (Index i = 0; i < count && large > 0; ++i) {
    if (is_large(i)) lead_crew(executor, [&](Crew& crew) { task(i, &crew); });
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
