// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/matrix_exponential.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Average forces of spring-dampers over one step for any diagonal K and B.
///
/// ÿ = b − Υ (K y + B ẏ) together with the repeated integrals of y is one linear system z = (∫∫y,
/// ∫y, y, ẏ, 1), ż = C z. Only the product of its exponential with one vector is needed. It is
/// computed by Taylor series in substeps. If a dense exponential of 6n + 3 rows costs less, that is
/// used instead. The unit of time is 1/ω, ω² = ‖Υ K‖, which balances the entries.
/// @cite  hammoud2022exponential, eq. (11)–(20); almohy2011computing
template <RealScalar Scalar>
class GeneralForces {
 public:
  /// The method for products with the exponential.
  enum class Way : std::uint8_t { taylor, dense };

  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) {
    const Index n = 3 * contact_count;
    inverse_mass_.grow(n, n);
    for (Vector* v : {&stiffness_, &damping_, &force_, &zero_, &unit_}) v->grow(n);
    z_.grow(4 * n + 1);
    action_.prepare(4 * n + 1);
    system_.grow(2 * n + 3, 2 * n + 3);
    exponential_.prepare(2 * n + 3);
    zero_.setZero();
  }

  [[nodiscard]] Index rows() const noexcept { return stiffness_.size(); }

  /// Sets the data of a step.
  /// @param inverse_mass  Υ, 3n×3n [1/kg], all entries.
  /// @param stiffness, damping  diagonals of K [N/m] and B [N·s/m], ≥ 0.
  /// @return  false if a number is not finite.
  template <typename Matrix, typename Diagonal>
  [[nodiscard]] bool set(const Matrix& inverse_mass, const Diagonal& stiffness,
                         const Diagonal& damping, const Scalar& time_step) noexcept {
    using elementary::log2, std::max, std::sqrt;
    inverse_mass_ = inverse_mass;
    stiffness_ = stiffness;
    damping_ = damping;
    time_step_ = time_step;
    const Index n = rows();
    Scalar spring(0), damper(0);
    for (Index r = 0; r < n; ++r) {
      Scalar spring_row(0), damper_row(0);
      for (Index c = 0; c < n; ++c) {
        const Scalar w = std::abs(inverse_mass_(r, c));
        spring_row += w * stiffness_(c);
        damper_row += w * damping_(c);
      }
      spring = (max)(spring, spring_row);
      damper = (max)(damper, damper_row);
    }
    rate_ = (max)(sqrt(spring), Scalar(1) / time_step);
    norm_ = time_step * (max)(rate_, Scalar(spring / rate_ + damper));
    if (!(norm_ - norm_ == Scalar(0)) || !inverse_mass_.allFinite() || !stiffness_.allFinite() ||
        !damping_.allFinite()) {
      return false;
    }
    const Scalar taylor = ExponentialAction<Scalar>::substeps(norm_) *
                          Scalar(ExponentialAction<Scalar>::typical_products * n * n);
    const auto size = Scalar(double(2 * n + 3));
    const Scalar dense =
        size * size * size *
        (MatrixExponential<Scalar>::typical_products + log2((max)(Scalar(1), norm_)));
    way_ = taylor <= dense ? Way::taylor : Way::dense;
    return true;
  }

  [[nodiscard]] Way way() const noexcept { return way_; }
  /// Overrides the choice of set(), for comparisons.
  void choose(Way way) noexcept { way_ = way; }

  /// Average forces for anchors at rest; the arguments are those of ModalForces::evaluate.
  /// @return  false if the result is not finite.
  /// @note  Real-time safe: no allocation, no exception.
  template <typename Vector1, typename Vector2>
  [[nodiscard]] bool evaluate(const Vector1& y, const Vector1& rate, const Vector1& acceleration,
                              Vector2& average, Vector2& average2) noexcept {
    if (!integrate(y, rate, acceleration)) return false;
    const Index n = rows();
    const Scalar t = time_step_;
    for (Index i = 0; i < n; ++i) {
      const Scalar k = stiffness_(i), d = damping_(i);
      const Scalar moved = z_(2 * n + i) - y(i);
      average(i) = -(k * z_(n + i) + d * moved) / t;
      average2(i) = -2 * (k * z_(i) + d * (z_(n + i) - t * y(i))) / (t * t);
    }
    return average.allFinite() && average2.allFinite();
  }

  /// Columns j of G and of G₂: the forces for an anchor with unit velocity.
  template <typename Column1, typename Column2>
  [[nodiscard]] bool write_gain_column(Index column, Column1&& gain, Column2&& gain2) noexcept {
    const Index n = rows();
    unit_.setZero();
    unit_(column) = Scalar(1);
    if (!integrate(zero_, unit_, zero_)) return false;
    const Scalar t = time_step_;
    for (Index i = 0; i < n; ++i) {
      const Scalar k = stiffness_(i), d = damping_(i);
      gain(i) = (k * z_(n + i) + d * z_(2 * n + i)) / t;
      gain2(i) = 2 * (k * z_(i) + d * z_(n + i)) / (t * t);
    }
    return true;
  }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  /// z = (∫∫y, ∫y, y, ẏ, ·) at the step's end.
  template <typename Vector1, typename Vector2, typename Vector3>
  [[nodiscard]] bool integrate(const Vector1& y, const Vector2& rate,
                               const Vector3& acceleration) noexcept {
    const bool done = way_ == Way::taylor ? integrate_taylor(y, rate, acceleration)
                                          : integrate_dense(y, rate, acceleration);
    return done && z_.allFinite();
  }

  template <typename Vector1, typename Vector2, typename Vector3>
  [[nodiscard]] bool integrate_taylor(const Vector1& y, const Vector2& rate,
                                      const Vector3& acceleration) noexcept {
    const Index n = rows();
    const Scalar w = rate_, t = time_step_;
    z_.setZero();
    z_.segment(2 * n, n) = y;
    z_.segment(3 * n, n) = rate / w;
    // The constant has the size of the terms that it drives, so that it does not dominate the
    // series.
    const Scalar size = acceleration.template lpNorm<Eigen::Infinity>() / (w * w);
    z_(4 * n) = size;
    const Scalar unit = size > Scalar(0) ? Scalar(1) / (size * w * w) : Scalar(0);
    const auto multiply = [&](const auto& x, auto& out) {
      out.head(n) = x.segment(n, n) * (w * t);
      out.segment(n, n) = x.segment(2 * n, n) * (w * t);
      out.segment(2 * n, n) = x.segment(3 * n, n) * (w * t);
      force_ = stiffness_.cwiseProduct(x.segment(2 * n, n)) / w +
               damping_.cwiseProduct(x.segment(3 * n, n));
      for (Index i = 0; i < n; ++i) {
        out(3 * n + i) = acceleration(i) * unit * x(4 * n) * (w * t);
      }
      for (Index c = 0; c < n; ++c) {
        const Scalar f = force_(c) * t;
        for (Index r = 0; r < n; ++r) out(3 * n + r) -= inverse_mass_(r, c) * f;
      }
      out(4 * n) = Scalar(0);
    };
    action_.apply(multiply, norm_, z_);
    z_.head(n) /= w * w;
    z_.segment(n, n) /= w;
    z_.segment(3 * n, n) *= w;
    return true;
  }

  /// exp of [[A, a, x₀, 0], [0, N]], where N is a chain: its last columns are Φ₁x₀ + Φ₂a and
  /// Φ₂x₀ + Φ₃a.
  template <typename Vector1, typename Vector2, typename Vector3>
  [[nodiscard]] bool integrate_dense(const Vector1& y, const Vector2& rate,
                                     const Vector3& acceleration) noexcept {
    const Index n = rows();
    const Scalar w = rate_, t = time_step_;
    system_.setZero();
    for (Index c = 0; c < n; ++c) {
      system_(c, n + c) = w * t;
      for (Index r = 0; r < n; ++r) {
        system_(n + r, c) = -inverse_mass_(r, c) * stiffness_(c) * t / w;
        system_(n + r, n + c) = -inverse_mass_(r, c) * damping_(c) * t;
      }
      system_(n + c, 2 * n) = acceleration(c) / w * t;
      system_(c, 2 * n + 1) = y(c) * t;
      system_(n + c, 2 * n + 1) = rate(c) / w * t;
    }
    system_(2 * n, 2 * n + 1) = t;
    system_(2 * n + 1, 2 * n + 2) = t;
    if (!exponential_.evaluate(system_)) return false;
    const auto& e = exponential_.result();
    for (Index i = 0; i < n; ++i) {
      z_(i) = e(i, 2 * n + 2);
      z_(n + i) = e(i, 2 * n + 1);
      z_(2 * n + i) = y(i) + e(n + i, 2 * n + 1) * w;  // y + ∫ẏ
      z_(3 * n + i) = Scalar(0);
    }
    z_(4 * n) = Scalar(0);
    return true;
  }

  Growing<MatrixX<Scalar>> inverse_mass_, system_;
  Vector stiffness_, damping_, force_, zero_, unit_, z_;
  ExponentialAction<Scalar> action_;
  MatrixExponential<Scalar> exponential_;
  Scalar time_step_ = 0, rate_ = 0, norm_ = 0;
  Way way_ = Way::taylor;
};

}  // namespace CAROM_ABI
}  // namespace carom
