// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mujoco/mujoco.h>
#include <span>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

// What MuJoCo's structures call by other names from version to version. The structures are template
// parameters, so that each version is asked for the members it has.

/// All numbers of the inertia matrix of the last step.
template <typename Model, typename Data>
[[nodiscard]] std::span<const mjtNum> inertia_numbers(const Model& model,
                                                      const Data& data) noexcept {
  if constexpr (requires { data.qM; }) {
    return {data.qM, std::size_t(model.nM)};
  } else {
    return {data.M, std::size_t(model.nC)};
  }
}

/// Calls visit(other, number) for the entries of a row of the inertia matrix up to its diagonal;
/// those that it does not visit are zero.
template <typename Model, typename Data, typename Visit>
void for_each_inertia(const Model& model, const Data& data, int dof, const Visit& visit) noexcept {
  if constexpr (requires { data.qM; }) {
    const mjtNum* entry = data.qM + model.dof_Madr[dof];
    for (int other = dof; other >= 0; other = model.dof_parentid[other]) visit(other, *entry++);
  } else {
    const int first = model.M_rowadr[dof];
    for (int k = first; k < first + model.M_rownnz[dof]; ++k) {
      visit(model.M_colind[k], data.M[k]);
    }
  }
}

/// What MuJoCo takes for J M⁻¹ Jᵀ of a row [1/kg].
template <typename Data>
[[nodiscard]] mjtNum inverse_mass_of(const Data& data, int row) noexcept {
  if constexpr (requires { data.efc_diagApprox; }) {
    return data.efc_diagApprox[row];
  } else {
    return data.efc_diagA[row];
  }
}

/// Says how many iterations the solver took, where it is one for all islands.
template <typename Data>
void write_iterations(Data& data, int count) noexcept {
  if constexpr (requires { data.solver_iter; }) {
    data.solver_iter = count;
  } else {
    data.solver_niter[0] = count;
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
