// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcome/reach_polytope.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::HullDistance, carom::detail::ReachPolytope;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

TEST_CASE("reach_polytope: a cut keeps what is above it, and nothing else", "[impact][law]") {
  VectorSource<double> source(95u);
  const double corner_error = rounding(500, 1.0);
  HullDistance<double> hull;
  WorstCase above("corners are above each cut"), whole("points above all cuts are in the hull"),
      followed("the numbers below follow the coordinates");
  const int count = carom::testing::sweep(60, 1000);
  for (int sample = 0; sample < count; ++sample) {
    const Index r = 2 + sample % 4, corner_count = 1 + sample % 5, ray_count = sample % 4;
    const MatrixX<double> map = source.matrix(3, r);
    MatrixX<double> corners = source.matrix(r, corner_count), rays = source.matrix(r, ray_count);
    // The numbers below are a linear function of the coordinates.
    const auto with_numbers = [&](const MatrixX<double>& places) {
      MatrixX<double> columns(r + 3, places.cols());
      columns << places, map * places;
      return columns;
    };
    ReachPolytope<double> part(r, with_numbers(corners), with_numbers(rays), corner_error);
    // A box around all makes it bounded; then planes that cut it.
    std::vector<std::pair<VectorX<double>, double>> cuts;
    for (Index axis = 0; axis < r; ++axis) {
      for (const double sign : {-1.0, 1.0})
        cuts.emplace_back(sign * VectorX<double>::Unit(r, axis), -4);
    }
    for (int k = 0; k < 3; ++k) {
      cuts.emplace_back(source.matrix(r, 1).col(0).normalized(), source.pick({0.0, -0.2, 0.1}));
    }
    for (const auto& [direction, least] : cuts) part.cut(direction, least);
    REQUIRE(part.rays().cols() == 0);
    for (Index i = 0; i < part.corners().cols(); ++i) {
      const VectorX<double> place = part.places().col(i);
      for (const auto& [direction, least] : cuts) {
        above.see(least - direction.dot(place), 2 * corner_error, sample);
      }
      followed.see((map * place - part.corners().col(i).tail(3)).norm(), rounding(5000, 1.0),
                   sample);
    }
    for (int trial = 0; trial < 200; ++trial) {
      VectorX<double> weights = source.matrix(corner_count, 1).cwiseAbs2();
      VectorX<double> place = corners * (weights / weights.sum());
      if (ray_count > 0) place += rays * (2 * source.matrix(ray_count, 1).cwiseAbs());
      bool inside = true;
      for (const auto& [direction, least] : cuts) inside = inside && direction.dot(place) >= least;
      if (inside) whole.see(hull.find(part.places(), place), 20 * corner_error, sample, trial);
    }
  }
  above.check(count);
  followed.check(count);
  whole.check(count);
}

TEST_CASE("reach_polytope: spare corners and rays are left out", "[impact][example]") {
  MatrixX<double> corners(2, 6), rays(2, 5);
  corners << 0, 1, 1, 0, 0.5, 1, 0, 0, 1, 1, 0.5, 0.5;
  rays << 1, 0, 1, 2, 0, 0, 1, 1, 1, 0;
  ReachPolytope<double> square(2, corners, rays, rounding(100, 1.0));
  square.reduce();
  CHECK(square.corners().cols() == 4);
  CHECK(square.rays().cols() == 2);
  square.cut(Eigen::Vector2d(-1, 0), -2);
  square.cut(Eigen::Vector2d(0, -1), -3);
  CHECK(square.corners().cols() == 4);  // the rectangle from (0, 0) to (2, 3)
  CHECK(square.rays().cols() == 0);
  CHECK(square.places().rowwise().maxCoeff() == Eigen::Vector2d(2, 3));
  ReachPolytope<double> outside(2, MatrixX<double>::Constant(2, 1, 5), MatrixX<double>(2, 0), 0.0);
  CHECK(square.distance_of(outside, 0) == std::sqrt(13.0));
  square.cut(Eigen::Vector2d(1, 0), 3);
  CHECK(square.is_empty());
}

}  // namespace
