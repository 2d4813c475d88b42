// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/dual.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace dual_test {

using carom::ContactProblem, carom::Index, carom::MatrixX, carom::Vector3, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::draw_problem, carom::testing::draw_velocity, carom::testing::foot_on_cone;
using carom::testing::RawProblem, carom::testing::read_back, carom::testing::rounding,
    carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

using Long = long double;

}  // namespace

TEMPLATE_TEST_CASE("dual: cost, gradient, velocity and Delassus are those of the dense formulas",
                   "[contact][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(24601u);
  WorstCase velocities("velocity"), gradients("gradient"), costs("cost"), matrices("Delassus"),
      symmetric("Delassus is symmetric");
  const Long unit = rounding(300, Scalar(1));
  for (int sample = 0; sample < 60; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 2, 7, 30}});
    const auto problem = build<Scalar>(raw);
    const auto dense = assemble<Long>(read_back(problem));
    const VectorX<Scalar> gamma =
        convert_vector<Scalar>(carom::testing::draw_matrix(source, 3 * problem.block_count(), 1));
    const VectorX<Long> wide = convert_vector<Long>(gamma);
    VectorX<Scalar> velocity, gradient;
    write_velocity(problem, gamma, velocity);
    const VectorX<Long> expected = dense.velocity(wide);
    const Long speed =
        dense.energy_norm(expected) + dense.energy_norm(dense.free_velocity) +
        dense.momentum_norm(carom::testing::multiply_transposed(dense.jacobian, wide));
    velocities.see(dense.energy_norm(convert_vector<Long>(velocity) - expected), unit * speed);

    velocity.setConstant(Scalar(7));
    write_dual_gradient(problem, gamma, velocity, gradient);
    const VectorX<Long> slope = dense.conic_velocity(expected, wide);
    const MatrixX<Long> delassus = dense.delassus();
    const Long stiff = std::sqrt(delassus.trace());
    gradients.see((convert_vector<Long>(gradient) - slope).norm(),
                  unit * (stiff * speed + dense.bias.norm() + dense.weigh(wide).norm()));
    velocities.see(dense.energy_norm(convert_vector<Long>(velocity) - expected), unit * speed);

    velocity.setConstant(Scalar(7));
    const Scalar cost = dual_cost(problem, gamma, velocity);
    costs.see(std::abs(cost - dense.dual_cost(wide)),
              unit * (speed * speed + carom::testing::inner(wide, dense.weigh(wide)) +
                      wide.norm() * dense.bias.norm()));
    MatrixX<Scalar> matrix;
    write_delassus(problem, matrix);
    Long worst = 0;
    for (Index i = 0; i < matrix.rows(); ++i) {
      for (Index j = 0; j < matrix.cols(); ++j) {
        worst = std::max(worst, std::abs(matrix(i, j) - delassus(i, j)));
      }
    }
    matrices.see(worst, unit * delassus.trace());
    symmetric.see((matrix - matrix.transpose()).cwiseAbs().maxCoeff(),
                  rounding(20, matrix.cwiseAbs().maxCoeff()));
  }
  for (const WorstCase* law : {&velocities, &gradients, &costs, &matrices, &symmetric}) {
    law->check(60);
  }
}

TEST_CASE("dual: weak duality, for any velocity and any impulses in their cones",
          "[contact][law]") {
  VectorSource<double> source(4321u);
  WorstCase weak("l(v) + dual cost(gamma) >= 0");
  for (int sample = 0; sample < 300; ++sample) {
    const RawProblem raw = draw_problem(source, {});
    const auto problem = build(raw);
    const Eigen::VectorXd v = draw_velocity(source, raw), other = draw_velocity(source, raw);
    Eigen::VectorXd gamma, workspace;
    write_impulse(problem, other, gamma);  // in the cones, but not those of v
    const double primal = primal_cost(problem, v), dual = dual_cost(problem, gamma, workspace);
    weak.see_holds(primal + dual >= -rounding(300, primal + std::abs(dual)), v, other);
  }
  weak.check(300);
}

TEST_CASE("dual: one contact with a diagonal W is solved by one projection", "[contact][example]") {
  // A point mass: W = I/m. The solution is P of −(W + R)⁻¹ r in the metric W + R.
  VectorSource<double> source(9u);
  WorstCase optimal("dual gradient in the dual cone, across the impulse"), regions("regions");
  int stick = 0, slide = 0, separate = 0;
  for (int sample = 0; sample < 400; ++sample) {
    const double m = source.positive(4), mu = source.pick({0, 0.2, 1, 10});
    const double tangent = 1e-2 * source.positive(3) / m, normal = 1e-2 * source.positive(3) / m;
    ContactProblem<double> problem(0.01);
    const Eigen::Vector3d free(source.entry(2), source.entry(2), source.entry(2));
    const Eigen::Vector3d bias(source.entry(2), source.entry(2), source.entry(2));
    problem.add_body(m * Eigen::Matrix3d::Identity(), free);
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{mu, {tangent, normal}, bias});
    const Eigen::Vector3d load = free - bias;
    const Eigen::Vector3d inverse(-1 / (1 / m + tangent), -1 / (1 / m + tangent),
                                  -1 / (1 / m + normal));
    const Vector3<double> start = inverse.cwiseProduct(load);
    const Eigen::VectorXd gamma = foot_on_cone<double>(mu, 1 / m + tangent, 1 / m + normal, start);
    Eigen::VectorXd workspace, gradient;
    write_dual_gradient(problem, gamma, workspace, gradient);
    const double scale = load.norm() + free.norm() + bias.norm();
    optimal.see(std::max(0.0, mu * gradient.head<2>().norm() - gradient.z()),
                rounding(50, scale * (1 + mu) * (1 + mu)), m, mu, tangent, normal, load);
    optimal.see(std::abs(gradient.dot(gamma)), rounding(50, scale * (1 + mu) * gamma.norm()), m, mu,
                tangent, normal, load);
    // The velocity it leads to has this impulse as its inverse dynamics.
    Eigen::VectorXd again;
    write_impulse(problem, workspace, again);
    regions.see((again - gamma).norm(),
                rounding(100, (1 + mu) * (1 + mu) * scale / std::min(tangent, normal)), m, mu,
                tangent, normal, load);
    (gamma.isZero(0) ? separate : gamma == start ? stick : slide) += 1;
  }
  optimal.check(800);
  regions.check(400);
  CHECK(std::min({stick, slide, separate}) > 20);
}

TEST_CASE("dual: without contacts the velocity is free and the cost zero", "[contact][example]") {
  VectorSource<double> source(12u);
  const auto problem = build(draw_problem(source, {.contact_count = 0}));
  const Eigen::VectorXd none(0);
  Eigen::VectorXd velocity, gradient(5);
  CHECK(dual_cost(problem, none, velocity) == 0);
  CHECK(velocity == problem.free_velocity());
  write_dual_gradient(problem, none, velocity, gradient);
  CHECK(gradient.size() == 0);
  Eigen::MatrixXd delassus(4, 4);
  write_delassus(problem, delassus);
  CHECK(delassus.size() == 0);
}

}  // namespace dual_test
