// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/block_error.hpp"

#include <cmath>
#include <limits>

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace block_error_test {

using carom::FrictionLaw, carom::friction_impulses, carom::RowNumbers, carom::SquareMatrix;
using carom::Vector3;
using carom::detail::block_error, carom::detail::RowScales;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

/// Scales of one contact: velocities by a load, inverse masses by W.
template <typename Scalar>
RowScales<Scalar, 3> scales_of(const SquareMatrix<Scalar, 3>& w, const Vector3<Scalar>& load) {
  const Scalar slide = load.template head<2>().norm();
  return {{slide, slide, std::abs(load(2))}, w.diagonal()};
}
template <typename Scalar>
RowScales<Scalar, 6> six_rows(const RowScales<Scalar, 3>& three) {
  RowScales<Scalar, 6> six{RowNumbers<Scalar>::Zero(), RowNumbers<Scalar>::Zero()};
  six.velocity.template head<3>() = three.velocity;
  six.inverse_mass.template head<3>() = three.inverse_mass;
  return six;
}
template <typename Scalar>
RowNumbers<Scalar> six_rows(const Vector3<Scalar>& three) {
  RowNumbers<Scalar> six = RowNumbers<Scalar>::Zero();
  six.template head<3>() = three;
  return six;
}

}  // namespace

TEST_CASE("block_error: vanishes at solutions of one contact and nowhere else", "[contact][law]") {
  using Scalar = double;
  VectorSource<Scalar> source(37u);
  for (int round = 0; round < 400; ++round) {
    SquareMatrix<Scalar, 3> root;
    for (carom::Index c = 0; c < 3; ++c) root.col(c) = source.template vector<3>(1, 0);
    const SquareMatrix<Scalar, 3> w = root * root.transpose() + SquareMatrix<Scalar, 3>::Identity();
    const Vector3<Scalar> load = source.template vector<3>(1, 0);
    const Scalar mu = Scalar(source.unit()) + Scalar(0.01);
    const RowScales<Scalar, 3> scales = scales_of<Scalar>(w, load);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      const auto answer = law == FrictionLaw::coulomb
                              ? carom::CoulombInverseMass<Scalar>(w).solve(load, mu)
                              : carom::ConvexInverseMass<Scalar>(w).solve(load, mu);
      const Scalar whole = (load.norm() + w.norm() * answer.impulse.norm()) *
                           (1 / scales.velocity.minCoeff() + 1 / (mu * scales.velocity(0)));
      const auto error = block_error(law, mu, answer.impulse, answer.velocity, scales);
      CAPTURE(w, load, mu, to_string(law), answer.impulse, answer.velocity);
      CHECK(error.largest <= rounding(200, whole));
      CHECK(std::sqrt(error.squared) <= rounding(400, whole));
      // The general form says the same.
      const auto six = block_error(law, friction_impulses(mu), six_rows<Scalar>(answer.impulse),
                                   six_rows<Scalar>(answer.velocity), six_rows(scales));
      CHECK(std::abs(six.largest - error.largest) <= rounding(200, whole));
      for (const Vector3<Scalar>& aside :
           {Vector3<Scalar>(0, 0, 1), Vector3<Scalar>(1, 0, 0), Vector3<Scalar>(0, -1, 1)}) {
        const Vector3<Scalar> impulse = answer.impulse + load.norm() / w.norm() * aside;
        const Vector3<Scalar> velocity = w * impulse + load;
        CHECK(block_error(law, mu, impulse, velocity, scales).largest > rounding(200, whole));
      }
    }
  }
}

TEST_CASE("block_error: each region has its own error", "[contact][example]") {
  const RowScales<double, 3> scales{{2, 2, 0.5}, {4, 4, 4}};
  const double mu = 0.5;
  const auto error = [&](const Vector3<double>& impulse, const Vector3<double>& velocity) {
    return block_error(FrictionLaw::coulomb, mu, impulse, velocity, scales).largest;
  };
  const double few = rounding(8, 1.0);
  // Open: an impulse counts by the velocity that it gives, approach by its own speed.
  CHECK(error({0, 0, 0}, {1, 1, 1}) == 0);
  CHECK(std::abs(error({0, 0, 1e-3}, {0, 0, 1}) - 4e-3 / 0.5) <= few);
  CHECK(std::abs(error({0, 0, 0}, {0, 0, -1e-3}) - 1e-3 / 0.5) <= few);
  // Stuck under any load: a velocity counts by its direction's own scale.
  for (const double load : {1.0, 1e8}) {
    CHECK(error({0, 0, load}, {0, 0, 0}) == 0);
    CHECK(std::abs(error({0, 0, load}, {1e-3, 0, 0}) - 1e-3 / 2) <= few);
    CHECK(std::abs(error({0, 0, load}, {0, 0, 1e-3}) - 1e-3 / 0.5) <= few);
    // Sliding: friction counts by the load.
    CHECK(error({-0.5 * load, 0, load}, {1, 0, 0}) <= few);
    const double off = error({-0.5 * load * 0.99, 0, load}, {1, 0, 0});
    CHECK(std::abs(off - 0.01) <= few);
    CHECK(std::abs(error({0.5 * load, 0, load}, {1, 0, 0}) - 0.5) <= few);  // as if it stuck
  }
  // The convex law separates with μ times the slip.
  const auto convex = [&](const Vector3<double>& velocity) {
    return block_error(FrictionLaw::convex, mu, Vector3<double>(-0.5, 0, 1), velocity, scales)
        .largest;
  };
  CHECK(convex({1, 0, 0.5}) <= few);
  CHECK(std::abs(convex({1, 0, 0}) - 0.5 / 0.5) <= few);
}

