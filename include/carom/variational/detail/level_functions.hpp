// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/variational/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Which functions of the configuration are meant.
enum class LevelKind {
  constraints,  ///< c(q) = 0
  gaps,         ///< ϕ(q) ≥ 0
};

/// Functions of the configuration alone, constraints c(q) or gaps ϕ(q), with their gradients; none
/// for a system that has none.
///
/// A system writes `constraints(q, out)` (or `gaps(q, out)`) once for any number type, or gives
/// values and gradients itself by `write_constraints(q, out)` and
/// `write_constraint_gradients(q, out)`, one row per function (`write_gaps`,
/// `write_gap_gradients`). For derivatives of the step map a system with gradients of its own also
/// gives `add_constraint_curvature(q, weights, out)`, Σ weights_i ∇²c_i
/// (`add_gap_curvature`).
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
  /// @param weights  at least count() numbers, of which the first ones count.
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

  /// One run with the inner directions first..last of q.
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
