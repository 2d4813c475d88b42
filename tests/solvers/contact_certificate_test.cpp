// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/contact_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/wrench_contact.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/dense_problem.hpp"
#include "support/dual_oracle.hpp"
#include "support/executors.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/residual_noise.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"
#include "scenes/pile.hpp"

namespace contact_certificate_test {

using carom::testing::clearly;

using carom::ContactCertificate, carom::certify, carom::ContactProblem, carom::Index,
    carom::MatrixX;
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

/// The part of the named owner is the largest there is, up to rounding.
template <typename Scalar>
void see_worst(const RawProblem& raw, const DenseProblem<Long>& dense, const VectorX<Long>& v,
               const VectorX<Long>& gamma, const ContactCertificate<Scalar>& c, WorstCase& law) {
  const auto see = [&](const std::vector<Long>& parts, Index owner, Long slack) {
    const Long largest = *std::max_element(parts.begin(), parts.end());
    const bool named = owner >= 0 && owner < Index(parts.size());
    law.see_holds(named ? parts[std::size_t(owner)] >= largest - slack : largest <= slack,
                  double(owner), double(largest));
  };
  const Long unit = rounding(1000, Scalar(1));
  DenseProblem<Long> plain = dense;
  plain.weights.setOnes();
  const VectorX<Long> outside = gamma - plain.project(gamma), y = dense.trial(v),
                      nearest = dense.impulse(v), u = dense.conic_velocity(v, gamma);
  std::vector<Long> far, power, gap;
  for (Index i = 0; i < dense.contact_count(); ++i) {
    far.push_back(outside.segment<3>(3 * i).norm());
    power.push_back(std::abs(gamma.segment<3>(3 * i).dot(u.segment<3>(3 * i))));
    Long sum = 0;
    for (Index k = 3 * i; k < 3 * i + 3; ++k) {
      const Long miss = gamma(k) - nearest(k);
      sum += dense.weights(k) * (miss * miss / 2 + gamma(k) * (nearest(k) - y(k)));
    }
    gap.push_back(std::abs(sum));
  }
  const Long reach = y.norm() + gamma.norm(), heavy = dense.weights.maxCoeff();
  const Long fast = dense.jacobian.norm() * v.norm() + dense.bias.norm() + heavy * reach;
  see(far, c.cone_violation_block, unit * gamma.norm());
  see(power, c.complementarity_block, unit * gamma.norm() * fast);
  see(gap, c.duality_gap_block, unit * reach * fast);
  const auto see_body = [&](const VectorX<Long>& push, Index owner) {
    const VectorX<Long> miss = multiply<Long>(dense.momentum, v - dense.free_velocity) - push;
    std::vector<Long> parts;
    Index start = 0;
    for (const auto& body : raw.bodies) {
      VectorX<Long> own = VectorX<Long>::Zero(miss.size());
      own.segment(start, body.momentum.rows()) = miss.segment(start, body.momentum.rows());
      parts.push_back(dense.momentum_norm(own));
      start += body.momentum.rows();
    }
    see(parts, owner,
        unit * (dense.energy_norm(v) + dense.energy_norm(dense.free_velocity) +
                10 * dense.momentum_norm(push)));
  };
  see_body(multiply_transposed(dense.jacobian, gamma), c.residual_body);
  see_body(multiply_transposed(dense.jacobian, nearest), c.velocity_residual_body);
}

}  // namespace

TEMPLATE_TEST_CASE("contact_certificate: every field is what its definition says, for any answer",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4004u);
  WorstCase residual("residual"), gap("gap"), bound("velocity error bound"),
      violation("cone violation"), work("complementarity"), map("natural map"),
      worst("worst contact"), velocity_residual("velocity residual"), owners("owners");
  for (int sample = 0; sample < 150; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 2, 7}});
    const auto problem = build<Scalar>(raw);
    const auto dense = assemble<Long>(carom::testing::read_back(problem));
    const auto velocity = convert_vector<Scalar>(draw_velocity(source, raw));
    const auto impulse = convert_vector<Scalar>(draw_impulse(source, raw));
    const VectorX<Long> v = convert_vector<Long>(velocity), gamma = convert_vector<Long>(impulse);
    const ContactCertificate<Scalar> c = certify(problem, velocity, impulse);

    const VectorX<Long> own = multiply_transposed(dense.jacobian, dense.impulse(v));
    const Long own_scale =
        std::max(dense.energy_norm(dense.free_velocity), dense.momentum_norm(own));
    velocity_residual.see(
        std::abs(c.velocity_residual - dense.momentum_norm(dense.gradient(v)) / own_scale),
        rounding(400, Scalar(1)) *
            (dense.energy_norm(v) + 10 * own_scale +
             10 * dense.momentum_norm(multiply_transposed(dense.jacobian, dense.trial(v)))) /
            own_scale);
    see_worst(raw, dense, v, gamma, c, owners);

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
    worst.see_holds(c.worst_block == expected.worst, double(c.worst_block), double(expected.worst));
  }
  for (const WorstCase* law :
       {&residual, &velocity_residual, &gap, &bound, &violation, &work, &map, &worst, &owners}) {
    law->check(150);
  }
}

