// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/delassus_form.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace delassus_form_test {

using carom::ContactProblem, carom::DelassusForm, carom::DelassusProblem;
using carom::ImpulseShape, carom::Index, carom::MatrixX, carom::RowNumbers, carom::VectorX;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::DenseDual;
using carom::testing::draw_constrained, carom::testing::draw_law, carom::testing::draw_matrix;
using carom::testing::RawConstraint, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

/// W, q, R read back row by row.
template <typename Scalar>
struct ReadBack {
  Eigen::MatrixXd delassus;
  Eigen::VectorXd load, weights;

  explicit ReadBack(const DelassusProblem<Scalar>& dual) {
    const Index rows = dual.row_count();
    delassus.setZero(rows, rows);
    load.setZero(rows);
    weights.setZero(rows);
    VectorX<Scalar> parts, unit = VectorX<Scalar>::Zero(rows);
    dual.for_each_row([&](Index row, const auto& place) {
      load(row) = double(dual.load(place.part)(place.row));
      weights(row) = double(dual.regularization(place.part)(place.row));
    });
    for (Index column = 0; column < rows; ++column) {
      unit.setZero();
      unit(column) = 1;
      dual.write_parts(unit, parts);
      dual.for_each_row([&](Index row, const auto& place) {
        delassus(row, column) =
            double(dual.part_product(place.part, carom::as_span(parts))(place.row));
      });
    }
  }
};

/// Contacts and constraints of every shape, planar ones too.
ConstrainedProblem draw(VectorSource<double>& source, const std::vector<int>& sizes, int count) {
  ConstrainedProblem raw = draw_constrained(source, sizes, count);
  RawConstraint planar;
  planar.law = draw_law(source, 9);
  planar.first = 0;
  planar.first_jacobian = draw_matrix(source, 2, sizes[0]);
  if (count > 0) raw.constraints.push_back(planar);
  return raw;
}

}  // namespace

TEMPLATE_TEST_CASE("delassus form: W, q and R are those of the dense formulas", "[contact][oracle]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(61u);
  WorstCase matrices("W = J A^-1 J'"), loads("q = J v* - v_hat"), weights("R"),
      same("write_delassus");
  DelassusForm<Scalar> form;  // one for all: what was left behind must not show
  DelassusProblem<Scalar> dual;
  const double unit = rounding(300, Scalar(1));
  for (int sample = 0; sample < 60; ++sample) {
    const std::vector<std::vector<int>> sizes = {{6, 1, 2, 7}, {3}, {6, 6, 1, 3, 2, 6}};
    const auto raw = draw(source, sizes[std::size_t(sample % 3)], sample % 7);
    auto problem = build<Scalar>(raw);
    const DenseDual dense(raw);
    const Eigen::MatrixXd expected =
        dense.jacobian * dense.momentum.llt().solve(dense.jacobian.transpose());
    const Eigen::VectorXd load = dense.jacobian * dense.free_velocity - dense.bias;
    form.write(problem, dual);
    REQUIRE(dual.row_count() == problem.impulse_count());
    REQUIRE(dual.count() == problem.block_count());
    CHECK(dual.check().empty());
    const ReadBack<Scalar> read(dual);
    matrices.see((read.delassus - expected).norm(), unit * expected.trace(), expected);
    loads.see((read.load - load).norm(),
              unit * (dense.jacobian.norm() * dense.free_velocity.norm() + dense.bias.norm()));
    weights.see((read.weights - dense.weights).norm(), unit * dense.weights.norm());
    MatrixX<Scalar> delassus;
    write_delassus(problem, delassus);
    same.see((read.delassus - delassus.template cast<double>()).norm(), unit * expected.trace());
    for (Index i = 0; i < dual.count(); ++i) {
      const auto& set = dense.sets[std::size_t(i)];
      CHECK(dual.set(i).shape == set.shape);
      CHECK(dual.set(i).rows == set.rows);
      CHECK(dual.first_row(i) == dense.starts[std::size_t(i)]);
      CHECK((dual.set(i).friction.template cast<double>() - set.friction).norm() <= unit);
      CHECK((dual.set(i).shift.template cast<double>() - set.shift).norm() <=
            unit * set.shift.norm());
    }
    if (problem.block_count() > 0) {  // one of them alone
      auto law = problem.friction_contact_law(0);
      law.rigid = true;
      problem.set_law(0, law);
      form.write(problem, dual);
      const ReadBack<Scalar> mixed(dual);
      CHECK(mixed.weights.head(3).isZero(0));
      const Index rest = dual.row_count() - 3;
      CHECK(mixed.weights.tail(rest) == read.weights.tail(rest));
    }
    problem.make_rigid();
    form.write(problem, dual);
    const ReadBack<Scalar> rigid(dual);
    for (Index i = 0; i < dual.count(); ++i) {
      const auto own = rigid.weights.segment(dual.first_row(i), dual.set(i).rows);
      if (dual.set(i).shape == carom::ImpulseShape::intervals) {
        CHECK(own == read.weights.segment(dual.first_row(i), dual.set(i).rows));
      } else {
        CHECK(own.isZero(0));
      }
    }
    CHECK(rigid.delassus == read.delassus);
    CHECK(rigid.load == read.load);
  }
  for (const WorstCase* law : {&matrices, &loads, &weights, &same}) law->check(60);
}

