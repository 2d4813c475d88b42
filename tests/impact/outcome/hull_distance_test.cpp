// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcome/hull_distance.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::HullDistance;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

VectorX<double> mixture(VectorSource<double>& source, const MatrixX<double>& points) {
  VectorX<double> weights = source.matrix(points.cols(), 1).cwiseAbs2();
  return points * (weights / weights.sum());
}

TEST_CASE("hull_distance: points of the hull have none, at any dimension and scale",
          "[impact][law]") {
  VectorSource<double> source(91u);
  HullDistance<double> hull;
  WorstCase inside("inside"), above("no farther than any point"), moved("shift and scale");
  for (int sample = 0; sample < carom::testing::sweep(300, 5000); ++sample) {
    const Index rows = 1 + sample % 8, columns = 1 + sample % 23;
    const double scale = source.pick({1e-9, 1.0, 1e9});
    const MatrixX<double> points = scale * source.matrix(rows, columns);
    const VectorX<double> shift = scale * source.matrix(rows, 1);
    inside.see(hull.find(points, mixture(source, points)), rounding(200, scale), sample);
    const double distance = hull.find(points, shift);
    above.see(distance, (points.colwise() - shift).colwise().norm().minCoeff() + rounding(4, scale),
              sample);
    const double other = hull.find((points.colwise() - shift) * 1024, VectorX<double>::Zero(rows));
    moved.see(std::abs(other / 1024 - distance), rounding(1000, scale), sample);
  }
  for (const auto* law : {&inside, &above, &moved}) law->check(300);
}

TEST_CASE("hull_distance: a plane through the nearest point has all others behind it",
          "[impact][oracle]") {
  // d is the distance exactly if a unit vector u separates: u·(p − t) ≥ d for all p.
  VectorSource<double> source(92u);
  HullDistance<double> hull;
  WorstCase closed("closed form"), separated("no point of the hull is nearer");
  for (int sample = 0; sample < carom::testing::sweep(300, 5000); ++sample) {
    const Index rows = 2 + sample % 7, columns = rows + 1 + sample % 10;
    MatrixX<double> points = source.matrix(rows, columns);
    const double gap = source.pick({1e-12, 1e-6, 0.3});
    // All points on one side of a plane at the distance `gap`, one mixture of them below the
    // target.
    points.row(0) = points.row(0).cwiseAbs().array() + gap;
    points.row(0).head(rows) = VectorX<double>::Constant(rows, gap).transpose();
    VectorX<double> target = mixture(source, points.leftCols(rows));
    target(0) = 0;
    closed.see(std::abs(hull.find(points, target) - gap), rounding(100, 1.0), gap, sample);
    const VectorX<double> away = 3 * source.matrix(rows, 1);
    const double distance = hull.find(points, away);
    for (int trial = 0; trial < 50; ++trial) {
      const VectorX<double> other = mixture(source, points);
      separated.see(distance, (other - away).norm() + rounding(100, 3.0), sample);
    }
  }
  closed.check(300);
  separated.check(300);
}

TEST_CASE("hull_distance: repeated points, one point and none", "[impact][example]") {
  HullDistance<double> hull;
  const Eigen::Vector2d target(0, 0);
  MatrixX<double> points = MatrixX<double>::Constant(2, 5, 3);
  CHECK(std::abs(hull.find(points, target) - std::sqrt(18.0)) <= rounding(4, 4.0));
  points << 1, 1, 1, 1, 1, -1, -1, 2, 2, 0;
  CHECK(std::abs(hull.find(points, target) - 1) <= rounding(4, 1.0));
  CHECK(hull.find(points.leftCols(1), target) == std::sqrt(2.0));
  CHECK(hull.find(points.leftCols(0), target) == HUGE_VAL);
  CHECK(hull.find(points, target, 1.5) <= 1.5);
}

}  // namespace
