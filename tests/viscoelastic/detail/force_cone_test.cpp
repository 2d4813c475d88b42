// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/force_cone.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace force_cone_test {

using carom::all_stick, carom::AverageForces, carom::ConeRegion, carom::ForceCone, carom::Index,
    carom::MatrixX, carom::SlipLaw, carom::VectorX;
using carom::testing::rounding;

namespace {

/// Two points of 1 kg each, pressed down with unlike loads.
struct Pair {
  AverageForces<double> forces;
  ForceCone<double> cone;
  VectorX<double> average = VectorX<double>(6), average2 = VectorX<double>(6),
                  friction = VectorX<double>::Constant(2, 0.5);
  Pair() {
    forces.prepare(2, 6);
    cone.prepare(2);
    MatrixX<double> root = MatrixX<double>::Identity(6, 6);
    root(0, 3) = root(1, 5) = 0.3;
    const VectorX<double> k = VectorX<double>::Constant(6, 1e5), b = 0.003 * k;
    REQUIRE(forces.set(root, k, b, 1e-3));
    VectorX<double> y(6);
    y << 8e-5, 3e-5, -1e-4, 1e-5, 0, -1e-4;
    REQUIRE(forces.evaluate(y, VectorX<double>(VectorX<double>::Zero(6)),
                            VectorX<double>(VectorX<double>::Zero(6)), average, average2));
  }
};

}  // namespace

TEST_CASE("force_cone: all_stick looks at every cone", "[viscoelastic][law]") {
  VectorX<double> force(6), friction(2);
  force << 3, 4, 10, 0, 0, 0;
  friction << 0.5, 0;
  CHECK(all_stick(force, friction));
  friction(0) = 0.4999;
  CHECK_FALSE(all_stick(force, friction));
  friction(0) = 1;
  force(5) = -1;
  friction(1) = 1;
  CHECK_FALSE(all_stick(force, friction));
  force(5) = std::nan("");
  CHECK_FALSE(all_stick(force, friction));
}

TEST_CASE("force_cone: four laws on one problem", "[viscoelastic][example]") {
  for (const SlipLaw law : {SlipLaw::coulomb, SlipLaw::convex, SlipLaw::radial, SlipLaw::stick}) {
    Pair pair;
    REQUIRE(
        pair.cone.apply(law, pair.forces, pair.average, pair.average2, pair.friction).converged());
    const VectorX<double> force = pair.cone.force(), second = pair.cone.force2();
    const VectorX<double> w = pair.cone.velocity();
    MatrixX<double> gain(6, 6), gain2(6, 6);
    REQUIRE(pair.forces.write_gains(gain, gain2));
    const VectorX<double> moved = pair.average2 + gain2 * w;
    CAPTURE(int(law), force, w);
    if (law == SlipLaw::stick) {
      CHECK(force == pair.average);
      continue;
    }
    CHECK(pair.cone.region(0) == ConeRegion::slide);
    CHECK((pair.average + gain * w - force).norm() <= rounding(500, force.norm()));
    for (Index i = 0; i < 2; ++i) {
      CHECK(force.segment<2>(3 * i).norm() <= 0.5 * force(3 * i + 2) * (1 + rounding(5000, 1.0)));
      if (pair.cone.region(i) != ConeRegion::slide) continue;
      // The second average lies on its cone, along the first.
      CHECK(std::abs(second(3 * i) * force(3 * i + 1) - second(3 * i + 1) * force(3 * i)) <=
            rounding(100, force.norm() * second.norm()));
      CHECK(std::abs(second.segment<2>(3 * i).norm() - 0.5 * second(3 * i + 2)) <=
            rounding(100, second.norm()));
      CHECK(std::abs(second(3 * i + 2) - std::max(moved(3 * i + 2), 0.0)) <=
            rounding(100, moved.norm()));
    }
    if (law == SlipLaw::coulomb) CHECK(w(2) == 0);
    if (law == SlipLaw::convex) CHECK(w(2) > 0);
    if (law == SlipLaw::radial) CHECK(force(2) == pair.average(2));
  }
}

TEST_CASE("force_cone: forces inside stay as they are, without a gain", "[viscoelastic][law]") {
  Pair pair;
  pair.friction.setConstant(2);
  REQUIRE(pair.cone.apply(SlipLaw::coulomb, pair.forces, pair.average, pair.average2, pair.friction)
              .converged());
  CHECK(pair.cone.force() == pair.average);
  CHECK(pair.cone.force2() == pair.average2);
  CHECK(pair.cone.velocity().isZero(0));
}

TEST_CASE("force_cone: averages that are no numbers are reported", "[viscoelastic][input]") {
  for (const bool second : {false, true}) {
    Pair pair;
    (second ? pair.average2 : pair.average)(4) = std::nan("");
    CHECK(pair.cone.apply(SlipLaw::coulomb, pair.forces, pair.average, pair.average2, pair.friction)
              .status == carom::SolveStatus::not_finite);
  }
}

TEST_CASE("force_cone: contacts without tangential spring and damper", "[viscoelastic][example]") {
  for (const SlipLaw law : {SlipLaw::coulomb, SlipLaw::convex, SlipLaw::radial}) {
    Pair pair;
    VectorX<double> k = VectorX<double>::Constant(6, 1e5), y(6);
    k(0) = k(1) = k(3) = k(4) = 0;
    y << 8e-5, 3e-5, 2e-4, 1e-5, 0, -1e-4;  // the first pulls
    const VectorX<double> zero = VectorX<double>::Zero(6), b = 0.003 * k;
    REQUIRE(pair.forces.set(MatrixX<double>(MatrixX<double>::Identity(6, 6)), k, b, 1e-3));
    REQUIRE(pair.forces.evaluate(y, zero, zero, pair.average, pair.average2));
    CAPTURE(int(law));
    REQUIRE(
        pair.cone.apply(law, pair.forces, pair.average, pair.average2, pair.friction).converged());
    CHECK(pair.cone.force().head(5).norm() <= rounding(10, pair.average.norm()));
    CHECK(std::abs(pair.cone.force()(5) - pair.average(5)) <= rounding(10, pair.average(5)));
    CHECK(pair.cone.velocity().allFinite());
  }
}

}  // namespace force_cone_test
