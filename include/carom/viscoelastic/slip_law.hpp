// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How average forces are moved to their friction cones.
enum class SlipLaw : std::uint8_t {
  coulomb,  ///< Anchors slide along the surface opposite to the force; contacts are coupled.
  convex,   ///< The associated law: sliding anchors rise by μ‖wₜ‖.
  radial,   ///< Each force is clipped to its cone, tangents first; no coupling.
  stick,    ///< No cone: anchors rest.
};

/// The name of a law, as in `carom viscoelastic --method`.
[[nodiscard]] constexpr const char* to_string(SlipLaw law) noexcept {
  switch (law) {
    case SlipLaw::coulomb:
      return "coulomb";
    case SlipLaw::convex:
      return "convex";
    case SlipLaw::radial:
      return "radial";
    case SlipLaw::stick:
      return "stick";
  }
  return "unknown";
}

}  // namespace CAROM_ABI
}  // namespace carom
