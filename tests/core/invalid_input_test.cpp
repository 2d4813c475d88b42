// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/invalid_input.hpp"

#include "support/catch.hpp"

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