TEST_CASE("contact_certificate: all of it vanishes at the solution", "[solvers][law]") {
  VectorSource<double> source(4005u);
  WorstCase zero("zero at the solution"), gap("gap is zero squared");
  const int count = carom::testing::sweep(5, 20);
  for (int sample = 0; sample < count; ++sample) {
    const RawProblem raw =
        draw_problem(source, {.sizes = {6, 3, 1}, .contact_count = 5, .stiffness_decades = 1});
    const auto dense = assemble<Long>(raw);
    const auto exact = solve_by_dual_oracle<Long>(dense, 1e-16L, 60000);
    const auto c = certify(build(raw), convert_vector<double>(exact.velocity),
                           convert_vector<double>(exact.impulse));
    const double speed =
        double(dense.energy_norm(dense.free_velocity) + dense.energy_norm(exact.velocity));
    const double push = double(exact.impulse.norm()), fast = double(dense.bias.norm()) + speed;
    zero.see(c.residual, rounding(500, 1.0));
    zero.see(c.velocity_error_bound, rounding(5000, 1.0) * speed);
    zero.see(c.cone_violation, rounding(50, 1.0) * (1 + push));
    zero.see(c.complementarity, rounding(5000, 1.0) * push * fast * double(dense.jacobian.norm()));
    zero.see(c.natural_map_error, rounding(5000, 1.0));
    gap.see(std::abs(c.duality_gap), rounding(500, 1.0) * speed * speed);
  }
  zero.check(5 * count);
  gap.check(count);
}

TEST_CASE("contact_certificate: what has no error names no block and no body",
          "[solvers][example]") {
  const ContactProblem<double> empty(0.01);
  const auto nothing = certify(empty, VectorX<double>(), VectorX<double>());
  ContactProblem<double> apart(0.01);
  apart.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, 1));
  apart.add_contact(0, Eigen::Matrix3d::Identity(),
                    carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Eigen::Vector3d::Zero()});
  const auto exact = certify(apart, VectorX<double>(apart.free_velocity()),
                             VectorX<double>(VectorX<double>::Zero(3)));
  for (const auto& certificate : {nothing, exact}) {
    CHECK(certificate.cone_violation == 0);
    CHECK(certificate.cone_violation_block == -1);
    CHECK(certificate.velocity_residual == 0);
  }
  CHECK((nothing.velocity_residual_body == -1 && nothing.residual_body == -1));
  CHECK((nothing.duality_gap_block == -1 && nothing.complementarity_block == -1));
  CHECK(exact.duality_gap_block == 0);  // of equal parts, the first
}

TEST_CASE("contact_certificate: the bound holds at any velocity", "[solvers][law]") {
  VectorSource<double> source(4006u);
  WorstCase bound("|v - v_opt|_A <= |grad l(v)|_{A^-1}"),
      gap("gap = bound^2/2 at the velocity's own impulses");
  const int count = carom::testing::sweep(5, 15);
  for (int sample = 0; sample < count; ++sample) {
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
      // The bound is larger than ‖∇ℓ‖ by what rounding can have done, and half its square with it.
      const double noise = carom::testing::velocity_bound_noise(problem, v, impulse);
      gap.see(
          std::abs(c.duality_gap - c.velocity_error_bound * c.velocity_error_bound / 2),
          rounding(1000, 1 + std::abs(c.duality_gap)) + noise * (noise + c.velocity_error_bound),
          v);
    }
  }
  bound.check(40 * count);
  gap.check(40 * count);
}

