// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "carom/contact/dual.hpp"

#include "support/raw_problem.hpp"

/// @file
/// Random problems with constraints of every shape beside contacts, as numbers of the tests' own,
/// and a slow independent solver of their dual.
namespace carom::testing {

struct RawConstraint {
  Index first = 0;
  Index second = -1;  ///< −1: the world
  Eigen::MatrixXd first_jacobian, second_jacobian;
  WeightedBlock<double> law;
};

struct ConstrainedProblem {
  RawProblem contacts;
  std::vector<RawConstraint> constraints;
};

template <typename Scalar>
[[nodiscard]] WeightedBlock<Scalar> convert_law(const WeightedBlock<double>& law) {
  WeightedBlock<Scalar> result;
  result.set.shape = law.set.shape;
  result.set.rows = law.set.rows;
  result.set.lower = law.set.lower.cast<Scalar>();
  result.set.upper = law.set.upper.cast<Scalar>();
  result.set.friction = law.set.friction.cast<Scalar>();
  result.set.shift = law.set.shift.cast<Scalar>();
  result.regularization = law.regularization.cast<Scalar>();
  result.bias_velocity = law.bias_velocity.cast<Scalar>();
  return result;
}

template <typename Scalar = double>
[[nodiscard]] ContactProblem<Scalar> build(const ConstrainedProblem& raw) {
  ContactProblem<Scalar> problem = build<Scalar>(raw.contacts);
  for (const RawConstraint& constraint : raw.constraints) {
    const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> first =
        constraint.first_jacobian.cast<Scalar>();
    const auto law = convert_law<Scalar>(constraint.law);
    if (constraint.second < 0) {
      problem.add_constraint(constraint.first, first, law);
    } else {
      const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> second =
          constraint.second_jacobian.cast<Scalar>();
      problem.add_constraint(constraint.first, first, constraint.second, second, law);
    }
  }
  return problem;
}

/// A law of a drawn shape; `kind` in [0, 12).
[[nodiscard]] inline WeightedBlock<double> draw_law(VectorSource<double>& source, int kind) {
  WeightedBlock<double> law;
  const Eigen::Vector3d mu(source.pick({0, 0.1, 0.5, 1}), source.pick({0, 0.05, 0.5, 2}),
                           source.pick({0, 0.1, 1}));
  if (kind == 0) law.set = free_impulses<double>(1 + int(source.unit() * 6));
  if (kind == 1) law.set = pushing_impulse<double>();
  if (kind == 2) law.set = bounded_impulse(-source.positive(1), source.positive(1));
  if (kind == 3) {  // a product
    law.set = free_impulses<double>(5);
    law.set.lower(0) = law.set.lower(3) = 0;
    law.set.upper(1) = law.set.upper(3) = 0.3;
    law.set.lower(2) = law.set.upper(2) = 0.1;  // a single point
  }
  if (kind == 4) law.set = cone_impulses<double>(ImpulseShape::friction, {mu(0), 0, 0});
  if (kind == 5) law.set = cone_impulses<double>(ImpulseShape::elliptic, {mu(0), mu(1), 0});
  if (kind == 6) law.set = cone_impulses<double>(ImpulseShape::torsional, {mu(0), mu(1), 0});
  if (kind == 7) law.set = cone_impulses<double>(ImpulseShape::rolling, mu);
  if (kind == 8) law.set = cone_impulses<double>(ImpulseShape::spinless_rolling, {mu(0), mu(1), 0});
  if (kind == 9) law.set = cone_impulses<double>(ImpulseShape::planar, {mu(0), 0, 0});
  if (kind == 10) {
    law.set = cone_impulses<double>(ImpulseShape::ellipsoidal_torsional, {mu(0), mu(1), 0});
  }
  if (kind == 11) law.set = cone_impulses<double>(ImpulseShape::ellipsoidal_rolling, mu);
  if (kind == 8 || (kind == 4 && source.unit() < 0.5)) law.set.shift(2) = source.positive(1);
  for (int i = 0; i < law.set.rows; ++i) law.bias_velocity(i) = 2 * source.unit() - 1;
  for (int i = 0; i < law.set.rows; ++i) law.regularization(i) = source.positive(1);
  if (kind == 4 || (kind >= 6 && kind <= 8)) law.regularization(1) = law.regularization(0);
  if (kind == 7 || kind == 8) law.regularization(4) = law.regularization(3);
  return law;
}

/// Bodies of mixed size, three contacts, and constraints of every shape: on one body and on two,
/// whose indices come in both orders.
[[nodiscard]] inline ConstrainedProblem draw_constrained(VectorSource<double>& source,
                                                         const std::vector<int>& sizes,
                                                         int constraint_count) {
  ConstrainedProblem raw;
  raw.contacts = draw_problem(
      source, {.sizes = sizes, .contact_count = 3, .mass_decades = 1, .stiffness_decades = 1});
  const auto& bodies = raw.contacts.bodies;
  const auto draw_index = [&] { return Index(source.unit() * double(bodies.size())); };
  for (int i = 0; i < constraint_count; ++i) {
    RawConstraint constraint;
    constraint.law = draw_law(source, int(source.unit() * 9));
    const int rows = constraint.law.set.rows;
    constraint.first = draw_index();
    const RawBody& first = bodies[std::size_t(constraint.first)];
    constraint.first_jacobian = draw_matrix(source, rows, first.momentum.rows());
    if (const Index second = draw_index(); second != constraint.first) {
      constraint.second = second;
      constraint.second_jacobian =
          draw_matrix(source, rows, bodies[std::size_t(second)].momentum.rows());
    }
    constraint.law.regularization *= 0.3 / first.momentum.diagonal().mean();
    raw.constraints.push_back(constraint);
  }
  return raw;
}

/// The problem as one dense dual, min ½γᵀ(W + R)γ + rᵀγ, assembled from the raw numbers.
struct DenseDual {
  MatrixX<double> momentum, jacobian;
  VectorX<double> free_velocity, weights, bias;
  std::vector<ImpulseSet<double>> sets;
  std::vector<Index> starts;

