// SPDX-License-Identifier: BSD-3-Clause
#include "cli/quadratic_program.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace quadratic_program_test {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::cli::QuadraticProblem, carom::cli::QuadraticProgram, carom::cli::QuadraticStatus;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

template <typename Scalar>
QuadraticProblem<Scalar> random_problem(VectorSource<Scalar>& source, Index n, Index equalities,
                                        Index inequalities) {
  QuadraticProblem<Scalar> problem;
  problem.resize(n, equalities, inequalities);
  MatrixX<Scalar> root(n, n);
  for (Index c = 0; c < n; ++c) {
    problem.gradient(c) = source.entry(1);
    for (Index r = 0; r < n; ++r) root(r, c) = source.entry(1, 0.3);
  }
  problem.hessian = root * root.transpose() + MatrixX<Scalar>::Identity(n, n);
  const auto fill = [&](auto& normals, auto& offsets) {
    for (Index i = 0; i < offsets.size(); ++i) {
      offsets(i) = source.entry(1, 0.3);
      for (Index k = 0; k < n; ++k) normals(k, i) = source.entry(1, 0.3);
    }
  };
  fill(problem.equality_normals, problem.equality_offsets);
  fill(problem.inequality_normals, problem.inequality_offsets);
  return problem;
}

template <typename Scalar>
QuadraticProblem<double> in_double(const QuadraticProblem<Scalar>& p) {
  QuadraticProblem<double> q;
  q.resize(p.gradient.size(), p.equality_offsets.size(), p.inequality_offsets.size());
  q.hessian = p.hessian.template cast<double>();
  q.gradient = p.gradient.template cast<double>();
  q.equality_normals = p.equality_normals.template cast<double>();
  q.equality_offsets = p.equality_offsets.template cast<double>();
  q.inequality_normals = p.inequality_normals.template cast<double>();
  q.inequality_offsets = p.inequality_offsets.template cast<double>();
  return q;
}

/// The minimum by trying every active set, in double; nothing when no set gives a feasible point.

std::optional<VectorX<double>> enumerate(const QuadraticProblem<double>& p, double slack) {
  const Index n = p.gradient.size(), m = p.inequality_offsets.size();
  const Index e = p.equality_offsets.size();
  std::optional<VectorX<double>> best;
  double lowest = std::numeric_limits<double>::infinity();
  for (unsigned set = 0; set < (1u << m); ++set) {
    MatrixX<double> normals(n, e + m);
    VectorX<double> offsets(e + m);
    Index count = 0;
    for (Index i = 0; i < e; ++i) {
      normals.col(count) = p.equality_normals.col(i);
      offsets(count++) = p.equality_offsets(i);
    }
    for (Index i = 0; i < m; ++i) {
      if ((set >> i & 1u) == 0) continue;
      normals.col(count) = p.inequality_normals.col(i);
      offsets(count++) = p.inequality_offsets(i);
    }
    MatrixX<double> kkt = MatrixX<double>::Zero(n + count, n + count);
    VectorX<double> right(n + count);
    kkt.topLeftCorner(n, n) = p.hessian;
    kkt.topRightCorner(n, count) = normals.leftCols(count);
    kkt.bottomLeftCorner(count, n) = normals.leftCols(count).transpose();
    right << -p.gradient, -offsets.head(count);
    const Eigen::ColPivHouseholderQR<MatrixX<double>> qr(kkt);
    const VectorX<double> x = qr.solve(right).head(n);
    const VectorX<double> inside = p.inequality_normals.transpose() * x + p.inequality_offsets;
    const VectorX<double> on = p.equality_normals.transpose() * x + p.equality_offsets;
    if ((m > 0 && inside.minCoeff() < -slack) || (e > 0 && on.cwiseAbs().maxCoeff() > slack)) {
      continue;
    }
    const double cost = x.dot(p.hessian * x) / 2 + p.gradient.dot(x);
    if (cost < lowest) {
      lowest = cost;
      best = x;
    }
  }
  return best;
}

