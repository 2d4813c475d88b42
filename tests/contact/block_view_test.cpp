// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/block_view.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "carom/contact/compliance.hpp"
#include "carom/contact/dual.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace block_view_test {

using carom::testing::by_differences;
using carom::testing::by_solver;
using carom::testing::clearly;
using carom::testing::rounding;

using carom::Index, carom::SapSolver;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::DenseDual;
using carom::testing::draw_constrained, carom::testing::draw_velocity;
using carom::testing::sweep, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

template <typename Visit>
void for_each_problem(int count, const Visit& visit) {
  VectorSource<double> source(51290u);
  for (int sample = 0; sample < count; ++sample) {
    std::vector<int> sizes = {6, 1, 3, 7};
    if (sample % 4 == 1) sizes = {6, 6, 6};
    if (sample % 4 == 2) sizes = {3, 3};
    if (sample % 4 == 3) sizes = {30, 2};
    const ConstrainedProblem raw = draw_constrained(source, sizes, 1 + sample % 7);
    // Not exactly at rest, where contacts without bias are at the tip of their cones.
    const Eigen::VectorXd velocity = draw_velocity(source, raw.contacts);
    visit(raw, velocity + carom::testing::draw_matrix(source, velocity.size(), 1) / 16);
  }
}

}  // namespace

TEST_CASE("block_view: the gradient is the slope of the cost", "[contact][derivative]") {
  WorstCase slope("gradient along a direction, by central differences");
  VectorSource<double> source(4u);
  for_each_problem(60, [&](const ConstrainedProblem& raw, const Eigen::VectorXd& velocity) {
    const auto problem = build(raw);
    Eigen::VectorXd gradient;
    write_gradient(problem, velocity, gradient);
    const Eigen::VectorXd d = carom::testing::draw_matrix(source, velocity.size(), 1);
    const double h = 1e-5;
    const double ahead = primal_cost(problem, Eigen::VectorXd(velocity + h * d));
    const double behind = primal_cost(problem, Eigen::VectorXd(velocity - h * d));
    Eigen::MatrixXd hessian;
    write_hessian(problem, velocity, hessian);
    const double size = 1e-9 * std::abs(ahead) + h * hessian.norm() * d.squaredNorm();
    slope.see(std::abs((ahead - behind) / (2 * h) - gradient.dot(d)), size);
  });
  slope.check(60);
}

TEST_CASE("block_view: whitened numbers go through the whitened Jacobian", "[contact][law]") {
  WorstCase velocities("velocities of the rows"), impulses("whitened impulse");
  WorstCase delassus("J A^-1 J' of the block"), gross("sum of squares row by row");
  VectorSource<double> source(6u);
  int count = 0;
  for_each_problem(40, [&](const ConstrainedProblem& raw, const Eigen::VectorXd& w) {
    const auto problem = build(raw);
    problem.for_each_block([&](const auto& view) {
      ++count;
      const Index rows = view.rows();
      const Eigen::VectorXd gamma = carom::testing::draw_matrix(source, rows, 1);
      Eigen::VectorXd velocity = Eigen::VectorXd::Zero(rows);
      Eigen::VectorXd moved = Eigen::VectorXd::Zero(w.size());
      Eigen::VectorXd expected_velocity = velocity, expected = moved;
      Eigen::MatrixXd own = Eigen::MatrixXd::Zero(rows, rows);
      for (int s = 0; s < view.side_count(); ++s) {
        const Eigen::MatrixXd columns = view.whitened_columns(s);
        const auto range = view.side(s).range;
        expected_velocity += columns.transpose() * w.segment(range.start, range.size);
        expected.segment(range.start, range.size) += columns * gamma;
        own += columns.transpose() * columns;
      }
      view.add_whitened_velocity(w.data(), velocity.data());
      view.add_whitened_impulse(gamma.data(), moved.data());
      velocities.see((velocity - expected_velocity).norm(),
                     rounding(100, std::sqrt(own.trace()) * w.norm()));
      impulses.see((moved - expected).norm(), rounding(100, std::sqrt(own.trace()) * gamma.norm()));
      const Eigen::MatrixXd whole = view.own_delassus();
      delassus.see((whole.topLeftCorner(rows, rows) - own).norm(), rounding(100, own.norm()));
      delassus.see(std::abs(view.own_trace() - own.trace()), rounding(100, own.trace()));
      auto impulse = view.regularization();
      for (Index i = 0; i < rows; ++i) impulse(i) = gamma(i);
      const double squared = own.diagonal().dot(gamma.cwiseAbs2());
      gross.see(std::abs(view.gross_squared(impulse) - squared), rounding(100, squared));
    });
  });
  for (const WorstCase* law : {&velocities, &impulses, &gross}) law->check(count);
  delassus.check(2 * count);
}

