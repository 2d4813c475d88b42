// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The position of a trial impulse relative to its cone, which determines the contact mode.
enum class ConeRegion {
  stick,     ///< In the set: the projection is the identity.
  slide,     ///< Outside the set and its polar cone: the projection is on the surface.
  separate,  ///< In the polar cone: the projection is the apex.
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

/// Result of project(): the nearest point and the region of the trial impulse.
template <RealScalar Scalar, int Dimension>
struct ConeProjection {
  Vector<Scalar, Dimension> point;  ///< P(y) [same unit as y].
  ConeRegion region;
};

/// Solution of one friction contact: impulse and velocity that satisfy its law together.
///
/// Coulomb's law: open, γ = 0 and uₙ ≥ 0; stick, u = 0 and ‖γₜ‖ ≤ μ γₙ; slide, uₙ = 0 and γₜ = −μ
/// γₙ uₜ/‖uₜ‖. Under the convex law a sliding contact has uₙ = μ ‖uₜ‖ instead.
template <RealScalar Scalar>
struct ContactOutcome {
  Vector3<Scalar> impulse;   ///< γ [N·s]; a force [N] where the law links forces and velocities.
  Vector3<Scalar> velocity;  ///< u [m/s].
  ConeRegion region;         ///< stick, slide, or separate for an open contact.
  Scalar ratio;  ///< ‖uₜ‖/‖γₜ‖ of a sliding contact, else 0; a guess for a similar contact.
};

/// A vector of the space of a set.
template <typename Set>
using SetVector = Vector<typename Set::scalar_type, Set::dimension>;

/// A square matrix of this space.
template <typename Set>
using SetMatrix = SquareMatrix<typename Set::scalar_type, Set::dimension>;

}  // namespace CAROM_ABI
}  // namespace carom
