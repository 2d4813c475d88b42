// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/coulomb_contact.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace coulomb_contact_test {

using carom::ConeRegion, carom::ContactOutcome, carom::CoulombGain, carom::CoulombInverseMass,
    carom::SquareMatrix, carom::Vector3;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

/// Positive definite with a condition number up to 10^decades and any scale.
template <typename Scalar>
SquareMatrix<Scalar, 3> random_metric(VectorSource<Scalar>& source, double decades, double scale) {
  SquareMatrix<double, 3> random;
  for (int k = 0; k < 9; ++k) random(k / 3, k % 3) = 2 * source.unit() - 1;
  const SquareMatrix<double, 3> q =
      Eigen::HouseholderQR<SquareMatrix<double, 3>>(random).householderQ();
  const double condition = std::pow(10.0, decades * source.unit());
  const Vector3<double> axes(1, std::pow(condition, -source.unit()), 1 / condition);
  const SquareMatrix<double, 3> w =
      q * (axes * double(source.positive(scale))).asDiagonal() * q.transpose();
  return ((w + w.transpose()) / 2).template cast<Scalar>();
}

/// How far γ and u = W γ + r are from Coulomb's law, relative to what W γ and r are made of.
template <typename Scalar>
Scalar law_residual(const ContactOutcome<Scalar>& contact, const Vector3<Scalar>& u,
                    const Scalar& mu, const Scalar& size) {
  const Vector3<Scalar>& impulse = contact.impulse;
  const Scalar tangent = impulse.template head<2>().norm();
  if (impulse(2) < Scalar(0)) return Scalar(1);
  Scalar residual = (u - contact.velocity).norm() / size;
  if (contact.region == ConeRegion::separate) {
    return impulse.norm() > Scalar(0) ? Scalar(1) : std::max(residual, Scalar(-u(2) / size));
  }
  if (contact.region == ConeRegion::stick) {
    return std::max(
        {residual, Scalar(u.norm() / size), Scalar((tangent - mu * impulse(2)) / impulse.norm())});
  }
  const Vector3<Scalar>& v = contact.velocity;
  const Scalar across = v(0) * impulse(1) - v(1) * impulse(0);
  const Scalar along = v(0) * impulse(0) + v(1) * impulse(1);
  if (along > rounding(8, v.norm() * tangent)) return Scalar(1);
  return std::max({residual, Scalar(std::abs(v(2)) / size),
                   Scalar(std::abs(across) / std::max(tangent * size, Scalar(1e-30f))),
                   Scalar(std::abs(tangent - mu * impulse(2)) / impulse.norm())});
}

}  // namespace

TEMPLATE_TEST_CASE("coulomb_contact: every block meets Coulomb's law", "[cones][law]", float,
                   double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<Scalar> source(1u);
  int regions[3] = {};
  const int rounds = carom::testing::sweep(4000, 20000);
  for (int round = 0; round < rounds; ++round) {
    const SquareMatrix<Scalar, 3> w = random_metric(source, single ? 3 : 8, single ? 4 : 12);
    const Scalar mu = source.unit() < 0.05 ? Scalar(0) : source.positive(6);
    const Vector3<Scalar> r = source.positive(single ? 4 : 12) *
                              Vector3<Scalar>(source.entry(1), source.entry(1), source.entry(1));
    if (r.isZero(0)) continue;
    const auto contact = CoulombInverseMass<Scalar>(w).solve(r, mu);
    const Scalar size = w.norm() * contact.impulse.norm() + r.norm();
    CAPTURE(round, w, r, mu, contact.impulse, contact.velocity, to_string(contact.region));
    CHECK(law_residual<Scalar>(contact, w * contact.impulse + r, mu, size) <=
          rounding(2000, Scalar(1)));
    // The same law, forces for velocities: λ = l + G w.
    const auto dual = CoulombGain<Scalar>(w).solve(r, mu);
    const Vector3<Scalar> force = r + w * dual.velocity;
    const Scalar force_size = w.norm() * dual.velocity.norm() + r.norm();
    CAPTURE(dual.impulse, dual.velocity, to_string(dual.region));
    CHECK((force - dual.impulse).norm() <= rounding(2000, force_size));
    if (dual.region == ConeRegion::stick) CHECK(dual.velocity.isZero(0));
    if (dual.region == ConeRegion::separate) CHECK(dual.velocity(2) >= 0);
    if (dual.region == ConeRegion::slide) {
      CHECK(dual.velocity(2) == 0);
      CHECK(std::abs(dual.impulse.template head<2>().norm() - mu * dual.impulse(2)) <=
            rounding(8, dual.impulse.norm()));
      const Scalar dot = dual.velocity(0) * dual.impulse(0) + dual.velocity(1) * dual.impulse(1);
      CHECK(dot <= 0);
    }
    ++regions[int(contact.region)];
  }
  for (const int count : regions) CHECK(count > rounds / 10);
}

