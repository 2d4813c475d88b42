// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/nonnegative_least_squares.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace nonnegative_least_squares_test {

using carom::Index, carom::MatrixX, carom::NonnegativeLeastSquares, carom::SolveStatus;
using carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

struct Problem {
  MatrixX<double> gram;
  VectorX<double> linear;

  [[nodiscard]] double value(const VectorX<double>& x) const {
    return x.dot(gram * x) / 2 + linear.dot(x);
  }
};

/// Unit vectors in a space of the given dimension, and the rates of some momentum: a linear term in
/// the range of G, which is singular when the dimension is smaller than the count.
Problem draw_problem(VectorSource<double>& source, Index count, Index dimension,
                     double decades = 0) {
  MatrixX<double> normals(count, dimension);
  VectorX<double> p(dimension);
  for (Index i = 0; i < normals.size(); ++i) normals(i) = 2 * source.unit() - 1;
  for (double& entry : p) entry = 2 * source.unit() - 1;
  for (Index j = 0; j < dimension; ++j) {  // the more decades, the more alike
    normals.col(j) *= std::pow(10, -decades * double(j) / double(dimension));
  }
  for (Index i = 0; i < count; ++i) normals.row(i).normalize();
  return {normals * normals.transpose(), normals * p};
}

/// The least value over all sets of free variables whose minimiser is feasible.
double least_value(const Problem& problem) {
  const Index count = problem.linear.size();
  double least = 0;  // x = 0
  for (unsigned set = 1; set < 1U << count; ++set) {
    std::vector<Index> free;
    for (Index i = 0; i < count; ++i) {
      if (set >> i & 1U) free.push_back(i);
    }
    MatrixX<double> g(free.size(), free.size());
    VectorX<double> c(free.size());
    for (Index a = 0; a < c.size(); ++a) {
      c(a) = problem.linear(free[std::size_t(a)]);
      for (Index b = 0; b < c.size(); ++b) {
        g(a, b) = problem.gram(free[std::size_t(a)], free[std::size_t(b)]);
      }
    }
    const Eigen::LDLT<MatrixX<double>> ldlt(g);
    if (ldlt.vectorD().minCoeff() < 1e-9) continue;  // dependent: a smaller set does as well
    const VectorX<double> x = ldlt.solve(-c);
    if (x.minCoeff() < 0) continue;
    least = std::min(least, c.dot(x) / 2);
  }
  return least;
}

}  // namespace

TEST_CASE("nonnegative_least_squares: as good as the best of all sets of free variables",
          "[linalg][oracle]") {
  VectorSource<double> source(111u);
  WorstCase best("the least value"), kkt("stationary, feasible, complementary"),
      converged("status");
  NonnegativeLeastSquares<double> squares;
  squares.prepare(6);
  for (int round = 0; round < 500; ++round) {
    const Index count = 1 + round % 6, dimension = 1 + (round / 6) % 7;
    const Problem problem = draw_problem(source, count, dimension);
    VectorX<double> x(count);
    const auto report = squares.solve(problem.gram, problem.linear, x);
    const VectorX<double> gradient = problem.gram * x + problem.linear;
    const double allowed = rounding(400, 1 + x.norm());
    // Columns that depend on the free ones but for round-off may be tried in vain.
    converged.see_holds(report.status == SolveStatus::converged ||
                            (report.status == SolveStatus::no_progress && count > dimension),
                        problem.gram, problem.linear);
    converged.see(report.residual, 64 * report.residual_target, problem.gram, problem.linear);
    kkt.see_holds(x.minCoeff() >= 0, problem.gram, problem.linear);
    kkt.see(-gradient.minCoeff(), allowed, problem.gram, problem.linear);
    kkt.see(std::abs(gradient.dot(x)), allowed * (1 + x.norm()), problem.gram, problem.linear);
    best.see(std::abs(problem.value(x) - least_value(problem)), allowed * (1 + x.norm()),
             problem.gram, problem.linear);
  }
  best.check(500);
  kkt.check(1500);
  converged.check(1000);
}

