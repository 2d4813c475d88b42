// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/slip_error.hpp"

#include <cmath>
#include <limits>

#include "carom/cones/coulomb_contact.hpp"

#include "support/catch.hpp"
#include "support/cone_cases.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace slip_error_test {

using carom::testing::clearly;

using carom::ConeRegion, carom::CoulombGain, carom::Index, carom::MatrixX, carom::slip_error,
    carom::slip_gap, carom::SquareMatrix, carom::Vector3, carom::VectorX;
using carom::testing::read_cone_cases, carom::testing::rounding, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("slip_error: vanishes at answers of one contact, nowhere near them",
                   "[viscoelastic][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(81u);
  int seen[3] = {};
  for (int round = 0; round < 300; ++round) {
    SquareMatrix<Scalar, 3> root;
    for (Index c = 0; c < 3; ++c) root.col(c) = source.template vector<3>(1, 0);
    const SquareMatrix<Scalar, 3> gain =
        root * root.transpose() + SquareMatrix<Scalar, 3>::Identity();
    const Vector3<Scalar> held = 10 * source.template vector<3>(1, 0);
    const Scalar friction = Scalar(source.unit());
    const auto answer = CoulombGain<Scalar>(gain).solve(held, friction);
    const Scalar size = gain.trace() / 3;
    const auto gap = slip_gap(answer.impulse, answer.velocity, friction, size);
    const Scalar scale = held.norm() + gain.norm() * answer.velocity.norm();
    CAPTURE(gain, held, friction);
    CHECK(gap.gap.norm() <= rounding(60, scale));
    if (friction * answer.impulse(2) > Scalar(1e-3) * scale) CHECK(gap.region == answer.region);
    ++seen[int(answer.region)];
    const Vector3<Scalar> aside = answer.velocity + Vector3<Scalar>(1, -1, 1) * (scale / size / 9);
    VectorX<Scalar> force(3);
    const MatrixX<Scalar> whole = gain;
    const VectorX<Scalar> mu = VectorX<Scalar>::Constant(1, friction), load = held, w = aside;
    CHECK(slip_error(whole, load, mu, w, force) > clearly(Scalar(1e-3)));
    CHECK((force - held - gain * aside).norm() <= rounding(20, scale));
  }
  for (const int count : seen) CHECK(count > 10);
}

TEST_CASE("slip_error: known forces of contacts that act on each other", "[viscoelastic][golden]") {
  for (const auto& c : read_cone_cases()) {
    VectorX<double> force(c.average.size());
    const VectorX<double> still = VectorX<double>::Zero(c.average.size());
    CAPTURE(c.average);
    CHECK(slip_error(c.gain, c.average, c.frictions(), c.coulomb.velocity, force) <=
          rounding(5000, 1.0));
    if (c.convex.velocity == c.coulomb.velocity) continue;
    CHECK(slip_error(c.gain, c.average, c.frictions(), c.convex.velocity, force) > clearly(1e-3));
    CHECK(slip_error(c.gain, c.average, c.frictions(), still, force) > clearly(1e-3));
  }
}

TEST_CASE("slip_error: it does not depend on units", "[viscoelastic][law]") {
  for (const auto& c : read_cone_cases()) {
    VectorX<double> force(c.average.size());
    const VectorX<double> w = 1.1 * c.coulomb.velocity;
    const double error = slip_error(c.gain, c.average, c.frictions(), w, force);
    for (const double factor : {1e-12, 1e12}) {
      const MatrixX<double> gain = factor * c.gain;
      const VectorX<double> average = factor * c.average;
      CHECK(std::abs(slip_error(gain, average, c.frictions(), w, force) - error) <=
            rounding(2000, error + 1));
    }
  }
}

TEST_CASE("slip_error: problems of no contact, of zeros, and of NaN", "[viscoelastic][example]") {
  VectorX<double> force(0), none(0);
  CHECK(slip_error(MatrixX<double>(0, 0), none, none, none, force) == 0);
  const MatrixX<double> gain = MatrixX<double>::Identity(3, 3);
  VectorX<double> average = VectorX<double>::Zero(3), w = VectorX<double>::Zero(3);
  const VectorX<double> friction = VectorX<double>::Zero(1);
  force.resize(3);
  CHECK(slip_error(gain, average, friction, w, force) == 0);
  w(1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isinf(slip_error(gain, average, friction, w, force)));
  w(1) = std::numeric_limits<double>::infinity();
  CHECK(std::isinf(slip_error(gain, average, friction, w, force)));
}

}  // namespace slip_error_test
