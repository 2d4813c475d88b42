// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/projection_batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/projection_points.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace projection_batch_test {

using carom::ImpulseSet, carom::ImpulseShape, carom::Index, carom::ProjectionBatchAnswers;
using carom::ProjectionBatchReport, carom::ProjectionBatchView, carom::ProjectionFault;
using carom::RowNumbers, carom::WeightedBlock;
using carom::testing::draw_law, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

using carom::testing::draw_points, carom::testing::is_same, carom::testing::Points;
using carom::testing::shape_count;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename Scalar>
void check_nearest(long double roundings) {
  for (int shape = 0; shape < shape_count; ++shape) {
    CAPTURE(shape);
    std::vector<WeightedBlock<double>> laws;
    Points<Scalar> points = draw_points<Scalar>(shape, 3000, &laws);
    const ProjectionBatchReport report = project_batch(points.view(), points.answers());
    CHECK((report.projected == 3000 && report.first_bad == -1));
    WorstCase close("the distance to nearest_impulse()");
    for (Index i = 0; i < 3000; ++i) {
      WeightedBlock<double> law = laws[std::size_t(i)];
      law.regularization.head(points.rows) = points.read(points.weights, i).head(points.rows);
      const RowNumbers<double> y = points.read(points.point, i);
      const RowNumbers<double> wanted = nearest_impulse(law.set, law.regularization, y);
      const double spread = std::sqrt(law.regularization.head(points.rows).maxCoeff() /
                                      law.regularization.head(points.rows).minCoeff());
      const double size = spread * (y.norm() + law.set.shift.norm() + wanted.norm());
      const double error = (points.read(points.nearest, i) - wanted).norm();
      close.see((long double)(error),
                roundings * (long double)(std::numeric_limits<Scalar>::epsilon()) * size, i);
    }
    close.check(3000);
  }
}

}  // namespace

TEST_CASE("projection_batch: points of every shape as nearest_impulse() has them",
          "[projection_batch]") {
  check_nearest<double>(rounding(200, 1.0L) / std::numeric_limits<long double>::epsilon());
  check_nearest<float>(rounding(200, 1.0L) / std::numeric_limits<long double>::epsilon());
}

TEST_CASE("projection_batch: derivatives of every shape as impulse_curvature() has them",
          "[projection_batch]") {
  for (int shape = 0; shape < shape_count; ++shape) {
    CAPTURE(shape);
    std::vector<WeightedBlock<double>> laws;
    Points<double> points = draw_points<double>(shape, 2000, &laws);
    project_batch(points.view(), points.answers());
    Index apart = 0;
    for (Index i = 0; i < 2000; ++i) {
      const WeightedBlock<double>& law = laws[std::size_t(i)];
      const int rows = points.rows;
      const auto curvature =
          impulse_curvature(law.set, law.regularization, points.read(points.point, i));
      double error = 0, size = 1;
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < rows; ++c) {
          const double wanted = curvature(r, c) * law.regularization(c);
          const double found = points.derivative[std::size_t((i * rows + r) * rows + c)];
          error = std::max(error, std::abs(found - wanted));
          size = std::max(size, std::abs(wanted));
        }
      }
      apart += Index(error > rounding(100000, size));
    }
    // Points that rounding puts on the other side of a border have its derivative.
    CHECK(apart <= 2000 / 5);
  }
}

TEST_CASE("projection_batch: the same bits for any lanes, order and threads",
          "[projection_batch]") {
  for (int shape = 0; shape < shape_count; ++shape) {
    CAPTURE(shape);
    Points<double> one = draw_points<double>(shape, 3001, nullptr), other = one;
    carom::project_batch<double, 1>(one.view(), one.answers());
    other.nearest.assign(other.nearest.size(), 0);
    project_batch(other.view(), other.answers(), [](Index count, const auto& task) {
      std::vector<std::thread> threads;
      for (Index i = count; i-- > 0;) threads.emplace_back([&task, i] { task(i); });
      for (std::thread& thread : threads) thread.join();
    });
    CHECK(is_same(one, other));
    carom::project_batch<double, 2>(other.view(), other.answers());
    CHECK(is_same(one, other));
  }
}