TEST_CASE("block_error: friction that moves more than the normal counts by its velocity",
          "[contact][example]") {
  const RowScales<double, 3> scales{{1, 1, 1}, {1e5, 1e5, 1e-5}};
  const double few = rounding(8, 1.0);
  const auto error = [&](double friction, double load) {
    return block_error(FrictionLaw::coulomb, 0.5, Vector3<double>(friction, 0, load),
                       Vector3<double>(1, 0, 0), scales)
        .largest;
  };
  CHECK(error(-1e-6, 2e-6) <= few);
  CHECK(std::abs(error(1e-6, 2e-6) - 2e-6 * 1e5) <= few);  // along the slip, not against it
  CHECK(std::abs(error(0, 2e-6) - 1e-6 * 1e5) <= few);
  CHECK(std::abs(error(1e-4, 2e-4) - 1) <= few);  // as if it stuck, at the speed of its scale
}

TEST_CASE("block_error: without friction a tangential impulse counts by the velocity that it gives",
          "[contact][example]") {
  const RowScales<double, 6> scales = six_rows(RowScales<double, 3>{{2, 2, 0.5}, {4, 4, 4}});
  const auto error = [&](const Vector3<double>& impulse, const Vector3<double>& velocity) {
    return block_error(FrictionLaw::coulomb, friction_impulses(0.0), six_rows<double>(impulse),
                       six_rows<double>(velocity), scales)
        .largest;
  };
  CHECK(error({0, 0, 3}, {1, -2, 0}) == 0);  // it may slide
  CHECK(std::abs(error({1e-3, 0, 3}, {0, 0, 0}) - 4e-3 / 0.5) <= rounding(8, 1.0));
  CHECK(std::abs(error({0, -1e-3, 3}, {0, 0, 0}) - 4e-3 / 0.5) <= rounding(8, 1.0));
}

TEST_CASE("block_error: what is not finite, or has no scale, is infinitely far",
          "[contact][regression]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const RowScales<double, 3> scales{{1, 1, 1}, {1, 1, 1}}, none{{0, 0, 0}, {0, 0, 0}};
  for (const double broken : {std::nan(""), infinity, -infinity}) {
    for (int k = 0; k < 3; ++k) {
      Vector3<double> impulse(0, 0, 1), velocity(0, 0, 0);
      velocity(k) = broken;
      CHECK(block_error(FrictionLaw::coulomb, 0.5, impulse, velocity, scales).largest == infinity);
      impulse(k) = broken;
      velocity.setZero();
      CHECK(block_error(FrictionLaw::coulomb, 0.5, impulse, velocity, scales).largest == infinity);
    }
  }
  const Vector3<double> zero(0, 0, 0);
  CHECK(block_error(FrictionLaw::coulomb, 0.5, zero, zero, none).largest == 0);
  CHECK(block_error(FrictionLaw::coulomb, 0.5, zero, Vector3<double>(0, 0, -1), none).largest ==
        infinity);
  CHECK(block_error(FrictionLaw::coulomb, 0.5, zero, Vector3<double>(0, 0, 1), none).largest == 0);
}

TEST_CASE("block_error: rows between bounds", "[contact][example]") {
  auto set = carom::free_impulses<double>(1);
  set.lower(0) = -2;
  set.upper(0) = 3;
  RowScales<double, 6> scales{RowNumbers<double>::Constant(0.5), RowNumbers<double>::Constant(4)};
  const auto error = [&](double impulse, double velocity) {
    RowNumbers<double> gamma = RowNumbers<double>::Zero(), u = gamma;
    gamma(0) = impulse;
    u(0) = velocity;
    return block_error(FrictionLaw::coulomb, set, gamma, u, scales).largest;
  };
  const double few = rounding(8, 1.0);
  CHECK(error(1, 0) == 0);
  CHECK(std::abs(error(1, 1e-3) - 1e-3 / 0.5) <= few);
  CHECK(error(3, -1) <= few);  // at its bound it may move against it
  CHECK(error(-2, 1) <= few);
  CHECK(error(3, 1) > 1);
  scales.inverse_mass.setZero();  // nothing moves the row
  CHECK(error(3, -1) == 0);
  CHECK(std::abs(error(0, 1e-3) - 1e-3 / 0.5) <= few);
}

}  // namespace block_error_test
