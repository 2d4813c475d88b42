// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/second_order.hpp"

#include <cmath>
#include <unsupported/Eigen/AutoDiff>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include "carom/variational/detail/evaluators.hpp"

namespace {

using carom::Index, carom::LagrangianDerivatives, carom::LagrangianEvaluator, carom::VectorX;

/// Unit masses on unit rods in a chain, absolute angles.
template <int Links>
struct Chain {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return Links; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos, std::sin;
    T x(0.0), y(0.0), height(0.0), sum(0.0);
    for (Index i = 0; i < Links; ++i) {
      const T c = cos(q(i)), s = sin(q(i));
      x = x + v(i) * c;
      y = y + v(i) * s;
      height = height - c;
      sum = sum + 0.5 * (x * x + y * y) - 9.81 * height;
    }
    return sum;
  }
};

/// Value, gradient and Hessian as the stepper gets them.
template <int Links>
void own_numbers(benchmark::State& state) {
  const Chain<Links> chain;
  LagrangianEvaluator<Chain<Links>> evaluator;
  evaluator.prepare(chain);
  LagrangianDerivatives<double> out;
  out.resize(Links);
  const VectorX<double> q = VectorX<double>::Constant(Links, 0.3);
  VectorX<double> v = q;
  for (auto _ : state) {
    evaluator.write_curvature(chain, q, v, 0.0, out);
    benchmark::DoNotOptimize(out.by_qq.data());
  }
}
BENCHMARK_TEMPLATE(own_numbers, 1);
BENCHMARK_TEMPLATE(own_numbers, 2);
BENCHMARK_TEMPLATE(own_numbers, 5);
BENCHMARK_TEMPLATE(own_numbers, 10);

/// The same by Eigen's numbers nested in themselves, with sizes known at compile time.
template <int Links>
void eigen_numbers(benchmark::State& state) {
  constexpr int arguments = 2 * Links;
  using Inner = Eigen::AutoDiffScalar<Eigen::Matrix<double, arguments, 1>>;
  using Outer = Eigen::AutoDiffScalar<Eigen::Matrix<Inner, arguments, 1>>;
  const Chain<Links> chain;
  Eigen::Matrix<Outer, Links, 1> q, v;
  for (int i = 0; i < arguments; ++i) {
    Outer& x = i < Links ? q(i) : v(i - Links);
    x.value() = Inner(0.3, arguments, i);
    for (int k = 0; k < arguments; ++k) x.derivatives()(k) = Inner(k == i ? 1.0 : 0.0);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(q.data());
    benchmark::DoNotOptimize(v.data());
    benchmark::ClobberMemory();
    const Outer result = chain.lagrangian(q, v, Outer(0.0));
    benchmark::DoNotOptimize(result.derivatives()(0).derivatives().data());
  }
}
BENCHMARK_TEMPLATE(eigen_numbers, 1);
BENCHMARK_TEMPLATE(eigen_numbers, 2);
BENCHMARK_TEMPLATE(eigen_numbers, 5);
BENCHMARK_TEMPLATE(eigen_numbers, 10);

}  // namespace
