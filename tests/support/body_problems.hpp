// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/solvers/rows/block_rows.hpp"

#include "support/constrained_problem.hpp"

/// @file
/// Problems on bodies with contacts and constraints of every shape, with their dense matrices, for
/// what solvers lay out of them.
namespace carom::testing {

/// A problem of two groups of bodies that do not touch each other, and one body that nothing
/// touches: constraints of all twelve kinds of draw_law, some contacts rigid.
[[nodiscard]] inline ConstrainedProblem draw_body_problem(VectorSource<double>& source,
                                                          const std::vector<int>& sizes) {
  ConstrainedProblem raw = draw_constrained(source, sizes, 0);
  const Index count = Index(raw.contacts.bodies.size());
  const auto body = [&](Index i) -> const RawBody& { return raw.contacts.bodies[std::size_t(i)]; };
  raw.contacts.contacts.clear();
  const Index last = count - 1, middle = last / 2;
  const auto draw_in = [&](Index begin, Index end) {
    return begin + Index(source.unit() * double(end - begin));
  };
  const auto connect = [&](auto& item, Index begin, Index end, int rows) {
    item.first = draw_in(begin, end);
    item.first_jacobian = draw_matrix(source, rows, body(item.first).momentum.rows());
    item.second = draw_in(begin, end);
    if (item.second == item.first) {
      item.second = -1;
    } else {
      item.second_jacobian = draw_matrix(source, rows, body(item.second).momentum.rows());
    }
  };
  for (int k = 0; k < 20; ++k) {
    const Index begin = k % 2 == 0 ? 0 : middle, end = k % 2 == 0 ? middle : last;
    const double inverse_mass = 1 / body(begin).momentum.diagonal().mean();
    if (k < 12) {
      RawConstraint constraint;
      constraint.law = draw_law(source, k);
      constraint.law.regularization *= source.pick({1e-6, 0.3}) * inverse_mass;
      connect(constraint, begin, end, constraint.law.set.rows);
      raw.constraints.push_back(constraint);
    } else {
      RawContact contact;
      connect(contact, begin, end, 3);
      contact.law = {source.pick({0, 0.1, 0.5, 1}),
                     {0.01 * inverse_mass, 0.1 * inverse_mass},
                     draw_matrix(source, 3, 1)};
      contact.law.rigid = source.unit() < 0.5;
      raw.contacts.contacts.push_back(contact);
    }
  }
  return raw;
}

/// W, R and q of a problem, dense, by the rows of its impulses; R is zero where contacts are rigid.
struct BodyMatrices {
  Eigen::MatrixXd delassus;
  Eigen::VectorXd regularization, load;
  DenseDual dual;

  explicit BodyMatrices(const ConstrainedProblem& raw) : dual(raw) {
    const MatrixX<double> moved = dual.momentum.llt().solve(dual.jacobian.transpose());
    delassus = dual.jacobian * moved;
    regularization = dual.weights;
    Index row = 0;
    for (const RawContact& contact : raw.contacts.contacts) {
      if (contact.law.rigid) regularization.segment<3>(row).setZero();
      row += 3;
    }
    load = dual.jacobian * dual.free_velocity - dual.bias;
  }
};

/// Numbers by rows of a problem and by places in the parts of a layout.
struct RowPlaces {
  std::vector<Index> place;

  template <typename Layout>
  RowPlaces(const Layout& layout, Index rows) : place(std::size_t(rows), -1) {
    layout.for_each_row([&](Index row, Index to) { place[std::size_t(row)] = to; });
  }
  template <typename Parts>
  [[nodiscard]] Eigen::VectorXd rows(const Parts& parts) const {
    Eigen::VectorXd result(Index(place.size()));
    for (Index r = 0; r < result.size(); ++r) result(r) = double(parts[place[std::size_t(r)]]);
    return result;
  }
  template <typename Scalar>
  void write(const Eigen::VectorXd& numbers, Scalar* parts) const {
    for (Index r = 0; r < numbers.size(); ++r) parts[place[std::size_t(r)]] = Scalar(numbers(r));
  }
};

}  // namespace carom::testing
