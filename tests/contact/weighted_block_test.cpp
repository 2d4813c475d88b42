// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/weighted_block.hpp"

#include <limits>

#include "support/catch.hpp"

namespace weighted_block_test {

using carom::ImpulseShape, carom::WeightedBlock;

namespace {

WeightedBlock<double> cone(ImpulseShape shape) {
  WeightedBlock<double> law;
  law.set = carom::cone_impulses<double>(shape, {0.5, 0.1, 0.1});
  return law;
}

}  // namespace

TEST_CASE("weighted_block: weights are refused by name", "[contact][input]") {
  auto law = cone(ImpulseShape::rolling);
  CHECK(law_fault("x", law).empty());
  law.regularization(5) = 0;
  CHECK(law_fault("x", law) == "x: regularization entry 5: expected a finite number > 0, got 0");
  law.regularization(5) = 3;
  CHECK(law_fault("x", law).empty());
  law.bias_velocity(4) = std::numeric_limits<double>::infinity();
  CHECK(law_fault("x", law) == "x: bias velocity entry 4: expected a finite number, got inf");
  law.bias_velocity(4) = 0;
  law.set.friction(0) = -1;
  CHECK(law_fault("x", law) == "x: friction entry 0: expected a finite number >= 0, got -1");
}

TEST_CASE("weighted_block: rows that a cone bounds together have one weight", "[contact][input]") {
  for (const int row : {1, 4}) {
    auto law = cone(ImpulseShape::rolling);
    law.regularization(row) = 2;
    CHECK(law_fault("x", law) == "x: regularization entry " + std::to_string(row) +
                                     ": expected the same as the entry before, got 2");
    law = cone(ImpulseShape::spinless_rolling);
    CHECK(law_fault("x", law).empty());
    law.regularization(row) = 2;
    CHECK_FALSE(law_fault("x", law).empty());
  }
  for (const ImpulseShape shape : {ImpulseShape::friction, ImpulseShape::torsional}) {
    auto law = cone(shape);
    law.regularization(1) = 2;
    CHECK_FALSE(law_fault("x", law).empty());
  }
  auto elliptic = cone(ImpulseShape::elliptic);
  elliptic.regularization(1) = 2;
  CHECK(law_fault("x", elliptic).empty());
  auto torsional = cone(ImpulseShape::torsional);
  torsional.regularization(3) = 2;  // a row of its own
  CHECK(law_fault("x", torsional).empty());
}

TEST_CASE("weighted_block: a friction contact is a block of three rows, and back",
          "[contact][law]") {
  const carom::WeightedContact<double> contact{0.4, {2, 3}, {1, -1, 0.5}, true};
  auto block = as_block(contact);
  CHECK(block.set.shape == ImpulseShape::friction);
  CHECK(block.set.rows == 3);
  CHECK(block.regularization.head<3>() == Eigen::Vector3d(2, 2, 3));
  CHECK(is_friction_contact(block));
  const auto back = as_friction_contact(block);
  CHECK(back.friction == 0.4);
  CHECK(back.regularization.tangent == 2);
  CHECK(back.regularization.normal == 3);
  CHECK(back.bias_velocity == contact.bias_velocity);
  CHECK(back.rigid);
  block.set.shift(2) = 1e-9;  // adhesion
  CHECK(!is_friction_contact(block));
  CHECK(!is_friction_contact(cone(ImpulseShape::elliptic)));
  block = as_block(contact);
  block.regularization(1) = 4;  // one number is for both tangents
  CHECK(!is_friction_contact(block));
}

}  // namespace weighted_block_test
