// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/level_functions.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

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
