// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Every dense header of linalg beside what does the same in Eigen: time and allocations per call
/// on the same numbers, with memory that has grown to size. own_algebra_table.py turns its results
/// and those of sparse_algebra_bench.cpp into the table in include/carom/linalg/README.md.
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <benchmark/benchmark.h>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/linalg/detail/matrix_exponential.hpp"
#include "carom/linalg/detail/second_order.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

#include "linalg/side_by_side.hpp"

// These need Eigen/Core before them.
// clang-format off
#include <unsupported/Eigen/AutoDiff>
#include <unsupported/Eigen/MatrixFunctions>
// clang-format on

std::size_t carom::benchmarks::allocation_count = 0;

#ifdef __GLIBC__
// The C library's own name of its function, which the program's takes the place of.
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
  ++carom::benchmarks::allocation_count;
  return __libc_malloc(size);
}
#endif

namespace {

using carom::Index;
using carom::benchmarks::add_pair;
using carom::benchmarks::measure;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(Index n) {
  srand(1);
  return MatrixXd::Random(n, n);
}
MatrixXd definite_matrix(Index n) {
  const MatrixXd root = random_matrix(n);
  return root * root.transpose() + double(n) * MatrixXd::Identity(n, n);
}
Index size_of(const benchmark::State& state) {
  return Index(state.range(0));
}

// --- dense factorisations: factor and solve for one right-hand side ---

void cholesky_ours(benchmark::State& state) {
  const Index n = size_of(state);
  const MatrixXd given = definite_matrix(n);
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  MatrixXd a = given;
  VectorXd x = b;
  measure(state, [&] {
    a = given;
    x = b;
    benchmark::DoNotOptimize(carom::factor_cholesky(a.data(), n, n));
    carom::solve_lower(a.data(), n, n, x.data());
    carom::solve_lower_transposed(a.data(), n, n, x.data());
  });
}
void cholesky_eigen(benchmark::State& state) {
  const Index n = size_of(state);
  const MatrixXd given = definite_matrix(n);
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  Eigen::LLT<MatrixXd> factor(n);
  VectorXd x = b;
  measure(state, [&] {
    factor.compute(given);
    x = b;
    factor.solveInPlace(x);
  });
}

void lu_ours(benchmark::State& state) {
  const Index n = size_of(state);
  const MatrixXd given = random_matrix(n);
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  carom::LuFactor<double> factor;
  factor.prepare(n);
  VectorXd x = b;
  measure(state, [&] {
    benchmark::DoNotOptimize(factor.factor(given));
    x = b;
    factor.solve(x);
  });
}
void lu_eigen(benchmark::State& state) {
  const Index n = size_of(state);
  const MatrixXd given = random_matrix(n);
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  Eigen::PartialPivLU<MatrixXd> factor(n);
  VectorXd x = b;
  measure(state, [&] {
    factor.compute(given);
    x.noalias() = factor.solve(b);
  });
}

using Six = Eigen::Matrix<double, 6, 6>;

void inverse_ours(benchmark::State& state) {
  const Six given = random_matrix(6);
  double inverse[6][6];
  measure(state, [&] {
    benchmark::DoNotOptimize(given.data());
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) inverse[c][r] = given(r, c);
    }
    benchmark::DoNotOptimize(carom::detail::invert_corner<6>(inverse));
  });
}
void inverse_eigen(benchmark::State& state) {
  const Six given = random_matrix(6);
  Six inverse;
  measure(state, [&] {
    benchmark::DoNotOptimize(given.data());
    inverse = given.inverse();
    benchmark::DoNotOptimize(inverse.data());
  });
}

// --- functions of dense matrices ---

void symmetric_eigen_ours(benchmark::State& state) {
  const MatrixXd given = definite_matrix(size_of(state));
  carom::SymmetricEigen<double> eigen;
  eigen.prepare(given.rows());
  measure(state, [&] {
    eigen.matrix() = given;
    benchmark::DoNotOptimize(eigen.solve());
  });
}
void symmetric_eigen_eigen(benchmark::State& state) {
  const MatrixXd given = definite_matrix(size_of(state));
  Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(given.rows());
  measure(state, [&] { eigen.compute(given); });
}

