// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/portable_functions.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/wide_float.hpp"

namespace portable = carom::detail::portable;

namespace {

using carom::testing::Wide;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// |found − expected| in units of the last place of `expected`; values beyond the range are equal.
double units_off(double found, const Wide& expected) {
  const double rounded = double(expected);
  if (!std::isfinite(rounded) || !std::isfinite(found)) {
    return std::isnan(rounded) ? (std::isnan(found) ? 0 : infinity)
                               : (found == rounded ? 0 : infinity);
  }
  const double unit = std::nextafter(std::abs(rounded), infinity) - std::abs(rounded);
  return double(abs(Wide(found) - expected) / unit);
}

/// Zeros, ones, whole numbers, neighbours of multiples of π/4, and magnitudes over 600 decades.
std::vector<double> arguments() {
  std::vector<double> all{0.0, -0.0, 1,  -1, 0.5, -0.5,  0.34, 0.35,
                          20,  21,   40, 41, 709, 709.9, -745, -747};
  for (int k = -40; k <= 40; ++k) {
    const double angle = k * std::numbers::pi / 4;
    for (const double to : {-infinity, infinity}) all.push_back(std::nextafter(angle, to));
    all.push_back(angle);
    all.push_back(k * std::numbers::ln2 / 2);
  }
  carom::testing::VectorSource<double> source(11u);
  for (int k = 0; k < 4000; ++k) all.push_back(source.entry(k % 2 == 0 ? 2 : 300, 0));
  return all;
}

/// Checks a function for all arguments up to `size` against the same function in fifty digits:
/// `long double` has no more digits than `double` on some systems, and its functions fewer on
/// others.
template <typename Portable, typename Oracle>
void check(double most_units, const Portable& portable, const Oracle& oracle,
           double size = infinity) {
  double units = 0, at = 0;
  for (const double x : arguments()) {
    if (std::abs(x) > size) continue;
    const double off = units_off(portable(x), oracle(Wide(x)));
    if (off > units) {
      units = off;
      at = x;
    }
  }
  CAPTURE(units, at);
  CHECK(units < most_units);
}

Wide cube_root(const Wide& x) {
  if (x == 0) return x;
  const Wide root = pow(abs(x), Wide(1) / 3);
  return x < 0 ? Wide(-root) : root;
}

}  // namespace

TEST_CASE("portable_functions: within a few units of the last place of fifty digits'",
          "[core][oracle]") {
  using W = Wide;
  check(
      2, [](double x) { return portable::exp(x); }, [](const W& x) { return W(exp(x)); }, 1e6);
  check(
      5, [](double x) { return portable::expm1(x); },
      [](const W& x) { return W(2 * exp(x / 2) * sinh(x / 2)); }, 1e6);
  check(
      2, [](double x) { return portable::log(x); }, [](const W& x) { return W(log(x)); });
  check(
      2, [](double x) { return portable::log2(x); },
      [](const W& x) { return W(log(x) / log(W(2))); });
  check(
      2, [](double x) { return portable::cbrt(x); }, cube_root);
  check(
      2, [](double x) { return portable::sin(x); }, [](const W& x) { return W(sin(x)); }, 0x1p19);
  check(
      2, [](double x) { return portable::cos(x); }, [](const W& x) { return W(cos(x)); }, 0x1p19);
  check(
      5, [](double x) { return portable::atan(x); }, [](const W& x) { return W(atan(x)); });
  check(
      5, [](double x) { return portable::tan(x); }, [](const W& x) { return W(tan(x)); }, 0x1p19);
  check(
      5, [](double x) { return portable::asin(x); }, [](const W& x) { return W(asin(x)); });
  check(
      5, [](double x) { return portable::acos(x); }, [](const W& x) { return W(acos(x)); });
  check(
      5, [](double x) { return portable::tanh(x); }, [](const W& x) { return W(tanh(x)); }, 1e6);
  check(
      2, [](double x) { return portable::hypot(x, 3); },
      [](const W& x) { return W(sqrt(x * x + 9)); });
  check(
      2, [](double x) { return portable::hypot(x, x); },
      [](const W& x) { return W(sqrt(2 * x * x)); });
  for (const double other : {-3e-5, 2.0, -1e10}) {
    check(
        5, [&](double x) { return portable::atan2(x, other); },
        [&](const W& x) { return W(atan2(x, W(other))); });
    check(
        5, [&](double x) { return portable::atan2(other, x); },
        [&](const W& x) { return W(atan2(W(other), x)); });
  }
}

TEST_CASE("portable_functions: beyond all numbers and below the least", "[core][example]") {
  for (const double x : {1e6, 1e300, infinity}) {
    CAPTURE(x);
    CHECK(portable::exp(x) == infinity);
    CHECK(portable::exp(-x) == 0);
    CHECK(portable::expm1(x) == infinity);
    CHECK(portable::expm1(-x) == -1);
    CHECK(portable::tanh(x) == 1);
    CHECK(portable::tanh(-x) == -1);
    CHECK(std::isnan(portable::asin(x)));
    CHECK(std::isnan(portable::acos(-x)));
  }
}

