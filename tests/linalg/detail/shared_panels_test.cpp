// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/shared_panels.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"

namespace shared_panels_test {

using carom::Crew, carom::Index;
using carom::detail::Columns, carom::detail::factor_leading_columns, carom::detail::lanes_above;
using carom::detail::RowShares, carom::detail::subtract_square;
using carom::testing::for_each_executor;

namespace {

/// Columns that are factored, and the square that they leave.
struct Front {
  Index own, rows, stride;
  std::vector<double> columns, square;

  Front(Index own_size, Index row_count)
      : own(own_size), rows(row_count), stride(lanes_above(own + lanes_above(rows)) + 8) {
    columns.resize(std::size_t(stride * own));
    square.resize(std::size_t(stride * rows));
    for (Index c = 0; c < own; ++c) {
      for (Index r = c; r < own + rows; ++r) {
        columns[std::size_t(c * stride + r)] = r == c ? double(own) : std::sin(double(3 * c + r));
      }
    }
  }
  [[nodiscard]] bool factor(const RowShares& shares) {
    const Columns<double> lower{columns.data(), stride};
    if (!factor_leading_columns(lower, own, own + rows, shares)) return false;
    subtract_square<true>(Columns<double>{square.data(), stride},
                          Columns<const double>{columns.data() + own, stride}, own, rows, shares);
    return true;
  }
};

}  // namespace

TEST_CASE("shared_panels: a shared front has the bits of one thread", "[linalg][law]") {
  for (const auto& [own, rows] : {std::pair<Index, Index>{301, 200}, {40, 460}, {7, 5}}) {
    Front alone(own, rows);
    REQUIRE(alone.factor({}));
    for_each_executor([&, own = own, rows = rows](const auto& executor) {
      Front shared(own, rows);
      bool positive = false;
      Crew crew;
      executor(4, [&](Index) { crew.join([&] { positive = shared.factor(RowShares{&crew}); }); });
      CAPTURE(own, rows);
      CHECK(positive);
      CHECK(shared.columns == alone.columns);
      CHECK(shared.square == alone.square);
    });
  }
}

TEST_CASE("shared_panels: a pivot that is not positive ends the factor", "[linalg][example]") {
  Front front(300, 200);
  front.columns[std::size_t(250 * front.stride + 250)] = -1e9;
  Crew crew;
  CHECK_FALSE(front.factor(RowShares{&crew}));
}

}  // namespace shared_panels_test
