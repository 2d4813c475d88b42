// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "carom/solvers/search/law_iterate.hpp"
#include "carom/solvers/systems/body_system.hpp"

#include "support/body_problems.hpp"
#include "support/stacks.hpp"

/// @file
/// Small scenes for methods that solve a law island by island.
namespace carom::testing {

/// A block on an incline for one time step: a point of mass m whose free velocity falls along t₁.
struct Incline {
  double mass = 2;     ///< [kg]
  double slope = 0.3;  ///< the tangent of the angle
  double friction = 0.5;
  double fall = 0.1;  ///< what gravity adds against the normal [m/s]

  [[nodiscard]] RawProblem problem() const {
    RawProblem raw;
    raw.bodies.push_back(
        {mass * Eigen::Matrix3d::Identity(), Eigen::Vector3d(slope * fall, 0, -fall)});
    RawContact contact;
    contact.first_jacobian = Eigen::Matrix3d::Identity();
    contact.law.friction = friction;
    contact.law.rigid = true;
    raw.contacts.push_back(contact);
    return raw;
  }
  /// Coulomb's law: friction holds up to μ times the weight, and opposes what is left. The convex
  /// law: the nearest point of the cone, as W is a multiple of the identity.
  [[nodiscard]] Eigen::Vector3d impulse(FrictionLaw law) const {
    const double pull = slope * fall * mass, weight = fall * mass;
    if (slope <= friction) return {-pull, 0, weight};
    if (law == FrictionLaw::coulomb) return {-friction * weight, 0, weight};
    const double normal = (weight + friction * pull) / (1 + friction * friction);
    return {-friction * normal, 0, normal};
  }
};

/// A problem taken on, with what every method needs.
template <typename Scalar>
struct LawScene {
  detail::BodySystem<Scalar> system;
  detail::Yardstick<Scalar> yardstick;
  detail::LawIterate<Scalar> iterate;
  detail::StepMemory<Scalar> memory;
  Index rows = 0;

  template <typename Raw>
  LawScene(const Raw& raw, FrictionLaw law) {
    const auto problem = build<Scalar>(raw);
    system.take(problem, law == FrictionLaw::convex);
    yardstick = detail::make_yardstick(system, law);
    iterate.lay_out(system);
    memory.lay_out(system);
    rows = problem.impulse_count();
  }
  [[nodiscard]] RowPlaces places() const { return {system.rows(), rows}; }
  [[nodiscard]] Eigen::VectorXd impulse() const { return places().rows(iterate.impulse()); }
  /// The natural map error of the impulses as they stand, by all of the problem.
  [[nodiscard]] Scalar measure(Index island) {
    return iterate.sum(system, island, yardstick).error(yardstick);
  }
  /// What a search lowers, of the impulses as they stand.
  [[nodiscard]] Scalar merit(Index island) {
    return iterate.measure(system, island, yardstick).merit;
  }
  /// A search on an island from the impulses as they stand.
  [[nodiscard]] detail::LawSearch<detail::BodySystem<Scalar>> search(
      Index island, double tolerance, const SolveLimits& limits = {}) {
    const auto found = iterate.measure(system, island, yardstick);
    return {system, island,      yardstick,     iterate, memory, Scalar(tolerance),
            limits, found.merit, found.residual};
  }
  /// How far the impulses of an island are out of their sets, relative to their size.
  [[nodiscard]] double outside(Index island) const {
    const detail::BlockIsland& own = system.islands()[island];
    double squared = 0, size = 0;
    for (Index i = own.first_block; i < own.block_end; ++i) {
      system.blocks().visit(i, [&](const auto& block) {
        const auto set = block.impulse_set();
        const auto gamma = rows_of_parts(block, read_parts(block, iterate.impulse()));
        const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
        squared += double((nearest_impulse(set, ones, gamma) - gamma).squaredNorm());
        size += double(gamma.squaredNorm() + set.shift.squaredNorm());
      });
    }
    return size > 0 ? std::sqrt(squared / size) : 0;
  }
};

/// Stacks of rigid and of compliant boxes, pushed and not.
[[nodiscard]] inline std::vector<RawProblem> small_stacks() {
  std::vector<RawProblem> result;
  for (const int count : {1, 3}) {
    for (const double push : {0., 0.3}) {
      StackShape shape;
      shape.count = count;
      shape.push = push;
      result.push_back(make_stack(shape));
      result.push_back(make_rigid(make_stack(shape)));
    }
  }
  return result;
}

}  // namespace carom::testing
