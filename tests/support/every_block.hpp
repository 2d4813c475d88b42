// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/wrench_contact.hpp"

#include "support/raw_problem.hpp"

namespace carom::testing {

/// What draw_every_block() leaves open.
struct EveryBlock {
  double held_regularization = 1e-3;  ///< R of the rows that hold two bodies together [1/kg]
  bool held_rigid = false;
  double bond = 0.5;  ///< of the wrench contacts [N·s]
};

/// Friction contacts, joints, and a contact of every cone on three bodies.
[[nodiscard]] inline ContactProblem<double> draw_every_block(VectorSource<double>& source,
                                                             const EveryBlock& options = {}) {
  ContactProblem<double> problem = build(draw_problem(source, {{6, 6, 3}, 2}));
  problem.add_constraint(0, draw_matrix(source, 1, 6),
                         JointLimit<double>{.gap = -0.01, .compliance = Compliance::step});
  problem.add_constraint(
      1, draw_matrix(source, 1, 6),
      Motor<double>{.wanted_velocity = 1, .velocity_gain = 50, .effort_limit = 20});
  problem.add_constraint(2, draw_matrix(source, 1, 3),
                         DryFriction<double>{.effort_limit = 5, .relative_slip = 1e-3});
  WeightedBlock<double> held;
  held.set = free_impulses<double>(3);
  held.regularization *= options.held_regularization;
  held.rigid = options.held_rigid;
  problem.add_constraint(0, draw_matrix(source, 3, 6), 1, draw_matrix(source, 3, 6), held);
  const auto add = [&](ImpulseShape shape, int rows) {
    WrenchContact<double> law{.contact = {.gap = 0, .stiffness = 1e4, .friction = 0.5},
                              .shape = shape,
                              .bond = options.bond};
    if (rows >= 5) law.rolling_friction = 0.1;
    if (rows == 4 || rows == 6) law.torsional_friction = 0.2;
    if (shape == ImpulseShape::elliptic) law.second_friction = 0.9;
    problem.add_contact(0, draw_matrix(source, rows, 6), 1, draw_matrix(source, rows, 6), law);
  };
  add(ImpulseShape::friction, 3);
  add(ImpulseShape::elliptic, 3);
  add(ImpulseShape::torsional, 4);
  add(ImpulseShape::spinless_rolling, 5);
  add(ImpulseShape::rolling, 6);
  add(ImpulseShape::ellipsoidal_torsional, 4);
  add(ImpulseShape::ellipsoidal_rolling, 6);
  return problem;
}

}  // namespace carom::testing