void matrix_exponential_ours(benchmark::State& state) {
  const MatrixXd given = 3 * random_matrix(size_of(state));
  carom::MatrixExponential<double> exponential;
  exponential.prepare(given.rows());
  measure(state, [&] { benchmark::DoNotOptimize(exponential.evaluate(given)); });
}
void matrix_exponential_eigen(benchmark::State& state) {
  const MatrixXd given = 3 * random_matrix(size_of(state));
  MatrixXd result = given;
  measure(state, [&] { result = given.exp(); });
}

void exponential_action_ours(benchmark::State& state) {
  const Index n = size_of(state);
  const MatrixXd given = random_matrix(n) / double(n);
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  const double norm = given.cwiseAbs().colwise().sum().maxCoeff();
  carom::ExponentialAction<double> action;
  action.prepare(n);
  VectorXd x = b;
  measure(state, [&] {
    x = b;
    action.apply([&](const auto& v, auto& out) { out.noalias() = given * v; }, norm, x);
  });
}
void exponential_action_eigen(benchmark::State& state) {
  const Index n = size_of(state);
  const MatrixXd given = random_matrix(n) / double(n);
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  VectorXd x = b;
  measure(state, [&] { x = given.exp() * b; });
}

/// A size that falls and rises again, as that of a body's contacts does.
void growing_ours(benchmark::State& state) {
  carom::Growing<MatrixXd> matrix;
  const Index n = size_of(state);
  measure(state, [&] {
    for (const Index size : {n, n / 2, n - 1, n}) {
      matrix.grow(size, size);
      matrix(0, 0) = 1;
    }
  });
}
void growing_eigen(benchmark::State& state) {
  MatrixXd matrix;
  const Index n = size_of(state);
  measure(state, [&] {
    for (const Index size : {n, n / 2, n - 1, n}) {
      matrix.resize(size, size);
      matrix(0, 0) = 1;
    }
  });
}

/// Hessian of a function of four variables.
template <typename T>
T sample(const T (&x)[4]) {
  using std::cos, std::sin, std::sqrt;
  const T a = sin(x[0]) * x[1] + cos(x[2]) * x[3], b = x[0] * x[2] - x[1] * x[3];
  return a * b + sqrt(T(3.0) + a * a) * sin(b);
}
void second_order_ours(benchmark::State& state) {
  using Number = carom::SecondOrder<double>;
  Number x[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = Number(0.3 + 0.1 * i);
    x[i].outer(i) = x[i].inner(i) = 1;
  }
  measure(state, [&] {
    benchmark::DoNotOptimize(&x[0]);
    const Number result = sample(x);
    benchmark::DoNotOptimize(&result);
  });
}
void second_order_eigen(benchmark::State& state) {
  using Inner = Eigen::AutoDiffScalar<Eigen::Vector4d>;
  using Outer = Eigen::AutoDiffScalar<Eigen::Matrix<Inner, 4, 1>>;
  Outer x[4];
  for (int i = 0; i < 4; ++i) {
    x[i].value() = Inner(0.3 + 0.1 * i, 4, i);
    x[i].derivatives().resize(4);
    for (int k = 0; k < 4; ++k) x[i].derivatives()(k) = Inner(k == i ? 1.0 : 0.0);
  }
  measure(state, [&] {
    benchmark::DoNotOptimize(&x[0]);
    const Outer result = sample(x);
    benchmark::DoNotOptimize(&result);
  });
}

const bool added = [] {
  add_pair("cholesky", cholesky_ours, cholesky_eigen, 6, 24, 96);
  add_pair("lu", lu_ours, lu_eigen, 6, 24, 96);
  add_pair("lu_inverse", inverse_ours, inverse_eigen, 6);
  add_pair("symmetric_eigen", symmetric_eigen_ours, symmetric_eigen_eigen, 6, 24, 96);
  add_pair("matrix_exponential", matrix_exponential_ours, matrix_exponential_eigen, 15, 51);
  add_pair("exponential_action", exponential_action_ours, exponential_action_eigen, 15, 51);
  add_pair("growing", growing_ours, growing_eigen, 24);
  add_pair("second_order", second_order_ours, second_order_eigen, 4);
  return true;
}();

}  // namespace
