// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/primal.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/dual.hpp"
#include "support/problem_laws.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace primal_test {

using carom::testing::by_differences;

using carom::ContactProblem, carom::Index, carom::MatrixX, carom::Vector3, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::DenseProblem, carom::testing::draw_problem, carom::testing::draw_velocity;
using carom::testing::Dual, carom::testing::RawProblem, carom::testing::read_back;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

using Long = long double;

/// Random problems with a velocity each: visit(problem, dense twin in long double, velocity).
template <typename Scalar, typename Visit>
void for_each_problem(int count, const Visit& visit) {
  VectorSource<double> source(8086u);
  for (int sample = 0; sample < count; ++sample) {
    const RawProblem raw = sample % 10 == 0
                               ? draw_problem(source, {.sizes = {6, 30, 1}, .contact_count = 9})
                               : draw_problem(source, {});
    const auto problem = build<Scalar>(raw);
    visit(problem, assemble<Long>(read_back(problem)),
          convert_vector<Scalar>(draw_velocity(source, raw)));
  }
}

/// The size of what cancels in ℓ and its gradient: momentum and impulses before any subtraction.
struct Scale {
  Long trial = 0;     ///< ‖R y‖ terms: (‖J v‖ + ‖v̂‖)/R per contact, as impulses
  Long momentum = 0;  ///< of A(v − v*) and Jᵀγ
  Long cost = 0;
};

Scale scale_of(const DenseProblem<Long>& dense, const VectorX<Long>& v) {
  Scale scale;
  const Long speed = v.norm() + dense.free_velocity.norm();
  for (Index i = 0; i < dense.weights.size(); ++i) {
    const Long row = dense.jacobian.row(i).norm();
    const Long weight = std::min(dense.weights(i / 3 * 3), dense.weights(i / 3 * 3 + 2));
    const Long impulse =
        (row * speed + std::abs(dense.bias(i))) / weight * (1 + dense.friction(i / 3));
    scale.trial += impulse;
    scale.momentum += row * impulse;
    scale.cost += dense.weights(i) * impulse * impulse;
  }
  scale.momentum += dense.momentum.norm() * speed;
  scale.cost += dense.momentum.norm() * speed * speed;
  return scale;
}

}  // namespace

TEMPLATE_TEST_CASE("primal: cost, gradient and impulses are those of the dense formulas",
                   "[contact][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase impulses("impulse"), velocities("contact velocity"), gradients("gradient"),
      costs("cost"), conic("conic cost"), conic_velocities("conic velocity");
  const Long unit = rounding(60, Scalar(1));
  for_each_problem<Scalar>(120, [&](const auto& problem, const auto& dense, const auto& v) {
    const VectorX<Long> wide = convert_vector<Long>(v);
    const Scale scale = scale_of(dense, wide);
    VectorX<Scalar> gamma, gradient;
    write_impulse(problem, v, gamma);
    write_gradient(problem, v, gradient);
    impulses.see((convert_vector<Long>(gamma) - dense.impulse(wide)).norm(), unit * scale.trial, v);
    gradients.see((convert_vector<Long>(gradient) - dense.gradient(wide)).norm(),
                  unit * scale.momentum, v);
    costs.see(std::abs(primal_cost(problem, v) - dense.cost(wide)), unit * scale.cost, v);

    const VectorX<Scalar> slack = gamma + VectorX<Scalar>::Ones(gamma.size());
    const VectorX<Long> wide_slack = convert_vector<Long>(slack);
    conic.see(std::abs(conic_cost(problem, v, slack) - dense.conic_cost(wide, wide_slack)),
              unit * (scale.cost + dense.weights.sum()), v);
    const VectorX<Long> u = dense.conic_velocity(wide, wide_slack);
    const VectorX<Long> contact = carom::testing::multiply(dense.jacobian, wide);
    for (Index i = 0; i < problem.block_count(); ++i) {
      const Vector3<Scalar> one = problem.friction_contact(i).velocity(v);
      const Vector3<Scalar> other =
          problem.friction_contact(i).slope(problem.friction_contact(i).velocity(v),
                                            Vector3<Scalar>(slack.template segment<3>(3 * i)));
      for (Index k = 0; k < 3; ++k) {
        const Index row = 3 * i + k;
        const Long size = dense.jacobian.row(row).norm() * wide.norm();
        velocities.see(std::abs(one(k) - contact(row)), unit * size, v);
        conic_velocities.see(std::abs(other(k) - u(row)),
                             unit * (size + std::abs(dense.bias(row)) +
                                     dense.weights(row) * std::abs(wide_slack(row))),
                             v);
      }
    }
  });
  for (const WorstCase* law :
       {&impulses, &velocities, &gradients, &costs, &conic, &conic_velocities}) {
    law->check(120);
  }
}

