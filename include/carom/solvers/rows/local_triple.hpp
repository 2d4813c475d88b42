// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/delassus_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What is added to the diagonal of a contact's own block so that it can be divided by: zero if it
/// is clearly positive definite. Otherwise a proximal step is solved, which has the same solutions.
/// @param scale  what to measure a block of zeros by, > 0.
template <RealScalar Scalar>
[[nodiscard]] Scalar proximal_weight(const SquareMatrix<Scalar, 3>& w,
                                     const Scalar& scale) noexcept {
  using std::sqrt;
  const Scalar size = (w(0, 0) + w(1, 1) + w(2, 2)) / 3;
  const Scalar root = sqrt(std::numeric_limits<Scalar>::epsilon());
  if (!(size > root * root * scale)) return root * scale;
  const Scalar floor = root * size;
  const Scalar xx = w(0, 0) - w(2, 0) * w(2, 0) / w(2, 2);
  const Scalar yy = w(1, 1) - w(2, 1) * w(2, 1) / w(2, 2);
  const Scalar xy = w(1, 0) - w(2, 0) * w(2, 1) / w(2, 2);
  const bool positive = w(2, 2) > floor && xx > floor && yy - xy * xy / xx > floor;
  return positive ? Scalar(0) : floor;
}

/// A contact of three rows solved exactly with the others held: friction in space, in a plane or by
/// an ellipse, all of which the friction cone covers once rows are scaled.
/// @tparam Block  CoulombInverseMass or ConvexInverseMass.
template <RealScalar Scalar, typename Block>
class LocalTriple {
 public:
  /// @param w  the contact's own block, R included, in the rows of its part.
  void prepare(const ImpulseSet<Scalar>& set, SquareMatrix<Scalar, 3> w,
               const Scalar& scale) noexcept {
    scale_[0] = scale_[1] = Scalar(1);
    friction_ = set.friction.x();
    ratio_ = Scalar(0);
    const bool planar = set.shape == ImpulseShape::planar;
    if (planar) scale_[1] = Scalar(0);
    if (set.shape == ImpulseShape::elliptic) {
      const Scalar mx = set.friction.x(), my = set.friction.y();
      friction_ = mx > my ? mx : my;
      for (int k = 0; k < 2 && friction_ > Scalar(0); ++k) scale_[k] = set.friction(k) / friction_;
    }
    shift_ =
        Vector3<Scalar>(set.shift(0), planar ? Scalar(0) : set.shift(1), set.shift(planar ? 1 : 2));
    plain_ = scale_[0] == Scalar(1) && scale_[1] == Scalar(1);
    for (int r = 0; r < 3; ++r) {
      shifted_velocity_(r) = w(r, 0) * shift_(0) + w(r, 1) * shift_(1) + w(r, 2) * shift_(2);
      plain_ = plain_ && shift_(r) == Scalar(0);
    }
    for (int k = 0; k < 2; ++k) {
      for (int r = 0; r < 3; ++r) w(k, r) *= scale_[k];
      for (int r = 0; r < 3; ++r) w(r, k) *= scale_[k];
      if (!(w(k, k) > Scalar(0))) w(k, k) = w(1 - k, 1 - k);  // a row that is not there
    }
    proximal_ = proximal_weight(w, scale);
    for (int k = 0; k < 3; ++k) w(k, k) += proximal_;
    block_ = Block(w);
  }

  /// Solves for γ in place.
  /// @param velocity  u without γ.
  /// @return  ‖γ − γ before‖².
  Scalar solve(Vector3<Scalar> velocity, Scalar* impulse) noexcept {
    if (!plain_) return solve_scaled(velocity, impulse);
    if (proximal_ > Scalar(0)) {
      for (int k = 0; k < 3; ++k) velocity(k) -= proximal_ * impulse[k];
    }
    const auto contact = block_.solve(velocity, friction_, ratio_);
    if (contact.ratio > Scalar(0)) ratio_ = contact.ratio;
    Scalar change(0);
    for (int k = 0; k < 3; ++k) {
      const Scalar step = contact.impulse(k) - impulse[k];
      change += step * step;
      impulse[k] = contact.impulse(k);
    }
    return change;
  }

  /// Moves an impulse to one of the set near it.
  void pull_in(Scalar* impulse) const noexcept {
    using std::sqrt;
    Scalar y[3];
    for (int k = 0; k < 3; ++k) y[k] = impulse[k] + shift_(k);
    for (int k = 0; k < 2; ++k) y[k] = scale_[k] > Scalar(0) ? y[k] / scale_[k] : Scalar(0);
    if (!(y[2] > Scalar(0))) y[2] = Scalar(0);
    const Scalar tangent = sqrt(y[0] * y[0] + y[1] * y[1]), most = friction_ * y[2];
    const Scalar share = tangent > most ? most / tangent : Scalar(1);
    for (int k = 0; k < 2; ++k) impulse[k] = share * scale_[k] * y[k] - shift_(k);
    impulse[2] = y[2] - shift_(2);
  }

 private:
  Scalar solve_scaled(Vector3<Scalar> velocity, Scalar* impulse) noexcept {
    for (int k = 0; k < 3; ++k) {
      const Scalar scale = k < 2 ? scale_[k] : Scalar(1);
      velocity(k) = (velocity(k) - shifted_velocity_(k)) * scale;
      if (scale > Scalar(0)) velocity(k) -= proximal_ * (impulse[k] + shift_(k)) / scale;
    }
    const auto contact = block_.solve(velocity, friction_, ratio_);
    if (contact.ratio > Scalar(0)) ratio_ = contact.ratio;
    Scalar change(0);
    for (int k = 0; k < 3; ++k) {
      const Scalar now = (k < 2 ? scale_[k] : Scalar(1)) * contact.impulse(k) - shift_(k);
      change += (now - impulse[k]) * (now - impulse[k]);
      impulse[k] = now;
    }
    return change;
  }

  Block block_;
  Scalar friction_, proximal_, ratio_;
  bool plain_;
  Scalar scale_[2];  ///< γ of the set = scale × γ of the round cone
  Vector3<Scalar> shift_, shifted_velocity_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