TEST_CASE("contact_certificate: an impulse outside its cone shows by how much",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.75, {1, 1}, Eigen::Vector3d::Zero()});
  const Eigen::VectorXd rest = Eigen::Vector3d::Zero();
  const auto violation = [&](double t1, double t2, double n) {
    return certify(problem, rest, Eigen::VectorXd(Eigen::Vector3d(t1, t2, n))).cone_violation;
  };
  CHECK(violation(0, 0.75, 1) == 0);
  CHECK(violation(0, 0, -2) == 2);                                    // the apex is nearest
  CHECK(violation(5, 0, 0) == Approx(4).epsilon(rounding(50, 1.0)));  // 5 cos(atan .75)
  CHECK(violation(0, -3, -100) == Approx(std::hypot(3, 100)).epsilon(rounding(50, 1.0)));
}

TEST_CASE("contact_certificate: a problem without contacts is judged by its momentum alone",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 3, 4));
  const Eigen::VectorXd none(0);
  const auto right = certify(problem, Eigen::VectorXd(Eigen::Vector3d(0, 3, 4)), none);
  CHECK(right.residual == 0);
  CHECK(right.duality_gap == 0);
  CHECK(right.velocity_error_bound == 0);
  CHECK(right.natural_map_error == 0);
  CHECK(right.worst_block == -1);
  const auto wrong = certify(problem, Eigen::VectorXd(Eigen::Vector3d(1, 3, 4)), none);
  CHECK(wrong.residual == Approx(0.2).epsilon(rounding(50, 1.0)));  // 2/10
  CHECK(wrong.velocity_error_bound == Approx(2).epsilon(rounding(200, 1.0)));
  CHECK(wrong.duality_gap == Approx(2).epsilon(rounding(400, 1.0)));
  CHECK((wrong.velocity_error_bound >= 2 && wrong.duality_gap >= 2));
  const auto empty = certify(ContactProblem<double>(0.01), none, none);
  CHECK(empty.residual == 0);
  CHECK(empty.worst_block == -1);
}

TEST_CASE("contact_certificate: where nothing loads the contacts, an impulse is still an error",
          "[solvers][regression]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.5, {1, 1}, Eigen::Vector3d::Zero()});
  const Eigen::VectorXd rest = Eigen::Vector3d::Zero();
  const auto wrong = certify(problem, rest, Eigen::VectorXd(Eigen::Vector3d(0, 0, 2)));
  CHECK(wrong.natural_map_error ==
        Approx(1).epsilon(rounding(50, 1.0)));  // r = u, so r − P(r − u) = r
  CHECK(wrong.worst_block == 0);
  CHECK(wrong.residual > 0.5);
  const auto right = certify(problem, rest, Eigen::VectorXd(Eigen::Vector3d::Zero()));
  CHECK(right.natural_map_error == 0);
  CHECK(right.residual == 0);
}

TEST_CASE("contact_certificate: a velocity alone is judged with the impulses it leads to",
          "[solvers][law]") {
  VectorSource<double> source(4010u);
  for (int sample = 0; sample < 50; ++sample) {
    const RawProblem raw = draw_problem(source, {});
    const auto problem = build(raw);
    const Eigen::VectorXd velocity = draw_velocity(source, raw);
    Eigen::VectorXd impulse;
    write_impulse(problem, velocity, impulse);
    const auto alone = certify(problem, velocity), pair = certify(problem, velocity, impulse);
    // An optimising compiler may fuse products and sums in one place and not in the other.
    const auto same = [](double a, double b) { return std::abs(a - b) <= rounding(1000, b); };
    CHECK(same(alone.residual, alone.velocity_residual));
    CHECK(same(alone.residual, pair.residual));
    CHECK(same(alone.duality_gap, pair.duality_gap));
    CHECK(same(alone.natural_map_error, pair.natural_map_error));
    CHECK(alone.worst_block == pair.worst_block);
    CHECK(same(alone.velocity_error_bound, pair.velocity_error_bound));
  }
}

