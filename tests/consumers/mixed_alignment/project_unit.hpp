// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/carom.hpp"

#include "unit_answer.hpp"

#define CAROM_TEXT_OF(name) #name
#define CAROM_TEXT(name) CAROM_TEXT_OF(name)

namespace {

/// A projection by the carom of the unit that includes this.
UnitAnswer project_unit() {
  const carom::FrictionCone<double> cone{0.5};
  const carom::ContactWeights<double> weights{1.0, 2.0};
  const auto answer = project(cone, weights, carom::Vector3<double>(3.0, 4.0, 1.0));
  const auto copy = &carom::detail::project_frictionless<double>;
  return {EIGEN_MAX_ALIGN_BYTES, CAROM_TEXT(CAROM_ABI), answer.point.z(),
          reinterpret_cast<void (*)()>(copy)};
}

}  // namespace