TEST_CASE("portable_functions: angles beyond 2^19 are moved by less than their rounding",
          "[core][oracle]") {
  for (const double x : arguments()) {
    if (!(std::abs(x) >= 0x1p19) || !(std::abs(x) < 0x1p40)) continue;
    const double rounding = std::abs(x) * std::numeric_limits<double>::epsilon();
    CAPTURE(x);
    CHECK(std::abs(portable::sin(x) - double(sin(Wide(x)))) <= rounding);
    CHECK(std::abs(portable::cos(x) - double(cos(Wide(x)))) <= rounding);
  }
}

TEST_CASE("portable_functions: powers lose units with the logarithm of the result",
          "[core][oracle]") {
  for (const double x : arguments()) {
    if (!(x > 0)) continue;
    for (const double y : {0.0, 0.25, 0.75, -0.5, 2.0}) {
      const Wide exact = pow(Wide(x), Wide(y));
      if (exact > 1e300 || exact < 1e-300) continue;
      CAPTURE(x, y);
      CHECK(units_off(portable::pow(x, y), exact) < 2 + 2 * std::abs(y * std::log(x)));
    }
  }
}

TEST_CASE("portable_functions: signs of zero, infinities and what is not a number",
          "[core][example]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::signbit(portable::sin(-0.0)));
  CHECK(std::signbit(portable::expm1(-0.0)));
  CHECK(std::signbit(portable::atan(-0.0)));
  CHECK(std::signbit(portable::tanh(-0.0)));
  CHECK(std::signbit(portable::cbrt(-0.0)));
  CHECK(portable::exp(-infinity) == 0);
  CHECK(portable::expm1(-infinity) == -1);
  CHECK(portable::exp(infinity) == infinity);
  CHECK(portable::log(0.0) == -infinity);
  CHECK(portable::log(infinity) == infinity);
  CHECK(portable::hypot(-infinity, nan) == infinity);
  CHECK(portable::hypot(0.0, -0.0) == 0);
  CHECK(portable::tanh(-infinity) == -1);
  CHECK(portable::atan2(0.0, -1.0) == std::numbers::pi);
  CHECK(portable::atan2(-0.0, -1.0) == -std::numbers::pi);
  CHECK(portable::atan2(infinity, infinity) == std::numbers::pi / 4);
  CHECK(portable::atan2(1.0, -infinity) == std::numbers::pi);
  CHECK(portable::cbrt(infinity) == infinity);
  for (const double x : {nan, infinity, -infinity}) {
    CAPTURE(x);
    CHECK(std::isnan(portable::sin(x)));
    CHECK(std::isnan(portable::cos(x)));
  }
  CHECK(std::isnan(portable::exp(nan)));
  CHECK(std::isnan(portable::expm1(nan)));
  CHECK(std::isnan(portable::log(nan)));
  CHECK(std::isnan(portable::log(-1.0)));
  CHECK(std::isnan(portable::hypot(nan, 1.0)));
  CHECK(std::isnan(portable::atan2(nan, 1.0)));
  CHECK(std::isnan(portable::cbrt(nan)));
  CHECK(std::isnan(portable::acos(1.5)));
}

TEST_CASE("portable_functions: the least numbers keep their digits", "[core][example]") {
  for (const double x : {5e-324, 2e-310, 1e-300}) {
    CAPTURE(x);
    CHECK(portable::sin(x) == x);
    CHECK(portable::expm1(x) == x);
    CHECK(portable::hypot(x, 0.0) == x);
    CHECK(units_off(portable::log(x), log(Wide(x))) < 2);
    CHECK(units_off(portable::cbrt(x), cube_root(Wide(x))) < 2);
  }
  CHECK(portable::exp(-745.0) == 5e-324);
}

TEST_CASE("portable_functions: float is double's result, rounded once", "[core][law]") {
  for (const double wide : arguments()) {
    const float x = float(wide);
    if (!std::isfinite(x)) continue;
    CAPTURE(x);
    CHECK(portable::sin(x) == float(portable::sin(double(x))));
    CHECK(portable::atan2(x, 2.0F) == float(portable::atan2(double(x), 2.0)));
  }
}

// The bits themselves, once: a change of them changes the golden bits of tests/bits, too.
TEST_CASE("portable_functions: bits", "[core][golden]") {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
  const auto take = [&hash](double x) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3;
  };
  for (int k = 1; k <= 1000; ++k) {
    const double x = k / 64.0;
    for (const double y :
         {portable::sin(x), portable::cos(x), portable::exp(-x), portable::expm1(-x),
          portable::log(x), portable::cbrt(x), portable::pow(x, 0.75), portable::hypot(x, 1.0),
          portable::atan2(x, 2.0), portable::tanh(x / 4)}) {
      take(y);
    }
  }
  CHECK(hash == 0x9df2c718b6ec38a);
}
