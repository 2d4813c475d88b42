// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <vector>

#include "carom/batch/projection_batch_view.hpp"

#include "support/constrained_problem.hpp"

/// @file
/// Points for tests of batches of projections.
namespace carom::testing {

constexpr int shape_count = 9;

/// Points of one shape in the arrays of a batch, and room for their answers.
template <typename Scalar>
struct Points {
  ImpulseShape shape;
  int rows = 0;
  std::vector<Scalar> point, weights, friction, bounds, nearest, derivative;
  std::vector<carom::ProjectionDiagnosis> faults;

  void add(const WeightedBlock<double>& law, const RowNumbers<double>& y) {
    shape = law.set.shape;
    rows = law.set.rows;
    const auto push = [&](std::vector<Scalar>& to, const auto& numbers, int count) {
      for (int i = 0; i < count; ++i) to.push_back(Scalar(numbers(i)));
    };
    push(point, y, rows);
    push(weights, law.regularization, rows);
    push(friction, law.set.friction, carom::friction_count(shape));
    const bool intervals = shape == ImpulseShape::intervals;
    push(bounds, intervals ? law.set.lower : law.set.shift, rows);
    if (intervals) push(bounds, law.set.upper, rows);
    nearest.resize(point.size());
    derivative.resize(point.size() * std::size_t(rows));
    faults.resize(point.size() / std::size_t(rows));
  }
  [[nodiscard]] ProjectionBatchView<Scalar> view() const {
    ProjectionBatchView<Scalar> view;
    view.count = Index(faults.size());
    view.shape = shape;
    view.interval_rows = rows;
    view.point = {point.data(), rows};
    view.weights = {weights.data(), rows};
    view.friction = {friction.data(), carom::friction_count(shape)};
    view.bounds = {bounds.data(), shape == ImpulseShape::intervals ? 2 * rows : rows};
    return view;
  }
  [[nodiscard]] ProjectionBatchAnswers<Scalar> answers() {
    return {{nearest.data(), rows}, {derivative.data(), Index(rows) * rows}, faults.data()};
  }
  template <typename Number>
  [[nodiscard]] RowNumbers<double> read(const std::vector<Number>& from, Index i) const {
    RowNumbers<double> result = RowNumbers<double>::Zero();
    for (int r = 0; r < rows; ++r) result(r) = double(from[std::size_t(i * rows + r)]);
    return result;
  }
};

/// A law of each shape: 0 are intervals, the others cones.
[[nodiscard]] inline WeightedBlock<double> draw_shape(VectorSource<double>& source, int shape) {
  return draw_law(source, shape == 0 ? 3 : shape + 3);
}
/// Points over twelve decades, with zeros, and on the border of the set now and then.
[[nodiscard]] inline RowNumbers<double> draw_point(VectorSource<double>& source,
                                                   const WeightedBlock<double>& law) {
  RowNumbers<double> y = RowNumbers<double>::Zero();
  const double size = source.positive(12);
  for (int r = 0; r < law.set.rows; ++r) {
    y(r) = source.unit() < 0.1 ? 0.0 : size * (2 * source.unit() - 1);
  }
  if (source.unit() < 0.2) y = nearest_impulse(law.set, law.regularization, y);
  return y;
}

/// @param laws  take those of the points; null: not wanted.
template <typename Scalar>
[[nodiscard]] Points<Scalar> draw_points(int shape, int count,
                                         std::vector<WeightedBlock<double>>* laws) {
  VectorSource<double> source(27001u + unsigned(shape));
  Points<Scalar> points;
  for (int i = 0; i < count; ++i) {
    const WeightedBlock<double> law = draw_shape(source, shape);
    if (laws != nullptr) laws->push_back(law);
    points.add(law, draw_point(source, law));
  }
  return points;
}

/// Whether the answers have the same bits.
template <typename Scalar>
[[nodiscard]] bool is_same(const Points<Scalar>& a, const Points<Scalar>& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
  };
  return equal(a.nearest, b.nearest) && equal(a.derivative, b.derivative);
}

}  // namespace carom::testing
