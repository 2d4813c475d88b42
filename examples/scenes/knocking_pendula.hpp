// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/variational/concepts.hpp"

namespace carom::examples {

/// Two unlike pendula that knock against each other:
/// L = v₀²/2 + v₁² + cos q₀ + 1.7 cos q₁, ϕ = q₁ − q₀ + 0.1.
struct KnockingPendula {
  using scalar_type = double;
  [[nodiscard]] Index size() const noexcept { return 2; }
  [[nodiscard]] Index gap_count() const noexcept { return 1; }
  void write_lagrangian(const VectorX<double>& q, const VectorX<double>& v, const double&,
                        LagrangianDerivatives<double>& out) const noexcept {
    out.value = v(0) * v(0) / 2 + v(1) * v(1) + std::cos(q(0)) + 1.7 * std::cos(q(1));
    out.by_q << -std::sin(q(0)), -1.7 * std::sin(q(1));
    out.by_v << v(0), 2 * v(1);
  }
  void write_lagrangian_curvature(const VectorX<double>& q, const VectorX<double>& v,
                                  const double& t,
                                  LagrangianDerivatives<double>& out) const noexcept {
    write_lagrangian(q, v, t, out);
    out.by_qq << -std::cos(q(0)), 0, 0, -1.7 * std::cos(q(1));
    out.by_qv.setZero();
    out.by_vv << 1, 0, 0, 2;
  }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    out(0) = q(1) - q(0) + 0.1;
  }
  void write_gap_gradients(const VectorX<double>&, MatrixX<double>& out) const noexcept {
    out << -1, 1;
  }
};

}  // namespace carom::examples
