// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/core/detail/small_vector.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A vector (x₀, x) of ℝ^{1+Size}, as second-order cones have it: inside where ‖x‖ < x₀.
template <RealScalar Scalar, int Size>
struct ConeVector {
  Scalar head = 0;
  SmallVector<Scalar, Size> tail;

  [[nodiscard]] Scalar dot(const ConeVector& other) const noexcept {
    return head * other.head + tail.dot(other.tail);
  }
  /// x₀² − ‖x‖², > 0 inside.
  [[nodiscard]] Scalar determinant() const noexcept {
    const Scalar length = tail.norm();
    return (head - length) * (head + length);
  }
  [[nodiscard]] ConeVector plus(const ConeVector& step, const Scalar& share) const noexcept {
    return {head + share * step.head, tail + share * step.tail};
  }
};

/// Jordan's product x ∘ y = (x·y, x₀ y + y₀ x).
template <RealScalar Scalar, int Size>
[[nodiscard]] ConeVector<Scalar, Size> jordan_product(const ConeVector<Scalar, Size>& x,
                                                      const ConeVector<Scalar, Size>& y) noexcept {
  return {x.dot(y), x.head * y.tail + y.head * x.tail};
}

/// Impulse r and velocity z of one second-order cone on their way to r ∘ z = 0, with the scaling of
/// Nesterov and Todd: the symmetric F with F z = F⁻¹ r = λ.
///
/// Notation: η² F̄ F̄ = F², F̄ of determinant one; w its point, F̄² = 2 w wᵀ − J.
/// @cite  nesterov1997self, vandenberghe2010cvxopt, (5) and section 4.
template <RealScalar Scalar, int Size>
struct ConePair {
  using Pair = ConeVector<Scalar, Size>;

  Pair r, z;
  Pair w, lambda;
  Scalar eta_squared = 1;
  Scalar root_r = 1, root_z = 1;  ///< roots of the determinants

  /// Computes the scaling. False when r or z is not inside.
  [[nodiscard]] bool scale() noexcept {
    using std::sqrt;
    const Scalar det_r = r.determinant(), det_z = z.determinant();
    if (!(det_r > Scalar(0)) || !(det_z > Scalar(0))) return false;
    root_r = sqrt(det_r);
    root_z = sqrt(det_z);
    const Pair a{r.head / root_r, r.tail / root_r}, b{z.head / root_z, z.tail / root_z};
    const Scalar twice = sqrt(2 * (Scalar(1) + a.dot(b)));  // 2γ
    w = {(a.head + b.head) / twice, (a.tail - b.tail) / twice};
    eta_squared = root_r / root_z;
    const Scalar size = sqrt(root_r * root_z), gamma = twice / 2;
    const Scalar share = size / (a.head + b.head + twice);
    lambda = {size * gamma, share * ((gamma + b.head) * a.tail + (gamma + a.head) * b.tail)};
    return is_finite(eta_squared) && is_finite(lambda.head);
  }

  /// F x.
  [[nodiscard]] Pair times(const Pair& x) const noexcept {
    using std::sqrt;
    const Scalar eta = sqrt(eta_squared), along = w.tail.dot(x.tail);
    return {eta * (w.head * x.head + along),
            eta * (x.tail + (x.head + along / (1 + w.head)) * w.tail)};
  }
  /// F⁻¹ x.
  [[nodiscard]] Pair divide(const Pair& x) const noexcept {
    using std::sqrt;
    const Scalar eta = sqrt(eta_squared), along = w.tail.dot(x.tail);
    return {(w.head * x.head - along) / eta,
            (x.tail + (along / (1 + w.head) - x.head) * w.tail) / eta};
  }
  /// λ \ d, the x with λ ∘ x = d.
  [[nodiscard]] Pair quotient(const Pair& d) const noexcept {
    const Scalar head = (lambda.head * d.head - lambda.tail.dot(d.tail)) / (root_r * root_z);
    return {head, (d.tail - head * lambda.tail) / lambda.head};
  }

  /// dz₀ of dz = aim − G dr, the rest of dz given: by the row (1, ω), ω = w/‖w‖, in which G is
  /// least and nothing cancels.
  [[nodiscard]] Scalar head_of(const Pair& aim, const Pair& dr, const Pair& dz) const noexcept {
    const Scalar length = w.tail.norm();
    const Scalar reach = w.head + length;
    if (!(length > Scalar(0))) return aim.head - dr.head / eta_squared;
    const SmallVector<Scalar, Size> along = w.tail / length;
    return aim.head + along.dot(aim.tail - dz.tail) -
           (dr.head + along.dot(dr.tail)) / (eta_squared * reach * reach);
  }

  /// F⁻² x = G x.
  [[nodiscard]] Pair curvature_times(const Pair& x) const noexcept {
    const Scalar along = 2 * (w.head * x.head - w.tail.dot(x.tail));
    return {(along * w.head - x.head) / eta_squared, (x.tail - along * w.tail) / eta_squared};
  }

  /// 1/α of the longest step that keeps r and z inside, or `least` where that is larger.
  /// @pre  scale() for the same r and z.
  [[nodiscard]] Scalar inverse_step(const Pair& dr, const Pair& dz, Scalar least) const noexcept {
    least = inverse_step(r, root_r, dr, least);
    return inverse_step(z, root_z, dz, least);
  }

  /// What z is to change by on the way to r ∘ z = target e: −z + F⁻¹ (λ \ (target e − second)),
  /// second = (F⁻¹ dr) ∘ (F dz) of the step that predicts.
  [[nodiscard]] Pair aim(const Scalar& target, const Pair& dr, const Pair& dz) const noexcept {
    const Pair second = jordan_product(divide(dr), times(dz));
    const Pair wanted = divide(quotient({target - second.head, -second.tail}));
    return {wanted.head - z.head, wanted.tail - z.tail};
  }

 private:
  [[nodiscard]] static Scalar inverse_step(const Pair& x, const Scalar& root, const Pair& d,
                                           const Scalar& least) noexcept {
    const Scalar inverse = Scalar(1) / root;
    const Scalar along = (x.head * d.head - x.tail.dot(d.tail)) * inverse;
    const Scalar share = (along + d.head) / (x.head + root);
    const Scalar rest = (d.tail - share * x.tail).norm();
    return (std::max)(least, (rest - along) * inverse);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
