// SPDX-License-Identifier: BSD-3-Clause
// Compiled without NDEBUG: a broken precondition ends the program.
#undef NDEBUG
#include "carom/carom.hpp"

void break_precondition_armed();

void break_precondition_armed() {
  const carom::FrictionCone<double> cone{-0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  static_cast<void>(project(cone, weights, carom::Vector3<double>(0.0, 0.0, 1.0)));
}
