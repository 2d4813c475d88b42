// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/executor_reference.hpp"

#include <vector>

#include "support/catch.hpp"

namespace executor_reference_test {

using carom::Index;
using carom::detail::ExecutorReference;

namespace {

/// Runs tasks from the last to the first, and counts its calls.
struct Backwards {
  int calls = 0;
  template <typename Task>
  void operator()(Index count, const Task& task) {
    ++calls;
    for (Index i = count - 1; i >= 0; --i) task(i);
  }
};

std::vector<Index> order_of(const ExecutorReference& executor, Index count) {
  std::vector<Index> order;
  executor(count, [&](Index i) { order.push_back(i); });
  return order;
}

}  // namespace

TEST_CASE("executor_reference: it hands tasks to the executor that it refers to",
          "[solvers][example]") {
  Backwards backwards;
  const ExecutorReference executor(backwards);
  CHECK(order_of(executor, 3) == std::vector<Index>{0, 1, 2});  // each call takes the next task
  const ExecutorReference copy = executor;  // refers to the same, not to the first reference
  CHECK(order_of(copy, 2) == std::vector<Index>{0, 1});
  CHECK(order_of(copy, 0).empty());
  CHECK(backwards.calls == 3);
}

TEST_CASE("executor_reference: without an executor tasks run in turn", "[solvers][example]") {
  CHECK(order_of(ExecutorReference(), 3) == std::vector<Index>{0, 1, 2});
  CHECK(order_of(ExecutorReference(), 0).empty());
}

TEST_CASE("executor_reference: executors and tasks may be const", "[solvers][example]") {
  int sum = 0;
  const auto in_turn = [](Index count, const auto& task) {
    for (Index i = 0; i < count; ++i) task(i);
  };
  const auto add = [&](Index i) { sum += int(i); };
  const ExecutorReference executor(in_turn);
  executor(5, add);
  CHECK(sum == 10);
}

TEST_CASE("executor_reference: large islands get a crew each, all others none", "[solvers][law]") {
  for (const std::vector<bool>& large :
       {std::vector<bool>{}, {false, false}, {true, true}, {false, true, false, true}}) {
    for (const bool given : {false, true}) {
      Backwards backwards;
      std::vector<int> visits(large.size(), 0);
      const ExecutorReference executor = given ? ExecutorReference(backwards) : ExecutorReference();
      carom::detail::for_each_island(
          executor, Index(large.size()), [&](Index i) { return large[std::size_t(i)]; },
          [&](Index i, carom::Crew* crew) {
            ++visits[std::size_t(i)];
            CHECK((crew != nullptr) == large[std::size_t(i)]);
          });
      CHECK(visits == std::vector<int>(large.size(), 1));
    }
  }
}

}  // namespace executor_reference_test
