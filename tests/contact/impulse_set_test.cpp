// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/impulse_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Eigenvalues>

#include "carom/contact/coulomb_law.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impulse_set_test {

using carom::testing::rounding;

using carom::nearest_impulse;
using carom::RowNumbers, carom::impulse_curvature, carom::ImpulseSet, carom::ImpulseShape;
using carom::testing::draw_law, carom::testing::draw_matrix, carom::testing::VectorSource;
using carom::testing::WorstCase;
using Rows = RowNumbers<double>;

static_assert(noexcept(nearest_impulse(std::declval<const ImpulseSet<double>&>(),
                                       std::declval<const Rows&>(), std::declval<const Rows&>())));
static_assert(noexcept(impulse_curvature(std::declval<const ImpulseSet<double>&>(),
                                         std::declval<const Rows&>(),
                                         std::declval<const Rows&>())));

namespace {

Rows draw_rows(VectorSource<double>& source, int rows, double size) {
  Rows result = Rows::Zero();
  result.head(rows) = size * draw_matrix(source, rows, 1);
  return result;
}

}  // namespace

TEST_CASE("impulse set: the nearest point is in the set, and no other is nearer",
          "[contact][law]") {
  VectorSource<double> source(21u);
  WorstCase again("idempotent"), nearer("variational inequality"), outside("zero beyond the rows");
  for (int sample = 0; sample < 3000; ++sample) {
    const auto law = draw_law(source, sample % 12);
    const Rows& r = law.regularization;
    const Rows y = draw_rows(source, law.set.rows, 3);
    const Rows p = nearest_impulse(law.set, r, y);
    again.see((nearest_impulse(law.set, r, p) - p).norm(),
              rounding(500, 1.0) * (1 + p.norm() + y.norm()));
    const Rows other =
        nearest_impulse(law.set, r, draw_rows(source, law.set.rows, 5));  // in the set
    nearer.see(std::max(0.0, (y - p).cwiseProduct(r).dot(other - p)),
               rounding(5000, 1.0) * r.maxCoeff() * (1 + y.squaredNorm() + other.squaredNorm()));
    outside.see(p.tail(6 - law.set.rows).cwiseAbs().sum(), 0);
  }
  for (const WorstCase* law : {&again, &nearer, &outside}) law->check(3000);
}

TEST_CASE("impulse set: curvature is the slope of the nearest point over the weights",
          "[contact][derivative]") {
  VectorSource<double> source(22u);
  WorstCase symmetric("symmetric"), bounded("0 <= G <= 1/R");
  long off = 0;
  for (int sample = 0; sample < 3000; ++sample) {
    const auto law = draw_law(source, sample % 12);
    const Rows& r = law.regularization;
    const int rows = law.set.rows;
    const Rows y = draw_rows(source, rows, 3), d = draw_rows(source, rows, 1);
    const auto g = impulse_curvature(law.set, r, y);
    symmetric.see((g - g.transpose()).norm(), 0);
    const double h = 1e-7;
    const Rows rise = (nearest_impulse(law.set, r, Rows(y + h * d)) -
                       nearest_impulse(law.set, r, Rows(y - h * d))) /
                      (2 * h);
    const double error = (rise - g * r.cwiseProduct(d)).norm();
    off += error > 1e-6 * (1 + rise.norm());  // a boundary within h of y
    const Rows root = r.cwiseSqrt();
    const Eigen::MatrixXd scaled =
        (root.asDiagonal() * g * root.asDiagonal()).topLeftCorner(rows, rows);
    const Eigen::VectorXd values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues();
    bounded.see(std::max({0.0, -values.minCoeff(), values.maxCoeff() - 1}), rounding(500, 1.0));
  }
  CHECK(off <= 2);
  symmetric.check(3000);
  bounded.check(3000);
}

TEST_CASE("impulse set: a shift moves the set", "[contact][law]") {
  VectorSource<double> source(23u);
  auto set = carom::cone_impulses<double>(ImpulseShape::friction, {0.5, 0, 0});
  const Rows r = (Rows() << 1, 1, 3, 1, 1, 1).finished();
  for (int sample = 0; sample < 50; ++sample) {
    const Rows y = draw_rows(source, 3, 3);
    set.shift.setZero();
    const Rows shift = draw_rows(source, 3, 2);
    const Rows plain = nearest_impulse(set, r, Rows(y + shift));
    const auto slope = impulse_curvature(set, r, Rows(y + shift));
    set.shift = shift;
    CHECK((nearest_impulse(set, r, y) - (plain - shift)).norm() < rounding(50, 1.0));
    CHECK(impulse_curvature(set, r, y) == slope);
  }
}