TEST_CASE("contact_certificate: the one contact that is spoiled is the one that is named",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  const Index count = 40;
  for (Index b = 0; b < count; ++b) {
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.1, 0, -1));
    problem.add_contact(b, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{0.5, {1, 1}, Eigen::Vector3d::Zero()});
  }
  carom::SapSolver<double> solver({.tolerance = 1e-14});
  Eigen::VectorXd velocity = problem.free_velocity();
  REQUIRE(solver.solve(problem, velocity).converged());
  for (const Index spoiled : {Index(0), Index(17), count - 1}) {
    Eigen::VectorXd impulse = solver.impulse();
    impulse(3 * spoiled) += 2;
    const auto c = certify(problem, velocity, impulse);
    CHECK(c.worst_block == spoiled);
    CHECK(c.duality_gap_block == spoiled);
    CHECK(c.cone_violation_block == spoiled);
    CHECK(c.complementarity_block == spoiled);
    CHECK(c.residual_body == spoiled);
    Eigen::VectorXd moved = velocity;
    moved(3 * spoiled + 2) -= 1;
    CHECK(certify(problem, moved).velocity_residual_body == spoiled);
    CHECK(certify(problem, moved).cone_violation_block == -1);
  }
}

TEMPLATE_TEST_CASE(
    "contact_certificate: numbers that are not finite, or too large, make it infinite",
    "[solvers][example]", float, double) {
  using Scalar = TestType;
  using Limits = std::numeric_limits<Scalar>;
  ContactProblem<Scalar> problem(Scalar(0.01));
  const carom::SquareMatrix<Scalar, 3> unit = carom::SquareMatrix<Scalar, 3>::Identity();
  for (Index b = 0; b < 3; ++b) {
    problem.add_body(unit, Vector3<Scalar>(0, 0, -1));
    problem.add_contact(b, unit,
                        carom::WeightedContact<Scalar>{
                            Scalar(0.5), {Scalar(1e-3), Scalar(1e-3)}, Vector3<Scalar>::Zero()});
  }
  for (const Scalar bad :
       {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -Limits::max()}) {
    VectorX<Scalar> velocity = problem.free_velocity(), impulse = VectorX<Scalar>::Zero(9);
    impulse(4) = bad;
    const auto by_impulse = certify(problem, velocity, impulse);
    CHECK(by_impulse.residual == Limits::infinity());
    CHECK(by_impulse.cone_violation == Limits::infinity());
    CHECK(by_impulse.natural_map_error == Limits::infinity());
    CHECK(by_impulse.worst_block == 1);
    velocity(8) = bad;
    impulse.setZero();
    for (const auto& c : {certify(problem, velocity, impulse), certify(problem, velocity)}) {
      CHECK(c.residual == Limits::infinity());
      CHECK(c.velocity_residual == Limits::infinity());
      CHECK(c.velocity_error_bound == Limits::infinity());
      CHECK(c.duality_gap == Limits::infinity());
    }
  }
}

TEST_CASE(
    "contact_certificate: a constraint whose numbers are too large makes it infinite, and is named",
    "[solvers][example]") {
  using Limits = std::numeric_limits<double>;
  ContactProblem<double> problem(0.01);
  const carom::SquareMatrix<double, 3> unit = carom::SquareMatrix<double, 3>::Identity();
  for (Index b = 0; b < 2; ++b) {
    problem.add_body(unit, Vector3<double>(0, 0, -1));
    carom::WeightedBlock<double> law;
    law.set = carom::pushing_impulse<double>();
    law.regularization(0) = 1e-3;
    problem.add_constraint(b, Eigen::RowVector3d(0, 0, 1), law);
  }
  problem.add_contact(0, unit,
                      carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Vector3<double>::Zero()});
  VectorX<double> velocity = problem.free_velocity(), impulse = VectorX<double>::Zero(5);
  velocity(5) = -Limits::max();  // the trial impulse −v/R of the second constraint overflows
  const auto by_velocity = certify(problem, velocity);
  CHECK(by_velocity.residual == Limits::infinity());
  CHECK(by_velocity.natural_map_error == Limits::infinity());
  CHECK(by_velocity.worst_block == 1);
  velocity = problem.free_velocity();
  impulse(1) = -Limits::max();  // finite, but u = W γ + R γ + q is not
  const auto by_impulse = certify(problem, velocity, impulse);
  CHECK(by_impulse.natural_map_error == Limits::infinity());
  CHECK(by_impulse.worst_block == 1);
}

