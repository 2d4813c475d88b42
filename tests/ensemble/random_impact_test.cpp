// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/random_impact.hpp"

#include <cmath>

#include "carom/impact/uniqueness.hpp"
#include "carom/impact/wedge.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace random_impact_test {

using carom::testing::rounding;

using namespace carom::ensemble;

TEST_CASE("random_impact: designs of both families, some of them unique, none wedged",
          "[ensemble][law]") {
  int cradles = 0, unique_cradles = 0, unique_corners = 0, largest = 0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    RandomImpact impact;
    impact.make(1, index);
    REQUIRE(impact.problem.prepared());
    REQUIRE(impact.momentum.size() == impact.problem.size());
    CHECK(carom::has_interior(impact.problem));
    const bool unique = carom::classify(impact.problem).unique();
    if (impact.family == DesignFamily::cradle) {
      ++cradles;
      unique_cradles += unique ? 1 : 0;
      largest = std::max(largest, int(impact.problem.size()));
    } else {
      REQUIRE(impact.parameters.size() == 4);
      const auto point = corner_design(impact.parameters);
      CHECK(std::abs(carom::normal_product(point) - impact.problem.gram()(0, 1)) <
            rounding(50, 1.0));
      unique_corners += unique ? 1 : 0;
    }
  }
  CHECK(std::abs(cradles - 200) < 50);  // five standard deviations
  CHECK(largest == 5);
  CHECK(unique_cradles > 30);
  CHECK(unique_corners > 5);
}

TEST_CASE("random_impact: a design follows from seed and number", "[ensemble][law]") {
  RandomImpact once, again, other;
  once.make(3, 17);
  again.make(3, 5);
  again.make(3, 17);
  other.make(4, 17);
  CHECK(once.momentum == again.momentum);
  CHECK_FALSE((once.momentum.size() == other.momentum.size() && once.momentum == other.momentum));
}

}  // namespace random_impact_test