TEST_CASE("projection_batch: a bad point is named and changes no other", "[projection_batch]") {
  const Points<double> given = draw_points<double>(4, 1000, nullptr);  // rolling cones, 6 rows
  Points<double> good = given;
  project_batch(good.view(), good.answers());
  struct Case {
    std::vector<double> Points<double>::*numbers;
    int stride, item;
    double value;
    ProjectionFault fault;
  };
  using P = Points<double>;
  const Case cases[] = {{&P::point, 6, 2, std::nan(""), ProjectionFault::point},
                        {&P::point, 6, 0, infinity, ProjectionFault::point},
                        {&P::point, 6, 0, 1e200, ProjectionFault::point},
                        {&P::weights, 6, 5, 0, ProjectionFault::weights},
                        {&P::weights, 6, 1, 77, ProjectionFault::weights},
                        {&P::friction, 3, 1, -0.1, ProjectionFault::friction},
                        {&P::friction, 3, 2, std::nan(""), ProjectionFault::friction},
                        {&P::bounds, 6, 3, infinity, ProjectionFault::bounds}};
  for (const Case& one : cases) {
    Points<double> bad = given;
    (bad.*one.numbers)[std::size_t(501 * one.stride + one.item)] = one.value;
    const ProjectionBatchReport report = project_batch(bad.view(), bad.answers());
    CHECK((report.projected == 999 && report.first_bad == 501));
    CHECK(bad.faults[501].fault == one.fault);
    CHECK(std::isnan(bad.nearest[501 * 6]));
    for (auto numbers : {&P::nearest, &P::derivative}) {
      const std::size_t size = (good.*numbers).size() / 1000;
      std::fill_n((bad.*numbers).begin() + std::ptrdiff_t(501 * size), size, 0.0);
      std::vector<double> wanted = good.*numbers;
      std::fill_n(wanted.begin() + std::ptrdiff_t(501 * size), size, 0.0);
      CHECK(bad.*numbers == wanted);
    }
  }
}

TEST_CASE("projection_batch: one bad point among a hundred thousand", "[projection_batch]") {
  constexpr Index count = 100'000, bad = 87'654;
  Points<double> good = draw_points<double>(1, count, nullptr), hurt = good;  // friction cones
  CHECK(project_batch(good.view(), good.answers()).projected == count);
  hurt.weights[std::size_t(3 * bad + 2)] = -1;
  const ProjectionBatchReport report = project_batch(hurt.view(), hurt.answers());
  CHECK((report.projected == count - 1 && report.first_bad == bad));
  CHECK(hurt.faults[std::size_t(bad)].fault == ProjectionFault::weights);
  CHECK(hurt.faults[std::size_t(bad)].item == 2);
  for (Points<double>* points : {&good, &hurt}) {
    std::fill_n(points->nearest.begin() + 3 * bad, 3, 0.0);
    std::fill_n(points->derivative.begin() + 9 * bad, 9, 0.0);
  }
  CHECK(is_same(good, hurt));
}

TEST_CASE("projection_batch: bounds, shared numbers, and no points at all", "[projection_batch]") {
  Points<double> points = draw_points<double>(0, 10, nullptr);
  points.bounds[std::size_t(3 * 2 * points.rows + 1)] = 7;  // above its upper bound
  ProjectionBatchReport report = project_batch(points.view(), points.answers());
  CHECK((report.first_bad == 3 && points.faults[3].fault == ProjectionFault::bounds));
  ProjectionBatchView<double> view = points.view();
  view.count = 0;
  report = project_batch(view, points.answers());
  CHECK((report.projected == 0 && report.first_bad == -1));
  // One cone for all points, not shifted; no derivative wanted.
  const double mu = 0.5, weights[] = {1, 1, 2}, y[] = {3, 0, 4, 0, 0, -1};
  double nearest[6];
  carom::ProjectionDiagnosis faults[2];
  ProjectionBatchView<double> shared;
  shared.count = 2;
  shared.point = {y, 3};
  shared.weights = {weights, 0};
  shared.friction = {&mu, 0};
  report = project_batch(shared, {{nearest, 3}, {}, faults});
  // γₙ = (Rₙ yₙ + μ Rₜ yₜ)/(Rₙ + μ² Rₜ) = 9.5/2.25 where the contact slides.
  CHECK(std::abs(nearest[2] - 9.5 / 2.25) < rounding(4, 5.0));
  CHECK(std::abs(nearest[0] - 9.5 / 4.5) < rounding(4, 5.0));
  CHECK((nearest[3] == 0 && nearest[5] == 0 && report.projected == 2));
}

}  // namespace projection_batch_test