TEST_CASE("block_view: the least bias is without the velocity that removes an overlap",
          "[contact][example]") {
  carom::ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  const Eigen::Matrix3d rows = Eigen::Matrix3d::Identity();
  problem.add_contact(0, rows, carom::RigidContact<double>{.gap = -0.1});
  problem.add_contact(0, rows, carom::CompliantContact<double>{.gap = -0.1, .stiffness = 1});
  const auto rigid = problem.friction_contact(0), soft = problem.friction_contact(1);
  CHECK(rigid.bias_velocity()(2) > 0);
  CHECK(rigid.least_bias_velocity().isZero(0));
  CHECK(soft.least_bias_velocity() == soft.bias_velocity());
}

TEST_CASE("block_view: the Hessian is the slope of the gradient, symmetric and no less than A",
          "[contact][derivative][law]") {
  WorstCase slope("Hessian times a direction"), symmetric("symmetric"), above("H - A >= 0");
  VectorSource<double> source(5u);
  for_each_problem(60, [&](const ConstrainedProblem& raw, const Eigen::VectorXd& velocity) {
    const auto problem = build(raw);
    const DenseDual dense(raw);
    Eigen::MatrixXd hessian;
    write_hessian(problem, velocity, hessian);
    const Eigen::VectorXd d = carom::testing::draw_matrix(source, velocity.size(), 1);
    const double h = 1e-7;
    Eigen::VectorXd ahead, behind;
    write_gradient(problem, Eigen::VectorXd(velocity + h * d), ahead);
    write_gradient(problem, Eigen::VectorXd(velocity - h * d), behind);
    const double size = hessian.norm();
    slope.see(((ahead - behind) / (2 * h) - hessian * d).norm(),
              by_differences(1e-6) * size * d.norm());
    symmetric.see((hessian - hessian.transpose()).norm(), rounding(50, 1.0) * size);
    const Eigen::MatrixXd added = hessian - dense.momentum;
    const double lowest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(added).eigenvalues()(0);
    above.see(std::max(0.0, -lowest), rounding(500, 1.0) * size);
  });
  for (const WorstCase* law : {&slope, &symmetric, &above}) law->check(60);
}

TEST_CASE("block_view: the solver finds what projected gradient on the dual finds",
          "[contact][solvers][oracle]") {
  WorstCase near("velocity of the oracle"), gap("primal + dual = 0"), certified("certified"),
      converged("converged"), rows("impulses and row velocities are those of v"),
      delassus("Delassus matrix");
  int most = 0;
  const int problems = sweep(8, 60);
  for_each_problem(problems, [&](const ConstrainedProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build(raw);
    const DenseDual dense(raw);
    const Eigen::VectorXd gamma = dense.solve(4000);
    const Eigen::VectorXd expected = dense.velocity(gamma);
    for (const double limit : {1e9, 0.0}) {  // factored, and by conjugate gradients
      SapSolver<double> solver({.tolerance = 1e-12, .factor_work_limit = limit});
      Eigen::VectorXd velocity = guess;
      const auto report = solver.solve(problem, velocity);
      converged.see_holds(report.converged());
      most = std::max(most, report.iterations);
      const double size = 1 + expected.norm();
      near.see((velocity - expected).norm(), by_solver(1e-8) * size);
      const Eigen::VectorXd impulse = solver.impulse();
      Eigen::VectorXd again, spare, w = dense.jacobian * velocity;
      write_impulse(problem, velocity, again);
      rows.see((impulse - again).norm() + (solver.contact_velocity() - w).norm(),
               by_solver(1e-9) * (impulse.norm() + w.norm() + 1));
      gap.see(std::abs(primal_cost(problem, velocity) + dual_cost(problem, impulse, spare)),
              by_solver(1e-10) * (1 + primal_cost(problem, velocity)));
      const auto certificate = certify(problem, velocity, impulse);
      certified.see(certificate.residual + certificate.natural_map_error +
                        certificate.cone_violation / (1 + impulse.norm()),
                    by_solver(1e-9));
    }
    Eigen::MatrixXd w;
    write_delassus(problem, w);
    const Eigen::MatrixXd plain =
        dense.jacobian * dense.momentum.llt().solve(dense.jacobian.transpose());
    delassus.see((w - plain).norm(), rounding(5000, 1.0) * plain.norm());
  });
  CHECK(most <= 20);
  delassus.check(problems);
  for (const WorstCase* law : {&near, &gap, &certified, &converged, &rows})
    law->check(2 * problems);
}

