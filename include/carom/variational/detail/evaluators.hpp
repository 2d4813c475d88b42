// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/variational/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivatives of a system's Lagrangian, for all forms of a system (concepts.hpp).
///
/// A templated Lagrangian needs n/2 evaluations for the gradient and about n²/8 for all second
/// derivatives, in numbers with four directions and blocks of four by four.
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

  /// Arguments of a Lagrangian in numbers that differentiate it: k < n is q_k, then the v.
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

/// Generalized forces f(q, v, t) of a system with their derivatives. It is empty for a system
/// without forces.
/// @note  Real-time safe once prepared, if the system's functions are: no allocation, no exception.
template <SizedSystemLike System>
class ForceEvaluator {
 public:
  using Scalar = typename System::scalar_type;
  using Number = SlopeNumber<System>;

  static constexpr bool present = TemplatedForceLike<System> || WrittenForceLike<System>;

  VectorX<Scalar> value;  ///< f [N, N·m], n
  MatrixX<Scalar> by_q;   ///< ∂f/∂q, n×n
  MatrixX<Scalar> by_v;   ///< ∂f/∂v, n×n

  /// Cold: allocates.
  void prepare(const System& system) {
    if constexpr (present) {
      const Index n = system.size();
      value.setZero(n);
      by_q.setZero(n, n);
      by_v.setZero(n, n);
      if constexpr (!WrittenForceLike<System>) {
        q_.setConstant(n, Number());
        v_.setConstant(n, Number());
        f_.setConstant(n, Number());
      }
    }
  }

  /// Writes value, by_q and by_v at (q, v, t).
  void evaluate(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& v,
                const Scalar& t) noexcept {
    if constexpr (WrittenForceLike<System>) {
      system.write_force(q, v, t, value, by_q, by_v);
    } else if constexpr (TemplatedForceLike<System>) {
      const Index n = system.size();
      for (Index i = 0; i < n; ++i) {
        q_(i) = Number(q(i));
        v_(i) = Number(v(i));
      }
      const auto argument = [&](Index k) -> Number& { return k < n ? q_(k) : v_(k - n); };
      for (Index first = 0; first < 2 * n; first += Number::inners) {
        const Index last = std::min<Index>(first + Number::inners, 2 * n);
        for (Index k = first; k < last; ++k) argument(k).inner(k - first) = 1;
        for (Index i = 0; i < n; ++i) f_(i) = Number();
        system.force(q_, v_, Number(t), f_);
        for (Index k = first; k < last; ++k) {
          argument(k).inner.setZero();
          for (Index i = 0; i < n; ++i) {
            (k < n ? by_q(i, k) : by_v(i, k - n)) = f_(i).inner(k - first);
          }
        }
      }
      for (Index i = 0; i < n; ++i) value(i) = f_(i).value;
    }
  }

 private:
  VectorX<Number> q_, v_, f_;
};

/// The kind of functions of the configuration.
enum class LevelKind {
  constraints,  ///< c(q) = 0
  gaps,         ///< ϕ(q) ≥ 0
};

/// Functions of the configuration only, constraints c(q) or gaps ϕ(q), with their gradients. It is
/// empty for a system without such functions.
///
/// A system writes `constraints(q, out)` (or `gaps(q, out)`) once for any number type. Or it
/// computes values and gradients itself in `write_constraints(q, out)` and
/// `write_constraint_gradients(q, out)`, one row per function (`write_gaps`,
/// `write_gap_gradients`). For derivatives of the step map, a system with its own gradients also
/// has `add_constraint_curvature(q, weights, out)`, Σ weights_i ∇²c_i (`add_gap_curvature`).
/// @note  Real-time safe once prepared, if the system's functions are: no allocation, no exception.
template <SizedSystemLike System, LevelKind Kind>
class LevelFunctions {
 public:
  using Scalar = typename System::scalar_type;
  using Number = DerivativeNumber<System>;
  using Slope = SlopeNumber<System>;

  static constexpr bool present =
      Kind == LevelKind::constraints ? ConstrainedSystemLike<System> : ContactSystemLike<System>;

  VectorX<Scalar> values;     ///< [m], one per function
  MatrixX<Scalar> gradients;  ///< [-, m], one row per function

  [[nodiscard]] static Index count(const System& system) noexcept {
    if constexpr (!present) {
      return 0;
    } else if constexpr (Kind == LevelKind::constraints) {
      return system.constraint_count();
    } else {
      return system.gap_count();
    }
  }

