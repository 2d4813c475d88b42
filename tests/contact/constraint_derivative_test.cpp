// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/constraint_derivative.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/random.hpp"
#include "support/worst_case.hpp"

namespace constraint_derivative_test {

using carom::ImpulseShape, carom::make_constraint_derivative, carom::RowNumbers;
using carom::WeightedConstraint, carom::testing::draw_law, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

using Rows = RowNumbers<double>;

Rows impulse_at(const WeightedConstraint<double>& law, const Rows& excess) {
  return make_constraint_derivative(law, excess).impulse;
}

bool rolls(ImpulseShape shape) {
  return shape == ImpulseShape::rolling || shape == ImpulseShape::spinless_rolling;
}
bool is_round(ImpulseShape shape) {
  return shape == ImpulseShape::friction || shape == ImpulseShape::torsional || rolls(shape);
}

}  // namespace

TEST_CASE("constraint derivative: the impulse moves with e and R as differences say",
          "[contact][derivative]") {
  VectorSource<double> source(771u);
  WorstCase near("dγ = G (de − γ∘dR)");
  for (int sample = 0; sample < 600; ++sample) {
    const WeightedConstraint<double> law = draw_law(source, sample % 9);
    Rows excess = Rows::Zero(), by_excess = excess, by_weight = excess;
    for (int i = 0; i < law.set.rows; ++i) {
      excess(i) = 2 * source.unit() - 1;
      by_excess(i) = 2 * source.unit() - 1;
      by_weight(i) = law.regularization(i) * (2 * source.unit() - 1);
    }
    if (is_round(law.set.shape)) by_weight(1) = by_weight(0);
    if (rolls(law.set.shape)) by_weight(4) = by_weight(3);
    const auto derivative = make_constraint_derivative(law, excess);
    const double h = 1e-6;
    if (derivative.margin < 4 * h) continue;
    auto ahead = law, behind = law;
    ahead.regularization += h * by_weight;
    behind.regularization -= h * by_weight;
    const Rows difference =
        (impulse_at(ahead, excess + h * by_excess) - impulse_at(behind, excess - h * by_excess)) /
        (2 * h);
    const Rows expected = derivative.change(by_excess, by_weight);
    // A region boundary of a cone within the step shows as halves of two derivatives: seldom.
    const double size = derivative.impulse.norm() + 1 / law.regularization.minCoeff();
    near.see((difference - expected).norm() > 1e-3 * size ? 1.0 : 0.0, 2.0);
    if ((difference - expected).norm() > 1e-3 * size) {
      const auto there = make_constraint_derivative(ahead, Rows(excess + h * by_excess));
      const auto here = make_constraint_derivative(behind, Rows(excess - h * by_excess));
      CHECK((there.by_excess - here.by_excess).norm() > 1e-3 * derivative.by_excess.norm());
    } else {
      CHECK((difference - expected).norm() <= 1e-6 * size);
    }
  }
  near.check(400);
}

TEST_CASE("constraint derivative: closed forms of a row between bounds", "[contact][example]") {
  WeightedConstraint<double> law;
  law.set = carom::bounded_impulse(-1.0, 2.0);
  law.regularization(0) = 4;
  Rows excess = Rows::Zero();
  excess(0) = 6;  // γ = 1.5, .5 below the bound
  auto derivative = make_constraint_derivative(law, excess);
  CHECK(derivative.impulse(0) == 1.5);
  CHECK(derivative.by_excess(0, 0) == 0.25);
  CHECK(derivative.margin == 2);
  Rows one = Rows::Zero();
  one(0) = 1;
  CHECK(derivative.change(one, Rows::Zero())(0) == 0.25);
  CHECK(derivative.change(Rows::Zero(), one)(0) == -0.375);  // d(e/R)/dR = −e/R²
  excess(0) = 9;
  derivative = make_constraint_derivative(law, excess);
  CHECK(derivative.impulse(0) == 2);
  CHECK(derivative.by_excess.isZero(0));
  CHECK(derivative.margin == 1);
}

}  // namespace constraint_derivative_test
