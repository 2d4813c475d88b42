// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/constrained_mass.hpp"

#include <cmath>

#include "carom/impact/mass_matrix.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace constrained_mass_test {

using namespace carom::testing;
using carom::ConstrainedMass, carom::MatrixX, carom::VectorX;

static_assert(carom::InverseMassLike<ConstrainedMass<double>>);

TEST_CASE("constrained_mass: M v is p up to the constraints' impulse, C v = 0",
          "[variational][law]") {
  MatrixX<double> mass(3, 3), rows(2, 3);
  mass << 4, 1, 0, 1, 3, 1, 0, 1, 2;
  rows << 1, -1, 2, 7, 7, 7;
  ConstrainedMass<double> constrained;
  constrained.prepare(3, 2);
  const VectorX<double> p = numbers<double>({1, 2, 3});
  REQUIRE(constrained.factor(mass, rows, 1));  // the second row is not in use
  VectorX<double> v = p;
  constrained.apply_inverse(v);
  const VectorX<double> change = mass * v - p;
  CHECK(std::abs(rows.row(0).dot(v)) <= rounding(16, 4.0));
  CHECK((change - change(0) * rows.row(0).transpose()).norm() <= rounding(32, 8.0));
  CHECK(std::abs(change(0)) > 0.1);
  REQUIRE(constrained.factor(mass, rows, 0));
  v = p;
  constrained.apply_inverse(v);
  CHECK((mass * v - p).norm() <= rounding(32, 8.0));
  CHECK(constrained.rows() == 0);
  mass.setZero();
  CHECK_FALSE(constrained.factor(mass, rows, 0));
}

TEST_CASE("constrained_mass: solve meets both right-hand sides", "[variational][law]") {
  MatrixX<double> mass(3, 3), rows(2, 3);
  mass << 4, 1, 0, 1, 3, 1, 0, 1, 2;
  rows << 1, -1, 2, 0, 1, 1;
  ConstrainedMass<double> constrained;
  constrained.prepare(3, 2);
  REQUIRE(constrained.factor(mass, rows, 2));
  CHECK(constrained.rows() == 2);
  VectorX<double> x = numbers<double>({1, 2, 3, -4, 5});
  constrained.solve(x);
  const VectorX<double> v = x.head(3), multipliers = x.tail(2);
  CHECK((mass * v + rows.transpose() * multipliers - numbers<double>({1, 2, 3})).norm() <=
        rounding(64, 8.0));
  CHECK((rows * v - numbers<double>({-4, 5})).norm() <= rounding(64, 8.0));
}

}  // namespace constrained_mass_test
