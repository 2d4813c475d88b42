// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/detail/wide_range.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/wide_float.hpp"
#include "support/worst_case.hpp"

namespace {

using carom::detail::WideRange;
using carom::testing::rounding, carom::testing::see_wide, carom::testing::VectorSource,
    carom::testing::Wide, carom::testing::WorstCase;

/// A number of double anywhere in its range, and now and then zero.
double draw(VectorSource<double>& source) {
  if (source.unit() < 0.05) return 0;
  const double sign = source.pick({-1.0, 1.0});
  return std::ldexp(sign * (1 + source.unit()), int(2000 * (source.unit() - 0.5)));
}

/// The same number in fifty digits, by products of doubles.
Wide value_of(const WideRange& number) {
  if (number == 0) return 0;
  Wide power = 1;
  WideRange rest = number;
  const double step = std::ldexp(1.0, 300);
  for (; abs(rest) >= step; rest /= step) power *= step;
  for (; abs(rest) < 1 / step; rest *= step) power /= step;
  return power * double(rest);
}

TEST_CASE("wide_range: each operation is rounded once, whatever the size", "[cones][oracle]") {
  VectorSource<double> source(71u);
  WorstCase sum("sum"), product("product"), quotient("quotient"), root("root"), order("order"),
      returned("back to double");
  const int count = carom::testing::sweep(500, 20000);
  for (int sample = 0; sample < count; ++sample) {
    const double a = draw(source), b = source.unit() < 0.2 ? -a * (1 + 1e-9) : draw(source);
    const WideRange square = WideRange(a) * WideRange(a);  // beyond the range of double, mostly
    const Wide exact_square = Wide(a) * a;
    const auto see = [&](WorstCase& law, const WideRange& found, const Wide& exact) {
      see_wide(law, abs(value_of(found) - exact), Wide(rounding(2, 1.0)) * abs(exact), a, b);
    };
    see(product, square, exact_square);
    see(product, WideRange(a) * b, Wide(a) * b);
    see(sum, square + WideRange(b) * b, exact_square + Wide(b) * b);
    see(root, sqrt(square), abs(Wide(a)));
    see(root, sqrt(abs(WideRange(b))), sqrt(abs(Wide(b))));
    if (b != 0) see(quotient, square / b, exact_square / b);
    const Wide difference = Wide(a) + b;
    see_wide(sum, abs(value_of(WideRange(a) + b) - difference),
             Wide(rounding(1, 1.0)) * abs(difference), a, b);
    order.see_holds((WideRange(a) < b) == (a < b) && (WideRange(a) > b) == (a > b), a, b);
    order.see_holds((WideRange(a) <= b) == (a <= b) && (WideRange(a) >= b) == (a >= b), a, b);
    order.see_holds((WideRange(a) == b) == (a == b) && WideRange(a) == a, a, b);
    returned.see_holds(double(WideRange(a)) == a && double(-WideRange(a)) == -a, a);
  }
  for (const auto* law : {&sum, &product, &root, &order, &returned}) law->check(count);
  quotient.check(count / 2);
}

TEST_CASE("wide_range: what leaves the range of double says so on the way back",
          "[cones][example]") {
  const double huge = (std::numeric_limits<double>::max)(), infinity = HUGE_VAL;
  const WideRange square = WideRange(huge) * huge;
  CHECK(double(square) == infinity);
  CHECK(double(square / huge) == huge);
  CHECK(double(WideRange(1) / square) == 0);
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(double(WideRange(least)) == least);
  CHECK(double(sqrt(WideRange(least) * least)) == least);
  CHECK(double(WideRange(infinity)) == infinity);
  CHECK(std::isnan(double(WideRange(infinity) - infinity)));
  CHECK(std::isnan(double(WideRange(0) / 0)));
  CHECK(!(WideRange(NAN) <= 0));
  CHECK(!(WideRange(NAN) > 0));
}

}  // namespace
