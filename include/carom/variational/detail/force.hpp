// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/variational/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Generalized forces f(q, v, t) of a system with their derivatives; nothing for a system without.
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

}  // namespace CAROM_ABI
}  // namespace carom
