// SPDX-License-Identifier: BSD-3-Clause
// Compiled with NDEBUG: the same call passes unchecked.
#ifndef NDEBUG
#define NDEBUG
#endif
#include "carom/carom.hpp"

void break_precondition_disarmed();

void break_precondition_disarmed() {
  const carom::FrictionCone<double> cone{-0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  static_cast<void>(project(cone, weights, carom::Vector3<double>(0.0, 0.0, 1.0)));
}
