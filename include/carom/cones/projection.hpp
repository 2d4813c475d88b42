// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Where a trial impulse lies relative to its cone, and thus the contact mode it implies.
enum class ConeRegion {
  stick,     ///< In the set: the projection is the identity.
  slide,     ///< Outside the set and its polar: lands on the surface.
  separate,  ///< In the polar cone: lands on the apex.
};

/// The region as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(ConeRegion region) noexcept {
  switch (region) {
    case ConeRegion::stick:
      return "stick";
    case ConeRegion::slide:
      return "slide";
    case ConeRegion::separate:
      return "separate";
  }
  return "unknown";
}

/// Result of project(): the nearest point and the branch that produced it.
template <RealScalar Scalar, int Dimension>
struct ConeProjection {
  Vector<Scalar, Dimension> point;  ///< P(y) [same unit as y].
  ConeRegion region;
};

/// Result of solving one friction contact: impulse and velocity that obey its law together.
///
/// Under Coulomb's law: open, γ = 0 and uₙ ≥ 0; stick, u = 0 and ‖γₜ‖ ≤ μ γₙ; slide, uₙ = 0 and
/// γₜ = −μ γₙ uₜ/‖uₜ‖. Under the convex law a contact that slides has uₙ = μ ‖uₜ‖ instead.
template <RealScalar Scalar>
struct ContactOutcome {
  Vector3<Scalar> impulse;   ///< γ [N·s]; a force [N] where the law links forces and velocities.
  Vector3<Scalar> velocity;  ///< u [m/s].
  ConeRegion region;         ///< stick, slide, or separate for an open contact.
  Scalar ratio;  ///< ‖uₜ‖/‖γₜ‖ of a sliding contact, else 0; a guess for a similar one.
};

/// A vector of the space a set lives in.
template <typename Set>
using SetVector = Vector<typename Set::scalar_type, Set::dimension>;

/// A matrix of that space.
template <typename Set>
using SetMatrix = SquareMatrix<typename Set::scalar_type, Set::dimension>;

}  // namespace CAROM_ABI
}  // namespace carom
