// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/variational/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivatives of a system's Lagrangian, whichever way the system gives it (concepts.hpp).
///
/// A templated Lagrangian takes n/2 runs for the gradient and about n²/8 for all second
/// derivatives, in numbers that carry four directions and blocks of four by four.
/// @note  Real-time safe once prepared, if the system's functions are: no allocation, no exception.
template <LagrangianSystemLike System>
class LagrangianEvaluator {
 public:
  using Scalar = typename System::scalar_type;
  using Number = DerivativeNumber<System>;
  using Slope = SlopeNumber<System>;
  using Derivatives = LagrangianDerivatives<Scalar>;

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    if constexpr (LagrangianDerivativesLike<System>) {
    } else if constexpr (MassPotentialLike<System>) {
      matrix_.setZero(n, n);
      vector_.setZero(n);
    } else {
      numbers_.prepare(n);
      slopes_.prepare(n);
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
      slopes_.set(q, v);
      run_gradient(system, t, out);
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
      numbers_.set(q, v);
      run_curvature(system, t, out);
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

  // --- automatic differentiation ---

  /// Arguments of a Lagrangian in numbers that differentiate it: k < n is q_k, then come the v.
  template <typename Carrier>
  struct Arguments {
    VectorX<Carrier> q, v;

    void prepare(Index n) {
      q.setConstant(n, Carrier());
      v.setConstant(n, Carrier());
    }
    void set(const VectorX<Scalar>& q_in, const VectorX<Scalar>& v_in) noexcept {
      CAROM_EXPECTS(q.size() == q_in.size());
      for (Index i = 0; i < q.size(); ++i) {
        q(i) = Carrier(q_in(i));
        v(i) = Carrier(v_in(i));
      }
    }
    [[nodiscard]] Index size() const noexcept { return 2 * q.size(); }
    [[nodiscard]] Carrier& operator()(Index k) noexcept {
      return k < q.size() ? q(k) : v(k - q.size());
    }
  };

  void run_gradient(const System& system, const Scalar& t, Derivatives& out) noexcept {
    const Index m = slopes_.size();
    for (Index first = 0; first < m; first += Slope::inners) {
      const Index last = std::min<Index>(first + Slope::inners, m);
      for (Index k = first; k < last; ++k) slopes_(k).inner(k - first) = 1;
      const Slope result = system.lagrangian(slopes_.q, slopes_.v, Slope(t));
      for (Index k = first; k < last; ++k) slopes_(k).inner.setZero();
      put_slopes(result, first, last, out);
    }
  }

  void run_curvature(const System& system, const Scalar& t, Derivatives& out) noexcept {
    const Index m = numbers_.size();
    for (Index first = 0; first < m; first += Number::inners) {
      const Index last = std::min<Index>(first + Number::inners, m);
      for (Index k = first; k < last; ++k) numbers_(k).inner(k - first) = 1;
      for (Index top = 0; top < last; top += Number::outers) {
        const Index bottom = std::min<Index>(top + Number::outers, last);
        for (Index k = top; k < bottom; ++k) numbers_(k).outer(k - top) = 1;
        const Number result = system.lagrangian(numbers_.q, numbers_.v, Number(t));
        for (Index k = top; k < bottom; ++k) numbers_(k).outer.setZero();
        for (Index row = top; row < bottom; ++row) {
          for (Index k = (std::max)(first, row); k < last; ++k) {
            put(row, k, result.mixed(k - first, row - top), out);
          }
        }
        if (top == 0) put_slopes(result, first, last, out);
      }
      for (Index k = first; k < last; ++k) numbers_(k).inner.setZero();
    }
  }

  template <typename Carrier>
  static void put_slopes(const Carrier& result, Index first, Index last,
                         Derivatives& out) noexcept {
    const Index n = out.by_q.size();
    out.value = result.value;
    for (Index k = first; k < last; ++k) {
      (k < n ? out.by_q(k) : out.by_v(k - n)) = result.inner(k - first);
    }
  }

  /// Second derivative by the arguments a ≤ b.
  static void put(Index a, Index b, const Scalar& value, Derivatives& out) noexcept {
    const Index n = out.by_q.size();
    if (b < n) {
      out.by_qq(a, b) = out.by_qq(b, a) = value;
    } else if (a < n) {
      out.by_qv(a, b - n) = value;
    } else {
      out.by_vv(a - n, b - n) = out.by_vv(b - n, a - n) = value;
    }
  }

  Arguments<Number> numbers_;
  Arguments<Slope> slopes_;
  VectorX<Scalar> vector_;
  MatrixX<Scalar> matrix_;
};

}  // namespace CAROM_ABI
}  // namespace carom
