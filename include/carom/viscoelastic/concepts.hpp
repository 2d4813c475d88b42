// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A mechanism with points that may touch a plane, as ViscoelasticStepper advances it.
///
/// Triples are (t₁, t₂, n), n the height above the plane. Law: `write_contacts` gives the places of
/// the points, their Jacobian J and J̇ v in one order; `advance` takes q to q ⊕ displacement, to
/// first order along J, and sets the velocity.
template <typename System>
concept ContactMechanism = requires(const System& system, typename System::State& state,
                                    const typename System::State& now,
                                    Growing<MatrixX<typename System::scalar_type>>& matrix,
                                    Growing<VectorX<typename System::scalar_type>>& vector) {
  { system.velocity_count() } -> std::convertible_to<Index>;
  { system.contact_count() } -> std::convertible_to<Index>;
  system.write_dynamics(now, matrix, vector);          // M, v̇ without contact
  system.write_contacts(now, vector, matrix, vector);  // p, J, J̇ v
  system.write_velocity(now, vector);                  // v
  system.advance(state, vector, vector);               // displacement, velocity
};

}  // namespace CAROM_ABI
}  // namespace carom
