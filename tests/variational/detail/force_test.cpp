// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/force.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

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
