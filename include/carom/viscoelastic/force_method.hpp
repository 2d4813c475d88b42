// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The method that computes the average forces of a step. The data determine it.
enum class ForceMethod : std::uint8_t {
  contact_modes,     ///< Modes in contact space: damping proportional to stiffness.
  coordinate_modes,  ///< Modes in generalized coordinates: for the same damping and n_v < 3n.
  taylor,            ///< Taylor action of the exponential: any diagonal K and B.
  exponential,  ///< Dense exponential: for any diagonal K and B, if Taylor series would cost more.
};

/// The name of a method.
[[nodiscard]] constexpr const char* to_string(ForceMethod method) noexcept {
  switch (method) {
    case ForceMethod::contact_modes:
      return "contact_modes";
    case ForceMethod::coordinate_modes:
      return "coordinate_modes";
    case ForceMethod::taylor:
      return "taylor";
    case ForceMethod::exponential:
      return "exponential";
  }
  return "unknown";
}

}  // namespace CAROM_ABI
}  // namespace carom
