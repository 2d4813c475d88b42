// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/dual_oracle.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

using carom::Certificate, carom::certify, carom::ContactProblem, carom::Index, carom::MatrixX;
using carom::Vector3, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::DenseProblem, carom::testing::draw_matrix, carom::testing::draw_problem;
using carom::testing::draw_velocity, carom::testing::foot_on_cone, carom::testing::multiply;
using carom::testing::multiply_transposed, carom::testing::RawProblem, carom::testing::rounding;
using carom::testing::solve_by_dual_oracle, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

using Long = long double;

/// Impulses partly in their cones, partly not, on no relation to any velocity.
Eigen::VectorXd draw_impulse(VectorSource<double>& source, const RawProblem& raw) {
  Eigen::VectorXd impulse =
      draw_matrix(source, Index(3 * raw.contacts.size()), 1) * source.pick({0, 0.1, 1, 10});
  if (source.unit() < 0.5) {
    for (std::size_t i = 0; i < raw.contacts.size(); ++i) {
      impulse.segment<3>(Index(3 * i)) = foot_on_cone<double>(
          raw.contacts[i].law.friction, 1, 1, Vector3<double>(impulse.segment<3>(Index(3 * i))));
    }
  }
  return impulse;
}

/// The natural map by its definition: scale first, then project, then compare.
struct NaturalMap {
  Long error = 0;
  Index worst = -1;
};
NaturalMap natural_map(const DenseProblem<Long>& dense, const VectorX<Long>& gamma) {
  MatrixX<Long> w = dense.delassus();
  for (Index i = 0; i < w.rows(); ++i) w(i, i) += dense.weights(i);
  const VectorX<Long> q = dense.load();
  const Long mean = w.trace() / Long(w.rows()), load = q.norm();
  const VectorX<Long> r = gamma * (mean / load), q_hat = q / load;
  const VectorX<Long> u = multiply(MatrixX<Long>(w / mean), r) + q_hat;
  DenseProblem<Long> plain = dense;
  plain.weights.setOnes();
  const VectorX<Long> difference = r - plain.project(r - u);
  NaturalMap map;
  map.error = difference.norm() / std::max({q_hat.norm(), r.norm(), u.norm()});
  for (Index i = 0; i < dense.contact_count(); ++i) {
    if (map.worst < 0 ||
        difference.segment<3>(3 * i).norm() > difference.segment<3>(3 * map.worst).norm()) {
      map.worst = i;
    }
  }
  return map;
}

}  // namespace

