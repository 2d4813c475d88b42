// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "carom/core/expects.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Elementary functions made of sums, products, quotients and square roots, which IEEE 754 rounds
/// in one way only, and of operations on exponents, which are exact. Their results are therefore
/// the same to the last bit wherever `double` is IEEE's and the compiler fuses nothing; those of a
/// mathematical library differ from one library to the next. Errors are below two units in the last
/// place for exp, log, log2, cbrt, hypot, sin and cos, below five for the others, and for pow()
/// below 2 + 2 |y ln x| units. float is computed in double and rounded once.
/// @cite  cody1980software (reduction of arguments); muller2016elementary, sections 11.1 and 11.2
namespace portable {

/// ln 2 and π/2 in parts. All but the last have at most 33 bits, so that their products with whole
/// numbers below 2²⁰ are exact.
inline constexpr double log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
inline constexpr std::array<double, 3> half_pi{0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                               0x1.3198a2e037073p-69};

/// Σ cₖ xᵏ by Horner's rule.
template <std::size_t Count>
[[nodiscard]] constexpr double polynomial(const std::array<double, Count>& c, double x) noexcept {
  double sum = c[Count - 1];
  for (std::size_t k = Count - 1; k-- > 0;) sum = c[k] + x * sum;
  return sum;
}

/// 1/(first!), 1/((first + stride)!), …, each times sign to the power of its place.
template <std::size_t Count>
[[nodiscard]] constexpr std::array<double, Count> inverse_factorials(int first, int stride,
                                                                     double sign) noexcept {
  std::array<double, Count> c{};
  double factorial = 1, turn = 1;
  int reached = 1;
  for (std::size_t k = 0; k < Count; ++k) {
    for (; reached < first + int(k) * stride; ++reached) factorial *= reached + 1;
    c[k] = turn / factorial;
    turn *= sign;
  }
  return c;
}

/// eˣ − 1 for |x| ≤ ln(2)/2: the Taylor series.
[[nodiscard]] inline double expm1_of_remainder(double x) noexcept {
  constexpr auto c = inverse_factorials<13>(2, 1, 1);
  return x + x * x * polynomial(c, x);
}

/// The whole number n nearest to x/ln 2 and the rest x − n ln 2, for |x| below 2¹⁹.
struct ByPowerOfTwo {
  explicit ByPowerOfTwo(double x) noexcept
      : power(std::floor(x / std::numbers::ln2 + 0.5)),
        remainder((x - power * log2_high) - power * log2_low) {}
  double power, remainder;
};

[[nodiscard]] inline double exp(double x) noexcept {
  if (x != x) return x;
  if (x > 710) return std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const ByPowerOfTwo parts(x);
  return std::ldexp(1 + expm1_of_remainder(parts.remainder), int(parts.power));
}

[[nodiscard]] inline double expm1(double x) noexcept {
  if (x == 0) return x;
  if (std::abs(x) <= 0.34) return expm1_of_remainder(x);
  if (!(std::abs(x) <= 40)) return exp(x) - 1;
  const ByPowerOfTwo parts(x);
  const int power = int(parts.power);
  return std::ldexp(expm1_of_remainder(parts.remainder), power) + (std::ldexp(1.0, power) - 1);
}

/// By ln(1 + f) = 2 artanh(s), s = f/(2 + f), with 1 + f = x/2ⁿ between √½ and √2.
[[nodiscard]] inline double log(double x) noexcept {
  if (x != x || x == std::numeric_limits<double>::infinity()) return x;
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x < 0) return std::numeric_limits<double>::quiet_NaN();
  constexpr std::array<double, 12> c{0,        2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                     2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  int power = 0;
  double f = std::frexp(x, &power);
  if (f < std::numbers::sqrt2 / 2) {
    f *= 2;
    --power;
  }
  f -= 1;
  const double s = f / (2 + f), half_square = f * f / 2;
  const double rest = s * (half_square + polynomial(c, s * s));
  return power * log2_high - ((half_square - (rest + power * log2_low)) - f);
}

[[nodiscard]] inline double log2(double x) noexcept {
  int power = 0;
  const double share = std::frexp(x, &power);
  if (share == 0.5) return power - 1;
  return log(x) / std::numbers::ln2;
}

/// Of x > 0; 1 if y is 0.
[[nodiscard]] inline double pow(double x, double y) noexcept {
  return y == 0 ? 1 : exp(y * log(x));
}

/// By Newton's method from a linear guess of the cube root of x's significand.
[[nodiscard]] inline double cbrt(double x) noexcept {
  if (x == 0 || !std::isfinite(x)) return x;
  int power = 0;
  double share = std::frexp(std::abs(x), &power);  // in [½, 1)
  while (power % 3 != 0) {
    share /= 2;
    ++power;
  }
  double root = 0.41 + 0.61 * share;
  for (int step = 0; step < 5; ++step) root = root - (root - share / (root * root)) / 3;
  return std::copysign(std::ldexp(root, power / 3), x);
}

[[nodiscard]] inline double hypot(double x, double y) noexcept {
  if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<double>::infinity();
  const double large = std::abs(x) > std::abs(y) ? std::abs(x) : std::abs(y);
  const double other = std::abs(x) > std::abs(y) ? std::abs(y) : std::abs(x);
  if (!(large > 0)) return large + other;
  const int power = std::ilogb(large);
  const double a = std::ldexp(large, -power), b = std::ldexp(other, -power);
  return std::ldexp(std::sqrt(a * a + b * b), power);
}

/// x less the nearest multiple of π/2, and the multiple modulo 4. Beyond 2¹⁹ the multiples of the
/// number nearest to 2π are subtracted first: that moves x by less than a third of its rounding.
struct ByQuarterTurns {
  explicit ByQuarterTurns(double x) noexcept {
    if (!(std::abs(x) < 0x1p19)) x = std::fmod(x, 2 * std::numbers::pi);
    const double turns = std::floor(x / (std::numbers::pi / 2) + 0.5);
    remainder = ((x - turns * half_pi[0]) - turns * half_pi[1]) - turns * half_pi[2];
    quarter = int(turns - 4 * std::floor(turns / 4));
  }
  [[nodiscard]] double sine() const noexcept {
    constexpr auto c = inverse_factorials<9>(3, 2, -1);
    const double square = remainder * remainder;
    return remainder - remainder * square * polynomial(c, square);
  }
  [[nodiscard]] double cosine() const noexcept {
    constexpr auto c = inverse_factorials<9>(4, 2, -1);
    const double square = remainder * remainder, half = square / 2, near_one = 1 - half;
    return near_one + (((1 - near_one) - half) + square * square * polynomial(c, square));
  }
  double remainder;
  int quarter;
};

[[nodiscard]] inline double sin(double x) noexcept {
  if (!std::isfinite(x)) return x - x;
  if (x == 0) return x;
  const ByQuarterTurns parts(x);
  const double value = parts.quarter % 2 == 0 ? parts.sine() : parts.cosine();
  return parts.quarter < 2 ? value : -value;
}

[[nodiscard]] inline double cos(double x) noexcept {
  if (!std::isfinite(x)) return x - x;
  const ByQuarterTurns parts(x);
  const double value = parts.quarter % 2 == 0 ? parts.cosine() : parts.sine();
  return parts.quarter == 0 || parts.quarter == 3 ? value : -value;
}

[[nodiscard]] inline double tan(double x) noexcept {
  return sin(x) / cos(x);
}

/// Of 0 ≤ x ≤ 1, by the halves of angles, tan(φ/2) = tan φ/(1 + √(1 + tan² φ)).
[[nodiscard]] inline double atan_of_share(double x) noexcept {
  constexpr std::array<double, 9> c{1.0 / 3,   -1.0 / 5, 1.0 / 7,   -1.0 / 9, 1.0 / 11,
                                    -1.0 / 13, 1.0 / 15, -1.0 / 17, 1.0 / 19};
  double scale = 1;
  for (; x > 0.11; scale *= 2) x = x / (1 + std::sqrt(1 + x * x));
  return scale * (x - x * x * x * polynomial(c, x * x));
}

[[nodiscard]] inline double atan2(double y, double x) noexcept {
  using std::numbers::pi;
  if (x != x || y != y) return x + y;
  const double along = std::abs(x), across = std::abs(y);
  double angle = 0;
  if (std::isinf(along) && std::isinf(across)) {
    angle = pi / 4;
  } else if (across > along) {
    angle = pi / 2 - atan_of_share(along / across);
  } else if (along > 0) {
    angle = atan_of_share(across / along);
  }
  return std::copysign(std::signbit(x) ? pi - angle : angle, y);
}

[[nodiscard]] inline double atan(double x) noexcept {
  return atan2(x, 1);
}
[[nodiscard]] inline double asin(double x) noexcept {
  return atan2(x, std::sqrt((1 - x) * (1 + x)));
}
[[nodiscard]] inline double acos(double x) noexcept {
  return atan2(std::sqrt((1 - x) * (1 + x)), x);
}

[[nodiscard]] inline double tanh(double x) noexcept {
  if (std::abs(x) > 20) return std::copysign(1.0, x);
  const double grown = expm1(2 * x);
  return grown / (grown + 2);
}

// float: its digits are fewer than half of double's.
#define CAROM_OF_FLOAT(name)                          \
  [[nodiscard]] inline float name(float x) noexcept { \
    return float(name(double(x)));                    \
  }
#define CAROM_OF_TWO_FLOATS(name)                              \
  [[nodiscard]] inline float name(float x, float y) noexcept { \
    return float(name(double(x), double(y)));                  \
  }
CAROM_OF_FLOAT(exp)
CAROM_OF_FLOAT(expm1)
CAROM_OF_FLOAT(log)
CAROM_OF_FLOAT(log2)
CAROM_OF_FLOAT(cbrt)
CAROM_OF_FLOAT(sin)
CAROM_OF_FLOAT(cos)
CAROM_OF_FLOAT(tan)
CAROM_OF_FLOAT(atan)
CAROM_OF_FLOAT(asin)
CAROM_OF_FLOAT(acos)
CAROM_OF_FLOAT(tanh)
CAROM_OF_TWO_FLOATS(pow)
CAROM_OF_TWO_FLOATS(hypot)
CAROM_OF_TWO_FLOATS(atan2)
#undef CAROM_OF_FLOAT
#undef CAROM_OF_TWO_FLOATS

}  // namespace portable
}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