TEST_CASE("primal: the contact problem obeys the laws of its concept", "[contact][law]") {
  VectorSource<double> source(55u);
  for (int sample = 0; sample < 12; ++sample) {
    const RawProblem raw = draw_problem(source, {});
    const auto problem = build(raw);
    CAPTURE(sample);
    carom::testing::check_problem_laws(
        problem, [&](auto& numbers) { return draw_velocity(numbers, raw); }, 20);
  }
}

TEST_CASE("primal: the gradient is what automatic differentiation of the cost gives",
          "[contact][derivative]") {
  using Number = Dual<double, 9>;
  VectorSource<double> source(56u);
  WorstCase dense("of plain loops"), own("of ContactProblem<Dual>");
  for (int sample = 0; sample < 40; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 2}});
    const auto problem = build(raw);
    const Eigen::VectorXd v = draw_velocity(source, raw);
    VectorX<Number> variable(v.size());
    for (Index i = 0; i < v.size(); ++i) variable(i) = Number::variable(v(i), std::size_t(i));
    const Number cost = assemble<Number>(raw).cost(variable);
    const Number own_cost = primal_cost(build<Number>(raw), variable);
    Eigen::VectorXd gradient;
    write_gradient(problem, v, gradient);
    const Scale scale = scale_of(assemble<Long>(raw), convert_vector<Long>(v));
    const auto allowed = rounding(100, 1.0) * scale.momentum;
    for (Index i = 0; i < v.size(); ++i) {
      dense.see(std::abs(gradient(i) - cost.slope[std::size_t(i)]), allowed, v);
      own.see(std::abs(gradient(i) - own_cost.slope[std::size_t(i)]), allowed, v);
    }
  }
  dense.check(40 * 9);
  own.check(40 * 9);
}

TEST_CASE("primal: the Hessian is the gradient's derivative away from region boundaries",
          "[contact][derivative]") {
  WorstCase derivative("Hessian against differences of the gradient"), symmetric("symmetric");
  for_each_problem<double>(60, [&](const auto& problem, const auto& dense, const auto& v) {
    MatrixX<double> hessian;
    write_hessian(problem, v, hessian);
    symmetric.see((hessian - hessian.transpose()).cwiseAbs().maxCoeff(),
                  rounding(10, hessian.cwiseAbs().maxCoeff()), v);
    const VectorX<Long> wide = convert_vector<Long>(v);
    const Long step = 1e-7L * (1 + wide.norm());
    for (Index k = 0; k < v.size(); ++k) {
      VectorX<Long> ahead = wide, behind = wide;
      ahead(k) += step;
      behind(k) -= step;
      const VectorX<Long> g0 = dense.gradient(wide), g1 = dense.gradient(ahead),
                          g2 = dense.gradient(behind);
      // Near a boundary the two one-sided slopes differ; there the Hessian is only one of many.
      const Long bend = (g1 - 2 * g0 + g2).norm(), rise = (g1 - g2).norm();
      if (bend > 1e-5L * rise) continue;
      const VectorX<Long> slope = (g1 - g2) / (2 * step);
      derivative.see((slope - convert_vector<Long>(hessian.col(k))).norm(),
                     by_differences(1e-5L) * convert_vector<Long>(hessian.col(k)).norm() +
                         by_differences(1e-9L) * hessian.norm(),
                     v, double(k));
    }
  });
  derivative.check(600);
  symmetric.check(60);
}