TEMPLATE_TEST_CASE("certificate: every field is what its definition says, for any answer",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4004u);
  WorstCase residual("residual"), gap("gap"), bound("velocity error bound"),
      violation("cone violation"), work("complementarity"), map("natural map"),
      worst("worst contact");
  for (int sample = 0; sample < 150; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 2, 7}});
    const auto problem = build<Scalar>(raw);
    const auto dense = assemble<Long>(carom::testing::read_back(problem));
    const auto velocity = convert_vector<Scalar>(draw_velocity(source, raw));
    const auto impulse = convert_vector<Scalar>(draw_impulse(source, raw));
    const VectorX<Long> v = convert_vector<Long>(velocity), gamma = convert_vector<Long>(impulse);
    const Certificate<Scalar> c = certify(problem, velocity, impulse);

    const VectorX<Long> pushed = multiply_transposed(dense.jacobian, gamma);
    const VectorX<Long> change = v - dense.free_velocity;
    const Long speed = dense.energy_norm(v) + dense.energy_norm(dense.free_velocity);
    const Long push = dense.momentum_norm(pushed);
    const Long scale = std::max(dense.energy_norm(dense.free_velocity), push);
    const Long unit = rounding(400, Scalar(1));
    const Long imbalance = dense.momentum_norm(multiply(dense.momentum, change) - pushed);
    residual.see(std::abs(c.residual - imbalance / scale), unit * (speed + push) / scale);

    const Long pressure =
        dense.momentum_norm(multiply_transposed(dense.jacobian, dense.trial(v))) +
        dense.momentum_norm(multiply_transposed(dense.jacobian, dense.impulse(v)));
    bound.see(std::abs(c.velocity_error_bound - dense.momentum_norm(dense.gradient(v))),
              unit * (speed + 10 * pressure));
    const Long primal = dense.cost(v), dual = dense.dual_cost(gamma);
    const Long reach = dense.trial(v).norm() + gamma.norm();
    gap.see(std::abs(c.duality_gap - (primal + dual)),
            unit * (primal + std::abs(dual) + speed * speed + push * push +
                    dense.weights.maxCoeff() * reach * reach));

    DenseProblem<Long> plain = dense;
    plain.weights.setOnes();
    const VectorX<Long> outside = gamma - plain.project(gamma);
    const VectorX<Long> u = dense.conic_velocity(v, gamma);
    Long distance = 0, power = 0;
    for (Index i = 0; i < dense.contact_count(); ++i) {
      distance = std::max(distance, outside.segment<3>(3 * i).norm());
      power = std::max(power, std::abs(gamma.segment<3>(3 * i).dot(u.segment<3>(3 * i))));
    }
    violation.see(std::abs(c.cone_violation - distance), unit * gamma.norm());
    const Long fast = dense.jacobian.norm() * v.norm() + dense.bias.norm() +
                      dense.weights.maxCoeff() * gamma.norm();
    work.see(std::abs(c.complementarity - power), unit * gamma.norm() * fast);

    const NaturalMap expected = natural_map(dense, gamma);
    map.see(std::abs(c.natural_map_error - expected.error), 10 * unit);
    worst.see_holds(c.worst_contact == expected.worst, double(c.worst_contact),
                    double(expected.worst));
  }
  for (const WorstCase* law : {&residual, &gap, &bound, &violation, &work, &map, &worst}) {
    law->check(150);
  }
}

TEST_CASE("certificate: all of it vanishes at the solution", "[solvers][law]") {
  VectorSource<double> source(4005u);
  WorstCase zero("zero at the solution"), gap("gap is zero squared");
  for (int sample = 0; sample < 20; ++sample) {
    const RawProblem raw =
        draw_problem(source, {.sizes = {6, 3, 1}, .contact_count = 5, .stiffness_decades = 1});
    const auto dense = assemble<Long>(raw);
    const auto exact = solve_by_dual_oracle<Long>(dense, 1e-16L, 60000);
    const auto c = certify(build(raw), convert_vector<double>(exact.velocity),
                           convert_vector<double>(exact.impulse));
    const double speed =
        double(dense.energy_norm(dense.free_velocity) + dense.energy_norm(exact.velocity));
    const double push = double(exact.impulse.norm()), fast = double(dense.bias.norm()) + speed;
    zero.see(c.residual, 1e-13);
    zero.see(c.velocity_error_bound, 1e-12 * speed);
    zero.see(c.cone_violation, 1e-14 * (1 + push));
    zero.see(c.complementarity, 1e-12 * push * fast * double(dense.jacobian.norm()));
    zero.see(c.natural_map_error, 1e-12);
    gap.see(std::abs(c.duality_gap), 1e-13 * speed * speed);
  }
  zero.check(100);
  gap.check(20);
}

