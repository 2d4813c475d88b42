// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "carom/contact/delassus_problem.hpp"

#include "support/random.hpp"

/// @file
/// Contact in impulses as plain matrices, for the laws of the solvers of DelassusProblem.
namespace carom::testing {

/// u = (W + R) γ + q, by rows.
struct DualData {
  std::vector<ImpulseSet<double>> sets;
  Eigen::MatrixXd w;
  Eigen::VectorXd q, r;
};

template <typename Scalar>
[[nodiscard]] ImpulseSet<Scalar> convert_set(const ImpulseSet<double>& set) {
  ImpulseSet<Scalar> result;
  result.shape = set.shape;
  result.rows = set.rows;
  result.lower = set.lower.cast<Scalar>();
  result.upper = set.upper.cast<Scalar>();
  result.friction = set.friction.cast<Scalar>();
  result.shift = set.shift.cast<Scalar>();
  return result;
}

/// @param order  contacts in the order to be added; all, as they are, if empty.
template <typename Scalar = double>
[[nodiscard]] DelassusProblem<Scalar> assemble_dual(const DualData& data,
                                                    std::vector<Index> order = {}) {
  if (order.empty()) {
    order.resize(data.sets.size());
    std::iota(order.begin(), order.end(), Index(0));
  }
  std::vector<Index> first(data.sets.size() + 1, 0);
  for (std::size_t i = 0; i < data.sets.size(); ++i) first[i + 1] = first[i] + data.sets[i].rows;
  DelassusProblem<Scalar> problem;
  const auto at = [&](Index i) { return std::size_t(order[std::size_t(i)]); };
  const Index count = Index(order.size());
  for (Index i = 0; i < count; ++i) {
    const Index rows = data.sets[at(i)].rows;
    RowNumbers<Scalar> weights = RowNumbers<Scalar>::Zero();
    weights.head(rows) = data.r.segment(first[at(i)], rows).template cast<Scalar>();
    problem.add_contact(convert_set<Scalar>(data.sets[at(i)]),
                        data.q.segment(first[at(i)], rows).template cast<Scalar>().eval(), weights);
  }
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const MatrixX<Scalar> block =
          data.w.block(first[at(i)], first[at(j)], data.sets[at(i)].rows, data.sets[at(j)].rows)
              .template cast<Scalar>();
      if (i == j || !block.isZero(Scalar(0))) problem.add_coupling(i, j, block);
    }
  }
  problem.assemble();
  return problem;
}

/// What kind of random problem to draw.
struct DualShape {
  int contacts = 6;
  int bodies = 3;
  double friction = 0.3;        ///< largest coefficient
  bool mixed = false;           ///< all shapes of sets, else friction in space
  double regularization = 0.1;  ///< R relative to the mean of W's diagonal
};

[[nodiscard]] inline ImpulseSet<double> draw_set(VectorSource<double>& source,
                                                 const DualShape& shape, int number) {
  const auto mu = [&] { return source.unit() < 0.1 ? 0.0 : shape.friction * source.unit(); };
  if (!shape.mixed) return friction_impulses(mu());
  ImpulseSet<double> set;
  switch (number % 7) {
    case 0:
      return friction_impulses(mu());
    case 1:
      return cone_impulses<double>(ImpulseShape::planar, {mu(), 0, 0});
    case 2:
      return cone_impulses<double>(ImpulseShape::elliptic, {mu(), mu(), 0});
    case 3:
      return cone_impulses<double>(ImpulseShape::torsional, {mu(), 0.2 * mu(), 0});
    case 4:
      if (number == 11) {
        return cone_impulses<double>(ImpulseShape::spinless_rolling, {mu(), 0.2 * mu(), 0});
      }
      return cone_impulses<double>(ImpulseShape::rolling, {mu(), 0.2 * mu(), 0.2 * mu()});
    case 5:
      return free_impulses<double>(1 + number % 6);
    default:
      set = free_impulses<double>(2);
      set.lower.head<2>() << 0, -0.2;
      set.upper(1) = 0.3;
      return set;
  }
}

/// Contacts between random bodies of six velocities, W = G Gᵀ: singular once rows outnumber them.
/// The load is that of bodies moving at random, so impulses that stop them all solve without R.
[[nodiscard]] inline DualData draw_dual(VectorSource<double>& source, const DualShape& shape) {
  DualData data;
  Index rows = 0;
  for (int i = 0; i < shape.contacts; ++i) {
    data.sets.push_back(draw_set(source, shape, i));
    rows += data.sets.back().rows;
  }
  const auto entry = [&] { return 2 * source.unit() - 1; };
  Eigen::MatrixXd g = Eigen::MatrixXd::Zero(rows, 6 * std::max(shape.bodies, 1));
  Index row = 0;
  for (const ImpulseSet<double>& set : data.sets) {
    for (int side = 0; side < 2; ++side) {
      const Index body = Index(source.unit() * shape.bodies);
      for (int r = 0; r < set.rows; ++r) {
        for (int c = 0; c < 6; ++c) g(row + r, 6 * body + c) += entry();
      }
    }
    row += set.rows;
  }
  Eigen::VectorXd velocity(g.cols());
  for (Index c = 0; c < g.cols(); ++c) velocity(c) = entry();
  data.w = g * g.transpose();
  data.q = g * velocity;
  const double weight = rows > 0 ? shape.regularization * data.w.trace() / double(rows) : 0.0;
  data.r.setConstant(rows, weight);
  return data;
}

/// One block of a given mass on a plane, and its velocity without contact.
[[nodiscard]] inline DualData make_block(double mass, double friction,
                                         const Eigen::Vector3d& velocity) {
  DualData data;
  data.sets.push_back(friction_impulses(friction));
  data.w = Eigen::Matrix3d::Identity() / mass;
  data.q = velocity;
  data.r.setZero(3);
  return data;
}

}  // namespace carom::testing