namespace {

/// Whether certificates of (v, γ) and of v have the same bits with any executor as without.
template <typename Scalar>
void see_executors(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                   const VectorX<Scalar>& impulse, WorstCase& law) {
  const auto pair = certify(problem, velocity, impulse), alone = certify(problem, velocity);
  const auto in_turn = [](Index count, const auto& task) {
    for (Index i = 0; i < count; ++i) task(i);
  };
  law.see_holds(certify(problem, velocity, impulse, in_turn) == pair);
  carom::testing::for_each_executor([&](const auto& executor) {
    law.see_holds(certify(problem, velocity, impulse, executor) == pair, pair.residual,
                  pair.duality_gap);
  });
  law.see_holds(certify(problem, velocity, carom::testing::Shuffled{3, 5u}) == alone);
}

/// The answer after a few iterations.
struct EarlyAnswer {
  Eigen::VectorXd velocity, impulse;
};
EarlyAnswer stop_early(const ContactProblem<double>& problem, const Eigen::VectorXd& guess) {
  EarlyAnswer answer{guess, {}};
  carom::SapSolver<double> solver({.iteration_limit = 4});
  CHECK(solver.solve(problem, answer.velocity).iterations <= 4);
  answer.impulse = solver.impulse();
  return answer;
}

/// Joints, motors, limits and rolling contacts on the bodies of a heap, some of them rigid.
void add_other_blocks(VectorSource<double>& source, ContactProblem<double>& problem, Index count) {
  carom::WeightedBlock<double> held;
  held.set = carom::free_impulses<double>(3);
  held.regularization *= 1e-3;
  for (Index i = 0; i < count; ++i) {
    const Index a = i % problem.body_count(), b = (a + 7) % problem.body_count();
    held.rigid = i % 2 == 0;
    problem.add_constraint(a, draw_matrix(source, 3, 6), b, draw_matrix(source, 3, 6), held);
    problem.add_constraint(
        a, draw_matrix(source, 1, 6),
        carom::JointLimit<double>{.gap = -0.01, .compliance = carom::Compliance::step});
    problem.add_contact(
        b, draw_matrix(source, 5, 6),
        carom::WrenchContact<double>{.contact = {.gap = 0, .stiffness = 1e4, .friction = 0.5},
                                     .shape = carom::ImpulseShape::spinless_rolling,
                                     .rolling_friction = 0.1,
                                     .bond = 0.5});
  }
}

}  // namespace

TEST_CASE("contact_certificate: an executor changes no bit on the bundled problems and on heaps",
          "[solvers][law]") {
  WorstCase same("same bits with any executor");
  const auto see = [&](const ContactProblem<double>& problem, const Eigen::VectorXd& guess) {
    const EarlyAnswer answer = stop_early(problem, guess);
    see_executors(problem, answer.velocity, answer.impulse, same);
  };
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAROM_SOURCE_DIR "/examples/data")) {
    if (entry.path().extension() != ".txt") continue;
    const auto given = carom::files::read_text_problem(entry.path().string());
    if (given.problem.block_count() <= carom::detail::FixedRanges::length) continue;
    see(given.problem, given.guess);
    ++seen;
  }
  CHECK(seen >= 4);
  carom::examples::Pile heap = carom::examples::make_pile({.body_count = 400});
  REQUIRE(heap.problem.block_count() > 2000);
  see(heap.problem, heap.guess);
  heap.problem.make_rigid();
  see(heap.problem, heap.guess);
  VectorSource<double> source(4014u);
  carom::examples::Pile small = carom::examples::make_pile({.body_count = 50});
  add_other_blocks(source, small.problem, 60);
  see_executors(small.problem, small.guess,
                Eigen::VectorXd(draw_matrix(source, small.problem.impulse_count(), 1)), same);
  same.check(7 * (seen + 3));
}

TEST_CASE("contact_certificate: an executor changes no bit where there is no contact, or one",
          "[solvers][law]") {
  VectorSource<double> source(4015u);
  WorstCase same("same bits with any executor");
  for (const int contacts : {0, 1}) {
    ContactProblem<double> problem(0.01);
    for (int b = 0; b < 300; ++b) {
      problem.add_body(source.positive(3) * Eigen::Matrix3d::Identity(), draw_matrix(source, 3, 1));
    }
    if (contacts == 1) {
      problem.add_contact(
          200, Eigen::Matrix3d::Identity(),
          carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Eigen::Vector3d::Zero()});
    }
    const Eigen::VectorXd velocity = draw_matrix(source, problem.velocity_count(), 1);
    const Eigen::VectorXd impulse = draw_matrix(source, problem.impulse_count(), 1);
    see_executors(problem, velocity, impulse, same);
    CHECK(certify(problem, velocity, impulse).residual >= clearly(0.1));
  }
  const ContactProblem<double> empty(0.01);
  see_executors(empty, Eigen::VectorXd(0), Eigen::VectorXd(0), same);
  same.check(7 * 3);
}

