// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom::testing {

/// A number that carries its derivatives by Size variables (forward automatic differentiation).
/// Comparisons look at the value alone. The square root's slope at zero is taken as zero.
template <typename Real, std::size_t Size>
struct Dual {
  Real value = 0;
  std::array<Real, Size> slope{};

  constexpr Dual() = default;
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  constexpr Dual(Number number) : value(static_cast<Real>(number)) {}

  /// The variable with the given index.
  static constexpr Dual variable(Real value, std::size_t index) {
    Dual result(value);
    result.slope[index] = 1;
    return result;
  }

  /// The number f with df = a dx + b dy.
  static constexpr Dual chain(Real f, Real a, const Dual& x, Real b, const Dual& y) {
    Dual result(f);
    for (std::size_t i = 0; i < Size; ++i) result.slope[i] = a * x.slope[i] + b * y.slope[i];
    return result;
  }

  friend constexpr Dual operator+(const Dual& x, const Dual& y) {
    return chain(x.value + y.value, 1, x, 1, y);
  }
  friend constexpr Dual operator-(const Dual& x, const Dual& y) {
    return chain(x.value - y.value, 1, x, -1, y);
  }
  friend constexpr Dual operator*(const Dual& x, const Dual& y) {
    return chain(x.value * y.value, y.value, x, x.value, y);
  }
  friend constexpr Dual operator/(const Dual& x, const Dual& y) {
    const Real quotient = x.value / y.value;
    return chain(quotient, 1 / y.value, x, -quotient / y.value, y);
  }
  friend constexpr Dual operator-(const Dual& x) { return chain(-x.value, -1, x, 0, x); }
  friend constexpr Dual operator+(const Dual& x) { return x; }
  constexpr Dual& operator+=(const Dual& y) { return *this = *this + y; }
  constexpr Dual& operator-=(const Dual& y) { return *this = *this - y; }
  constexpr Dual& operator*=(const Dual& y) { return *this = *this * y; }
  constexpr Dual& operator/=(const Dual& y) { return *this = *this / y; }

  friend constexpr bool operator==(const Dual& x, const Dual& y) { return x.value == y.value; }
  friend constexpr bool operator!=(const Dual& x, const Dual& y) { return x.value != y.value; }
  friend constexpr bool operator<(const Dual& x, const Dual& y) { return x.value < y.value; }
  friend constexpr bool operator>(const Dual& x, const Dual& y) { return x.value > y.value; }
  friend constexpr bool operator<=(const Dual& x, const Dual& y) { return x.value <= y.value; }
  friend constexpr bool operator>=(const Dual& x, const Dual& y) { return x.value >= y.value; }

  friend Dual sqrt(const Dual& x) {
    const Real root = std::sqrt(x.value);
    return chain(root, root > 0 ? 1 / (2 * root) : Real(0), x, 0, x);
  }
  friend Dual abs(const Dual& x) { return x.value < 0 ? -x : x; }
};

}  // namespace carom::testing

namespace carom {

template <typename Real, std::size_t Size>
inline constexpr bool enable_real_scalar<testing::Dual<Real, Size>> = true;

}  // namespace carom

template <typename Real, std::size_t Size>
struct std::numeric_limits<carom::testing::Dual<Real, Size>> : std::numeric_limits<Real> {};

template <typename RealPart, std::size_t Size>
struct Eigen::NumTraits<carom::testing::Dual<RealPart, Size>> : Eigen::NumTraits<RealPart> {
  using Real = carom::testing::Dual<RealPart, Size>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;
  enum { RequireInitialization = 1 };
};