  explicit DenseDual(const ConstrainedProblem& raw) {
    std::vector<Index> places;
    Index unknowns = 0, rows = 0;
    for (const RawBody& body : raw.contacts.bodies) {
      places.push_back(unknowns);
      unknowns += body.momentum.rows();
    }
    for (const RawConstraint& c : raw.constraints) rows += c.law.set.rows;
    rows += 3 * Index(raw.contacts.contacts.size());
    momentum = MatrixX<double>::Zero(unknowns, unknowns);
    jacobian = MatrixX<double>::Zero(rows, unknowns);
    free_velocity.resize(unknowns);
    weights.resize(rows);
    bias.resize(rows);
    for (std::size_t b = 0; b < places.size(); ++b) {
      const RawBody& body = raw.contacts.bodies[b];
      const Index size = body.momentum.rows();
      momentum.block(places[b], places[b], size, size) = body.momentum;
      free_velocity.segment(places[b], size) = body.free_velocity;
    }
    Index row = 0;
    const auto add = [&](const auto& item, const ImpulseSet<double>& set,
                         const RowNumbers<double>& r, const RowNumbers<double>& v) {
      const auto put = [&](Index body, const Eigen::MatrixXd& block) {
        jacobian.block(row, places[std::size_t(body)], set.rows, block.cols()) = block;
      };
      put(item.first, item.first_jacobian);
      if (item.second >= 0) put(item.second, item.second_jacobian);
      weights.segment(row, set.rows) = r.head(set.rows);
      bias.segment(row, set.rows) = v.head(set.rows);
      sets.push_back(set);
      starts.push_back(row);
      row += set.rows;
    };
    for (const RawContact& contact : raw.contacts.contacts) {
      RowNumbers<double> r = RowNumbers<double>::Ones(), v = r;
      const auto [tangent, normal] = contact.law.regularization;
      r.head<3>() << tangent, tangent, normal;
      v.head<3>() = contact.law.bias_velocity;
      add(contact, cone_impulses<double>(ImpulseShape::friction, {contact.law.friction, 0, 0}), r,
          v);
    }
    for (const RawConstraint& c : raw.constraints) {
      add(c, c.law.set, c.law.regularization, c.law.bias_velocity);
    }
  }

  [[nodiscard]] VectorX<double> velocity(const VectorX<double>& impulse) const {
    const VectorX<double> load = jacobian.transpose() * impulse;
    const VectorX<double> change = momentum.llt().solve(load);
    return free_velocity + change;
  }

  /// Accelerated projected gradient with restart; the step that the largest eigenvalue allows.
  [[nodiscard]] VectorX<double> solve(int iterations) const {
    const MatrixX<double> moved = momentum.llt().solve(jacobian.transpose());
    MatrixX<double> hessian = jacobian * moved;
    hessian.diagonal() += weights;
    const VectorX<double> load = jacobian * free_velocity - bias;
    const double largest =
        Eigen::SelfAdjointEigenSolver<MatrixX<double>>(hessian).eigenvalues().maxCoeff();
    VectorX<double> gamma = VectorX<double>::Zero(load.size()), ahead = gamma;
    double pace = 1;
    for (int k = 0; k < iterations; ++k) {
      VectorX<double> next = ahead - (hessian * ahead + load) / largest;
      for (std::size_t s = 0; s < sets.size(); ++s) {
        RowNumbers<double> rows = RowNumbers<double>::Zero();
        const Index start = starts[s], count = sets[s].rows;
        rows.head(count) = next.segment(start, count);
        const RowNumbers<double> ones = RowNumbers<double>::Ones();
        next.segment(start, count) = nearest_impulse(sets[s], ones, rows).head(count);
      }
      const VectorX<double> change = next - gamma;
      if ((ahead - next).dot(change) > 0) pace = 1;  // restart
      const double faster = (1 + std::sqrt(1 + 4 * pace * pace)) / 2;
      ahead = next + (pace - 1) / faster * change;
      pace = faster;
      gamma = next;
    }
    return gamma;
  }
};

}  // namespace carom::testing
