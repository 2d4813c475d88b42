// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A number with first and second derivatives (automatic differentiation in forward mode): its
/// value, its first derivatives along `Outer` directions a_i and `Inner` directions b_j, and the
/// second derivatives along all pairs (a_i, b_j).
///
/// One evaluation of a function computes an Inner×Outer block of its Hessian. The full Hessian of a
/// function of m arguments needs about m²/(2·Inner·Outer) evaluations. Comparisons compare values.
/// @tparam Inner  four doubles fill a register.
/// @tparam Outer  0 is plain forward mode, `FirstOrder`: Inner first derivatives per evaluation.
template <RealScalar Scalar, int Outer = 4, int Inner = 4>
struct SecondOrder {
  using scalar_type = Scalar;
  using OuterSlopes = Eigen::Array<Scalar, Outer, 1>;
  using InnerSlopes = Eigen::Array<Scalar, Inner, 1>;
  using Curvatures = Eigen::Array<Scalar, Inner, Outer>;
  static constexpr int outers = Outer, inners = Inner;

  Scalar value = 0;
  OuterSlopes outer = OuterSlopes::Zero();  ///< ∂/∂a_i
  InnerSlopes inner = InnerSlopes::Zero();  ///< ∂/∂b_j
  Curvatures mixed = Curvatures::Zero();    ///< entry (j, i) is ∂²/∂a_i∂b_j

  SecondOrder() = default;
  /// A constant.
  template <std::convertible_to<Scalar> Number>
  SecondOrder(const Number& constant)  // NOLINT(google-explicit-constructor)
      : value(static_cast<Scalar>(constant)) {}
  SecondOrder(const Scalar& value_in, const OuterSlopes& outer_in, const InnerSlopes& inner_in,
              const Curvatures& mixed_in)
      : value(value_in), outer(outer_in), inner(inner_in), mixed(mixed_in) {}

  /// f(x) from f, f' and f'' at x.value.
  [[nodiscard]] static SecondOrder chain(const SecondOrder& x, const Scalar& f, const Scalar& slope,
                                         const Scalar& curvature) {
    SecondOrder result;
    result.value = f;
    result.outer = slope * x.outer;
    result.inner = slope * x.inner;
    if constexpr (Outer > 0) {
      for (int i = 0; i < Outer; ++i) {
        result.mixed.col(i) = slope * x.mixed.col(i) + (curvature * x.outer(i)) * x.inner;
      }
    }
    return result;
  }

  SecondOrder& operator+=(const SecondOrder& b) {
    value += b.value;
    outer += b.outer;
    inner += b.inner;
    mixed += b.mixed;
    return *this;
  }
  SecondOrder& operator-=(const SecondOrder& b) {
    value -= b.value;
    outer -= b.outer;
    inner -= b.inner;
    mixed -= b.mixed;
    return *this;
  }
  SecondOrder& operator*=(const SecondOrder& b) { return *this = *this * b; }
  SecondOrder& operator/=(const SecondOrder& b) { return *this = *this / b; }

  friend SecondOrder operator+(const SecondOrder& a) { return a; }
  friend SecondOrder operator-(const SecondOrder& a) {
    return {-a.value, -a.outer, -a.inner, -a.mixed};
  }
  friend SecondOrder operator+(SecondOrder a, const SecondOrder& b) { return a += b; }
  friend SecondOrder operator-(SecondOrder a, const SecondOrder& b) { return a -= b; }
  // Operations with constants, whose derivatives are zero.
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator*(const SecondOrder& a, const Number& constant) {
    const Scalar c = static_cast<Scalar>(constant);
    return {c * a.value, c * a.outer, c * a.inner, c * a.mixed};
  }
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator*(const Number& constant, const SecondOrder& a) {
    return a * constant;
  }
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator/(const SecondOrder& a, const Number& constant) {
    return a * (Scalar(1) / static_cast<Scalar>(constant));
  }
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator+(SecondOrder a, const Number& constant) {
    a.value += static_cast<Scalar>(constant);
    return a;
  }
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator+(const Number& constant, const SecondOrder& a) {
    return a + constant;
  }
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator-(SecondOrder a, const Number& constant) {
    a.value -= static_cast<Scalar>(constant);
    return a;
  }
  template <std::convertible_to<Scalar> Number>
  friend SecondOrder operator-(const Number& constant, const SecondOrder& a) {
    return -a + constant;
  }

  friend SecondOrder operator*(const SecondOrder& a, const SecondOrder& b) {
    SecondOrder result;
    result.value = a.value * b.value;
    result.outer = b.value * a.outer + a.value * b.outer;
    result.inner = b.value * a.inner + a.value * b.inner;
    if constexpr (Outer > 0) {
      for (int i = 0; i < Outer; ++i) {
        result.mixed.col(i) = b.value * a.mixed.col(i) + a.value * b.mixed.col(i) +
                              a.outer(i) * b.inner + b.outer(i) * a.inner;
      }
    }
    return result;
  }
  friend SecondOrder operator/(const SecondOrder& a, const SecondOrder& b) {
    const Scalar inverse = Scalar(1) / b.value;
    const Scalar squared = inverse * inverse;
    return a * chain(b, inverse, -squared, 2 * squared * inverse);
  }

  friend bool operator==(const SecondOrder& a, const SecondOrder& b) { return a.value == b.value; }
  friend bool operator!=(const SecondOrder& a, const SecondOrder& b) { return a.value != b.value; }
  friend bool operator<(const SecondOrder& a, const SecondOrder& b) { return a.value < b.value; }
  friend bool operator>(const SecondOrder& a, const SecondOrder& b) { return a.value > b.value; }
  friend bool operator<=(const SecondOrder& a, const SecondOrder& b) { return a.value <= b.value; }
  friend bool operator>=(const SecondOrder& a, const SecondOrder& b) { return a.value >= b.value; }