TEST_CASE("primal: without contacts the cost is kinetic and its lowest point the free velocity",
          "[contact][example]") {
  VectorSource<double> source(92u);
  const RawProblem raw = draw_problem(source, {.contact_count = 0});
  const auto problem = build(raw);
  const Eigen::VectorXd free = problem.free_velocity();
  Eigen::VectorXd gradient, impulse;
  write_gradient(problem, free, gradient);
  write_impulse(problem, free, impulse);
  CHECK(primal_cost(problem, free) == 0);
  CHECK(gradient.isZero(0));
  CHECK(impulse.size() == 0);
}

TEST_CASE("primal: an empty problem has cost zero", "[contact][example]") {
  const ContactProblem<double> problem(0.01);
  const Eigen::VectorXd none(0);
  Eigen::VectorXd gradient(3), impulse(3);
  Eigen::MatrixXd hessian(2, 2);
  write_gradient(problem, none, gradient);
  write_impulse(problem, none, impulse);
  write_hessian(problem, none, hessian);
  CHECK(primal_cost(problem, none) == 0);
  CHECK(gradient.size() == 0);
  CHECK(impulse.size() == 0);
  CHECK(hessian.size() == 0);
}

TEST_CASE("primal: a ball pressed into the ground, by hand", "[contact][example]") {
  // m = 2, R = (0.5, 0.5, 0.25), μ = 0.5, v = v* = (1, 0, −1), v̂ = 0: y = (−2, 0, 4) sticks on the
  // surface; at (3, 0, −1) y = (−6, 0, 4): γₙ = (0.25·4 + 0.5·0.5·6)/(0.25 + 0.25·0.5) = 20/3.
  ContactProblem<double> problem(0.01);
  problem.add_body(2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.5, {0.5, 0.25}, Eigen::Vector3d::Zero()});
  Eigen::VectorXd v = Eigen::Vector3d(1, 0, -1), gamma, gradient;
  write_impulse(problem, v, gamma);
  CHECK(gamma.isApprox(Eigen::Vector3d(-2, 0, 4)));
  CHECK(primal_cost(problem, v) == Approx(0.5 * (0.5 * 4 + 0.25 * 16)));
  write_gradient(problem, v, gradient);
  CHECK(gradient.isApprox(Eigen::Vector3d(2, 0, -4)));

  v = Eigen::Vector3d(3, 0, -1);
  write_impulse(problem, v, gamma);
  CHECK(gamma.isApprox(Eigen::Vector3d(-10.0 / 3, 0, 20.0 / 3)));
  CHECK(primal_cost(problem, v) ==
        Approx(4 + 0.5 * (0.5 * 100 / 9 + 0.25 * 400 / 9)).epsilon(rounding(50, 1.0)));
  CHECK(problem.friction_contact(0)
            .trial(Vector3<double>(3, 0, -1))
            .isApprox(Eigen::Vector3d(-6, 0, 4)));
  CHECK(problem.friction_contact(0).impulse(v).isApprox(gamma));
  CHECK(regularization_cost(problem, gamma) ==
        Approx(0.5 * (0.5 * 100 / 9 + 0.25 * 400 / 9)).epsilon(rounding(50, 1.0)));
  CHECK(momentum_cost(problem, v) == Approx(4));

  v = Eigen::Vector3d(0, 0, 1);
  write_impulse(problem, v, gamma);
  CHECK(gamma.isZero(0));
  CHECK(problem.friction_contact(0)
            .slope(problem.friction_contact(0).velocity(v), Vector3<double>(1, 2, 4))
            .isApprox(Eigen::Vector3d(0.5, 1, 2)));
}

}  // namespace primal_test
