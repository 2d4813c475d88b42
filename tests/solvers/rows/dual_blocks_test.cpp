// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/dual_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/own_rows.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace dual_blocks_test {

using carom::FrictionLaw, carom::ImpulseSet, carom::ImpulseShape, carom::RowNumbers;
using carom::SquareMatrix, carom::Vector3;
using carom::detail::LocalRows;
using carom::testing::draw_block, carom::testing::draw_rows, carom::testing::rounding,
    carom::testing::VectorSource;

namespace {

constexpr ImpulseShape cones[] = {ImpulseShape::friction,
                                  ImpulseShape::planar,
                                  ImpulseShape::elliptic,
                                  ImpulseShape::torsional,
                                  ImpulseShape::rolling,
                                  ImpulseShape::ellipsoidal_torsional,
                                  ImpulseShape::ellipsoidal_rolling,
                                  ImpulseShape::spinless_rolling};

/// Solves as often as sweeps come by, with the rows around held.
template <typename Scalar>
RowNumbers<Scalar> solve_often(LocalRows<Scalar>& local, const RowNumbers<Scalar>& velocity,
                               int visits = 40) {
  RowNumbers<Scalar> impulse = RowNumbers<Scalar>::Zero();
  for (int k = 0; k < visits; ++k) local.solve(velocity, impulse);
  return impulse;
}

}  // namespace

TEMPLATE_TEST_CASE("dual_blocks: a cone's answer obeys the law and does not move any more",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(4107u);
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const ImpulseShape shape : cones) {
      for (int k = 0; k < 20; ++k) {
        const ImpulseSet<Scalar> set = carom::cone_impulses<Scalar>(
            shape, {source.positive(1), source.positive(1), source.positive(1)});
        const SquareMatrix<Scalar, 6> w = draw_block(source, set.rows);
        const RowNumbers<Scalar> free = draw_rows(source, set.rows);
        LocalRows<Scalar> local;
        local.prepare(law, set, w, Scalar(1));
        RowNumbers<Scalar> impulse = solve_often(local, free);
        const RowNumbers<Scalar> velocity = w * impulse + free;
        const Scalar map =
            std::sqrt(carom::detail::natural_map_squared(law, set, impulse, velocity, Scalar(1)));
        const Scalar size = (std::max)(free.norm(), impulse.norm() * w.norm());
        CAPTURE(int(law), int(shape), k, map, size);
        // The proximal term leaves √ε of the block in each visit; visits take it out.
        CHECK(map <= rounding<Scalar>(2000, size));
        const RowNumbers<Scalar> before = impulse;
        const Scalar change = local.solve(free, impulse);
        CHECK(change == Approx((impulse - before).squaredNorm()));
        CHECK(std::sqrt(change) <= rounding<Scalar>(2000, impulse.norm() + size));
      }
    }
  }
}

TEMPLATE_TEST_CASE("dual_blocks: rows between bounds that do not act on each other are clipped",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(4108u);
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  for (int k = 0; k < 100; ++k) {
    ImpulseSet<Scalar> set;
    set.rows = 1 + k % 6;
    SquareMatrix<Scalar, 6> w = SquareMatrix<Scalar, 6>::Zero();
    for (int r = 0; r < set.rows; ++r) {
      w(r, r) = source.positive(1);
      set.lower(r) = source.pick({-infinity, -1, 0});
      set.upper(r) = source.pick({0, 1, infinity});
    }
    const RowNumbers<Scalar> free = draw_rows(source, set.rows);
    LocalRows<Scalar> local;
    local.prepare(FrictionLaw::convex, set, w, Scalar(1));
    const RowNumbers<Scalar> impulse = solve_often(local, free);
    for (int r = 0; r < set.rows; ++r) {
      const Scalar wanted =
          (std::min)((std::max)(Scalar(-free(r) / w(r, r)), set.lower(r)), set.upper(r));
      CAPTURE(k, r, impulse(r), wanted);
      CHECK(std::abs(impulse(r) - wanted) <= rounding<Scalar>(50, 1 + std::abs(wanted)));
    }
    CHECK(impulse.tail(6 - set.rows).isZero(Scalar(0)));
  }
}

TEMPLATE_TEST_CASE("dual_blocks: a shift moves the impulse and the set alike", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(4109u);
  for (int k = 0; k < 40; ++k) {
    ImpulseSet<Scalar> set =
        carom::cone_impulses<Scalar>(ImpulseShape::torsional, {source.positive(1), Scalar(0.2), 0});
    const SquareMatrix<Scalar, 6> w = draw_block(source, set.rows);
    const RowNumbers<Scalar> free = draw_rows(source, set.rows);
    LocalRows<Scalar> plain, moved;
    plain.prepare(FrictionLaw::coulomb, set, w, Scalar(1));
    set.shift = draw_rows(source, set.rows);
    moved.prepare(FrictionLaw::coulomb, set, w, Scalar(1));
    const RowNumbers<Scalar> expected = solve_often(plain, free);
    const RowNumbers<Scalar> found =
        solve_often(moved, RowNumbers<Scalar>(free + w * set.shift)) + set.shift;
    CAPTURE(k, found.transpose(), expected.transpose());
    CHECK((found - expected).norm() <=
          rounding<Scalar>(5000, 1 + expected.norm() + set.shift.norm()));
  }
}

TEMPLATE_TEST_CASE("dual_blocks: a block of zeros is solved in a proximal step, which stays finite",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  const ImpulseSet<Scalar> set =
      carom::cone_impulses<Scalar>(ImpulseShape::rolling, {Scalar(0.5), Scalar(0.1), Scalar(0.1)});
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    LocalRows<Scalar> local;
    local.prepare(law, set, SquareMatrix<Scalar, 6>::Zero(), Scalar(1));
    RowNumbers<Scalar> velocity = RowNumbers<Scalar>::Zero(), impulse = velocity;
    velocity(2) = Scalar(-1);
    local.solve(velocity, impulse);
    CHECK(impulse.allFinite());
    CHECK(impulse(2) > Scalar(0));
  }
}

}  // namespace dual_blocks_test