TEST_CASE("nonnegative_least_squares: variables that may not move stay at zero",
          "[linalg][oracle]") {
  VectorSource<double> source(112u);
  WorstCase held("held at zero"), same("the others as without the held ones");
  NonnegativeLeastSquares<double> squares;
  squares.prepare(6);
  for (int round = 0; round < 100; ++round) {
    const Problem whole = draw_problem(source, 6, 8);
    std::vector<Index> moving;
    for (Index i = 0; i < 6; ++i) {
      if (source.unit() < 0.5) moving.push_back(i);
    }
    const auto may_move = [&](Index i) {
      return std::find(moving.begin(), moving.end(), i) != moving.end();
    };
    VectorX<double> x(6);
    CHECK(squares.solve(whole.gram, whole.linear, may_move, x).converged());
    const auto n = Index(moving.size());
    Problem part{MatrixX<double>(n, n), VectorX<double>(n)};
    for (Index a = 0; a < n; ++a) {
      part.linear(a) = whole.linear(moving[std::size_t(a)]);
      for (Index b = 0; b < n; ++b) {
        part.gram(a, b) = whole.gram(moving[std::size_t(a)], moving[std::size_t(b)]);
      }
    }
    VectorX<double> y(n);
    CHECK(squares.solve(part.gram, part.linear, y).converged());
    for (Index i = 0; i < 6; ++i) held.see_holds(may_move(i) || x(i) == 0, whole.linear);
    for (Index a = 0; a < n; ++a) {
      same.see(std::abs(x(moving[std::size_t(a)]) - y(a)), rounding(2000, 1 + y.norm()),
               whole.linear);
    }
  }
  held.check(600);
  same.check(200);
}

TEST_CASE("nonnegative_least_squares: scenes one can check by hand", "[linalg][example]") {
  NonnegativeLeastSquares<double> squares;
  squares.prepare(2);
  MatrixX<double> gram(2, 2);
  VectorX<double> x(2), linear(2);
  gram << 1, -0.5, -0.5, 1;
  linear << -1, 1;
  CHECK(squares.solve(gram, linear, x).iterations == 1);
  CHECK(x(0) == 1);
  CHECK(x(1) == 0);
  gram << 1, 0.5, 0.5, 1;
  linear << -1, -1;
  CHECK(squares.solve(gram, linear, x).converged());
  CHECK(x(0) == Approx(2.0 / 3));
  CHECK(x(1) == Approx(2.0 / 3));
  linear << 1, 0;
  CHECK(squares.solve(gram, linear, x).iterations == 0);
  CHECK(x.norm() == 0);
  MatrixX<double> twins(2, 2);
  twins << 1, 1, 1, 1;
  linear << -1, -1;
  const auto report = squares.solve(twins, linear, x);
  CHECK(report.converged());
  CHECK(x.sum() == 1);
  CHECK(report.residual <= report.residual_target);
}

TEST_CASE("nonnegative_least_squares: no variables, no work", "[linalg][example]") {
  NonnegativeLeastSquares<double> squares;
  squares.prepare(0);
  VectorX<double> x(0);
  CHECK(squares.solve(MatrixX<double>(0, 0), VectorX<double>(0), x).converged());
}

TEST_CASE("nonnegative_least_squares: memory for many serves few", "[linalg][law]") {
  VectorSource<double> source(113u);
  NonnegativeLeastSquares<double> large, exact;
  large.prepare(30);
  WorstCase same("the same answer");
  for (Index count = 1; count <= 12; ++count) {
    const Problem problem = draw_problem(source, count, 14);
    exact.prepare(count);
    VectorX<double> x(count), y(count);
    CHECK(large.solve(problem.gram, problem.linear, x).converged());
    CHECK(exact.solve(problem.gram, problem.linear, y).converged());
    same.see((x - y).norm(), rounding(100, 1 + x.norm()), problem.linear);
  }
  same.check(12);
}

TEST_CASE("nonnegative_least_squares: many variables, of which some leave and come back",
          "[linalg][law]") {
  VectorSource<double> source(114u);
  WorstCase kkt("stationary, feasible, complementary"), converged("status");
  NonnegativeLeastSquares<double> squares;
  squares.prepare(40);
  for (int round = 0; round < 400; ++round) {
    const Index count = 3 + round % 20;
    const Problem problem = draw_problem(source, count, count + 1, 3);
    VectorX<double> x(count);
    converged.see_holds(squares.solve(problem.gram, problem.linear, x).converged(), problem.linear);
    const VectorX<double> gradient = problem.gram * x + problem.linear;
    const double allowed = rounding(20000, 1 + x.norm());
    kkt.see_holds(x.minCoeff() >= 0, problem.linear);
    kkt.see(-gradient.minCoeff(), allowed, problem.linear);
    kkt.see(std::abs(gradient.dot(x)), allowed * (1 + x.norm()), problem.linear);
  }
  kkt.check(1200);
  converged.check(400);
}

}  // namespace nonnegative_least_squares_test
