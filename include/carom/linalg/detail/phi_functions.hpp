// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The functions of exponential integrators of a real number, φ₀ .. φ_{Count−1}:
/// φ₀(x) = eˣ, φ_{k+1}(x) = (φ_k(x) − 1/k!)/x, φ_k(0) = 1/k!.
///
/// They are the repeated integrals of an exponential: tᵏ φ_k(r t) is e^{r t} integrated k times
/// from 0. Beyond |x| = 3 the recursion runs upwards; within, the highest one is summed as a series
/// and the recursion runs downwards, so that no digits cancel.
/// @tparam Count  how many, ≥ 2.
/// @param x  any finite number [-]; a large positive one overflows as eˣ does.
/// @note  Real-time safe: no allocation, no exception, at most 24 + 2 Count multiply-adds.
/// @cite  hochbruck2010exponential, eq. (2.10), (2.11)
template <int Count, RealScalar Scalar>
[[nodiscard]] std::array<Scalar, std::size_t(Count)> phi_functions(const Scalar& x) noexcept {
  static_assert(Count >= 2, "phi_functions: ask for at least two");
  using std::abs, std::exp;
  std::array<Scalar, std::size_t(Count)> phi;
  phi[0] = exp(x);
  const Scalar size = abs(x);
  if (size > Scalar(3)) {
    Scalar inverse_factorial(1);
    for (std::size_t k = 1; k < phi.size(); ++k) {
      phi[k] = (phi[k - 1] - inverse_factorial) / x;
      inverse_factorial /= Scalar(double(k));
    }
    return phi;
  }
  constexpr int top = Count - 1;
  const int terms = size < Scalar(0.05) ? 9 : size < Scalar(0.5) ? 14 : 26;
  Scalar sum(1);  // of top! xʲ/(j + top)!, innermost term first
  for (int j = terms; j > 0; --j) sum = Scalar(1) + x * sum * Scalar(1.0 / (j + top));
  double factorial = 1;
  for (int k = 2; k <= top; ++k) factorial *= k;
  phi[std::size_t(top)] = sum / Scalar(factorial);
  for (int k = top - 1; k > 0; --k) {
    factorial /= k + 1;
    phi[std::size_t(k)] = Scalar(1.0 / factorial) + x * phi[std::size_t(k) + 1];
  }
  return phi;
}

}  // namespace CAROM_ABI
}  // namespace carom
