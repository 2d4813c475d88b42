// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/impulse_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/LU>

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace active_system_test {

using carom::DelassusProblem, carom::Index, carom::VectorX;
using carom::detail::ActiveSystem, carom::detail::ContactEquation;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualData;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// A problem, a system made for it, and the same system as a dense matrix.
template <typename Scalar>
struct Case {
  DelassusProblem<Scalar> problem;
  ActiveSystem<Scalar> system;
  std::vector<char> active;

  explicit Case(const DualData& data) : problem(assemble_dual<Scalar>(data)) {
    system.prepare(problem);
    active.assign(std::size_t(problem.count()), 1);
  }
  [[nodiscard]] Index size() const { return 3 * problem.part_count(); }

  /// Draws P and Q: Q near w, P of any size and not symmetric.
  void draw(VectorSource<double>& source) {
    for (Index i = 0; i < problem.count(); ++i) {
      ContactEquation<Scalar>& equation = system.equation(i);
      equation.active = active[std::size_t(i)] != 0;
      for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 2; ++b) {
          auto &p = equation.p.block[a][b], &q = equation.q.block[a][b];
          for (int c = 0; c < 3; ++c) {
            for (int r = 0; r < 3; ++r) {
              const bool diagonal = a == b && r == c;
              const Scalar own =
                  diagonal ? (equation.active ? problem.mean_diagonal() : Scalar(1)) : Scalar(0);
              p(r, c) = equation.active ? Scalar((diagonal ? 1.0 : 0.0) + source.unit() - 0.5)
                                        : Scalar(0);
              q(r, c) = equation.active ? own * Scalar(1 + 0.2 * source.unit()) : own;
            }
          }
        }
      }
    }
  }
  [[nodiscard]] Eigen::MatrixXd stiffness() const {  // W + R
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(size(), size());
    for (Index p = 0; p < problem.part_count(); ++p) {
      for (const auto* n = problem.begin(p); n != problem.end(p); ++n) {
        w.block<3, 3>(3 * p, 3 * n->part) += n->matrix.template cast<double>();
      }
      for (int r = 0; r < 3; ++r) w(3 * p + r, 3 * p + r) += double(problem.regularization(p)(r));
    }
    return w;
  }
  [[nodiscard]] Eigen::MatrixXd dense() {
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(size(), size()), q = p;
    for (Index i = 0; i < problem.count(); ++i) {
      const auto& equation = system.equation(i);
      const Index at = 3 * problem.first_part(i);
      for (int a = 0; a < problem.parts(i); ++a) {
        for (int b = 0; b < problem.parts(i); ++b) {
          p.block<3, 3>(at + 3 * a, at + 3 * b) = equation.p.block[a][b].template cast<double>();
          q.block<3, 3>(at + 3 * a, at + 3 * b) = equation.q.block[a][b].template cast<double>();
        }
      }
    }
    return p * stiffness() + q;
  }
  struct Answer {
    bool solved;
    Eigen::VectorXd x, moved;
  };
  [[nodiscard]] Answer solve(const Eigen::VectorXd& h) {
    const VectorX<Scalar> right = h.cast<Scalar>();
    // Numbers that were there before must not matter.
    VectorX<Scalar> x = VectorX<Scalar>::Constant(size(), Scalar(1e3)), moved = x;
    const bool solved = system.solve(problem, right.data(), x.data(), moved.data());
    return {solved, x.template cast<double>(), moved.template cast<double>()};
  }
  /// Draws, factors, solves, and compares with a dense solver.
  void compare(VectorSource<double>& source, WorstCase& near, WorstCase& moved, double loss) {
    draw(source);
    const Eigen::MatrixXd matrix = dense();
    const Eigen::PartialPivLU<Eigen::MatrixXd> lu(matrix);
    const double condition = matrix.norm() * lu.inverse().norm();
    near.see_holds(system.factor(problem));
    Eigen::VectorXd h(size());
    for (Index k = 0; k < size(); ++k) h(k) = 2 * source.unit() - 1;
    h = h.cast<Scalar>().template cast<double>().eval();
    const Answer answer = solve(h);
    const Eigen::VectorXd expected = lu.solve(h);
    near.see_holds(answer.solved);
    near.see((answer.x - expected).norm(), loss * condition * (1 + expected.norm()), condition,
             double(problem.count()));
    moved.see((answer.moved - stiffness() * answer.x).norm(),
              20 * loss * (1 + stiffness().norm() * answer.x.norm()));
  }
};

[[nodiscard]] DualData draw_data(VectorSource<double>& source, int round) {
  return draw_dual(source, {1 + round % 15, 3 + round % 3, 0.5, true, round % 2 == 0 ? 0.0 : 0.1});
}

}  // namespace

TEMPLATE_TEST_CASE("active_system: solves what a dense factorisation solves", "[solvers][oracle]",
                   float, double) {
  WorstCase near("solution"), moved("(W + R) x");
  VectorSource<double> source(61u);
  for (int round = 0; round < 60; ++round) {
    Case<TestType> all(draw_data(source, round));
    all.compare(source, near, moved,
                rounding(4, double(std::numeric_limits<TestType>::epsilon()) /
                                std::numeric_limits<double>::epsilon()));
  }
  near.check(100);
  moved.check(60);
}

