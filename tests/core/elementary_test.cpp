// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/elementary.hpp"

#include <cmath>
#include <unsupported/Eigen/AutoDiff>

#include <Eigen/Core>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace {

/// A function of a user, for plain numbers and for numbers that carry derivatives.
template <typename Number>
Number wave(const Number& x) {
  using carom::elementary::cos, carom::elementary::exp;
  return cos(x) * exp(x);
}

}  // namespace

TEST_CASE("elementary: outside the reproducible mode they are the library's", "[core][law]") {
  for (const double x : {-3.0, -0.7, 0.0, 1e-3, 12.0}) {
    CAPTURE(x);
    if (CAROM_REPRODUCIBLE != 0) {
      CHECK(carom::elementary::sin(x) == carom::detail::portable::sin(x));
    } else {
      CHECK(carom::elementary::sin(x) == std::sin(x));
      CHECK(carom::elementary::atan2(float(x), 2.0F) == std::atan2(float(x), 2.0F));
    }
    CHECK(carom::elementary::expm1(static_cast<long double>(x)) ==
          std::expm1(static_cast<long double>(x)));
  }
}

TEST_CASE("elementary: numbers with derivatives bring their own", "[core][derivative]") {
  using Number = Eigen::AutoDiffScalar<Eigen::Matrix<double, 1, 1>>;
  const double x = 0.4;
  const Number found = wave(Number(x, 1, 0));
  CHECK(std::abs(found.value() - wave(x)) <= carom::testing::rounding(4, 1.0));
  const double slope = (std::cos(x) - std::sin(x)) * std::exp(x);
  CHECK(std::abs(found.derivatives()(0) - slope) <= carom::testing::rounding(8, 1.0));
}
