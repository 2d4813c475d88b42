// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/anchor.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace anchor_test {

using carom::testing::by_differences;

using carom::slip_stretch;
using carom::testing::rounding;

TEST_CASE("anchor: the stretch obeys its damper", "[viscoelastic][law]") {
  for (const double stretch : {-1e-3, 0.0, 2e-4}) {
    for (const double force : {-20.0, 0.0, 5.0}) {
      const double k = 1e5, b = 300, t = 2e-3;
      // K e + B e′ = −λ at the end, and two parts make a whole.
      const double h = 1e-7;
      const double end = slip_stretch(stretch, force, k, b, t);
      const double slope =
          (slip_stretch(stretch, force, k, b, t + h) - slip_stretch(stretch, force, k, b, t - h)) /
          (2 * h);
      CHECK(std::abs(k * end + b * slope + force) <= by_differences(1e-5));
      const double half = slip_stretch(stretch, force, k, b, t / 2);
      CHECK(std::abs(slip_stretch(half, force, k, b, t / 2) - end) <= rounding(8, 1e-3));
    }
  }
}

TEST_CASE("anchor: limits without spring, damper or both", "[viscoelastic][example]") {
  CHECK(slip_stretch(1.0, 4.0, 2.0, 0.0, 0.1) == -2);
  CHECK(slip_stretch(1.0, 4.0, 0.0, 2.0, 0.5) == 0);
  CHECK(slip_stretch(1.0, 4.0, 0.0, 0.0, 0.1) == 1);
  CHECK(slip_stretch(1.0, 4.0, 1e9, 1.0, 1.0) == -4e-9);
  CHECK(std::abs(slip_stretch(1.0F, 4.0F, 1e-30F, 2.0F, 0.5F)) <= rounding(4, 1.0F));
}

TEST_CASE("anchor: derivatives by differences, soon and late", "[viscoelastic][derivative]") {
  for (const double t : {2e-4, 1e-3, 4e-3}) {  // K t/B = 1/15, 1/3 and 4/3
    const double at[] = {2e-4, 5.0, 1e5, 300.0, t};
    const auto stretch = [&](int argument, double share) {
      double x[] = {at[0], at[1], at[2], at[3], at[4]};
      x[argument] *= 1 + share;
      return slip_stretch(x[0], x[1], x[2], x[3], x[4]);
    };
    const auto by = carom::detail::slip_stretch_derivative(at[0], at[1], at[2], at[3], at[4]);
    const double slopes[] = {by.by_stretch, by.by_force, by.by_stiffness, by.by_damping,
                             by.by_time};
    for (int i = 0; i < 5; ++i) {
      const double h = 1e-5, difference = (stretch(i, h) - stretch(i, -h)) / (2 * h);
      CAPTURE(t, i, difference);
      CHECK(std::abs(slopes[i] * at[i] - difference) <= by_differences(1e-6) * 2e-4);
    }
  }
}

TEST_CASE("anchor: derivatives without spring, damper or both", "[viscoelastic][example]") {
  const auto spring = carom::detail::slip_stretch_derivative(1.0, 4.0, 2.0, 0.0, 0.1);  // −λ/K
  CHECK((spring.by_force == -0.5 && spring.by_stiffness == 1));
  CHECK((spring.by_stretch == 0 && spring.by_damping == 0 && spring.by_time == 0));
  const auto none = carom::detail::slip_stretch_derivative(1.0, 4.0, 0.0, 0.0, 0.1);
  CHECK(none.by_stretch == 1);
  CHECK((none.by_force == 0 && none.by_stiffness == 0 && none.by_time == 0));
  const auto damper = carom::detail::slip_stretch_derivative(1.0, 4.0, 0.0, 2.0, 0.5);  // e − λ t/B
  CHECK((damper.by_stretch == 1 && damper.by_force == -0.25 && damper.by_time == -2));
  CHECK(damper.by_damping == 0.5);
}

}  // namespace anchor_test
