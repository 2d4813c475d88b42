// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/position_projection.hpp"

#include <limits>
#include <string>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/contact/delassus_form.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace position_projection_test {

using carom::ContactProblem, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::build, carom::testing::draw_constrained, carom::testing::draw_matrix;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

TEMPLATE_TEST_CASE("position projection: it is the step's contacts with gaps for velocities",
                   "[contact][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(91u);
  WorstCase same("W"), loads("q = gap"), weights("R");
  ContactProblem<Scalar> moves(Scalar(0.3));
  for (int sample = 0; sample < 40; ++sample) {
    const auto problem = build<Scalar>(draw_constrained(source, {6, 1, 3, 7}, sample % 3));
    const Index count = problem.block_count();
    const VectorX<Scalar> gaps = draw_matrix(source, count, 1).template cast<Scalar>();
    const Scalar softness(1e-4f);
    write_position_problem(problem, gaps, softness, moves);
    std::vector<Index> contacts;  // the blocks that are: others are left out
    for (Index i = 0; i < count; ++i) {
      if (problem.law(i).set.shape != carom::ImpulseShape::intervals) contacts.push_back(i);
    }
    CHECK(moves.block_count() == Index(contacts.size()));
    CHECK(moves.time_step() == 1);
    CHECK(moves.free_velocity().isZero(0));
    MatrixX<Scalar> before, after;
    write_delassus(problem, before);
    write_delassus(moves, after);
    for (Index i = 0; i < moves.block_count(); ++i) {
      const Index from = contacts[std::size_t(i)];
      for (Index j = 0; j < moves.block_count(); ++j) {
        const Index other = problem.first_row(contacts[std::size_t(j)]);
        same.see((after.template block<3, 3>(3 * i, 3 * j) -
                  before.template block<3, 3>(problem.first_row(from), other))
                     .norm(),
                 rounding(20, before.norm()));
      }
      CHECK(moves.friction_contact_law(i).friction == 0);
      CHECK(moves.is_rigid(i));
      loads.see((moves.friction_contact_law(i).bias_velocity +
                 gaps(from) * carom::Vector3<Scalar>::UnitZ())
                    .norm(),
                0);
      // R is relative to the contact's inverse mass, as in every law of the library.
      const auto [tangent, normal] = moves.friction_contact_law(i).regularization;
      weights.see_holds(tangent == normal && normal > 0);
      const auto rows = problem.jacobian(from, 0).template topRows<3>();
      const auto block =
          (rows * problem.momentum_matrix(problem.side_body(from, 0)).llt().solve(rows.transpose()))
              .eval();
      if (problem.side_count(from) == 1) {
        weights.see(std::abs(normal - softness * block.norm() / 3), rounding(8, normal));
      }
    }
  }
  for (const WorstCase* law : {&same, &loads, &weights}) law->check(40);
}

TEST_CASE("position projection: one body comes out along the normal, by the whole depth",
          "[contact][example]") {
  // Δq = A⁻¹ Jₙᵀ (Jₙ A⁻¹ Jₙᵀ)⁻¹ (−ϕ), the shortest in the norm of A; R → 0 by W + R.
  VectorSource<double> source(92u);
  for (int sample = 0; sample < 20; ++sample) {
    ContactProblem<double> problem(0.01), moves(1.0);
    const auto body = carom::testing::draw_body(source, 3, 1);
    problem.add_body(body.momentum, body.free_velocity);
    const Eigen::MatrixXd jacobian = draw_matrix(source, 3, 3);
    problem.add_contact(0, jacobian, carom::WeightedContact<double>{0.7, {1, 1}, {1, 2, 3}});
    const double depth = 0.01;
    write_position_problem(problem, VectorX<double>(VectorX<double>::Constant(1, -depth)), 1e-9,
                           moves);
    const Eigen::VectorXd row = jacobian.row(2).transpose();
    const Eigen::VectorXd response = body.momentum.llt().solve(row);
    const double impulse = depth / row.dot(response);
    VectorX<double> gamma(3), velocity;
    gamma << 0, 0, impulse;
    write_velocity(moves, gamma, velocity);
    CHECK((velocity - impulse * response).norm() <= rounding(100, velocity.norm()));
    CHECK(row.dot(velocity) == Approx(depth));
    CHECK(moves.friction_contact_law(0).bias_velocity.z() == depth);
  }
}

TEST_CASE("position projection: the two rows of a plane are a tangent and the normal",
          "[contact][law]") {
  VectorSource<double> source(93u);
  ContactProblem<double> problem(0.01), moves(1.0);
  const auto body = carom::testing::draw_body(source, 3, 1);
  problem.add_body(body.momentum, body.free_velocity);
  const Eigen::MatrixXd rows = draw_matrix(source, 2, 3);
  carom::WeightedBlock<double> law;
  law.set = carom::cone_impulses<double>(carom::ImpulseShape::planar, {0.5, 0, 0});
  problem.add_constraint(0, rows, law);
  write_position_problem(problem, VectorX<double>(VectorX<double>::Constant(1, -0.01)), 1e-9,
                         moves);
  REQUIRE(moves.is_friction_contact(0));
  const Eigen::MatrixXd written = moves.jacobian(0, 0);
  CHECK(written.row(0) == rows.row(0));
  CHECK(written.row(1).isZero(0));
  CHECK(written.row(2) == rows.row(1));
  CHECK(moves.friction_contact_law(0).bias_velocity == Eigen::Vector3d(0, 0, 0.01));
}

TEST_CASE("position projection: what is wrong is named", "[contact][input]") {
  ContactProblem<double> problem(0.01), moves(1.0);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, 0));
  for (int i = 0; i < 2; ++i) {
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{0, {1, 1}, {0, 0, 0}});
  }
  const auto said = [&](const VectorX<double>& gaps, double softness) -> std::string {
    try {
      write_position_problem(problem, gaps, softness, moves);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  VectorX<double> gaps = Eigen::Vector2d(0, 1);
  CHECK(said(gaps, 1e-6).empty());
  CHECK(said(gaps, 0) == "softness: expected a finite number > 0, got 0");
  gaps(1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(said(gaps, 1e-6) == "gaps entry 1: expected a finite number, got nan");
  CHECK(said(VectorX<double>(Eigen::Vector3d(0, 0, 0)), 1e-6) == "gaps: size: expected 2, got 3");
}

}  // namespace position_projection_test
