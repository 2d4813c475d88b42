// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Configuration and momentum of a mechanical system at an instant: the data that a stepper
/// advances.
template <RealScalar Scalar>
struct MechanicalState {
  Scalar time = 0;           ///< [s]
  VectorX<Scalar> q;         ///< configuration, n [m, rad]
  VectorX<Scalar> momentum;  ///< p = ∂L/∂v, n [N·s, N·m·s]
};

}  // namespace CAROM_ABI
}  // namespace carom