  friend SecondOrder sin(const SecondOrder& x) {
    using elementary::cos, elementary::sin;
    const Scalar s = sin(x.value);
    return chain(x, s, cos(x.value), -s);
  }
  friend SecondOrder cos(const SecondOrder& x) {
    using elementary::cos, elementary::sin;
    const Scalar c = cos(x.value);
    return chain(x, c, -sin(x.value), -c);
  }
  friend SecondOrder tan(const SecondOrder& x) {
    using elementary::tan;
    const Scalar t = tan(x.value), slope = 1 + t * t;
    return chain(x, t, slope, 2 * t * slope);
  }
  friend SecondOrder atan(const SecondOrder& x) {
    using elementary::atan;
    const Scalar slope = Scalar(1) / (1 + x.value * x.value);
    return chain(x, atan(x.value), slope, -2 * x.value * slope * slope);
  }
  friend SecondOrder asin(const SecondOrder& x) {
    using elementary::asin, std::sqrt;
    const Scalar inverse_squared = Scalar(1) / (1 - x.value * x.value);
    const Scalar slope = sqrt(inverse_squared);
    return chain(x, asin(x.value), slope, x.value * slope * inverse_squared);
  }
  friend SecondOrder acos(const SecondOrder& x) {
    using elementary::acos, std::sqrt;
    const Scalar inverse_squared = Scalar(1) / (1 - x.value * x.value);
    const Scalar slope = -sqrt(inverse_squared);
    return chain(x, acos(x.value), slope, x.value * slope * inverse_squared);
  }
  friend SecondOrder exp(const SecondOrder& x) {
    using elementary::exp;
    const Scalar e = exp(x.value);
    return chain(x, e, e, e);
  }
  friend SecondOrder log(const SecondOrder& x) {
    using elementary::log;
    const Scalar slope = Scalar(1) / x.value;
    return chain(x, log(x.value), slope, -slope * slope);
  }
  friend SecondOrder tanh(const SecondOrder& x) {
    using elementary::tanh;
    const Scalar t = tanh(x.value), slope = 1 - t * t;
    return chain(x, t, slope, -2 * t * slope);
  }
  /// Not differentiable at zero, where the derivatives become infinite or NaN.
  friend SecondOrder sqrt(const SecondOrder& x) {
    using std::sqrt;
    const Scalar root = sqrt(x.value);
    const Scalar slope = Scalar(1) / (2 * root);
    return chain(x, root, slope, -slope / (2 * x.value));
  }
  /// The exponent is a constant.
  friend SecondOrder pow(const SecondOrder& x, const Scalar& exponent) {
    using elementary::pow;
    return chain(x, pow(x.value, exponent), exponent * pow(x.value, exponent - 1),
                 exponent * (exponent - 1) * pow(x.value, exponent - 2));
  }
  /// At zero the derivative from the right is used.
  friend SecondOrder abs(const SecondOrder& x) { return x.value < Scalar(0) ? -x : x; }
  friend SecondOrder hypot(const SecondOrder& x, const SecondOrder& y) {
    return sqrt(x * x + y * y);
  }
  friend SecondOrder atan2(const SecondOrder& y, const SecondOrder& x) {
    using elementary::atan2, std::abs;
    // The quotient is at most one on both sides of the diagonal |x| = |y|.
    SecondOrder angle = abs(x.value) > abs(y.value) ? atan(y / x) : -atan(x / y);
    angle.value = atan2(y.value, x.value);
    return angle;
  }
};

/// A number with `Inner` first derivatives.
template <RealScalar Scalar, int Inner = 4>
using FirstOrder = SecondOrder<Scalar, 0, Inner>;

template <RealScalar Scalar, int Outer, int Inner>
inline constexpr bool enable_real_scalar<SecondOrder<Scalar, Outer, Inner>> = true;

}  // namespace CAROM_ABI
}  // namespace carom

/// @cond
/// What Eigen requires to store these numbers in vectors.
template <typename Scalar, int Outer, int Inner>
struct Eigen::NumTraits<carom::SecondOrder<Scalar, Outer, Inner>>
    : Eigen::GenericNumTraits<carom::SecondOrder<Scalar, Outer, Inner>> {
  using Real = carom::SecondOrder<Scalar, Outer, Inner>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Scalar;
  // NOLINTBEGIN(readability-identifier-naming): Eigen's names
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1 + Outer + Inner + Outer * Inner,
    AddCost = 1 + Outer + Inner + Outer * Inner,
    MulCost = 1 + 3 * (Outer + Inner) + 7 * Outer * Inner
  };
  // NOLINTEND(readability-identifier-naming)
  static Real epsilon() { return NumTraits<Scalar>::epsilon(); }
  static Real dummy_precision() { return NumTraits<Scalar>::dummy_precision(); }
  static Real highest() { return NumTraits<Scalar>::highest(); }
  static Real lowest() { return NumTraits<Scalar>::lowest(); }
  static int digits10() { return NumTraits<Scalar>::digits10(); }
};

/// Lets Eigen expressions mix plain numbers with these numbers.
template <typename Scalar, int Outer, int Inner, typename Operation>
struct Eigen::ScalarBinaryOpTraits<carom::SecondOrder<Scalar, Outer, Inner>, Scalar, Operation> {
  using ReturnType = carom::SecondOrder<Scalar, Outer, Inner>;
};
template <typename Scalar, int Outer, int Inner, typename Operation>
struct Eigen::ScalarBinaryOpTraits<Scalar, carom::SecondOrder<Scalar, Outer, Inner>, Operation> {
  using ReturnType = carom::SecondOrder<Scalar, Outer, Inner>;
};
/// @endcond