TEST_CASE("impulse set: the planar set is the friction set without its second tangent",
          "[contact][law]") {
  VectorSource<double> source(24u);
  for (int sample = 0; sample < 500; ++sample) {
    const double mu = source.pick({0, 0.3, 1, 4});
    auto planar = carom::cone_impulses<double>(ImpulseShape::planar, {mu, 0, 0});
    auto space = carom::friction_impulses(mu);
    CHECK(planar.rows == 2);
    const Rows y = draw_rows(source, 2, 3), shift = draw_rows(source, 2, 1);
    planar.shift = shift;
    space.shift.head<3>() << shift(0), 0, shift(1);
    const Rows r = (Rows() << source.positive(2), source.positive(2), 1, 1, 1, 1).finished();
    const Rows spread = (Rows() << y(0), 0, y(1), 0, 0, 0).finished();
    const Rows weights = (Rows() << r(0), r(0), r(1), 1, 1, 1).finished();
    const Rows flat = nearest_impulse(planar, r, y), full = nearest_impulse(space, weights, spread);
    CHECK(std::abs(flat(0) - full(0)) + std::abs(flat(1) - full(2)) <=
          rounding(50, 1.0) * (1 + y.norm()));
    CHECK(flat.tail<4>().isZero(0));
    const auto g = impulse_curvature(planar, r, y), h = impulse_curvature(space, weights, spread);
    const Eigen::Matrix2d two = g.topLeftCorner<2, 2>();
    const Eigen::Matrix2d expected{{h(0, 0), h(0, 2)}, {h(2, 0), h(2, 2)}};
    CHECK((two - expected).norm() <= rounding(5000, 1.0) * (1 + expected.norm()));
    CHECK(g.norm() == two.norm());
  }
}

TEST_CASE("impulse set: rolling without spin is rolling with the spin left out", "[contact][law]") {
  carom::testing::VectorSource<double> source(87u);
  for (int sample = 0; sample < 200; ++sample) {
    const carom::Vector3<double> mu(source.unit(), 0.3 * source.unit(), 0);
    const auto five = carom::cone_impulses<double>(ImpulseShape::spinless_rolling, mu);
    const auto six = carom::cone_impulses<double>(ImpulseShape::rolling, mu);
    Rows y = Rows::Zero(), weights = Rows::Ones();
    for (int i = 0; i < 5; ++i) y(i) = 2 * source.unit() - 1;
    weights.head<3>().setConstant(source.positive(1));
    weights.segment<2>(3).setConstant(source.positive(1));
    const Rows nearest = nearest_impulse(five, weights, y);
    CHECK((nearest - nearest_impulse(six, weights, y)).norm() <= rounding(50, 1.0) * y.norm());
    CHECK(nearest(5) == 0);
    auto curvature = impulse_curvature(six, weights, y);
    curvature.row(5).setZero();  // the spin's own, where the normal pushes
    curvature.col(5).setZero();
    CHECK((impulse_curvature(five, weights, y) - curvature).norm() <=
          rounding(5000, 1.0) * (1 + curvature.norm()));
    CHECK((coulomb_impulse(five, y) - coulomb_impulse(six, y)).norm() <=
          rounding(50, 1.0) * y.norm());
    CHECK(de_saxce_velocity(five, y) == de_saxce_velocity(six, y));
  }
}

TEST_CASE("impulse set: the rows of a plane are the first and the last of a part",
          "[contact][example]") {
  using carom::detail::part_place, carom::detail::row_at_place;
  for (const ImpulseShape shape : {ImpulseShape::planar, ImpulseShape::friction,
                                   ImpulseShape::rolling, ImpulseShape::spinless_rolling}) {
    const int rows = cone_row_count(shape);
    int filled = 0;
    for (int place = 0; place < 6; ++place) {
      const int row = row_at_place(shape, rows, place);
      if (row >= 0) CHECK(part_place(shape, row) == place);
      filled += row >= 0 ? 1 : 0;
    }
    CHECK(filled == rows);
  }
  CHECK(row_at_place(ImpulseShape::planar, 2, 1) == -1);
  CHECK(row_at_place(ImpulseShape::planar, 2, 2) == 1);
}

