// SPDX-License-Identifier: BSD-3-Clause
// A heap of rigid spheres under both laws by ContactSolver, whose factor has dense fronts, and the
// derivative of its answer.
#include <type_traits>

#include "scenes/pile.hpp"
#include "towers.hpp"

namespace {

using carom::bits::Bits, carom::bits::Scene;

/// What a PileWalk places, with rigid contacts.
struct RigidPile {
  carom::ContactProblem<double> problem{0.01};
  Eigen::VectorXd guess;

  [[nodiscard]] static bool wants(Eigen::Index /*body*/, Eigen::Index /*other*/) { return true; }
  void add_body(const Eigen::Vector3d& /*place*/, const Eigen::Matrix<double, 6, 6>& momentum,
                const Eigen::Matrix<double, 6, 1>& /*velocity*/,
                const Eigen::Matrix<double, 6, 1>& free_velocity) {
    problem.add_body(momentum, free_velocity);
  }
  template <typename Item>
  static decltype(auto) rigid(const Item& item) {
    if constexpr (std::is_same_v<Item, carom::CompliantContact<double>>) {
      return carom::RigidContact<double>{.gap = item.gap, .friction = item.friction};
    } else {
      return (item);
    }
  }
  template <typename... Sides>
  void add_contact(const Sides&... sides) {
    problem.add_contact(rigid(sides)...);
  }
};

void take_heap(Bits& bits) {
  const carom::examples::PileShape shape{.body_count = 120,
                                         .bodies = carom::examples::PileBodies::spheres};
  for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    RigidPile pile;
    carom::examples::detail::PileWalk(shape, pile).make(1, [](Eigen::Index /*bodies*/) {});
    carom::ContactSolver<double> solver({.law = law});
    Eigen::VectorXd velocity;
    take_solve(bits, solver, pile.problem, velocity);
  }
}

void take_derivative(Bits& bits) {
  Eigen::VectorXd velocity;
  const auto problem = carom::bits::make_tower(4, carom::bits::hard_ground<double>, velocity);
  carom::ContactSolver<double> solver({.tolerance = 1e-12});
  take_solve(bits, solver, problem, velocity);
  carom::CoulombDerivative<double> derivative;
  derivative.prepare(problem);
  bits.take(int(derivative.linearize(problem, velocity, solver.impulse()).usable()));
  carom::ProblemDifferential<double> change;
  change.set_zero(problem, carom::DifferentialParts::vectors);
  change.free_velocity.setOnes();
  Eigen::VectorXd slope(velocity.size());
  bits.take_report(derivative.push_forward(problem, change, slope));
  bits.take(slope);
}

const Scene heap("rigid_heap", take_heap);
const Scene derivative("rigid_derivative", take_derivative);

}  // namespace