TEST_CASE("active_system: contacts that come and go", "[solvers][oracle]") {
  WorstCase near("solution"), moved("(W + R) x");
  VectorSource<double> source(62u);
  for (int round = 0; round < 15; ++round) {
    Case<double> given(draw_data(source, round));
    // Many leave, few leave, none is left, all come back, one by one.
    for (const double share : {0.9, 0.7, 0.6, 0.1, 0.0, 0.5, 1.0, 0.95, 0.9, 0.3}) {
      for (char& active : given.active) active = source.unit() < share ? 1 : 0;
      given.compare(source, near, moved, rounding(20, 1.0));
    }
    std::fill(given.active.begin(), given.active.end(), char(0));
    for (char& active : given.active) {
      active = 1;
      given.compare(source, near, moved, rounding(20, 1.0));
    }
    for (char& active : given.active) {
      active = 0;
      given.compare(source, near, moved, rounding(20, 1.0));
    }
  }
  near.check(300);
  moved.check(150);
}

TEST_CASE("active_system: x of contacts that are not active is h, bit for bit", "[solvers][law]") {
  VectorSource<double> source(63u);
  for (int round = 0; round < 15; ++round) {
    Case<double> given(draw_data(source, round));
    std::fill(given.active.begin(), given.active.end(), char(0));
    given.draw(source);
    CHECK(given.system.factor(given.problem));
    const Eigen::VectorXd h = Eigen::VectorXd::LinSpaced(given.size(), -1, 2);
    const auto answer = given.solve(h);
    CHECK(answer.solved);
    for (Index k = 0; k < given.size(); ++k) {
      CHECK(answer.x(k) == h(k));
    }
  }
}

TEST_CASE("active_system: one solve after another, and a second problem", "[solvers][law]") {
  VectorSource<double> source(64u);
  Case<double> kept(draw_dual(source, {12, 3, 0.5, true, 0.1}));
  for (const int contacts : {4, 12, 1, 20, 0}) {
    Case<double> fresh(draw_dual(source, {contacts, 3, 0.5, true, 0.1}));
    kept.problem = fresh.problem;
    kept.active = fresh.active;
    kept.system.prepare(kept.problem);
    VectorSource<double> same(65u), twin(65u);
    kept.draw(same);
    fresh.draw(twin);
    CHECK(kept.system.factor(kept.problem));
    CHECK(fresh.system.factor(fresh.problem));
    const Eigen::VectorXd h = Eigen::VectorXd::LinSpaced(fresh.size(), -1, 1);
    const auto first = kept.solve(h), second = kept.solve(h), other = fresh.solve(h);
    CHECK(first.x == other.x);
    CHECK(second.x == first.x);
    CHECK(second.moved == first.moved);
  }
}

TEST_CASE("active_system: a poor factor is refined", "[solvers][oracle]") {
  // W is singular, and P not symmetric: pivots inside panels of three alone lose digits.
  VectorSource<double> source(66u);
  WorstCase residual("equations");
  for (int round = 0; round < 20; ++round) {
    Case<double> given(draw_dual(source, {10, 2, 0.5, false, 0.0}));
    given.draw(source);
    for (Index i = 0; i < given.problem.count(); ++i) {
      given.system.equation(i).q.block[0][0] *= 1e-6;  // nearly singular where W is
    }
    const Eigen::MatrixXd matrix = given.dense();
    const bool factored = given.system.factor(given.problem);
    CHECK(factored);
    if (!factored) continue;
    const Eigen::VectorXd h = Eigen::VectorXd::LinSpaced(given.size(), -1, 1);
    const auto answer = given.solve(h);
    CHECK(answer.solved);
    residual.see((matrix * answer.x - h).norm(),
                 rounding(5000, 1.0) * matrix.norm() * answer.x.norm(), answer.x.norm());
  }
  residual.check(20);
}

TEST_CASE("active_system: a singular system and NaN are reported", "[solvers][law]") {
  VectorSource<double> source(67u);
  for (int round = 0; round < 10; ++round) {
    Case<double> given(draw_dual(source, {1 + round, 3, 0.5, round % 2 == 0, 0.0}));
    given.draw(source);
    auto& equation = given.system.equation(given.problem.count() - 1);
    const auto kept = equation;
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        equation.p.block[a][b].row(2).setZero();
        equation.q.block[a][b].row(2).setZero();
      }
    }
    CHECK_FALSE(given.system.factor(given.problem));
    equation = kept;
    CHECK(given.system.factor(given.problem));
    equation.q.block[0][0](0, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(given.system.factor(given.problem));
    equation = kept;
    CHECK(given.system.factor(given.problem));
    Eigen::VectorXd h = Eigen::VectorXd::Ones(given.size());
    CHECK(given.solve(h).solved);
    h(given.size() - 1) = std::numeric_limits<double>::infinity();
    CHECK_FALSE(given.solve(h).solved);
    h.setOnes();
    CHECK(given.solve(h).solved);
  }
}

}  // namespace active_system_test
