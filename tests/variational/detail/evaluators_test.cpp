// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/evaluators.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

namespace force_test {

using namespace carom::testing;
using carom::ForceEvaluator, carom::Index, carom::MatrixX, carom::VectorX;

namespace {

/// Three coordinates: f_i = q_{i+1}² − (i + 1) v_i + t.
struct Coupled {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 3; }
  template <typename Q, typename T>
  void force(const Q& q, const Q& v, const T& t, Q& out) const {
    for (Index i = 0; i < 3; ++i)
      out(i) = q((i + 1) % 3) * q((i + 1) % 3) - double(i + 1) * v(i) + t;
  }
};

/// A spring of the user's own derivatives.
struct Written {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  void write_force(const VectorX<double>& q, const VectorX<double>&, const double&,
                   VectorX<double>& f, MatrixX<double>& by_q,
                   MatrixX<double>& by_v) const noexcept {
    f(0) = -3 * q(0);
    by_q(0, 0) = -3;
    by_v(0, 0) = 0;
  }
};

}  // namespace

TEST_CASE("force: values and both derivatives", "[variational][derivative]") {
  ForceEvaluator<Coupled> force;
  const Coupled system;
  force.prepare(system);
  for (int twice = 0; twice < 2; ++twice) {
    force.evaluate(system, numbers<double>({1, 2, 3}), numbers<double>({4, 5, 6}), 0.5);
    CHECK((force.value - numbers<double>({0.5, -0.5, -16.5})).norm() == 0);
    MatrixX<double> by_q = MatrixX<double>::Zero(3, 3);
    by_q(0, 1) = 4, by_q(1, 2) = 6, by_q(2, 0) = 2;
    CHECK((force.by_q - by_q).norm() == 0);
    const MatrixX<double> by_v = numbers<double>({-1, -2, -3}).asDiagonal();
    CHECK((force.by_v - by_v).norm() == 0);
  }
}

TEST_CASE("force: written by the user, or absent", "[variational][example]") {
  ForceEvaluator<Written> force;
  const Written system;
  force.prepare(system);
  force.evaluate(system, numbers<double>({2}), numbers<double>({0}), 0);
  CHECK(force.value(0) == -6);
  CHECK(force.by_q(0, 0) == -3);
  CHECK(ForceEvaluator<Written>::present);
  CHECK_FALSE(ForceEvaluator<Pendulum<double>>::present);
}

}  // namespace force_test

namespace level_functions_test {

using namespace carom::testing;
using carom::Index, carom::LevelFunctions, carom::LevelKind, carom::MatrixX, carom::VectorX;

namespace {

/// Five coordinates; constraints q_0 q_4 − 1 and q_2², gap q_1 − q_3².
struct Levels {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 5; }
  [[nodiscard]] Index constraint_count() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q>
  void constraints(const Q& q, Q& out) const {
    out(0) = q(0) * q(4) - 1.0;
    out(1) = q(2) * q(2);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1) - q(3) * q(3);
  }
};

/// The gap alone, with the user's own gradient.
struct Written {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 1; }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const { out(0) = q(0) * q(1); }
  void write_gap_gradients(const VectorX<double>& q, MatrixX<double>& out) const {
    out << q(1), q(0);
  }
  void add_gap_curvature(const VectorX<double>&, const VectorX<double>& weights,
                         MatrixX<double>& out) const {
    out(0, 1) += weights(0);
    out(1, 0) += weights(0);
  }
};

}  // namespace

TEST_CASE("level_functions: values, gradients, curvature", "[variational][derivative]") {
  const Levels system;
  const VectorX<double> q = numbers<double>({2, 3, 4, 5, 6});
  LevelFunctions<Levels, LevelKind::constraints> constraints;
  constraints.prepare(system);
  constraints.write_values(system, q);
  CHECK((constraints.values - numbers<double>({11, 16})).norm() == 0);
  constraints.values.setZero();
  constraints.write_gradients(system, q);
  CHECK((constraints.values - numbers<double>({11, 16})).norm() == 0);
  MatrixX<double> expected = MatrixX<double>::Zero(2, 5);
  expected(0, 0) = 6, expected(0, 4) = 2, expected(1, 2) = 8;
  CHECK((constraints.gradients - expected).norm() == 0);
  const auto weights = numbers<double>({10, 100});
  MatrixX<double> curvature = MatrixX<double>::Identity(5, 5);
  constraints.add_curvature(system, q, weights, curvature);
  MatrixX<double> sum = MatrixX<double>::Identity(5, 5);
  sum(0, 4) = sum(4, 0) = 10, sum(2, 2) += 200;
  CHECK((curvature - sum).norm() == 0);

  LevelFunctions<Levels, LevelKind::gaps> gaps;
  gaps.prepare(system);
  gaps.write_gradients(system, q);
  CHECK(gaps.values(0) == -22);
  CHECK(gaps.gradients(0, 1) == 1);
  CHECK(gaps.gradients(0, 3) == -10);
}

TEST_CASE("level_functions: written by the user, or none", "[variational][example]") {
  const Written system;
  LevelFunctions<Written, LevelKind::gaps> gaps;
  gaps.prepare(system);
  gaps.write_gradients(system, numbers<double>({2, 3}));
  CHECK(gaps.values(0) == 6);
  CHECK(gaps.gradients(0, 0) == 3);
  MatrixX<double> curvature = MatrixX<double>::Zero(2, 2);
  gaps.add_curvature(system, numbers<double>({2, 3}), numbers<double>({7}), curvature);
  CHECK(curvature(0, 1) == 7);
  LevelFunctions<Written, LevelKind::constraints> none;
  none.prepare(system);
  none.write_gradients(system, numbers<double>({2, 3}));
  CHECK(none.values.size() == 0);
  CHECK_FALSE(decltype(none)::present);
}

}  // namespace level_functions_test
