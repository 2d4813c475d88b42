// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A rigid body of a planar tree, connected to its parent by a hinge.
template <RealScalar Scalar>
struct PlanarBody {
  Index parent = -1;  ///< index of an earlier body; −1: connected to the base.
  Vector<Scalar, 2> hinge = Vector<Scalar, 2>::Zero();  ///< in the parent's frame [m].
  Vector<Scalar, 2> centre =
      Vector<Scalar, 2>::Zero();  ///< of mass, from the hinge, own frame [m].
  Scalar mass = 1;                ///< [kg], ≥ 0.
  Scalar inertia = 0;             ///< about the centre of mass [kg·m²], ≥ 0.
};

/// Gravity and coordinates of a PlanarTree.
template <RealScalar Scalar>
struct PlanarTreeOptions {
  Vector<Scalar, 2> gravity = Vector<Scalar, 2>(Scalar(0), Scalar(-9.81));  ///< [m/s²]
  bool floating = false;  ///< Whether the base moves: its position is the first two coordinates.
  bool relative = true;   ///< Coordinates are hinge angles; otherwise angles to the horizontal.
};

/// The fault of the bodies of a planar tree; empty if there is none.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] Fault check_bodies(const std::vector<PlanarBody<Scalar>>& bodies) {
  if (bodies.empty()) return "bodies: expected at least 1, got 0";
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const PlanarBody<Scalar>& body = bodies[i];
    const std::string item = "body " + std::to_string(i) + ": ";
    if (body.parent < -1 || body.parent >= Index(i)) {
      return detail::fault(item + "parent", "-1 or the index of an earlier body", body.parent);
    }
    if (Fault f = detail::finite_fault(item + "hinge", body.hinge); !f.empty()) return f;
    if (Fault f = detail::finite_fault(item + "centre", body.centre); !f.empty()) return f;
    if (!detail::is_nonnegative(body.mass)) {
      return detail::fault(item + "mass", "a finite number >= 0", body.mass);
    }
    if (!detail::is_nonnegative(body.inertia)) {
      return detail::fault(item + "inertia", "a finite number >= 0", body.inertia);
    }
  }
  return {};
}

}  // namespace CAROM_ABI
}  // namespace carom
