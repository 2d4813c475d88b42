// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/panel_pivots.hpp"

#include <array>

#include "support/catch.hpp"

namespace panel_pivots_test {

using carom::Index;
using carom::detail::Columns, carom::detail::divide_panel, carom::detail::PivotBlock;
using carom::detail::row_lanes;

TEST_CASE("panel_pivots: rows of a panel are divided by its pivot block", "[linalg][example]") {
  // With a diagonal pivot block every column is divided by its own pivot.
  PivotBlock<3, double> pivot;
  for (int c = 0; c < 3; ++c) {
    for (int r = 0; r < 3; ++r) pivot.entries[c][r] = r == c ? double(2 << c) : 0;
  }
  REQUIRE(pivot.factor());
  alignas(64) std::array<double, std::size_t(6 * row_lanes)> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = double(i + 1);
  const auto before = numbers;
  divide_panel(Columns<double>{numbers.data(), 2 * row_lanes}, pivot, row_lanes, 2 * row_lanes);
  for (Index c = 0; c < 3; ++c) {
    for (Index row = 0; row < 2 * row_lanes; ++row) {
      const std::size_t at = std::size_t(c * 2 * row_lanes + row);
      const double divisor = row < row_lanes ? 1 : double(2 << c);
      CAPTURE(c, row);
      CHECK(numbers[at] == before[at] / divisor);
    }
  }
}

}  // namespace panel_pivots_test
