// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/run_tasks.hpp"

#include <atomic>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"

namespace run_tasks_test {

using carom::Index, carom::detail::run_tasks;

namespace {

/// How often each task ran.
template <typename Executor>
std::vector<int> runs_of(Executor&& executor, Index count) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
  run_tasks(executor, count, [&](Index i) { ++runs[std::size_t(i)]; });
  return {runs.begin(), runs.end()};
}

}  // namespace

TEST_CASE("run_tasks: every task runs once, whatever the executor does", "[core][law]") {
  using namespace carom::testing;
  for (const Index count : {0, 1, 2, 7, 200}) {
    CAPTURE(count);
    const std::vector<int> once(std::size_t(count), 1);
    CHECK(runs_of(Backwards(), count) == once);
    CHECK(runs_of(Shuffled{4, 3u}, count) == once);
    CHECK(runs_of(Shuffled{64, 5u}, count) == once);  // threads, far more than processors
    CHECK(runs_of(Twice(), count) == once);
    CHECK(runs_of(Forgetful(), count) == once);
    CHECK(runs_of(Forgetful{3}, count) == once);
    CHECK(runs_of(Throwing(), count) == once);
  }
}

}  // namespace run_tasks_test
