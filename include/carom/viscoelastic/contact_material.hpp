// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The material of a contact point, in the directions (t₁, t₂, n).
template <RealScalar Scalar>
struct ContactMaterial {
  Vector3<Scalar> stiffness{0, 0, 0};  ///< K [N/m], ≥ 0.
  Vector3<Scalar> damping{0, 0, 0};    ///< B [N·s/m], ≥ 0.
  Scalar friction = 0;                 ///< μ [-], ≥ 0.
};

/// The fault of a material, naming the entry; empty if there is none. Cold.
template <RealScalar Scalar>
[[nodiscard]] Fault check(const ContactMaterial<Scalar>& material) {
  const auto look = [](const char* name, const Vector3<Scalar>& numbers) -> Fault {
    for (Index k = 0; k < 3; ++k) {
      if (!detail::is_nonnegative(numbers(k))) {
        return detail::fault(detail::entry(name, k), "a number >= 0", numbers(k));
      }
    }
    return {};
  };
  if (Fault found = look("stiffness", material.stiffness); !found.empty()) return found;
  if (Fault found = look("damping", material.damping); !found.empty()) return found;
  if (detail::is_nonnegative(material.friction)) return {};
  return detail::fault("friction", "a number >= 0", material.friction);
}

}  // namespace CAROM_ABI
}  // namespace carom
