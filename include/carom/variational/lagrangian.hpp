// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/variational/concepts.hpp"

namespace carom::inline CAROM_ABI {

/// Derivatives of a system's Lagrangian, whichever way the system gives it (concepts.hpp).
///
/// A templated Lagrangian takes about n runs for the gradient and n²/2 + n for all second
/// derivatives, in numbers of `SecondOrder::width` directions.
/// @note  Real-time safe once prepared, if the system's functions are: no allocation, no exception.
template <LagrangianSystemLike System>
class LagrangianEvaluator {
 public:
  using Scalar = typename System::scalar_type;
  using Number = DerivativeNumber<System>;
  using Derivatives = LagrangianDerivatives<Scalar>;

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    if constexpr (LagrangianDerivativesLike<System>) {
    } else if constexpr (MassPotentialLike<System>) {
      matrix_.setZero(n, n);
      vector_.setZero(n);
    } else {
      q_.setConstant(n, Number());
      v_.setConstant(n, Number());
    }
  }

  /// Writes value, by_q and by_v.
  /// @param q, v  configuration and velocity, n.
  /// @param t     time [s].
  void write_gradient(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& v,
                      const Scalar& t, Derivatives& out) noexcept {
    if constexpr (LagrangianDerivativesLike<System>) {
      system.write_lagrangian(q, v, t, out);
    } else if constexpr (MassPotentialLike<System>) {
      write_parts(system, q, v, out);
    } else {
      run(system, q, v, t, [&] { run_gradient(system, t, out); });
    }
  }

  /// Writes everything.
  void write_curvature(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& v,
                       const Scalar& t, Derivatives& out) noexcept {
    if constexpr (LagrangianDerivativesLike<System>) {
      system.write_lagrangian_curvature(q, v, t, out);
    } else if constexpr (MassPotentialLike<System>) {
      write_parts(system, q, v, out);
      write_part_curvature(system, q, v, out);
    } else {
      run(system, q, v, t, [&] { run_curvature(system, t, out); });
    }
  }

 private:
  // --- mass matrix and potential ---

  void write_parts(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& v,
                   Derivatives& out) noexcept {
    system.write_mass(q, out.by_vv);
    out.by_v.noalias() = out.by_vv.lazyProduct(v);
    system.write_potential_gradient(q, vector_);
    out.by_q = -vector_;
    out.value = v.dot(out.by_v) / 2 - system.potential(q);
    if constexpr (VaryingMassLike<System>) {
      for (Index i = 0; i < q.size(); ++i) {
        system.write_mass_slope(q, i, matrix_);
        vector_.noalias() = matrix_.lazyProduct(v);
        out.by_q(i) += v.dot(vector_) / 2;
      }
    }
  }

  void write_part_curvature(const System& system, const VectorX<Scalar>& q,
                            const VectorX<Scalar>& v, Derivatives& out) noexcept {
    system.write_potential_hessian(q, out.by_qq);
    out.by_qq = -out.by_qq;
    out.by_qv.setZero();
    if constexpr (VaryingMassLike<System>) {
      for (Index i = 0; i < q.size(); ++i) {
        system.write_mass_slope(q, i, matrix_);
        vector_.noalias() = matrix_.lazyProduct(v);
        out.by_qv.row(i) = vector_.transpose();
        for (Index j = 0; j <= i; ++j) {
          system.write_mass_curvature(q, i, j, matrix_);
          vector_.noalias() = matrix_.lazyProduct(v);
          const Scalar kinetic = v.dot(vector_) / 2;
          out.by_qq(i, j) += kinetic;
          if (j < i) out.by_qq(j, i) += kinetic;
        }
      }
    }
  }

  // --- automatic differentiation; argument k < n is q_k, then come the v ---

  template <typename Action>
  void run(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& v, const Scalar&,
           const Action& action) noexcept {
    CAROM_EXPECTS(q_.size() == system.size());
    for (Index i = 0; i < system.size(); ++i) {
      q_(i) = Number(q(i));
      v_(i) = Number(v(i));
    }
    action();
  }

  [[nodiscard]] Number& argument(Index k) noexcept {
    return k < q_.size() ? q_(k) : v_(k - q_.size());
  }

  void run_gradient(const System& system, const Scalar& t, Derivatives& out) noexcept {
    const Index n = q_.size();
    for (Index first = 0; first < 2 * n; first += Number::width) {
      const Index last = std::min<Index>(first + Number::width, 2 * n);
      for (Index k = first; k < last; ++k) argument(k).inner(k - first) = 1;
      const Number result = system.lagrangian(q_, v_, Number(t));
      for (Index k = first; k < last; ++k) {
        argument(k).inner.setZero();
        (k < n ? out.by_q(k) : out.by_v(k - n)) = result.inner(k - first);
      }
      out.value = result.value;
    }
  }

  void run_curvature(const System& system, const Scalar& t, Derivatives& out) noexcept {
    const Index n = q_.size();
    for (Index first = 0; first < 2 * n; first += Number::width) {
      const Index last = std::min<Index>(first + Number::width, 2 * n);
      for (Index k = first; k < last; ++k) argument(k).inner(k - first) = 1;
      for (Index row = 0; row < last; ++row) {
        argument(row).outer = 1;
        const Number result = system.lagrangian(q_, v_, Number(t));
        argument(row).outer = 0;
        for (Index k = std::max(first, row); k < last; ++k) {
          put(row, k, result.mixed(k - first), out);
        }
        if (row > 0) continue;
        out.value = result.value;
        for (Index k = first; k < last; ++k) {
          (k < n ? out.by_q(k) : out.by_v(k - n)) = result.inner(k - first);
        }
      }
      for (Index k = first; k < last; ++k) argument(k).inner.setZero();
    }
  }

  /// Second derivative by the arguments a ≤ b.
  void put(Index a, Index b, const Scalar& value, Derivatives& out) const noexcept {
    const Index n = q_.size();
    if (b < n) {
      out.by_qq(a, b) = out.by_qq(b, a) = value;
    } else if (a < n) {
      out.by_qv(a, b - n) = value;
    } else {
      out.by_vv(a - n, b - n) = out.by_vv(b - n, a - n) = value;
    }
  }

  VectorX<Number> q_, v_;
  VectorX<Scalar> vector_;
  MatrixX<Scalar> matrix_;
};

}  // namespace carom::inline CAROM_ABI