TEST_CASE("contact_certificate: of several blocks that are not finite the first is named",
          "[solvers][law]") {
  using Limits = std::numeric_limits<double>;
  const carom::examples::Pile heap = carom::examples::make_pile({.body_count = 200});
  const ContactProblem<double>& problem = heap.problem;
  const Index last = problem.block_count() - 1;
  REQUIRE(last > 900);
  const auto check = [&](const Eigen::VectorXd& velocity, const Eigen::VectorXd& impulse,
                         Index named) {
    CHECK(certify(problem, velocity, impulse).worst_block == named);
    WorstCase same("same bits with any executor");
    see_executors(problem, velocity, impulse, same);
    same.check(7);
    CHECK(certify(problem, velocity, impulse).natural_map_error == Limits::infinity());
  };
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(problem.impulse_count());
  Eigen::VectorXd impulse = none, velocity = heap.guess;
  for (const Index bad : {last, Index(700), Index(300)}) {
    impulse(3 * bad) = Limits::quiet_NaN();
    check(velocity, impulse, bad);
    CHECK(certify(problem, velocity, impulse).residual == Limits::infinity());
  }
  impulse = none;
  for (const Index bad : {last, Index(700), Index(300)}) {  // finite, but its u is not
    impulse(3 * bad + 2) = -Limits::max();
    const Index named = certify(problem, velocity, impulse).worst_block;
    CHECK(named >= 0);
    check(velocity, impulse, named);
  }
  for (const Index bad : {Index(199), Index(150)}) {  // finite, but the trial impulses are not
    velocity(6 * bad + 5) = -Limits::max();
    Index named = 0;
    const auto finite = [&](const auto& block) {
      return block.trial(block.velocity(velocity)).allFinite();
    };
    while (problem.visit(named, finite)) ++named;
    check(velocity, none, named);
    CHECK(certify(problem, velocity, carom::testing::Shuffled{3, 9u}).worst_block == named);
  }
  velocity(0) = Limits::quiet_NaN();
  check(velocity, none, -1);
  ContactProblem<double> one(0.01);  // whose only block has trial impulses that are not finite
  one.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  one.add_contact(0, Eigen::Matrix3d::Identity(),
                  carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Eigen::Vector3d::Zero()});
  const auto alone = certify(one, VectorX<double>(Eigen::Vector3d(0, 0, -Limits::max())),
                             VectorX<double>(VectorX<double>::Zero(3)));
  CHECK((alone.worst_block == 0 && alone.natural_map_error == Limits::infinity()));
  CHECK((alone.residual_body == -1 && alone.velocity_residual_body == -1));
}

TEST_CASE("contact_certificate: an executor is called for a problem of more than one range",
          "[solvers][example]") {
  int calls = 0;
  const auto executor = [&](Index count, auto&& task) {
    ++calls;
    for (Index i = 0; i < count; ++i) task(i);
  };
  const carom::examples::Pile heap = carom::examples::make_pile({.body_count = 100}),
                              small = carom::examples::make_pile({.body_count = 5});
  Eigen::VectorXd impulse;
  write_impulse(heap.problem, heap.guess, impulse);
  CHECK(certify(heap.problem, heap.guess, impulse, executor) ==
        certify(heap.problem, heap.guess, impulse));
  CHECK(certify(heap.problem, heap.guess, executor) == certify(heap.problem, heap.guess));
  CHECK(calls == 2);
  CHECK(certify(small.problem, small.guess, executor) == certify(small.problem, small.guess));
  CHECK(calls == 2);
  // Impulses of any type that is a vector are no executor.
  const Eigen::Map<const Eigen::VectorXd> mapped(impulse.data(), impulse.size());
  CHECK(certify(heap.problem, heap.guess, mapped) == certify(heap.problem, heap.guess, impulse));
  CHECK(certify(heap.problem, heap.guess, 1.0 * impulse) ==
        certify(heap.problem, heap.guess, impulse));
}

}  // namespace contact_certificate_test