TEST_CASE("delassus form: its velocity is that of the primal problem's impulses",
          "[contact][law]") {
  VectorSource<double> source(62u);
  WorstCase agree("u = J v - v_hat + R g");
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  for (int sample = 0; sample < 40; ++sample) {
    const auto problem = build(draw(source, {6, 1, 2, 7}, 5));
    const Eigen::VectorXd gamma = draw_matrix(source, problem.impulse_count(), 1);
    Eigen::VectorXd velocity, gradient, parts, pushed;
    write_dual_gradient(problem, gamma, velocity, gradient);
    form.write(problem, dual);
    dual.write_parts(gamma, parts);
    pushed.resize(parts.size());
    for (Index p = 0; p < dual.part_count(); ++p) {
      pushed.segment<3>(3 * p) = dual.part_velocity(p, carom::as_span(parts));
    }
    Eigen::VectorXd rows;
    dual.write_rows(pushed, rows);
    agree.see((rows - gradient).norm(),
              rounding(300, 1 + gradient.norm() + dual.mean_diagonal() * gamma.norm() +
                                dual.load_norm() + velocity.norm()));
  }
  agree.check(40);
}

TEMPLATE_TEST_CASE("delassus form: matrix-free, its products are those of the blocks",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(63u);
  WorstCase agree("W as a function");
  DelassusForm<Scalar> form, free_form;
  DelassusProblem<Scalar> dual, matrix_free;
  for (int sample = 0; sample < 60; ++sample) {
    const std::vector<std::vector<int>> sizes = {{6, 1, 2, 7}, {3}, {6, 6, 1, 3, 2, 6}};
    auto problem = build<Scalar>(draw(source, sizes[std::size_t(sample % 3)], sample % 7));
    for (const bool rigid : {false, true}) {
      if (rigid) problem.make_rigid();
      form.write(problem, dual);
      free_form.write_matrix_free(problem, matrix_free);
      REQUIRE(matrix_free.matrix_free());
      REQUIRE(!dual.matrix_free());
      REQUIRE(matrix_free.row_count() == dual.row_count());
      CHECK(matrix_free.coupling_count() <= dual.coupling_count());
      CHECK(matrix_free.check().empty());
      const VectorX<Scalar> gamma =
          draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
      VectorX<Scalar> parts, written, multiplied;
      dual.write_parts(gamma, parts);
      written.resize(parts.size());
      multiplied.resize(parts.size());
      dual.write_velocities(carom::as_span(parts), carom::as_span(written));
      matrix_free.write_velocities(carom::as_span(parts), carom::as_span(multiplied));
      const Scalar size =
          1 + dual.load_norm() + Scalar(dual.row_count()) * dual.mean_diagonal() * gamma.norm();
      agree.see(double((written - multiplied).norm()), rounding(100, size));
      CHECK(std::abs(matrix_free.mean_diagonal() - dual.mean_diagonal()) <=
            rounding(20, dual.mean_diagonal()));
      for (Index p = 0; p < dual.part_count(); ++p) {
        CHECK((matrix_free.diagonal(p) - dual.diagonal(p)).norm() <=
              rounding(100, dual.diagonal(p).norm()));
      }
    }
  }
  agree.check(120);
}

