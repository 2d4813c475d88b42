// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "carom/linalg/detail/phi_functions.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A damped oscillator that leaves its rest place with unit speed, and its repeated integrals.
///
/// f₀ solves y″ + c y′ + a y = 0, y(0) = 0, y′(0) = 1; f_{k+1} is the integral of f_k from 0. With
/// time step t, y″ = −s (y + β y′) has a = s t², c = β s t, and the integrals are t^{k+1} f_k. All
/// tend to 1/(k + 1)! for a, c → 0; they meet f_{k+2} = (1/(k + 1)! − f_k − c f_{k+1})/a.
template <RealScalar Scalar>
struct OscillatorFunctions {
  std::array<Scalar, 5> f;  ///< f₀ .. f₄ [-]; all but f₀ are ≥ 0.
  Scalar slope;             ///< f₀′ [-].
  Scalar lag;  ///< 1 − f₀′ = a f₁ + c f₀ [-], ≥ 0, without the cancellation of slope near 1.
};

namespace detail {

inline constexpr auto reciprocals = [] {
  std::array<double, 40> table{};
  for (std::size_t k = 1; k < table.size(); ++k) table[k] = 1.0 / double(k);
  return table;
}();

/// Slow oscillators: the Taylor series of f₃ and f₄ in time, then the recursion downwards.
template <RealScalar Scalar>
[[nodiscard]] OscillatorFunctions<Scalar> slow_oscillator(const Scalar& a,
                                                          const Scalar& c) noexcept {
  OscillatorFunctions<Scalar> result;
  const Scalar size = c + a;
  const int terms = size < Scalar(0.01) ? 8 : size < Scalar(0.3) ? 12 : 28;
  // Terms f₀⁽ʲ⁺¹⁾(0)/(j + 4)!.
  Scalar before(0), now = Scalar(1.0 / 24), third = now, fourth = Scalar(1.0 / 120);
  for (int j = 1; j < terms; ++j) {
    const auto k = std::size_t(j);
    const Scalar next =
        -Scalar(reciprocals[k + 4]) * (c * now + a * Scalar(reciprocals[k + 3]) * before);
    before = now;
    now = next;
    third += now;
    fourth += now * Scalar(reciprocals[k + 5]);
  }
  result.f[4] = fourth;
  result.f[3] = third;
  result.f[2] = Scalar(1.0 / 6) - (c * third + a * fourth);
  result.f[1] = Scalar(0.5) - (c * result.f[2] + a * third);
  result.f[0] = Scalar(1) - (c * result.f[1] + a * result.f[2]);
  result.lag = c * result.f[0] + a * result.f[1];
  result.slope = Scalar(1) - result.lag;
  return result;
}

/// Well separated real roots r₁ > r₂ of r² + c r + a: divided differences, f_k = φ_k[r₁, r₂].
template <RealScalar Scalar>
[[nodiscard]] OscillatorFunctions<Scalar> overdamped_oscillator(const Scalar& a, const Scalar& c,
                                                                const Scalar& apart) noexcept {
  OscillatorFunctions<Scalar> result;
  const Scalar fast = -(c + apart) / 2;
  const Scalar slow = a / fast;
  const auto phi_slow = phi_functions<5>(slow);
  const auto phi_fast = phi_functions<5>(fast);
  const Scalar inverse = Scalar(1) / apart;
  for (std::size_t k = 0; k < 5; ++k) result.f[k] = (phi_slow[k] - phi_fast[k]) * inverse;
  result.slope = (slow * phi_slow[0] - fast * phi_fast[0]) * inverse;
  result.lag = c * result.f[0] + a * result.f[1];
  return result;
}

/// Complex roots, or real ones that are close: closed form of f₀, then the recursion upwards, which
/// loses no digits because a is not small.
///
/// Notation: σ = c/2; D = a − σ² = ω² or −w²; e^{−σ} sin(ω)/ω = f₀.
template <RealScalar Scalar>
[[nodiscard]] OscillatorFunctions<Scalar> fast_oscillator(const Scalar& a,
                                                          const Scalar& c) noexcept {
  using std::cos, std::exp, std::expm1, std::sin, std::sqrt;
  OscillatorFunctions<Scalar> result;
  const Scalar sigma = c / 2;
  const Scalar root = sqrt(a);
  const Scalar discriminant = (root - sigma) * (root + sigma);
  Scalar f0, cosine, missing;  // e^{−σ} cos ω, and 1 minus it
  if (discriminant > Scalar(0)) {
    const Scalar omega = sqrt(discriminant);
    const Scalar half_sine = sin(omega / 2), half_cosine = cos(omega / 2);
    const bool light = sigma < Scalar(0.5);  // decay and fall = decay − 1 both to rounding
    const Scalar grown = light ? expm1(-sigma) : exp(-sigma);
    const Scalar decay = light ? Scalar(1) + grown : grown;
    const Scalar fall = light ? grown : grown - Scalar(1);
    f0 = decay * 2 * half_sine * half_cosine / omega;
    cosine = decay * (half_cosine - half_sine) * (half_cosine + half_sine);
    missing = decay * 2 * half_sine * half_sine - fall;
  } else {
    const Scalar w = sqrt(-discriminant);
    const Scalar decay = exp(w - sigma);
    const Scalar fall = expm1(-2 * w);
    f0 = w > Scalar(0) ? -decay * fall / (2 * w) : decay;
    cosine = decay * (Scalar(1) + fall / 2);
    missing = Scalar(1) - cosine;
  }
  const Scalar inverse = Scalar(1) / a;
  result.f[0] = f0;
  result.lag = missing + sigma * f0;
  result.slope = cosine - sigma * f0;
  result.f[1] = (missing - sigma * f0) * inverse;
  result.f[2] = (Scalar(1) - f0 - c * result.f[1]) * inverse;
  result.f[3] = (Scalar(0.5) - result.f[1] - c * result.f[2]) * inverse;
  result.f[4] = (Scalar(1.0 / 6) - result.f[2] - c * result.f[3]) * inverse;
  return result;
}

}  // namespace detail

/// f₀ .. f₄ of a damped oscillator, to rounding for any damping.
///
/// Slow oscillators take a series, overdamped ones φ functions of their two rates, all others the
/// closed form. Errors of a and c remain: an oscillator of ω radians amplifies the last digit of a
/// by ω/2.
/// @param a  stiffness s t² [-], ≥ 0.
/// @param c  damping β s t [-], ≥ 0.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  hammoud2022exponential, section III; the integrals in closed form are ours.
template <RealScalar Scalar>
[[nodiscard]] OscillatorFunctions<Scalar> oscillator_functions(const Scalar& a,
                                                               const Scalar& c) noexcept {
  using std::sqrt;
  CAROM_EXPECTS(a >= Scalar(0) && c >= Scalar(0));
  const Scalar ratio = c > Scalar(0) ? a / c / c : Scalar(1);  // 1/4 is critical
  if (c >= Scalar(3) && ratio <= Scalar(0.1875)) {             // roots a factor of 3 apart
    return detail::overdamped_oscillator(a, c, Scalar(c * sqrt(Scalar(1) - 4 * ratio)));
  }
  return a < Scalar(2) ? detail::slow_oscillator(a, c) : detail::fast_oscillator(a, c);
}

}  // namespace CAROM_ABI
}  // namespace carom