/// Optimality in four parts: stationary, feasible, signs, complementary.
template <typename Scalar>
void check_optimal(const QuadraticProblem<Scalar>& p, const QuadraticProgram<Scalar>& program,
                   const VectorX<Scalar>& x, int roundings) {
  const Index e = p.equality_offsets.size(), m = p.inequality_offsets.size();
  const VectorX<Scalar> u = program.multipliers();
  const VectorX<Scalar> gradient = p.hessian * x + p.gradient;
  const VectorX<Scalar> pull = p.equality_normals * u.head(e) + p.inequality_normals * u.tail(m);
  const Scalar reach = x.norm() + p.hessian.llt().solve(p.gradient).norm();
  const Scalar force = (p.hessian * x).norm() + p.gradient.norm() + pull.norm();
  CHECK((gradient - pull).norm() <= rounding(roundings, force));
  for (Index i = 0; i < e; ++i) {
    const Scalar scale = p.equality_normals.col(i).norm() * reach + std::abs(p.equality_offsets(i));
    CHECK(std::abs(p.equality_normals.col(i).dot(x) + p.equality_offsets(i)) <=
          rounding(roundings, scale));
  }
  for (Index i = 0; i < m; ++i) {
    const Scalar slack = p.inequality_normals.col(i).dot(x) + p.inequality_offsets(i);
    const Scalar scale =
        p.inequality_normals.col(i).norm() * reach + std::abs(p.inequality_offsets(i));
    CHECK(slack >= -rounding(roundings, scale));
    CHECK(u(e + i) >= Scalar(0));
    if (u(e + i) > Scalar(0)) CHECK(slack <= rounding(roundings, scale));
  }
}

QuadraticProblem<double> scaled(const QuadraticProblem<double>& p, double x, double cost,
                                double constraint) {
  QuadraticProblem<double> q = p;  // x → x·scale
  q.hessian *= cost / x / x;
  q.gradient *= cost / x;
  q.equality_normals *= constraint / x;
  q.inequality_normals *= constraint / x;
  q.equality_offsets *= constraint;
  q.inequality_offsets *= constraint;
  return q;
}

}  // namespace

TEMPLATE_TEST_CASE("quadratic_program: optimal or infeasible as every active set tried says",
                   "[cli][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(31u);
  QuadraticProgram<Scalar> program;
  int optimal = 0, infeasible = 0;
  for (int round = 0; round < 400; ++round) {
    const Index n = 1 + round % 4, e = round % 3 == 0 ? Index(round / 3 % 2) : 0;
    const Index m = (round / 4) % 7;
    const auto problem = random_problem(source, n, e, m);
    program.prepare(n, e, m);
    VectorX<Scalar> x(n);
    const QuadraticStatus status = program.solve(problem, x);
    const Scalar size = Scalar(1) + problem.gradient.norm();
    const auto expected = enumerate(in_double(problem), rounding(2000, double(size) * 10));
    CAPTURE(round, problem.hessian, problem.gradient, problem.inequality_normals,
            problem.inequality_offsets, x, to_string(status));
    if (expected) {
      REQUIRE(status == QuadraticStatus::optimal);
      CHECK((x.template cast<double>() - *expected).norm() <=
            double(rounding(4000, size + Scalar(expected->norm()))));
      check_optimal(problem, program, x, 4000);
      ++optimal;
    } else {
      CHECK(status == QuadraticStatus::infeasible);
      ++infeasible;
    }
  }
  CHECK(optimal > 100);
  CHECK(infeasible > 20);
}

TEST_CASE("quadratic_program: larger ones meet the conditions of optimality", "[cli][law]") {
  VectorSource<double> source(77u);
  QuadraticProgram<double> program;
  for (int round = 0; round < 40; ++round) {
    const Index n = 20, m = 50;
    auto problem = random_problem(source, n, 3, m);
    const VectorX<double> inside = VectorX<double>::Random(n);  // a point that meets all
    problem.equality_offsets = -problem.equality_normals.transpose() * inside;
    for (Index i = 0; i < m; ++i) {
      problem.inequality_offsets(i) =
          source.non_negative(2, 0.4) - problem.inequality_normals.col(i).dot(inside);
    }
    program.prepare(n, 3, m);
    VectorX<double> x(n);
    REQUIRE(program.solve(problem, x) == QuadraticStatus::optimal);
    check_optimal(problem, program, x, 20000);
  }
}

