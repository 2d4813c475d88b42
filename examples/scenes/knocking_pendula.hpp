// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/scalar.hpp"

namespace carom::examples {

/// Two unlike pendula that knock against each other:
/// L = v₀²/2 + v₁² + cos q₀ + 1.7 cos q₁, ϕ = q₁ − q₀ + 0.1.
struct KnockingPendula {
  using scalar_type = double;
  [[nodiscard]] Index size() const noexcept { return 2; }
  [[nodiscard]] Index gap_count() const noexcept { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    return v(0) * v(0) / 2.0 + v(1) * v(1) + cos(q(0)) + 1.7 * cos(q(1));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1) - q(0) + 0.1;
  }
};

}  // namespace carom::examples
