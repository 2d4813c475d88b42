// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/lagrangian.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace lagrangian_test {

using namespace carom::testing;
using carom::LagrangianDerivatives, carom::LagrangianEvaluator, carom::VectorX;

TEMPLATE_TEST_CASE("lagrangian: differentiated and written parts agree", "[variational][oracle]",
                   float, double) {
  using Scalar = TestType;
  const DoublePendulum<Scalar> whole;
  const DoublePendulumByParts<Scalar> parts;
  LagrangianEvaluator<DoublePendulum<Scalar>> differentiated;
  LagrangianEvaluator<DoublePendulumByParts<Scalar>> written;
  differentiated.prepare(whole);
  written.prepare(parts);
  LagrangianDerivatives<Scalar> a, b, c;
  for (auto* d : {&a, &b, &c}) d->resize(2);
  for (int round = 0; round < 50; ++round) {
    const VectorX<Scalar> q = numbers<Scalar>({std::sin(1.0 * round), std::cos(2.0 * round)});
    const VectorX<Scalar> v = numbers<Scalar>({std::cos(3.0 * round), std::sin(5.0 * round)});
    differentiated.write_curvature(whole, q, v, Scalar(0), a);
    written.write_curvature(parts, q, v, Scalar(0), b);
    differentiated.write_gradient(whole, q, v, Scalar(0), c);
    const Scalar allowed = rounding(16, Scalar(6));
    CHECK(std::abs(a.value - b.value) <= allowed);
    CHECK((a.by_q - b.by_q).norm() <= allowed);
    CHECK((a.by_v - b.by_v).norm() <= allowed);
    CHECK((a.by_qq - b.by_qq).norm() <= allowed);
    CHECK((a.by_qv - b.by_qv).norm() <= allowed);
    CHECK((a.by_vv - b.by_vv).norm() <= allowed);
    CHECK(std::abs(a.value - c.value) <= allowed);  // but for fused multiply-adds the same
    CHECK((a.by_q - c.by_q).norm() <= allowed);
    CHECK((a.by_v - c.by_v).norm() <= allowed);
  }
}

namespace {

/// Six coordinates, so that derivatives need several runs; time enters.
struct Bilinear {
  using scalar_type = double;
  [[nodiscard]] carom::Index size() const { return 6; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T& t) const {
    T sum = 0.0;
    for (carom::Index i = 0; i < 6; ++i) {
      for (carom::Index j = 0; j < 6; ++j) {
        sum += double(1 + i + 10 * j) * (q(i) * v(j)) + double(i * j) * (q(i) * q(j)) +
               (i == j ? 0.5 : 0.0) * (v(i) * v(j));
      }
    }
    return sum * t;
  }
};

}  // namespace

TEST_CASE("lagrangian: every pair of arguments has its place", "[variational][law]") {
  LagrangianEvaluator<Bilinear> evaluator;
  const Bilinear system;
  evaluator.prepare(system);
  LagrangianDerivatives<double> out;
  out.resize(6);
  const VectorX<double> q = VectorX<double>::Ones(6), v = VectorX<double>::Zero(6);
  evaluator.write_curvature(system, q, v, 2.0, out);
  for (carom::Index i = 0; i < 6; ++i) {
    for (carom::Index j = 0; j < 6; ++j) {
      CAPTURE(i, j);
      CHECK(out.by_qv(i, j) == 2.0 * double(1 + i + 10 * j));
      CHECK(out.by_qq(i, j) == 4.0 * double(i * j));
      CHECK(out.by_vv(i, j) == (i == j ? 2.0 : 0.0));
    }
  }
  CHECK(out.value == 2.0 * 225);
}

}  // namespace lagrangian_test
