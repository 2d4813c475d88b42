// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/invalid_input.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/dual.hpp"

TEST_CASE("invalid_input: no fault is let through", "[core][example]") {
  CHECK_NOTHROW(carom::detail::reject_if(carom::Fault{}));
}

TEST_CASE("invalid_input: a fault is thrown word for word", "[core][example]") {
  const carom::Fault fault = "body 3: expected a number > 0, got -1";
  try {
    carom::detail::reject_if(fault);
    FAIL("nothing was thrown");
  } catch (const std::invalid_argument& thrown) {
    CHECK(std::string(thrown.what()) == fault);
  }
}

TEST_CASE("invalid_input: a number that no double stands for is called by what it is",
          "[core][example]") {
  using Number = carom::testing::Dual<double, 1>;
  CHECK(carom::detail::number_text(0.1F) == "0.100000001");
  CHECK(carom::detail::number_text(-2.0) == "-2");
  CHECK(carom::detail::number_text(Number(2.5)) == "another finite number");
  CHECK(carom::detail::number_text(Number(std::numeric_limits<double>::infinity())) ==
        "a number that is not finite");
}
