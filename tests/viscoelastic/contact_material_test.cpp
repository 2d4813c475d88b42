// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/contact_material.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "support/catch.hpp"

namespace contact_material_test {

using carom::check, carom::ContactMaterial, carom::Fault;

TEMPLATE_TEST_CASE("contact_material: a material of nothing and one of anything are right",
                   "[viscoelastic][example]", float, double) {
  using Scalar = TestType;
  ContactMaterial<Scalar> material;
  CHECK(check(material).empty());
  material.stiffness.setConstant(Scalar(1e5));
  material.damping << 0, 300, 1;
  material.friction = Scalar(0.5);
  CHECK(check(material).empty());
}

TEST_CASE("contact_material: a wrong number is named by its place", "[viscoelastic][example]") {
  const double bad[] = {-1, std::nan(""), std::numeric_limits<double>::infinity()};
  for (const double number : bad) {
    for (int k = 0; k < 3; ++k) {
      ContactMaterial<double> stiff, damped;
      stiff.stiffness(k) = number;
      damped.damping(k) = number;
      const std::string place = " entry " + std::to_string(k) + ": expected a number >= 0";
      CHECK(check(stiff).rfind("stiffness" + place, 0) == 0);
      CHECK(check(damped).rfind("damping" + place, 0) == 0);
    }
    ContactMaterial<double> rough;
    rough.friction = number;
    CHECK(check(rough).rfind("friction: expected a number >= 0", 0) == 0);
  }
}

}  // namespace contact_material_test