  /// Cold: allocates.
  void prepare(const System& system) {
    values.setZero(count(system));
    gradients.setZero(count(system), system.size());
    if constexpr (present && !written) {
      q_.setConstant(system.size(), Number());
      out_.setConstant(count(system), Number());
      slope_q_.setConstant(system.size(), Slope());
      slope_out_.setConstant(count(system), Slope());
    }
  }

  /// Writes the values at q.
  void write_values(const System& system, const VectorX<Scalar>& q) noexcept {
    if constexpr (!present) {
    } else if constexpr (written && Kind == LevelKind::constraints) {
      system.write_constraints(q, values);
    } else if constexpr (written) {
      system.write_gaps(q, values);
    } else if constexpr (Kind == LevelKind::constraints) {
      system.constraints(q, values);
    } else {
      system.gaps(q, values);
    }
  }

  /// Writes values and gradients at q.
  void write_gradients(const System& system, const VectorX<Scalar>& q) noexcept {
    if constexpr (!present) {
    } else if constexpr (written) {
      write_values(system, q);
      if constexpr (Kind == LevelKind::constraints) {
        system.write_constraint_gradients(q, gradients);
      } else {
        system.write_gap_gradients(q, gradients);
      }
    } else {
      set(q, slope_q_);
      const Index n = q.size();
      for (Index first = 0; first < n; first += Slope::inners) {
        const Index last = std::min<Index>(first + Slope::inners, n);
        run(system, first, last, slope_q_, slope_out_);
        for (Index i = 0; i < slope_out_.size(); ++i) {
          values(i) = slope_out_(i).value;
          for (Index k = first; k < last; ++k) gradients(i, k) = slope_out_(i).inner(k - first);
        }
      }
    }
  }

  /// Adds Σ weights_i ∇²(function i) at q to a matrix, n×n.
  /// @param weights  at least count() numbers; only the first count() are used.
  void add_curvature(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& weights,
                     MatrixX<Scalar>& out) noexcept {
    CAROM_EXPECTS(weights.size() >= count(system));
    if constexpr (!present) {
    } else if constexpr (written) {
      const Eigen::Map<const VectorX<Scalar>> given(weights.data(), count(system));
      if constexpr (Kind == LevelKind::constraints) {
        if constexpr (requires { system.add_constraint_curvature(q, given, out); }) {
          system.add_constraint_curvature(q, given, out);
        }
      } else if constexpr (requires { system.add_gap_curvature(q, given, out); }) {
        system.add_gap_curvature(q, given, out);
      }
    } else {
      set(q, q_);
      const Index n = q.size();
      for (Index top = 0; top < n; top += Number::outers) {
        const Index bottom = std::min<Index>(top + Number::outers, n);
        for (Index k = top; k < bottom; ++k) q_(k).outer(k - top) = 1;
        for (Index first = 0; first < n; first += Number::inners) {
          const Index last = std::min<Index>(first + Number::inners, n);
          run(system, first, last, q_, out_);
          for (Index i = 0; i < out_.size(); ++i) {
            for (Index row = top; row < bottom; ++row) {
              for (Index k = first; k < last; ++k) {
                out(row, k) += weights(i) * out_(i).mixed(k - first, row - top);
              }
            }
          }
        }
        for (Index k = top; k < bottom; ++k) q_(k).outer.setZero();
      }
    }
  }

 private:
  static constexpr bool written =
      Kind == LevelKind::constraints ? WrittenConstraintsLike<System> : WrittenGapsLike<System>;

  template <typename Numbers>
  static void set(const VectorX<Scalar>& q, Numbers& numbers) noexcept {
    CAROM_EXPECTS(numbers.size() == q.size());
    for (Index i = 0; i < q.size(); ++i) numbers(i) = typename Numbers::Scalar(q(i));
  }

  /// One evaluation with the inner directions first..last of q.
  template <typename Numbers>
  static void run(const System& system, Index first, Index last, Numbers& q,
                  Numbers& out) noexcept {
    for (Index k = first; k < last; ++k) q(k).inner(k - first) = 1;
    for (Index i = 0; i < out.size(); ++i) out(i) = typename Numbers::Scalar();
    if constexpr (Kind == LevelKind::constraints) {
      system.constraints(q, out);
    } else {
      system.gaps(q, out);
    }
    for (Index k = first; k < last; ++k) q(k).inner.setZero();
  }

  VectorX<Number> q_, out_;
  VectorX<Slope> slope_q_, slope_out_;
};

}  // namespace CAROM_ABI
}  // namespace carom
