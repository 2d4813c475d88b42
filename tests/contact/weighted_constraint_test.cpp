// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/weighted_constraint.hpp"

#include <limits>

#include "support/catch.hpp"

namespace weighted_constraint_test {

using carom::ImpulseShape, carom::WeightedConstraint;

namespace {

WeightedConstraint<double> cone(ImpulseShape shape) {
  WeightedConstraint<double> law;
  law.set = carom::cone_impulses<double>(shape, {0.5, 0.1, 0.1});
  return law;
}

}  // namespace

TEST_CASE("weighted constraint: weights are refused by name", "[contact][input]") {
  auto law = cone(ImpulseShape::rolling);
  CHECK(constraint_fault("x", law).empty());
  law.regularization(5) = 0;
  CHECK(constraint_fault("x", law) ==
        "x: regularization entry 5: expected a finite number > 0, got 0");
  law.regularization(5) = 3;
  CHECK(constraint_fault("x", law).empty());
  law.bias_velocity(4) = std::numeric_limits<double>::infinity();
  CHECK(constraint_fault("x", law) ==
        "x: bias velocity entry 4: expected a finite number, got inf");
  law.bias_velocity(4) = 0;
  law.set.friction(0) = -1;
  CHECK(constraint_fault("x", law) == "x: friction entry 0: expected a finite number >= 0, got -1");
}

TEST_CASE("weighted constraint: rows that a cone bounds together have one weight",
          "[contact][input]") {
  for (const int row : {1, 4}) {
    auto law = cone(ImpulseShape::rolling);
    law.regularization(row) = 2;
    CHECK(constraint_fault("x", law) == "x: regularization entry " + std::to_string(row) +
                                            ": expected the same as the entry before, got 2");
    law = cone(ImpulseShape::spinless_rolling);
    CHECK(constraint_fault("x", law).empty());
    law.regularization(row) = 2;
    CHECK_FALSE(constraint_fault("x", law).empty());
  }
  for (const ImpulseShape shape : {ImpulseShape::friction, ImpulseShape::torsional}) {
    auto law = cone(shape);
    law.regularization(1) = 2;
    CHECK_FALSE(constraint_fault("x", law).empty());
  }
  auto elliptic = cone(ImpulseShape::elliptic);
  elliptic.regularization(1) = 2;
  CHECK(constraint_fault("x", elliptic).empty());
  auto torsional = cone(ImpulseShape::torsional);
  torsional.regularization(3) = 2;  // a row of its own
  CHECK(constraint_fault("x", torsional).empty());
}

}  // namespace weighted_constraint_test
