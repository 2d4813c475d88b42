// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/range_loop.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"

namespace range_loop_test {

using carom::Index;
using carom::detail::FixedRanges, carom::detail::share_ranges;
using carom::testing::for_each_executor;

/// A sum whose bits tell in which order it was taken, of ranges that end in another order than they
/// begin.
double harmonic_sum(const FixedRanges& ranges, Index count) {
  return ranges.sum(count, 0.0, [](Index begin, Index end, double& part) {
    std::this_thread::sleep_for(std::chrono::microseconds(begin * 7 / FixedRanges::length % 97));
    for (Index i = begin; i < end; ++i) part += 1 / double(i + 1);
  });
}

TEST_CASE("range_loop: every item is in one range, with an executor and without", "[linalg][law]") {
  const auto look = [](const FixedRanges& ranges) {
    for (const Index count : {Index(0), Index(1), FixedRanges::length, FixedRanges::length + 1,
                              9 * FixedRanges::length + 1}) {
      std::vector<int> seen(std::size_t(count), 0);
      std::atomic<int> calls{0};
      ranges(count, [&](Index begin, Index end) {
        ++calls;
        for (Index i = begin; i < end; ++i) ++seen[std::size_t(i)];
      });
      CAPTURE(count);
      CHECK(calls == (count + FixedRanges::length - 1) / FixedRanges::length);
      CHECK(seen == std::vector<int>(std::size_t(count), 1));
    }
  };
  look(FixedRanges());
  for_each_executor([&](const auto& executor) { share_ranges(executor, 5000, look); });
}

TEST_CASE("range_loop: a sum has the same bits whoever takes its ranges", "[linalg][law]") {
  for (const Index count : {0, 1, 128, 129, 5000}) {
    CAPTURE(count);
    const double expected = harmonic_sum(FixedRanges(), count);
    for_each_executor([&](const auto& executor) {
      share_ranges(executor, 5000, [&](const FixedRanges& ranges) {
        for (int repeat = 0; repeat < 5; ++repeat) {
          CHECK(harmonic_sum(ranges, count) == expected);
        }
      });
    });
  }
}

TEST_CASE("range_loop: ranges are summed apart and then added in their order",
          "[linalg][example]") {
  const Index count = 3 * FixedRanges::length;
  double expected = 0;
  for (Index begin = 0; begin < count; begin += FixedRanges::length) {
    double part = 0;
    for (Index i = begin; i < begin + FixedRanges::length; ++i) part += 1 / double(i + 1);
    expected += part;
  }
  CHECK(harmonic_sum(FixedRanges(), count) == expected);
}

TEST_CASE("range_loop: an executor is called where there is more than one range",
          "[linalg][example]") {
  int calls = 0;
  const auto executor = [&](Index count, const auto& task) {
    ++calls;
    for (Index i = 0; i < count; ++i) task(i);
  };
  int led = 0;
  share_ranges(executor, FixedRanges::length, [&](const FixedRanges&) { ++led; });
  CHECK((calls == 0 && led == 1));
  share_ranges(executor, FixedRanges::length + 1, [&](const FixedRanges&) { ++led; });
  CHECK((calls == 1 && led == 2));
}

}  // namespace range_loop_test
