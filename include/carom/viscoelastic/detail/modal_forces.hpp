// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/matrix_exponential.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A damped oscillator that starts at its rest position with unit velocity, and its repeated
/// integrals.
///
/// f₀ solves y″ + c y′ + a y = 0, y(0) = 0, y′(0) = 1; f_{k+1} is the integral of f_k from 0. With
/// time step t, y″ = −s (y + β y′) has a = s t², c = β s t, and the integrals are t^{k+1} f_k. All
/// tend to 1/(k + 1)! for a, c → 0. They satisfy f_{k+2} = (1/(k + 1)! − f_k − c f_{k+1})/a.
template <RealScalar Scalar>
struct OscillatorFunctions {
  std::array<Scalar, 5> f;  ///< f₀ .. f₄ [-]; all but f₀ are ≥ 0.
  Scalar slope;             ///< f₀′ [-].
  Scalar lag;  ///< 1 − f₀′ = a f₁ + c f₀ [-], ≥ 0, computed without cancellation for f₀′ near 1.
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

/// Complex roots, or real roots that are close: closed form of f₀, then the recursion upwards. It
/// loses no digits because a is not small.
///
/// Notation: σ = c/2; D = a − σ² = ω² or −w²; e^{−σ} sin(ω)/ω = f₀.
template <RealScalar Scalar>
[[nodiscard]] OscillatorFunctions<Scalar> fast_oscillator(const Scalar& a,
                                                          const Scalar& c) noexcept {
  using elementary::cos, elementary::exp, elementary::expm1, elementary::sin, std::sqrt;
  OscillatorFunctions<Scalar> result;
  const Scalar sigma = c / 2;
  const Scalar root = sqrt(a);
  const Scalar discriminant = (root - sigma) * (root + sigma);
  Scalar f0, cosine, missing;  // e^{−σ} cos ω, and 1 minus this
  if (discriminant > Scalar(0)) {
    const Scalar omega = sqrt(discriminant);
    const Scalar half_sine = sin(omega / 2), half_cosine = cos(omega / 2);
    const bool light = sigma < Scalar(0.5);  // decay, and fall = decay − 1, both to rounding
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

/// f₀ to f₄ of a damped oscillator, to rounding for any damping.
///
/// Slow oscillators use a series, overdamped ones the φ functions of their two rates, all others
/// the closed form. Errors of a and c remain: an oscillation of ω radians amplifies the last digit
/// of a by ω/2.
/// @param a  stiffness s t² [-], ≥ 0.
/// @param c  damping β s t [-], ≥ 0.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  hammoud2022exponential, section III. The closed forms of the integrals are not in this
///        source.
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

/// Average forces of spring-dampers over one step of any length, mode by mode, for damping
/// proportional to stiffness, B = β K.
///
/// Contact points move by ÿ = b − Υ (K y + B ẏ), λ = −K y − B ẏ, y = p − p₀. In the modes of K^½ Υ
/// K^½ = U diag(s) Uᵀ the equations are independent oscillators. With Q = K^½ U, q = Qᵀy,
///
///   λ_avg  = −Q ( f₀ q + g q̇ + (t/2) g₂ Qᵀb ),     g  = t f₁ + β f₀,  g₂ = 2 (t f₂ + β f₁),
///   λ_avg2 = −Q ( 2f₁ q + g₂ q̇ + (t/3) g₃ Qᵀb ),   G  = Q diag(g) Qᵀ,  g₃ = 6 (t f₃ + β f₂),
///
/// where all weights except f₀ are ≥ 0. If there are fewer velocities than contact rows, some
/// motions of the rows are impossible. Then the modes are those of Jᵀ K J in generalized
/// coordinates, and the others, s = 0, are combined as K − Q Qᵀ.
/// @cite  hammoud2022exponential, eq. (11)–(20), for the averages. The closed forms are not in this
///        source.
template <RealScalar Scalar>
class ModalForces {
 public:
  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  void prepare(Index contact_count, Index velocity_count) {
    const Index rows = 3 * contact_count;
    const Index modes = (std::min)(rows, velocity_count);
    eigen_.prepare(modes);
    modes_.grow(modes, rows);
    stiffness_.grow(rows);
    for (Weights* w : {&average_, &average2_}) {
      for (Vector* v : {&w->position, &w->velocity, &w->acceleration}) v->grow(modes);
    }
    for (Vector* v : {&position_, &velocity_, &acceleration_, &mixed_, &mixed2_}) v->grow(modes);
  }

  [[nodiscard]] Index rows() const noexcept { return modes_.cols(); }
  [[nodiscard]] Index mode_count() const noexcept { return modes_.rows(); }

  /// Computes the modes in contact space.
  /// @param inverse_mass  Υ = J M⁻¹ Jᵀ, 3n×3n [1/kg]; the lower triangle is read.
  /// @param stiffness  diagonal of K [N/m], ≥ 0, 3n.
  /// @param damping_time  β [s], ≥ 0.
  /// @param time_step  t [s], > 0.
  /// @return  false if a number is not finite.
  /// @pre   prepare() for n contacts and at least 3n velocities.
  /// @note  Real-time safe: no allocation, no exception, about 9 (3n)³ multiply-adds.
  template <typename Matrix, typename Diagonal>
  [[nodiscard]] bool decompose_contacts(const Matrix& inverse_mass, const Diagonal& stiffness,
                                        const Scalar& damping_time,
                                        const Scalar& time_step) noexcept {
    using std::sqrt;
    const Index n = rows();
    CAROM_EXPECTS(mode_count() == n && inverse_mass.rows() == n && stiffness.size() == n);
    complete_ = true;
    stiffness_ = stiffness;
    mixed_ = stiffness_.cwiseSqrt();
    auto& s = eigen_.matrix();
    for (Index c = 0; c < n; ++c) {
      for (Index r = c; r < n; ++r) {
        s(r, c) = s(c, r) = mixed_(r) * inverse_mass(r, c) * mixed_(c);
      }
    }
    if (!eigen_.solve()) return false;
    modes_ = eigen_.vectors().transpose();
    for (Index c = 0; c < n; ++c) modes_.col(c) *= mixed_(c);
    write_weights(damping_time, time_step);
    return true;
  }

  /// Computes the modes in generalized coordinates.
  /// @param whitened  L⁻¹Jᵀ, n_v×3n, with M = L Lᵀ.
  /// @pre   prepare() for n contacts and n_v velocities, n_v < 3n.
  /// @note  Real-time safe: no allocation, no exception, about 9 n_v³ + 6 n n_v² multiply-adds.
  template <typename Matrix, typename Diagonal>
  [[nodiscard]] bool decompose_coordinates(const Matrix& whitened, const Diagonal& stiffness,
                                           const Scalar& damping_time,
                                           const Scalar& time_step) noexcept {
    using std::sqrt;
    const Index n = rows(), k = mode_count();
    CAROM_EXPECTS(whitened.rows() == k && whitened.cols() == n && stiffness.size() == n);
    complete_ = false;
    stiffness_ = stiffness;
    auto& s = eigen_.matrix();
    s.setZero();
    for (Index c = 0; c < n; ++c) {
      for (Index j = 0; j < k; ++j) {
        const Scalar weight = stiffness_(c) * whitened(j, c);
        for (Index i = j; i < k; ++i) s(i, j) += weight * whitened(i, c);
      }
    }
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < j; ++i) s(i, j) = s(j, i);
    }
    if (!eigen_.solve()) return false;
    auto& values = eigen_.values();
    const Scalar floor = Scalar(8 * k) * std::numeric_limits<Scalar>::epsilon() * values.maxCoeff();
    for (Index i = 0; i < k; ++i) {  // a direction without contact resistance has no mode
      mixed_(i) = values(i) > floor ? Scalar(1) / sqrt(values(i)) : Scalar(0);
    }
    modes_.setZero();
    const auto& vectors = eigen_.vectors();
    for (Index c = 0; c < n; ++c) {
      for (Index i = 0; i < k; ++i) {
        Scalar sum(0);
        for (Index j = 0; j < k; ++j) sum += vectors(j, i) * whitened(j, c);
        modes_(i, c) = stiffness_(c) * sum * mixed_(i);
      }
    }
    write_weights(damping_time, time_step);
    return true;
  }

  /// Average forces for anchors at rest.
  /// @param y, rate, acceleration  p − p₀ [m], ṗ [m/s], b [m/s²], 3n each.
  /// @param average   out: λ_avg = (1/t) ∫λ [N].
  /// @param average2  out: λ_avg2 = (2/t²) ∫∫λ [N].
  /// @note  Real-time safe: no allocation, no exception, 15 n modes multiply-adds.
  template <typename Vector1, typename Vector2>
  void evaluate(const Vector1& y, const Vector1& rate, const Vector1& acceleration,
                Vector2& average, Vector2& average2) noexcept {
    const Index n = rows(), k = mode_count();
    CAROM_EXPECTS(y.size() == n && rate.size() == n && acceleration.size() == n);
    position_.setZero();
    velocity_.setZero();
    acceleration_.setZero();
    for (Index c = 0; c < n; ++c) {
      const Scalar p = y(c), v = rate(c), a = acceleration(c);
      const Scalar* const column = modes_.data() + c * k;
      for (Index i = 0; i < k; ++i) {
        position_(i) += column[i] * p;
        velocity_(i) += column[i] * v;
        acceleration_(i) += column[i] * a;
      }
    }
    mix(average_, mixed_);
    mix(average2_, mixed2_);
    const Rest rest = complete_ ? Rest{0, 0, 0} : rest_, rest2 = complete_ ? Rest{0, 0, 0} : rest2_;
    for (Index c = 0; c < n; ++c) {
      const Scalar* const column = modes_.data() + c * k;
      Scalar sum(0), sum2(0);
      for (Index i = 0; i < k; ++i) {
        sum += column[i] * mixed_(i);
        sum2 += column[i] * mixed2_(i);
      }
      const Scalar p = y(c), v = rate(c), a = acceleration(c), stiff = stiffness_(c);
      average(c) = -sum - stiff * (rest.position * p + rest.velocity * v + rest.acceleration * a);
      average2(c) =
          -sum2 - stiff * (rest2.position * p + rest2.velocity * v + rest2.acceleration * a);
    }
  }

  /// Modes Q, one row each, and the gains in G = diag(own) + Qᵀ diag(gains) Q [N·s/m].
  [[nodiscard]] const Growing<MatrixX<Scalar>>& modes() const noexcept { return modes_; }
  [[nodiscard]] const Growing<VectorX<Scalar>>& gains() const noexcept { return average_.velocity; }
  [[nodiscard]] const Growing<VectorX<Scalar>>& gains2() const noexcept {
    return average2_.velocity;
  }
  [[nodiscard]] Scalar own_gain(Index row) const noexcept {
    return complete_ ? Scalar(0) : rest_.velocity * stiffness_(row);
  }
  [[nodiscard]] Scalar own_gain2(Index row) const noexcept {
    return complete_ ? Scalar(0) : rest2_.velocity * stiffness_(row);
  }

 private:
  using Vector = Growing<VectorX<Scalar>>;
  struct Weights {
    Vector position, velocity, acceleration;
  };
  struct Rest {
    Scalar position = 0, velocity = 0, acceleration = 0;
  };

  /// Writes the weights of each mode; for incomplete modes, their difference from those of s = 0.
  void write_weights(const Scalar& beta, const Scalar& t) noexcept {
    rest_ = {Scalar(1), t / 2 + beta, t * (t / 6 + beta / 2)};
    rest2_ = {Scalar(1), t / 3 + beta, t * (t / 12 + beta / 3)};
    const Rest from = complete_ ? Rest{0, 0, 0} : rest_, from2 = complete_ ? Rest{0, 0, 0} : rest2_;
    for (Index i = 0; i < mode_count(); ++i) {
      const Scalar s = (std::max)(Scalar(0), eigen_.values()(i));
      const Scalar a = s * t * t;
      const auto o = oscillator_functions(a, Scalar(beta * s * t));
      // (1 − f₀′)/a where f₀ may be negative, the sum where a may vanish.
      const Scalar gain = a >= Scalar(2) ? t * o.lag / a : t * o.f[1] + beta * o.f[0];
      const Scalar gain2 = 2 * (t * o.f[2] + beta * o.f[1]);
      const Scalar gain3 = 6 * (t * o.f[3] + beta * o.f[2]);
      average_.position(i) = o.f[0] - from.position;
      average_.velocity(i) = gain - from.velocity;
      average_.acceleration(i) = t / 2 * gain2 - from.acceleration;
      average2_.position(i) = 2 * o.f[1] - from2.position;
      average2_.velocity(i) = gain2 - from2.velocity;
      average2_.acceleration(i) = t / 3 * gain3 - from2.acceleration;
    }
  }

  void mix(const Weights& weights, Vector& out) const noexcept {
    out = weights.position.cwiseProduct(position_) + weights.velocity.cwiseProduct(velocity_) +
          weights.acceleration.cwiseProduct(acceleration_);
  }

  SymmetricEigen<Scalar> eigen_;
  Growing<MatrixX<Scalar>> modes_;  ///< Qᵀ, one column per contact row
  Vector stiffness_;
  Weights average_, average2_;
  Rest rest_, rest2_;  ///< the weights of s = 0
  bool complete_ = true;
  Vector position_, velocity_, acceleration_, mixed_, mixed2_;
};

}  // namespace CAROM_ABI
}  // namespace carom
