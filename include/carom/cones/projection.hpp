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

/// A vector of the space a set lives in.
template <typename Set>
using SetVector = Vector<typename Set::scalar_type, Set::dimension>;

/// A matrix of that space.
template <typename Set>
using SetMatrix = SquareMatrix<typename Set::scalar_type, Set::dimension>;

}  // namespace CAROM_ABI
}  // namespace carom