TEST_CASE("certificate: the bound holds at any velocity", "[solvers][law]") {
  VectorSource<double> source(4006u);
  WorstCase bound("|v - v_opt|_A <= |grad l(v)|_{A^-1}"),
      gap("gap = bound^2/2 at the velocity's own impulses");
  for (int sample = 0; sample < 15; ++sample) {
    const RawProblem raw =
        draw_problem(source, {.sizes = {6, 3, 1}, .contact_count = 5, .stiffness_decades = 1});
    const auto problem = build(raw);
    const auto dense = assemble<Long>(raw);
    const auto exact = solve_by_dual_oracle<Long>(dense, 1e-15L, 60000);
    for (int k = 0; k < 40; ++k) {
      Eigen::VectorXd v = draw_velocity(source, raw);
      if (k % 2 == 0) {  // closer and closer
        v = convert_vector<double>(exact.velocity) +
            std::pow(10.0, -k / 4.0) * draw_matrix(source, v.size(), 1);
      }
      Eigen::VectorXd impulse;
      write_impulse(problem, v, impulse);
      const auto c = certify(problem, v, impulse);
      const Long error = dense.energy_norm(convert_vector<Long>(v) - exact.velocity);
      const Long floor = 1e-13L * (1 + dense.energy_norm(exact.velocity));
      bound.see(error, c.velocity_error_bound + exact.error_bound + floor, v);
      gap.see(std::abs(c.duality_gap - c.velocity_error_bound * c.velocity_error_bound / 2),
              rounding(1000, 1 + std::abs(c.duality_gap)), v);
    }
  }
  bound.check(600);
  gap.check(600);
}

TEST_CASE("certificate: the gap is not negative for impulses in their cones", "[solvers][law]") {
  VectorSource<double> source(4007u);
  WorstCase positive("gap >= 0");
  for (int sample = 0; sample < 300; ++sample) {
    const RawProblem raw = draw_problem(source, {});
    const auto problem = build(raw);
    Eigen::VectorXd impulse;
    write_impulse(problem, draw_velocity(source, raw), impulse);
    positive.see_holds(certify(problem, draw_velocity(source, raw), impulse).duality_gap >= 0);
  }
  positive.check(300);
}

TEST_CASE("certificate: an impulse outside its cone shows by how much", "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.75, {1, 1}, Eigen::Vector3d::Zero()});
  const Eigen::VectorXd rest = Eigen::Vector3d::Zero();
  const auto violation = [&](double t1, double t2, double n) {
    return certify(problem, rest, Eigen::VectorXd(Eigen::Vector3d(t1, t2, n))).cone_violation;
  };
  CHECK(violation(0, 0.75, 1) == 0);
  CHECK(violation(0, 0, -2) == 2);                        // the apex is nearest
  CHECK(violation(5, 0, 0) == Approx(4).epsilon(1e-14));  // 5 cos(atan .75)
  CHECK(violation(0, -3, -100) == Approx(std::hypot(3, 100)).epsilon(1e-14));
}

TEST_CASE("certificate: a problem without contacts is judged by its momentum alone",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 3, 4));
  const Eigen::VectorXd none(0);
  const auto right = certify(problem, Eigen::VectorXd(Eigen::Vector3d(0, 3, 4)), none);
  CHECK(right.residual == 0);
  CHECK(right.duality_gap == 0);
  CHECK(right.velocity_error_bound == 0);
  CHECK(right.natural_map_error == 0);
  CHECK(right.worst_contact == -1);
  const auto wrong = certify(problem, Eigen::VectorXd(Eigen::Vector3d(1, 3, 4)), none);
  CHECK(wrong.residual == Approx(0.2).epsilon(1e-14));  // 2/10
  CHECK(wrong.velocity_error_bound == Approx(2).epsilon(1e-14));
  CHECK(wrong.duality_gap == Approx(2).epsilon(1e-14));
  const auto empty = certify(ContactProblem<double>(0.01), none, none);
  CHECK(empty.residual == 0);
  CHECK(empty.worst_contact == -1);
}

TEST_CASE("certificate: where nothing loads the contacts, an impulse is still an error",
          "[solvers][regression]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.5, {1, 1}, Eigen::Vector3d::Zero()});
  const Eigen::VectorXd rest = Eigen::Vector3d::Zero();
  const auto wrong = certify(problem, rest, Eigen::VectorXd(Eigen::Vector3d(0, 0, 2)));
  CHECK(wrong.natural_map_error == Approx(1).epsilon(1e-14));  // r = u, so r − P(r − u) = r
  CHECK(wrong.worst_contact == 0);
  CHECK(wrong.residual > 0.5);
  const auto right = certify(problem, rest, Eigen::VectorXd(Eigen::Vector3d::Zero()));
  CHECK(right.natural_map_error == 0);
  CHECK(right.residual == 0);
}
