// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An executor of any type, as SapSolver::solve takes it, referred to by two pointers: what takes
/// it need not be a template. The default runs tasks in turn on the thread that calls.
class ExecutorReference {
 public:
  ExecutorReference() noexcept = default;
  /// @param executor  outlives this; executor(count, task) calls task(i) for every i in [0, count).
  template <typename Executor>
  requires(
      !std::is_same_v<std::remove_cvref_t<Executor>,
                      ExecutorReference>) explicit ExecutorReference(Executor& executor) noexcept
      : executor_(const_cast<void*>(static_cast<const void*>(std::addressof(executor)))),
        run_([](void* context, Index count, const Task& task) noexcept {
          (*static_cast<Executor*>(context))(count, task);
        }) {}

  template <typename Function>
  void operator()(Index count, Function&& function) const noexcept {
    if (run_ == nullptr) {
      for (Index i = 0; i < count; ++i) function(i);
      return;
    }
    using Stored = std::remove_reference_t<Function>;
    run_(executor_, count,
         Task{const_cast<void*>(static_cast<const void*>(std::addressof(function))),
              [](void* context, Index i) noexcept { (*static_cast<Stored*>(context))(i); }});
  }

 private:
  struct Task {
    void* context;
    void (*call)(void*, Index) noexcept;
    void operator()(Index i) const noexcept { call(context, i); }
  };

  void* executor_ = nullptr;
  void (*run_)(void*, Index, const Task&) noexcept = nullptr;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
