// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/projection_batch.hpp"

#include <chrono>
#include <cstddef>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using carom::ImpulseShape, carom::Index;
using Clock = std::chrono::steady_clock;

constexpr Index count = 100'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Points about a cone, in all regions, each with a friction of its own.
struct Points {
  carom::ProjectionBatchView<double> view;
  std::vector<double> point, weights, friction, nearest, derivative;
  std::vector<carom::ProjectionDiagnosis> faults;

  explicit Points(ImpulseShape shape) : faults(std::size_t(count)) {
    std::mt19937 engine(20260101u);
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    view.count = count;
    view.shape = shape;
    const int rows = view.rows(), coefficients = carom::friction_count(shape);
    for (Index i = 0; i < count * rows; ++i) point.push_back(unit(engine));
    for (Index i = 0; i < count * coefficients; ++i) friction.push_back(0.6 + 0.5 * unit(engine));
    weights.assign(std::size_t(rows), 1.5);
    nearest.resize(point.size());
    derivative.resize(point.size() * std::size_t(rows));
    view.point = {point.data(), rows};
    view.weights = {weights.data(), 0};
    view.friction = {friction.data(), coefficients};
  }
  [[nodiscard]] carom::ProjectionBatchAnswers<double> answers(bool differentiate) {
    const Index rows = view.rows();
    carom::ProjectionBatchAnswers<double> answers;
    answers.nearest = {nearest.data(), rows};
    if (differentiate) answers.derivative = {derivative.data(), rows * rows};
    answers.faults = faults.data();
    return answers;
  }
};

/// ns: of a point in the batch; alone_ns: of nearest_impulse(), and impulse_curvature() where
/// derivatives are wanted; ratio: of the two.
void project(benchmark::State& state, ImpulseShape shape, bool differentiate) {
  Points points(shape);
  const int rows = points.view.rows(), coefficients = carom::friction_count(shape);
  double batch = 0, alone = 0, sum = 0;
  for (auto _ : state) {
    auto begin = Clock::now();
    project_batch(points.view, points.answers(differentiate));
    batch += seconds_since(begin);
    begin = Clock::now();
    for (Index i = 0; i < count; ++i) {
      Eigen::Vector3d friction = Eigen::Vector3d::Zero();
      for (int k = 0; k < coefficients; ++k) {
        friction(k) = points.friction[std::size_t(i * coefficients + k)];
      }
      const auto set = carom::cone_impulses<double>(shape, friction);
      carom::RowNumbers<double> y = carom::RowNumbers<double>::Zero();
      for (int r = 0; r < rows; ++r) y(r) = points.point[std::size_t(i * rows + r)];
      const carom::RowNumbers<double> r = carom::RowNumbers<double>::Constant(1.5);
      sum += nearest_impulse(set, r, y).sum();
      if (differentiate) sum += impulse_curvature(set, r, y)(0, 0);
    }
    alone += seconds_since(begin);
    benchmark::DoNotOptimize(sum);
  }
  const double points_seen = double(state.iterations()) * double(count);
  state.counters["ns"] = 1e9 * batch / points_seen;
  state.counters["alone_ns"] = 1e9 * alone / points_seen;
  state.counters["ratio"] = batch / alone;
}

BENCHMARK_CAPTURE(project, friction, ImpulseShape::friction, false);
BENCHMARK_CAPTURE(project, friction_derivative, ImpulseShape::friction, true);
BENCHMARK_CAPTURE(project, elliptic, ImpulseShape::elliptic, false);
BENCHMARK_CAPTURE(project, rolling, ImpulseShape::rolling, false);
BENCHMARK_CAPTURE(project, rolling_derivative, ImpulseShape::rolling, true);
BENCHMARK_CAPTURE(project, ellipsoidal_rolling, ImpulseShape::ellipsoidal_rolling, false);

}  // namespace
