// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/gap_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/catch.hpp"
#include "support/rounded_draws.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace gap_rounding_test {

using carom::nearest_impulse, carom::RowNumbers, carom::WeightedBlock;
using carom::detail::GapRounding, carom::detail::RoundedRows;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

using Long = long double;
using LongRows = RowNumbers<Long>;

namespace {

/// ½‖γ − y‖²_R − ½‖P(y) − y‖²_R, as ½‖γ − P(y)‖²_R + (γ − P(y))ᵀR(P(y) − y).
Long exact_part(const WeightedBlock<Long>& law, const LongRows& y, const LongRows& gamma) {
  const LongRows nearest = nearest_impulse(law.set, law.regularization, y);
  Long part = 0;
  for (int i = 0; i < law.set.rows; ++i) {
    const Long miss = gamma(i) - nearest(i);
    part += law.regularization(i) * miss * (miss / 2 + nearest(i) - y(i));
  }
  return part;
}

}  // namespace

TEMPLATE_TEST_CASE("gap_rounding: the exact part is within the bound, for every shape",
                   "[contact][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(88u);
  WorstCase holds("part of the gap"), tight("rounding of the numbers involved");
  const int count = carom::testing::sweep(600, 24000);
  for (int sample = 0; sample < count; ++sample) {
    const int kind = sample % carom::testing::law_kinds;
    const auto [law, wide, y, nearest, share, point] =
        carom::testing::draw_rounded_case<Scalar>(source, kind);
    RowNumbers<Scalar> gamma = nearest;
    if (source.unit() < 0.5) gamma += carom::testing::draw_point(source, law);
    const auto bound =
        GapRounding<Scalar>(law.set, law.regularization, point.rows, nearest, gamma).part();
    const Long exact = exact_part(wide, point.exact, gamma.template cast<Long>());
    Long size = 0;
    for (int i = 0; i < law.set.rows; ++i) {
      for (const Scalar x : {y(i), gamma(i), law.set.shift(i)}) {
        size += wide.regularization(i) * Long(x) * Long(x);
      }
    }
    const Long own = rounding(64, Long(1)) * size;  // the oracle rounds, too
    const Long most = Long(bound.value) + Long(bound.error);
    holds.see(std::max(exact - most, Long(0)), own, kind, y, gamma, exact, most);
    tight.see(std::max(most - exact, Long(0)), (16 * Long(share) + rounding(100, Scalar(1))) * size,
              kind, y, gamma, exact, most);
  }
  holds.check(count);
  tight.check(count);
}

TEMPLATE_TEST_CASE("gap_rounding: where a contact slides or is open, what is left is of its work",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(89u);
  WorstCase tight("roundings of the work");
  const int count = carom::testing::sweep(200, 4000);
  for (int sample = 0; sample < count; ++sample) {
    const auto set = carom::friction_impulses(Scalar(source.positive(2)));
    RowNumbers<Scalar> weights = RowNumbers<Scalar>::Constant(Scalar(1e-6));
    RowNumbers<Scalar> y = RowNumbers<Scalar>::Zero();
    weights(2) = 1;
    y(2) = Scalar(source.pick({-1, 1})) * Scalar(1 + source.unit());
    for (int i = 0; i < 2; ++i) y(i) = Scalar(source.pick_signed({1, 3}) * 1e6);
    const RowNumbers<Scalar> nearest = nearest_impulse(set, weights, y);
    const double unit = double(rounding(1, Scalar(1)));
    const auto point = carom::testing::draw_error(source, y, 3, unit);
    const auto part = GapRounding<Scalar>(set, weights, point.rows, nearest, nearest).part();
    Scalar work = 0, doubt = 0;
    for (int i = 0; i < 3; ++i) {
      work += std::abs(nearest(i) * weights(i) * (nearest(i) - y(i)));
      doubt += weights(i) * Scalar(std::pow(Scalar(unit) * y(i), 2));
    }
    tight.see(part.value + part.error, rounding(40, work) + 8 * doubt, nearest, y);
  }
  tight.check(count);
}

TEST_CASE("gap_rounding: a row that pulls costs what it pulls against the velocity",
          "[contact][example]") {
  auto set = carom::pushing_impulse<double>();
  RowNumbers<double> weights = RowNumbers<double>::Ones(), gamma = RowNumbers<double>::Zero();
  RoundedRows<double> trial{};
  trial[0] = -2;  // opens with 2 m/s
  const RowNumbers<double> nearest = RowNumbers<double>::Zero();
  const auto part = [&](double impulse) {
    gamma(0) = impulse;
    return GapRounding<double>(set, weights, trial, nearest, gamma).part();
  };
  CHECK(part(0).value == 0);
  CHECK(part(3).value == Approx(0.5 * 9 + 2 * 3));
  CHECK(part(3).error <= rounding(20, 10.5));
}

}  // namespace gap_rounding_test
