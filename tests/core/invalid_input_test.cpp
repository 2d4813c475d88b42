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

TEST_CASE("invalid_input: of several checks the first that fails makes the sentence",
          "[core][example]") {
  using carom::detail::Checks;
  const std::string item = "contact 3";
  const double infinite = std::numeric_limits<double>::infinity();
  const auto fault = [&](double a, double b, double c, double d) {
    return Checks(item)
        .finite(": gap", a)
        .nonnegative(": friction", b)
        .positive(": softness", c)
        .share(": correction", d)
        .all_finite(": velocity", Eigen::Vector3d(0, a, b))
        .expect(a < 7, ": gap", "a number below 7", a)
        .fault();
  };
  CHECK(fault(1, 0, 1, 1).empty());
  CHECK(fault(infinite, -1, 1, 1) == "contact 3: gap: expected a finite number, got inf");
  CHECK(fault(1, -1, 0, 1) == "contact 3: friction: expected a finite number >= 0, got -1");
  CHECK(fault(1, 0, 0, 2) == "contact 3: softness: expected a finite number > 0, got 0");
  CHECK(fault(8, 0, 1, 1.5) == "contact 3: correction: expected a number in [0, 1], got 1.5");
  CHECK(fault(8, 0, 1, 1) == "contact 3: gap: expected a number below 7, got 8");
  CHECK(Checks(item).all_finite(": velocity", Eigen::Vector3d(0, infinite, 0)).fault() ==
        "contact 3: velocity entry 1: expected a finite number, got inf");
}