TEST_CASE("block_view: a certificate bounds the error of any answer and names the worst",
          "[contact][solvers][law]") {
  WorstCase bound("velocity error bound"), gap("duality gap >= 0"), violated("violation is seen");
  for_each_problem(40, [&](const ConstrainedProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build(raw);
    const DenseDual dense(raw);
    const auto solution =
        carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-12});
    const Eigen::VectorXd difference = guess - solution.velocity;
    const double error = std::sqrt(difference.dot(dense.momentum * difference));
    const auto certificate = certify(problem, guess, solution.impulse);
    bound.see(error, (1 + by_solver(1e-9)) * certificate.velocity_error_bound + by_solver(1e-9));
    gap.see(std::max(0.0, -certificate.duality_gap),
            rounding(5000, 1.0) * (1 + solution.impulse.norm()));
    Eigen::VectorXd wrong = solution.impulse;
    problem.visit(problem.block_count() - 1, [&](const auto& block) {
      using Rows = typename std::decay_t<decltype(block)>::Rows;
      block.write(Rows(Rows::Constant(-1e3)), wrong);
    });
    violated.see_holds(certify(problem, solution.velocity, wrong).natural_map_error >
                       clearly(1e-3));
  });
  for (const WorstCase* law : {&bound, &gap, &violated}) law->check(40);
}

TEST_CASE("block_view: the order of blocks does not matter", "[contact][solvers][law]") {
  WorstCase same("bitwise equal velocities and impulses");
  for_each_problem(40, [&](const ConstrainedProblem& raw, const Eigen::VectorXd& guess) {
    ConstrainedProblem doubled = raw;  // with duplicates, which tie
    doubled.constraints.push_back(raw.constraints.front());
    std::vector<std::size_t> order(doubled.constraints.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::reverse(order.begin(), order.end());
    ConstrainedProblem reversed = doubled;
    for (std::size_t i = 0; i < order.size(); ++i) {
      reversed.constraints[i] = doubled.constraints[order[i]];
    }
    SapSolver<double> first, second;
    Eigen::VectorXd a = guess, b = guess;
    const auto forward = build(doubled), backward = build(reversed);
    bool equal = first.solve(forward, a).converged() && second.solve(backward, b).converged();
    equal = equal && (a.array() == b.array()).all();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Index contacts = Index(raw.contacts.contacts.size());
      const Index here = contacts + Index(order[i]), there = contacts + Index(i);
      const int rows = forward.rows(here);
      equal = equal && first.impulse().segment(forward.first_row(here), rows) ==
                           second.impulse().segment(backward.first_row(there), rows);
    }
    same.see_holds(equal);
  });
  same.check(40);
}

TEST_CASE(
    "block_view: a law's slope has no R where it is rigid; the own trace sums squares of both "
    "sides",
    "[contact][example]") {
  const Eigen::Matrix<double, 3, 3> rows = Eigen::Vector3d(1, 2, 3).asDiagonal();
  const Eigen::Vector3d ones(1, 1, 1);
  const carom::BlockSide<double> sides[2] = {{0, {0, 3}, rows.data(), rows.data()},
                                             {1, {3, 1}, ones.data(), ones.data()}};
  carom::WeightedContact<double> contact{0.5, {2, 4}, Eigen::Vector3d(1, 0, -1)};
  const auto check = [&](const Eigen::Vector3d& expected) {
    const carom::BlockView<double, 3> view(0, 0, contact, 2, {sides[0], sides[1]});
    CHECK(view.own_trace() == 14 + 3);
    CHECK(view.law_slope({3, 4, 5}, {1, 1, 1}) == expected);
  };
  check({3 - 1 + 2, 4 + 2, 5 + 1 + 4});
  contact.rigid = true;
  check({3 - 1, 4, 5 + 1});
}

TEST_CASE("block_view: a friction contact and the same block of six rows agree", "[contact][law]") {
  VectorSource<double> source(71u);
  WorstCase same("P, its slope, costs and the slope of the dual");
  for (int sample = 0; sample < 2000; ++sample) {
    const carom::WeightedContact<double> contact{source.pick({0, 0.1, 1, 5}),
                                                 {source.positive(3), source.positive(3)},
                                                 source.vector<3>(1, 0.1)};
    const carom::WeightedBlock<double> block = as_block(contact);
    const carom::BlockView<double, 3> small(0, 0, contact, 0, {});
    const carom::BlockView<double, 6> wide(0, 0, block, 0, {});
    const Eigen::Vector3d u = source.vector<3>(2, 0.1);
    carom::RowNumbers<double> rows = carom::RowNumbers<double>::Zero();
    rows.head<3>() = u;
    const Eigen::Vector3d y = small.trial(u), gamma = small.nearest(y);
    const auto wide_y = wide.trial(rows);
    const double size = y.norm(), mass = 1 / small.regularization().minCoeff();
    CHECK(wide_y.head<3>() == y);
    same.see((wide.nearest(wide_y).head<3>() - gamma).norm(), carom::testing::rounding(50, size));
    same.see((wide.nearest_unweighted(wide_y).head<3>() - small.nearest_unweighted(y)).norm(),
             carom::testing::rounding(50, size));
    same.see((wide.curvature(wide_y).topLeftCorner<3, 3>() - small.curvature(y)).norm(),
             carom::testing::rounding(100, mass));
    same.see(std::abs(wide.cost(wide_y, wide.nearest(wide_y)) - small.cost(y, gamma)),
             carom::testing::rounding(100, size * size / mass + small.cost(y, gamma)));
  }
  same.check(4000);
}

}  // namespace block_view_test
