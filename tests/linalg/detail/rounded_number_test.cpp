// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/rounded_number.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/wide_float.hpp"
#include "support/worst_case.hpp"

namespace rounded_number_test {

using carom::detail::add_bounds, carom::detail::RoundedNumber, carom::detail::square_root;
using carom::testing::see_wide, carom::testing::VectorSource, carom::testing::Wide;
using carom::testing::WorstCase;

/// A number with its error bound, and an exact number within it, at an end of it or between.
template <typename Scalar>
struct Drawn {
  RoundedNumber<Scalar> number;
  Wide exact;

  explicit Drawn(VectorSource<double>& source) {
    const Scalar value = Scalar(source.entry(8));
    const Scalar error = source.unit() < 0.5
                             ? Scalar(0)
                             : Scalar(std::abs(value) * Scalar(source.pick({1e-7, 1e-3, 2.0})));
    number = {value, error};
    exact = Wide(value) + Wide(error) * source.pick({-1, -0.5, 0, 1});
  }
};

template <typename Scalar>
void see(WorstCase& law, const RoundedNumber<Scalar>& found, const Wide& exact) {
  see_wide(law, abs(Wide(found.value) - exact), found.error, found.value, found.error);
  law.see_holds(found.most() >= abs(exact) && found.least() <= abs(exact) &&
                found.most_or_zero() >= exact);
}

TEMPLATE_TEST_CASE("rounded_number: the exact result is within the error of each operation",
                   "[linalg][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(81u);
  WorstCase sum("sum"), product("product"), quotient("quotient"), root("root");
  const int count = carom::testing::sweep(500, 20000);
  for (int sample = 0; sample < count; ++sample) {
    const Drawn<Scalar> a(source), b(source);
    see(sum, a.number + b.number, a.exact + b.exact);
    see(sum, a.number - b.number, a.exact - b.exact);
    see(product, a.number * b.number, a.exact * b.exact);
    const auto ratio = a.number / b.number;
    if (ratio.error < std::numeric_limits<Scalar>::infinity()) {
      see(quotient, ratio, a.exact / b.exact);
    }
    if (a.exact >= 0) see(root, square_root(a.number), sqrt(a.exact));
  }
  sum.check(count);
  product.check(count);
  quotient.check(count / 4);
  root.check(count / 4);
}

TEMPLATE_TEST_CASE(
    "rounded_number: a long sum of products holds its exact value, and not much more",
    "[linalg][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(82u);
  WorstCase holds("error"), tight("no more than n roundings of the sizes");
  for (int sample = 0; sample < 300; ++sample) {
    const int size = 1 + int(source.unit() * 60);
    RoundedNumber<Scalar> sum;
    Wide exact = 0, sizes = 0;
    for (int i = 0; i < size; ++i) {
      const Scalar a = Scalar(source.entry(4)), b = Scalar(source.entry(4));
      sum += RoundedNumber<Scalar>(a) * b;
      exact += Wide(a) * b;
      sizes += abs(Wide(a) * b);
    }
    see_wide(holds, abs(sum.value - exact), sum.error);
    see_wide(tight, sum.error, carom::testing::rounding(size + 1, Scalar(1)) * sizes);
  }
  holds.check(300);
  tight.check(300);
}

TEST_CASE("rounded_number: zeros stay exact, and the ends of the range are infinite or no number",
          "[linalg][example]") {
  using Number = RoundedNumber<double>;
  const Number zero(0.0), huge(1e300), tiny(1e-300);
  CHECK((zero * huge).exact());
  CHECK((zero + huge).exact());
  CHECK((huge - huge).exact());
  CHECK((zero / huge).exact());
  CHECK(square_root(zero).exact());
  CHECK((tiny * tiny).error > 0);  // underflow is counted
  CHECK(!((huge * huge).error < std::numeric_limits<double>::infinity()));
  CHECK((huge / zero).error == std::numeric_limits<double>::infinity());
  CHECK((huge / Number(1, 1)).error == std::numeric_limits<double>::infinity());
}

TEMPLATE_TEST_CASE(
    "rounded_number: a bound plus a product is no less than the exact sum, also "
    "where the product underflows",
    "[linalg][law]", float, double) {
  using Scalar = TestType;
  using Limits = std::numeric_limits<Scalar>;
  VectorSource<double> source(85u);
  WorstCase holds("sum + a b");
  const int count = carom::testing::sweep(500, 20000);
  for (int sample = 0; sample < count; ++sample) {
    const double tiny = source.pick({0, std::sqrt(double(Limits::min())), double(Limits::min())});
    const auto draw = [&] {
      return Scalar(std::abs(tiny > 0 ? source.entry(2) * tiny : source.entry(8)));
    };
    const Scalar a = draw(), b = draw(), sum = source.unit() < 0.5 ? Scalar(0) : draw();
    see_wide(holds, Wide(sum) + Wide(a) * Wide(b), add_bounds(sum, a, b), sum, a, b);
    CHECK(add_bounds(sum, Scalar(0), b) == sum);
    CHECK(add_bounds(sum, a, Scalar(0)) == sum);
  }
  holds.check(count);
}

TEST_CASE("rounded_number: a norm of bounds is no less than the norm, at any size",
          "[linalg][law]") {
  VectorSource<double> source(83u);
  WorstCase above("norm"), close("norm, from above");
  for (const double scale : {1e-300, 1.0, 1e300}) {
    for (int sample = 0; sample < 300; ++sample) {
      const Eigen::VectorXd x = source.vector<7>(4).cwiseAbs() * scale;
      const Wide exact = carom::testing::widen(x).norm();
      const Wide bound = carom::detail::norm_of_bounds(x);
      see_wide(above, exact, bound, x);
      see_wide(close, bound,
               exact * (1 + Wide(carom::testing::rounding(60, 1.0))) +
                   std::numeric_limits<double>::min() * 2,
               x);
    }
  }
  above.check(900);
  close.check(900);
  Eigen::VectorXd bad = Eigen::VectorXd::Ones(3);
  bad(1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(carom::detail::norm_of_bounds(bad) == std::numeric_limits<double>::infinity());
}

TEST_CASE("rounded_number: a sum that cancels is exact only if both terms are", "[linalg][law]") {
  const RoundedNumber<double> one{1, 0}, minus_one{-1, 0}, about_one{1, 0.25}, about_zero{0, 0.5};
  CHECK((one + minus_one).zero());
  CHECK((about_one + minus_one).value == 0);
  CHECK((about_one + minus_one).error >= 0.25);
  CHECK((minus_one + about_one).error >= 0.25);
  CHECK(!about_zero.zero());
  CHECK((about_zero + one).error >= 0.5);
  CHECK((one + about_zero).error >= 0.5);
  CHECK((about_zero * one).error >= 0.5);
  const double nothing[3] = {0, 0, 0};
  CHECK(carom::detail::norm_of_bounds(nothing, 3) == 0);
}

}  // namespace rounded_number_test
