// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/variational/concepts.hpp"

namespace carom::examples {

/// The Lagrangian of masses without forces, L = Σ m_k v_k²/2, with its slopes.
/// @param mass_of  mass_of(k) is the mass along coordinate k [kg].
template <typename MassOf>
void write_free_lagrangian(const MassOf& mass_of, const VectorX<double>& v,
                           LagrangianDerivatives<double>& out) noexcept {
  out.value = 0;
  out.by_q.setZero();
  for (Index k = 0; k < v.size(); ++k) {
    out.by_v(k) = mass_of(k) * v(k);
    out.value += out.by_v(k) * v(k) / 2;
  }
}

/// The same with all second derivatives.
template <typename MassOf>
void write_free_lagrangian_curvature(const MassOf& mass_of, const VectorX<double>& v,
                                     LagrangianDerivatives<double>& out) noexcept {
  write_free_lagrangian(mass_of, v, out);
  for (MatrixX<double>* matrix : {&out.by_qq, &out.by_qv, &out.by_vv}) matrix->setZero();
  for (Index k = 0; k < v.size(); ++k) out.by_vv(k, k) = mass_of(k);
}

}  // namespace carom::examples
