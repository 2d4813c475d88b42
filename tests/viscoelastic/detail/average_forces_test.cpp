// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/average_forces.hpp"

#include <Eigen/Dense>

#include "carom/linalg/detail/matrix_exponential.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/viscoelastic_cases.hpp"

namespace average_forces_test {

using carom::AverageForces, carom::ForceMethod, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::rounding, carom::testing::SpringCase, carom::testing::VectorSource;

namespace {

template <typename Scalar>
AverageForces<Scalar> make(const SpringCase<Scalar>& c) {
  AverageForces<Scalar> forces;
  forces.prepare(c.y.size() / 3, c.whitened.rows());
  REQUIRE(forces.set(c.whitened, c.stiffness, c.damping, c.time_step));
  return forces;
}

}  // namespace

TEST_CASE("average_forces: the method follows from the data", "[viscoelastic][example]") {
  VectorSource<double> source(2u);
  SpringCase<double> few(source, 3, 6, 0.01), many(source, 2, 9, 0.01);
  CHECK(make(few).method() == ForceMethod::coordinate_modes);
  CHECK(make(many).method() == ForceMethod::contact_modes);
  few.damping *= 1 + 4 * 2.2e-16;
  CHECK(make(few).method() == ForceMethod::coordinate_modes);
  few.damping(1) *= 1.01;
  CHECK(make(few).method() == ForceMethod::taylor);
  few.damping *= 1e6;
  CHECK(make(few).method() == ForceMethod::exponential);
}

TEST_CASE("average_forces: one step is 37 substeps", "[viscoelastic][law]") {
  // A linear mechanism: p = Jᵀ-images of its coordinates, all accelerations constant.
  VectorSource<double> source(3u);
  for (int round = 0; round < 12; ++round) {
    const Index n = 1 + round % 3, k = round % 2 == 0 ? 3 * n + 2 : 3 * n - 1;
    SpringCase<double> c(source, n, k, round % 4 == 0 ? 0 : 0.003);
    if (round % 3 == 2) c.damping(0) *= 2;  // no multiple of the stiffness
    VectorX<double> v(k), free(k);
    for (Index i = 0; i < k; ++i) v(i) = source.entry(1), free(i) = 10 * source.entry(1);
    const auto run = [&](int steps, VectorX<double>& q, VectorX<double>& velocity) {
      SpringCase<double> part = c;
      part.time_step = c.time_step / steps;
      AverageForces<double> forces = make(part);
      VectorX<double> a(3 * n), a2(3 * n);
      q = VectorX<double>::Zero(k);
      velocity = v;
      for (int s = 0; s < steps; ++s) {
        const double t = part.time_step;
        const VectorX<double> y = c.y + c.whitened.transpose() * q;
        const VectorX<double> rate = c.whitened.transpose() * velocity;
        const VectorX<double> acceleration = c.whitened.transpose() * free;
        REQUIRE(forces.evaluate(y, rate, acceleration, a, a2));
        q += t * (velocity + t / 2 * (free + c.whitened * a2));
        velocity += t * (free + c.whitened * a);
      }
    };
    VectorX<double> q1, v1, q37, v37;
    run(1, q1, v1);
    run(37, q37, v37);
    CAPTURE(round, n, k);
    const double speed = v.norm() + c.time_step * (free.norm() + c.force_size());
    CHECK((v1 - v37).norm() <= rounding(50, 1.0) * 10 * speed);
    CHECK((q1 - q37).norm() <= rounding(50, 1.0) * 10 * c.time_step * speed);
  }
}

TEST_CASE(
    "average_forces: G is the change of forces with the anchor's velocity, symmetric positive",
    "[viscoelastic][derivative]") {
  VectorSource<double> source(4u);
  for (int round = 0; round < 18; ++round) {
    const Index n = 1 + round % 3, k = round % 2 == 0 ? 3 * n + 2 : std::max<Index>(1, 3 * n - 4);
    SpringCase<double> c(source, n, k, 0.004);
    if (round % 3 == 2) c.damping(0) *= 2;
    AverageForces<double> forces = make(c);
    MatrixX<double> g(3 * n, 3 * n), g2(3 * n, 3 * n);
    REQUIRE(forces.write_gain(g));
    REQUIRE(forces.write_gain2(g2));
    MatrixX<double> both(g.rows(), g.cols()), both2(g.rows(), g.cols());
    REQUIRE(forces.write_gains(both, both2));
    CAPTURE(round, int(forces.method()));
    CHECK((both == g && both2 == g2));
    CHECK((g - g.transpose()).norm() == 0);
    CHECK(Eigen::SelfAdjointEigenSolver<MatrixX<double>>(g).eigenvalues()(0) > 0);
    // In the frame of an anchor that moves with w the points start with velocity −w.
    VectorX<double> a(3 * n), a2(3 * n), b(3 * n), b2(3 * n), column(3 * n), column2(3 * n);
    const VectorX<double> w = carom::testing::draw_matrix(source, 3 * n, 1);
    REQUIRE(forces.evaluate(c.y, c.rate, c.acceleration, a, a2));
    REQUIRE(forces.evaluate(c.y, VectorX<double>(c.rate - w), c.acceleration, b, b2));
    const double size = c.force_size() + (g * w).norm();
    CHECK((a + g * w - b).norm() <= rounding(2000, size));
    CHECK((a2 + g2 * w - b2).norm() <= rounding(2000, size));
    for (Index j = 0; j < 3 * n; ++j) {
      REQUIRE(forces.write_gain_column(j, column, column2));
      CHECK((column - g.col(j)).norm() <= rounding(1000, g.norm()));
      CHECK((column2 - g2.col(j)).norm() <= rounding(1000, g2.norm()));
    }
  }
}

TEST_CASE("average_forces: G is what a moving anchor leaves of the exponential",
          "[viscoelastic][oracle]") {
  // x' = A x, A = [[0, I], [-Upsilon K, -Upsilon B]]: Upsilon G t = I - (exp t A)_22.
  VectorSource<double> source(5u);
  for (int round = 0; round < 12; ++round) {
    const Index n = 1 + round % 3, rows = 3 * n;
    SpringCase<double> c(source, n, rows + 2, 0.003);
    if (round % 2 == 1) c.damping(0) *= 2;
    AverageForces<double> forces = make(c);
    MatrixX<double> g(rows, rows);
    REQUIRE(forces.write_gain(g));
    const MatrixX<double> inverse_mass = c.inverse_mass();
    MatrixX<double> a = MatrixX<double>::Zero(2 * rows, 2 * rows);
    a.topRightCorner(rows, rows).setIdentity();
    a.bottomLeftCorner(rows, rows) = -inverse_mass * c.stiffness.asDiagonal();
    a.bottomRightCorner(rows, rows) = -inverse_mass * c.damping.asDiagonal();
    carom::MatrixExponential<double> exponential;
    exponential.prepare(2 * rows);
    REQUIRE(exponential.evaluate(c.time_step * a));
    const MatrixX<double> left =
        MatrixX<double>::Identity(rows, rows) - exponential.result().bottomRightCorner(rows, rows);
    CAPTURE(round, n);
    CHECK((inverse_mass * g * c.time_step - left).norm() <=
          rounding(20'000, inverse_mass.norm() * g.norm() * c.time_step));
  }
}

}  // namespace average_forces_test
