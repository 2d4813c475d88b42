// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/batch_view.hpp"

#include <array>
#include <string>

#include "support/catch.hpp"

namespace batch_view_test {

TEST_CASE("batch_view: a problem's numbers by stride, shared, or by offsets", "[batch_view]") {
  const std::array<double, 6> numbers = {0, 1, 2, 3, 4, 5};
  const std::array<carom::Index, 3> offsets = {0, 1, 4};
  const carom::BatchArray<const double> strided{numbers.data(), 2}, shared{numbers.data(), 0};
  const carom::BatchArray<const double> ragged{numbers.data(), 0, offsets.data()};
  CHECK(*strided.of(2) == 4);
  CHECK(*shared.of(2) == 0);
  CHECK(*ragged.of(1) == 1);
  CHECK(*ragged.of(2) == 4);
}

TEST_CASE("batch_view: every problem has a pattern", "[batch_view]") {
  const std::array<carom::BatchPattern, 2> patterns;
  const std::array<int, 3> numbers = {1, 0, 1};
  carom::BatchView<double> view{.count = 3, .patterns = patterns.data()};
  CHECK(&view.pattern(2) == &patterns[0]);
  view.pattern_numbers = numbers.data();
  view.pattern_count = 2;
  CHECK(&view.pattern(2) == &patterns[1]);
  CHECK(&view.pattern(1) == &patterns[0]);
  view.pattern_count = 1;  // which is what a view says unless it is told otherwise
  CHECK((view.has_pattern(1) && !view.has_pattern(2)));
}

TEST_CASE("batch_view: faults have words", "[batch_view]") {
  CHECK(to_string(carom::BatchFault::none) == std::string("none"));
  CHECK(to_string(carom::BatchFault::regularization) == std::string("regularization"));
  CHECK(to_string(carom::BatchFault::guess) == std::string("guess"));
  CHECK(to_string(carom::BatchFault::pattern) == std::string("pattern"));
}

}  // namespace batch_view_test
