// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <utility>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/second_order.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Access to the private data of a stepper; defined for ViscoelasticStepDerivative.
template <typename Stepper>
struct StepperInside;

}  // namespace detail

/// A mechanism with points that may touch a plane, as ViscoelasticStepper needs it.
///
/// Triples are (t₁, t₂, n), where n is the height above the plane. Law: `write_contacts` writes the
/// positions of the points, their Jacobian J and J̇ v in one order. `advance` changes q to q ⊕
/// displacement, to first order along J, and sets the velocity.
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

/// A mechanism that ViscoelasticStepDerivative can differentiate: its functions also accept states
/// in numbers with derivatives, which `State::cast` makes.
///
/// Law: `write_difference` inverts `advance` to first order: after advance(to, d, v) from a copy of
/// `from`, it writes d up to terms of second order. Functions for such numbers are written once, as
/// templates of the state's number, with `using std::sqrt` and similar declarations before the
/// unqualified names. If `advance` computes the length of a rotation vector, it must be
/// differentiable at zero rotation.
template <typename System>
concept DifferentiableMechanism = ContactMechanism<System> &&
    requires(const System& system, const typename System::State& now,
             Growing<MatrixX<FirstOrder<typename System::scalar_type>>>& matrix,
             Growing<VectorX<FirstOrder<typename System::scalar_type>>>& vector) {
  now.template cast<FirstOrder<typename System::scalar_type>>();
  requires requires(
      decltype(now.template cast<FirstOrder<typename System::scalar_type>>())& state) {
    system.write_dynamics(std::as_const(state), matrix, vector);
    system.write_contacts(std::as_const(state), vector, matrix, vector);
    system.advance(state, vector, vector);
    system.write_difference(std::as_const(state), std::as_const(state), vector);
  };
};

}  // namespace CAROM_ABI
}  // namespace carom