TEST_CASE("delassus form: bodies apart are not coupled, bodies without contact change nothing",
          "[contact][example]") {
  ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d j = Eigen::Matrix3d::Identity();
  for (int b = 0; b < 4; ++b) problem.add_body((b + 1.0) * j, Eigen::Vector3d(0, 0, -1));
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  form.write(problem, dual);
  CHECK(dual.count() == 0);
  CHECK(dual.coupling_count() == 0);
  const carom::WeightedContact<double> law{0.5, {2, 3}, Eigen::Vector3d(0, 0, 0.5)};
  problem.add_contact(0, j, law);
  problem.add_contact(2, (-j).eval(), 1, j, law);
  problem.add_contact(1, j, law);
  form.write(problem, dual);
  CHECK(dual.coupling_count() == 5);  // contacts 1 and 2 meet
  const ReadBack<double> read(dual);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(9, 9);
  expected.block<3, 3>(0, 0) = j;
  expected.block<3, 3>(3, 3) = (1.0 / 3 + 1.0 / 2) * j;
  expected.block<3, 3>(3, 6) = expected.block<3, 3>(6, 3) = expected.block<3, 3>(6, 6) = j / 2;
  CHECK((read.delassus - expected).norm() <= rounding(8, 1.0));
  CHECK((read.weights - Eigen::Vector3d(2, 2, 3).replicate<3, 1>()).norm() == 0);
  CHECK((read.load.head<3>() - Eigen::Vector3d(0, 0, -1.5)).norm() <= rounding(4, 1.0));
  CHECK((read.load.segment<3>(3) - Eigen::Vector3d(0, 0, -0.5)).norm() <= rounding(4, 1.0));
}

TEMPLATE_TEST_CASE("delassus form: products beyond the range of the type are written, and told",
                   "[contact][input]", float, double) {
  using Scalar = TestType;
  using carom::testing::make_overflowing;
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  for (const bool rigid : {false, true}) {
    form.write(make_overflowing<Scalar>(rigid), dual);
    CHECK(dual.count() == 2);
    CHECK(!dual.is_finite());
    const auto problem = make_overflowing<Scalar>(rigid);
    form.write_matrix_free(problem, dual);
    CHECK(!dual.is_finite());
    form.write(make_overflowing<Scalar>(rigid, 0.5), dual);
    CHECK(dual.is_finite());
  }
  // J v* overflows alone.
  ContactProblem<Scalar> fast(Scalar(0.01));
  const Scalar most = (std::numeric_limits<Scalar>::max)();
  const Eigen::Matrix3<Scalar> unit = Eigen::Matrix3<Scalar>::Identity();
  fast.add_body(unit, Eigen::Vector3<Scalar>(most, most, 0));
  Eigen::Matrix3<Scalar> sum = unit;
  sum(2, 0) = sum(2, 1) = 1;
  fast.add_contact(0, sum,
                   carom::WeightedContact<Scalar>{0, {1, 1}, Eigen::Vector3<Scalar>(0, 0, 0)});
  form.write(fast, dual);
  CHECK(!dual.is_finite());
}

}  // namespace delassus_form_test