TEST_CASE("coulomb_contact: a guess changes the work, not the answer", "[cones][law]") {
  VectorSource<double> source(4u);
  for (int round = 0; round < 500; ++round) {
    const auto w = random_metric(source, 2, 0);
    const Vector3<double> r(source.entry(1), source.entry(1), -source.positive(1));
    const CoulombInverseMass<double> block(w);
    const auto cold = block.solve(r, 0.3);
    if (cold.region != ConeRegion::slide) continue;
    for (const double factor : {1e-6, 0.5, 1.0, 3.0, 1e6}) {
      const auto warm = block.solve(r, 0.3, factor * cold.ratio);
      CAPTURE(w, r, factor);
      CHECK((warm.impulse - cold.impulse).norm() <= rounding(2000, cold.impulse.norm()));
    }
  }
}

TEST_CASE("coulomb_contact: closed forms of an isotropic block", "[cones][example]") {
  const CoulombInverseMass<double> block(SquareMatrix<double, 3>::Identity() * 0.5);
  const auto slide = block.solve({3, 4, -2}, 0.5);  // γₙ = 4, γₜ = 2 against (3, 4)/5
  CHECK(slide.region == ConeRegion::slide);
  CHECK((slide.impulse - Vector3<double>(-1.2, -1.6, 4)).norm() <= rounding(16, 5.0));
  CHECK((slide.velocity - Vector3<double>(2.4, 3.2, 0)).norm() <= rounding(16, 5.0));
  CHECK(block.solve({0.1, 0, -2}, 0.5).region == ConeRegion::stick);
  CHECK(block.solve({3, 4, 1}, 0.5).region == ConeRegion::separate);
  const auto smooth = block.solve({3, 4, -2}, 0);
  CHECK((smooth.impulse - Vector3<double>(0, 0, 4)).norm() <= rounding(4, 4.0));
  CHECK((smooth.velocity - Vector3<double>(3, 4, 0)).norm() <= rounding(4, 5.0));
  CHECK(block.solve({0, 0, 0}, 0.5).impulse.isZero(0));
}

TEST_CASE("coulomb_contact: 1e6 blocks", "[cones][slow][.]") {
  VectorSource<double> source(77u);
  double worst = 0;
  for (int round = 0; round < 1000000; ++round) {
    const auto w = random_metric(source, 8, 12);
    const Vector3<double> r =
        source.positive(12) * Vector3<double>(source.entry(1), source.entry(1), source.entry(1));
    const double mu = source.positive(6);
    const auto contact = CoulombInverseMass<double>(w).solve(r, mu);
    if (r.isZero(0)) continue;
    worst = std::max(worst, law_residual<double>(contact, w * contact.impulse + r, mu,
                                                 w.norm() * contact.impulse.norm() + r.norm()));
  }
  CAPTURE(worst);
  CHECK(worst <= rounding(5000, 1.0));
}

}  // namespace coulomb_contact_test