TEST_CASE("impulse set: a normal bounds one, two or three blocks of rows", "[contact][example]") {
  const auto blocks_of = [](const carom::ImpulseSet<double>& set, int normal) {
    int count = 0, rows = 0;
    CHECK(carom::detail::visit_friction_blocks(set, [&](const auto& block) {
            ++count;
            rows += block.size;
          }) == normal);
    CHECK(rows == (normal < 0 ? 0 : set.rows - 1));
    return count;
  };
  const carom::Vector3<double> mu(0.5, 0.1, 0.2);
  CHECK(blocks_of(carom::free_impulses<double>(6), -1) == 0);
  CHECK(blocks_of(carom::cone_impulses<double>(ImpulseShape::planar, mu), 1) == 1);
  CHECK(blocks_of(carom::cone_impulses<double>(ImpulseShape::friction, mu), 2) == 1);
  CHECK(blocks_of(carom::cone_impulses<double>(ImpulseShape::torsional, mu), 2) == 2);
  CHECK(blocks_of(carom::cone_impulses<double>(ImpulseShape::rolling, mu), 2) == 3);
  CHECK(blocks_of(carom::cone_impulses<double>(ImpulseShape::ellipsoidal_rolling, mu), 2) == 1);
}

TEST_CASE("impulse set: every shape has its coefficients of friction", "[contact][example]") {
  CHECK(friction_count(ImpulseShape::intervals) == 0);
  CHECK(friction_count(ImpulseShape::friction) == 1);
  CHECK(friction_count(ImpulseShape::planar) == 1);
  CHECK(friction_count(ImpulseShape::elliptic) == 2);
  CHECK(friction_count(ImpulseShape::torsional) == 2);
  CHECK(friction_count(ImpulseShape::ellipsoidal_torsional) == 2);
  CHECK(friction_count(ImpulseShape::rolling) == 3);
  CHECK(friction_count(ImpulseShape::ellipsoidal_rolling) == 3);
  CHECK(friction_count(ImpulseShape::spinless_rolling) == 2);
  CHECK(friction_count(static_cast<ImpulseShape>(99)) == 0);
  CHECK(cone_row_count(static_cast<ImpulseShape>(99)) == 3);
}

TEST_CASE("impulse set: faults are named", "[contact][input]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(set_fault("x", carom::free_impulses<double>(6)).empty());
  CHECK(set_fault("x", carom::pushing_impulse<double>()).empty());
  CHECK(set_fault("x", carom::bounded_impulse(1.0, 1.0)).empty());
  CHECK(set_fault("x", carom::bounded_impulse(1.0, 0.5)) ==
        "x: upper bound entry 0: expected a number no less than the lower bound, got 0.5");
  CHECK(set_fault("x", carom::bounded_impulse(nan, 0.5)) ==
        "x: lower bound entry 0: expected a number below infinity, got nan");
  CHECK(set_fault("x", carom::bounded_impulse(infinity, infinity)) ==
        "x: lower bound entry 0: expected a number below infinity, got inf");
  CHECK(set_fault("x", carom::bounded_impulse(-infinity, -infinity)) ==
        "x: upper bound entry 0: expected a number no less than the lower bound, got -inf");
  auto set = carom::free_impulses<double>(2);
  set.rows = 0;
  CHECK(set_fault("x", set) == "x: rows: expected a number in [1, 6], got 0");
  set.rows = 7;
  CHECK(set_fault("x", set) == "x: rows: expected a number in [1, 6], got 7");
  set = carom::cone_impulses<double>(ImpulseShape::rolling, {0.5, -0.1, 0});
  CHECK(set_fault("x", set) == "x: friction entry 1: expected a finite number >= 0, got -0.1");
  set.friction.y() = 0;
  CHECK(set_fault("x", set).empty());
  set.shift(5) = nan;
  CHECK(set_fault("x", set) == "x: shift entry 5: expected a finite number, got nan");
  set.rows = 4;
  CHECK(set_fault("x", set) == "x: rows: expected 6, got 4");
  set = carom::cone_impulses<double>(ImpulseShape::spinless_rolling, {0.5, 0.1, 0});
  CHECK(set.rows == 5);
  CHECK(set_fault("x", set).empty());
  set.rows = 6;
  CHECK(set_fault("x", set) == "x: rows: expected 5, got 6");
  set = carom::cone_impulses<double>(ImpulseShape::planar, {0.5, 0, 0});
  CHECK(set_fault("x", set).empty());
  set.rows = 3;
  CHECK(set_fault("x", set) == "x: rows: expected 2, got 3");
  set.rows = 2;
  set.friction(0) = infinity;
  CHECK(set_fault("x", set) == "x: friction entry 0: expected a finite number >= 0, got inf");
}

}  // namespace impulse_set_test
