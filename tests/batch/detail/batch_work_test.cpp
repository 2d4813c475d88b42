// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/detail/batch_work.hpp"

#include <vector>

#include "support/catch.hpp"

namespace batch_work_test {

using carom::detail::few_lane_count, carom::detail::for_each_width;

namespace {

struct Part {
  int lanes, first, end;
  bool operator==(const Part&) const = default;
};

template <typename Scalar, int LaneCount>
std::vector<Part> parts(int first, int end) {
  std::vector<Part> result;
  for_each_width<Scalar, LaneCount>(first, end, [&](auto lanes, int begin, int stop) {
    result.push_back({decltype(lanes)::value, begin, stop});
  });
  return result;
}

}  // namespace

TEST_CASE("batch_work: the last few problems of a run have fewer lanes", "[batch]") {
  using List = std::vector<Part>;
  CHECK(few_lane_count<double, 8> == 4);
  CHECK(few_lane_count<float, 16> == 8);
  CHECK(few_lane_count<double, 2> == 2);
  CHECK(parts<double, 8>(3, 3).empty());
  CHECK(parts<double, 8>(3, 4) == List{{1, 3, 4}});
  CHECK(parts<double, 8>(0, 2) == List{{4, 0, 2}});
  CHECK(parts<double, 8>(0, 4) == List{{4, 0, 4}});
  CHECK(parts<double, 8>(0, 5) == List{{8, 0, 5}});
  CHECK(parts<double, 8>(0, 16) == List{{8, 0, 16}});
  CHECK(parts<double, 8>(2, 19) == List{{8, 2, 18}, {1, 18, 19}});
  CHECK(parts<double, 8>(0, 11) == List{{8, 0, 8}, {4, 8, 11}});
  CHECK(parts<double, 8>(0, 13) == List{{8, 0, 13}});
  // Half a register of 64 bytes is all that there is.
  CHECK(parts<double, 4>(0, 3) == List{{4, 0, 3}});
  CHECK(parts<double, 4>(0, 5) == List{{4, 0, 4}, {1, 4, 5}});
  CHECK(parts<double, 1>(0, 3) == List{{1, 0, 3}});
  CHECK(parts<float, 16>(0, 8) == List{{8, 0, 8}});
}

}  // namespace batch_work_test
