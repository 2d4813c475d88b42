// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/core/invalid_input.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What is wrong with the length or the entries of a system's vector, or nothing.
template <LagrangianSystemLike System>
[[nodiscard]] Fault coordinate_fault(const System& system, const char* name,
                                     const VectorX<typename System::scalar_type>& vector) {
  if (vector.size() != system.size()) {
    return fault(std::string(name) + " entries", "as many as the system has coordinates",
                 vector.size());
  }
  return finite_fault(name, vector);
}

/// What is wrong with a state of a system, or nothing.
template <LagrangianSystemLike System>
[[nodiscard]] Fault state_fault(const System& system,
                                const MechanicalState<typename System::scalar_type>& state) {
  if (Fault f = coordinate_fault(system, "configuration", state.q); !f.empty()) return f;
  if (Fault f = coordinate_fault(system, "momentum", state.momentum); !f.empty()) return f;
  if (!is_finite(state.time)) return fault("time", "a finite number", state.time);
  return {};
}

/// State at a configuration and a velocity: p = ∂L/∂v.
/// @note  Cold: allocates, throws std::invalid_argument naming the entry.
template <LagrangianSystemLike System>
[[nodiscard]] MechanicalState<typename System::scalar_type> make_state(
    const System& system, LegendreMap<System>& legendre,
    const VectorX<typename System::scalar_type>& q,
    const VectorX<typename System::scalar_type>& velocity, typename System::scalar_type time) {
  using Scalar = typename System::scalar_type;
  reject_if(coordinate_fault(system, "velocity", velocity));
  MechanicalState<Scalar> state{time, q, VectorX<Scalar>::Zero(system.size())};
  reject_if(state_fault(system, state));
  legendre.write_momentum(system, q, velocity, time, state.momentum);
  if (!state.momentum.allFinite()) {
    reject_if(finite_fault("momentum at the configuration", state.momentum));
  }
  return state;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
