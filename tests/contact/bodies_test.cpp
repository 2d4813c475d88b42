// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/bodies.hpp"

#include <array>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace bodies_test {

using carom::Bodies, carom::Index;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

TEST_CASE("bodies: they are numbered as they come, velocities stacked", "[contact][example]") {
  Bodies<double> bodies;
  CHECK(bodies.add_body(2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3)) == 0);
  CHECK(bodies.add_body(Eigen::Matrix<double, 1, 1>(4), Eigen::Matrix<double, 1, 1>(5)) == 1);
  CHECK(bodies.body_count() == 2);
  CHECK(bodies.velocity_count() == 4);
  CHECK(bodies.body(1).start == 3);
  CHECK(bodies.body(1).size == 1);
  CHECK(bodies.free_velocity() == Eigen::Vector4d(1, 2, 3, 5));
  CHECK(bodies.momentum_matrix(0) == 2 * Eigen::Matrix3d::Identity());
  CHECK(bodies.momentum_factor(1)(0, 0) == 2);
  CHECK(bodies.whitened_free_velocity()(3) == 10);
}

TEST_CASE("bodies: another free velocity has the bits of bodies that were added with it",
          "[contact][law]") {
  Eigen::Matrix3d mass;
  mass << 2, 0.3, 0.1, 0.3, 3, 0.2, 0.1, 0.2, 4;
  Bodies<double> changed, built;
  changed.add_body(mass, Eigen::Vector3d::Zero());
  changed.add_body(Eigen::Matrix<double, 1, 1>(4), Eigen::Matrix<double, 1, 1>(0));
  built.add_body(mass, Eigen::Vector3d(1, 2, 3));
  built.add_body(Eigen::Matrix<double, 1, 1>(4), Eigen::Matrix<double, 1, 1>(5));
  const std::array<double, 4> velocity{1, 2, 3, 5};
  changed.set_free_velocity(velocity);
  CHECK(changed.free_velocity() == built.free_velocity());
  CHECK(changed.whitened_free_velocity() == built.whitened_free_velocity());
}

TEMPLATE_TEST_CASE("bodies: whitened numbers go there and back, and keep energy and momentum",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(83u);
  WorstCase back("v"), energy("|w|^2 = v'Av"), momentum("p'v = (L^-1 p)'w");
  for (int sample = 0; sample < 40; ++sample) {
    Bodies<Scalar> bodies;
    for (const int size : {1, 3, 6}) {
      const Eigen::MatrixXd root = carom::testing::draw_matrix(source, size, size);
      const carom::MatrixX<Scalar> matrix =
          (root * root.transpose() + Eigen::MatrixXd::Identity(size, size)).cast<Scalar>();
      bodies.add_body(matrix, carom::VectorX<Scalar>::Ones(size));
    }
    const carom::VectorX<Scalar> v =
        carom::testing::draw_matrix(source, bodies.velocity_count(), 1).template cast<Scalar>();
    carom::VectorX<Scalar> w = v, p = carom::VectorX<Scalar>::Zero(v.size());
    Scalar twice_energy = 0;
    for (Index b = 0; b < bodies.body_count(); ++b) {
      const auto [start, size] = bodies.body(b);
      p.segment(start, size) = bodies.momentum_matrix(b) * v.segment(start, size);
      twice_energy += p.segment(start, size).dot(v.segment(start, size));
    }
    bodies.whiten(carom::as_span(w));
    energy.see(std::abs(w.squaredNorm() - twice_energy), rounding(100, twice_energy));
    bodies.whiten_momentum(carom::as_span(p));
    momentum.see(std::abs(p.dot(w) - twice_energy), rounding(300, twice_energy));
    bodies.unwhiten(carom::as_span(w));
    back.see((w - v).norm(), rounding(300, v.norm()));
  }
  for (const WorstCase* law : {&back, &energy, &momentum}) law->check(40);
}

TEST_CASE("bodies: one that is refused leaves the others as they were", "[contact][input]") {
  Bodies<double> bodies;
  bodies.add_body(Eigen::Matrix2d::Identity(), Eigen::Vector2d(1, 2));
  Eigen::Matrix2d indefinite;
  indefinite << 1, 3, 3, 1;
  CHECK(bodies.check_body(indefinite, Eigen::Vector2d::Zero()) ==
        "body 1: momentum matrix: expected a positive definite one, got an indefinite one");
  CHECK_THROWS_AS(bodies.add_body(indefinite, Eigen::Vector2d::Zero()), std::invalid_argument);
  CHECK(bodies.body_count() == 1);
  CHECK(bodies.velocity_count() == 2);
  CHECK(bodies.check_body(Eigen::Matrix2d::Identity(), Eigen::Vector2d::Zero()).empty());
}

}  // namespace bodies_test
