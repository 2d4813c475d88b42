// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/projection_rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/catch.hpp"
#include "support/projection_oracle.hpp"
#include "support/rounded_draws.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace projection_rounding_test {

using carom::ImpulseSet, carom::nearest_impulse, carom::RowNumbers, carom::WeightedBlock;
using carom::detail::GapRounding, carom::detail::ProjectionRounding, carom::detail::RoundedRows;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

using Long = long double;
using LongRows = RowNumbers<Long>;

TEMPLATE_TEST_CASE("projection_rounding: the exact projection is within the bound, for every shape",
                   "[contact][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(85u);
  WorstCase holds("distance from P(y)"), tight("rounding of the numbers involved");
  const int count = carom::testing::sweep(600, 24000);
  for (int sample = 0; sample < count; ++sample) {
    const int kind = sample % carom::testing::law_kinds;
    const auto [law, wide, y, nearest, share, point] =
        carom::testing::draw_rounded_case<Scalar>(source, kind);
    const RowNumbers<Scalar> bound =
        ProjectionRounding<Scalar>(law.set, law.regularization, point.rows, nearest).rows();
    const ImpulseSet<Long>& set = wide.set;
    const LongRows weights = wide.regularization;
    const LongRows right = nearest_impulse(set, weights, point.exact);
    Long reach = 0, size = 0;
    for (int i = 0; i < law.set.rows; ++i) {
      reach += weights(i) * std::pow(Long(bound(i)), 2);
      size += weights(i) * (std::pow(Long(y(i)), 2) + std::pow(Long(set.shift(i)), 2));
    }
    for (int i = 0; i < law.set.rows; ++i) {
      // The oracle rounds, too, in long double.
      const Long own = rounding(64, Long(1)) * std::sqrt(size / weights(i));
      holds.see(std::abs(Long(nearest(i)) - right(i)), Long(bound(i)) + own, kind, y, bound);
    }
    const Long roundings = Long(share) + rounding(60, Scalar(1));
    tight.see(std::sqrt(reach), 16 * roundings * std::sqrt(size), kind, y, bound, nearest);
  }
  holds.check(count);
  tight.check(count);
}

TEST_CASE("projection_rounding: the length of a tangent that slides is not in the bound",
          "[contact][law]") {
  using Scalar = double;
  VectorSource<double> source(87u);
  WorstCase tight("roundings of the impulse and of the normal's sum");
  constexpr std::array shapes{carom::ImpulseShape::friction, carom::ImpulseShape::torsional,
                              carom::ImpulseShape::rolling};
  const int count = carom::testing::sweep(200, 4000);
  for (int sample = 0; sample < count; ++sample) {
    const int kind = sample % 3;
    const Scalar mu = Scalar(source.positive(2));
    const auto set = carom::cone_impulses<Scalar>(
        shapes[std::size_t(kind)], {mu, Scalar(source.positive(2)), Scalar(source.positive(2))});
    // Tangents of 1/R, as a body that slides has them, where the normal holds.
    RowNumbers<Scalar> weights = RowNumbers<Scalar>::Constant(Scalar(1e-6));
    RowNumbers<Scalar> y = RowNumbers<Scalar>::Zero();
    weights(2) = 1;
    y(2) = 1 + Scalar(source.unit());
    for (int i = 0; i < set.rows; ++i) {
      if (i != 2) y(i) = Scalar(source.pick_signed({1, 3}) * 1e6 * double(mu));
    }
    const RowNumbers<Scalar> nearest = nearest_impulse(set, weights, y);
    RoundedRows<Scalar> trial{};
    for (int i = 0; i < set.rows; ++i) {
      trial[std::size_t(i)] = {y(i), std::abs(y(i)) * rounding(1, Scalar(1))};
    }
    const RowNumbers<Scalar> bound =
        ProjectionRounding<Scalar>(set, weights, trial, nearest).rows();
    Scalar load = y(2);
    for (int i = 0; i < set.rows; ++i) load += i == 2 ? 0 : weights(i) * std::abs(y(i));
    for (int i = 0; i < set.rows; ++i) {
      const Scalar share = i == 2 ? Scalar(1) : set.friction.maxCoeff();
      tight.see(bound(i), rounding(200, share * load), kind, mu, i);
    }
  }
  tight.check(3 * count);
}

TEST_CASE("projection_rounding: a contact that is clearly open or clearly sticks adds nothing",
          "[contact][example]") {
  const auto set = carom::friction_impulses(0.5);
  RowNumbers<double> weights = RowNumbers<double>::Ones();
  const auto bound = [&](double t, double n, double error, const RowNumbers<double>& nearest) {
    RoundedRows<double> trial{};
    trial[0] = {t, error};
    trial[2] = {n, error};
    return RowNumbers<double>(ProjectionRounding<double>(set, weights, trial, nearest).rows());
  };
  RowNumbers<double> point = RowNumbers<double>::Zero();
  CHECK(bound(0.1, -3, 0.5, point).isZero(0));  // P is zero for all of these y
  point(0) = 0.1;
  point(2) = 3;
  CHECK(bound(0.1, 3, 0, point).isZero(0));
  const auto open = bound(0.1, 3, 0.25, point);  // P(y) = y, whatever y is
  CHECK(open(0) == Approx(0.25));
  CHECK(open(1) == 0);
  point(2) = 2;  // a point that is not the projection is found out
  CHECK(bound(0.1, 3, 0, point)(2) == Approx(1));
}

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

TEMPLATE_TEST_CASE(
    "projection_rounding: the exact part of the gap is within the bound, for every shape",
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

TEST_CASE(
    "projection_rounding: of the gap, where a contact slides or is open, what is left is of its "
    "work",
    "[contact][law]") {
  using Scalar = double;
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

TEST_CASE(
    "projection_rounding: beyond a bound the bound is exact, and another number is as far as it is",
    "[contact][example]") {
  const auto set = carom::bounded_impulse(-1.0, 2.0);
  const RowNumbers<double> weights = RowNumbers<double>::Ones();
  const auto bound = [&](double y, double z) {
    RoundedRows<double> trial{};
    trial[0] = y;
    RowNumbers<double> nearest = RowNumbers<double>::Zero();
    nearest(0) = z;
    return double(ProjectionRounding<double>(set, weights, trial, nearest).rows()(0));
  };
  CHECK(bound(5, 2) == 0);
  CHECK(bound(-5, -1) == 0);
  CHECK((bound(5, 1.5) >= 0.5 && bound(5, 1.5) <= rounding(8, 1.0) + 0.5));
  CHECK((bound(-5, 0.5) >= 1.5 && bound(-5, 0.5) <= rounding(8, 1.0) + 1.5));
}

TEST_CASE("projection_rounding: a row that pulls costs what it pulls against the velocity",
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

}  // namespace projection_rounding_test
