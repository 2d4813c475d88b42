// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/shared_loop.hpp"

#include <atomic>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"

namespace shared_loop_test {

using carom::Crew, carom::Index;
using carom::detail::lead_crew, carom::detail::SharedLoop;
using carom::testing::for_each_executor;

TEST_CASE("shared_loop: every item is in one range, in any executor", "[linalg][law]") {
  for_each_executor([](const auto& executor) {
    for (const Index count : {Index(0), Index(1), SharedLoop::length, 9 * SharedLoop::length + 1}) {
      std::vector<int> seen(std::size_t(count), 0);
      std::atomic<int> leads{0}, ranges{0};
      lead_crew(executor, [&](Crew& crew) {
        ++leads;
        SharedLoop{crew}(count, [&](Index begin, Index end) {
          ++ranges;
          for (Index i = begin; i < end; ++i) ++seen[std::size_t(i)];
        });
      });
      CAPTURE(count);
      CHECK(leads == 1);
      CHECK(ranges == (count + SharedLoop::length - 1) / SharedLoop::length);
      CHECK(seen == std::vector<int>(std::size_t(count), 1));
    }
  });
}

TEST_CASE("shared_loop: without a crew there is one range", "[linalg][law]") {
  Index calls = 0, items = 0;
  SharedLoop()(5000, [&](Index begin, Index end) {
    ++calls;
    items += end - begin;
  });
  CHECK(calls == 1);
  CHECK(items == 5000);
}

}  // namespace shared_loop_test