TEST_CASE("quadratic_program: scaling a problem scales its answer", "[cli][law]") {
  VectorSource<double> source(13u);
  QuadraticProgram<double> program;
  for (int round = 0; round < 60; ++round) {
    const Index n = 3, m = 5;
    const auto problem = random_problem(source, n, round % 2, m);
    program.prepare(n, round % 2, m);
    VectorX<double> x(n), y(n);
    const QuadraticStatus status = program.solve(problem, x);
    for (const double factor : {0x1p-60, 0x1p-20, 0x1p20, 0x1p60}) {  // 1e-18 .. 1e18
      for (const auto& other : {scaled(problem, factor, 1, 1), scaled(problem, 1, factor, 1),
                                scaled(problem, 1, 1, factor)}) {
        const bool moved = other.hessian(0, 0) != problem.hessian(0, 0) &&
                           other.inequality_offsets(0) == problem.inequality_offsets(0) &&
                           other.inequality_normals(0, 0) != problem.inequality_normals(0, 0);
        CAPTURE(round, factor, moved);
        CHECK(program.solve(other, y) == status);
        if (status != QuadraticStatus::optimal) continue;
        const double scale = y.norm() / x.norm();
        CHECK((y - scale * x).norm() <= rounding(2000, y.norm()));
      }
    }
  }
}

TEST_CASE("quadratic_program: dependent rows, repeated rows, rows of zeros", "[cli][example]") {
  QuadraticProgram<double> program;
  QuadraticProblem<double> p;
  p.resize(2, 2, 6);
  p.hessian.setIdentity();
  p.gradient << -3, -3;
  p.equality_normals << 1, 2, 1, 2;  // x + y = 2 twice
  p.equality_offsets << -2, -4;
  p.inequality_normals << 1, 2, 0, -1, 1, 0, 0, 0, 0, 0, 0, 1;
  p.inequality_offsets << -1.5, -3, 0, 1.5, -1, 5;  // x ≥ 1.5 twice, 0 ≥ 0, x ≤ 1.5, x ≥ 1
  program.prepare(2, 2, 6);
  VectorX<double> x(2);
  REQUIRE(program.solve(p, x) == QuadraticStatus::optimal);
  CHECK(std::abs(x(0) - 1.5) <= rounding(8, 1.0));
  CHECK(std::abs(x(1) - 0.5) <= rounding(8, 1.0));
  p.inequality_offsets(2) = -1;  // 0 ≥ 1
  CHECK(program.solve(p, x) == QuadraticStatus::infeasible);
  p.inequality_offsets(2) = 0;
  p.equality_offsets(1) = -5;  // x + y = 2 and 2.5
  CHECK(program.solve(p, x) == QuadraticStatus::infeasible);
}

TEST_CASE("quadratic_program: no minimum, no numbers", "[cli][example]") {
  QuadraticProgram<double> program;
  QuadraticProblem<double> p;
  p.resize(2, 0, 0);
  program.prepare(2, 0, 0);
  VectorX<double> x(2);
  p.gradient << 1, 1;
  p.hessian << 1, 1, 1, 1;  // unbounded below along (1, −1)
  CHECK(program.solve(p, x) == QuadraticStatus::not_convex);
  p.hessian << 1, 0, 0, -1;
  CHECK(program.solve(p, x) == QuadraticStatus::not_convex);
  p.hessian.setIdentity();
  CHECK(program.solve(p, x) == QuadraticStatus::optimal);
  CHECK((x + p.gradient).norm() == 0);
  CHECK(program.iterations() == 0);  // nothing was violated
  p.gradient(1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(program.solve(p, x) == QuadraticStatus::not_finite);
  CHECK(std::string(to_string(QuadraticStatus::optimal)) == "optimal");
  CHECK(std::string(to_string(QuadraticStatus::infeasible)) == "infeasible");
  CHECK(std::string(to_string(QuadraticStatus::not_convex)) == "not_convex");
  CHECK(std::string(to_string(QuadraticStatus::iteration_limit)) == "iteration_limit");
  CHECK(std::string(to_string(QuadraticStatus::not_finite)) == "not_finite");
  CHECK(std::string(to_string(static_cast<QuadraticStatus>(99))) == "unknown");
}

}  // namespace quadratic_program_test
