// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/sap_options.hpp"

#include "support/catch.hpp"

TEMPLATE_TEST_CASE("sap_options: every option has a range", "[solvers][example]", float, double) {
  using Options = carom::SapOptions<TestType>;
  const TestType one = 1, nan = std::numeric_limits<TestType>::quiet_NaN();
  CHECK(Options{}.is_valid());
  CHECK(Options{.iteration_limit = 0, .factor_work_limit = 0, .small_contact_limit = 0}.is_valid());
  for (const TestType bad : {TestType(0), -one, nan}) {
    CHECK_FALSE(Options{.tolerance = bad}.is_valid());
    CHECK_FALSE(Options{.line_search_tolerance = bad}.is_valid());
  }
  CHECK_FALSE(Options{.line_search_tolerance = one}.is_valid());
  CHECK_FALSE(Options{.iteration_limit = -1}.is_valid());
  CHECK_FALSE(Options{.factor_work_limit = -1}.is_valid());
  CHECK_FALSE(Options{.small_contact_limit = -1}.is_valid());
}
