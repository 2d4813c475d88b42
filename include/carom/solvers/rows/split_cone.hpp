// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/impulse_set.hpp"
#include "carom/core/detail/compiler.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One or two rows of friction with a common bound, ‖γ‖ ≤ r, while all other impulses are constant.
///
/// The impulse that stops the rows is the answer if it obeys the bound. Otherwise the answer of one
/// projected step, P(γ − u/λ), where λ is the largest eigenvalue of the rows' block of W. It does
/// not move exactly if γ obeys the law.
template <RealScalar Scalar>
class SplitDisc {
 public:
  /// @param xx, xy, yy  the rows' block of W + R; zeros for a second row that is not there.
  /// @param floor       least eigenvalue that is used [1/kg], > 0.
  void prepare(const Scalar& xx, const Scalar& xy, const Scalar& yy, const Scalar& floor) noexcept {
    using std::sqrt;
    const Scalar mean = (xx + yy) / 2, half = (xx - yy) / 2;
    const Scalar largest = mean + sqrt(half * half + xy * xy);
    step_ = Scalar(1) / (largest > floor ? largest : floor);
    const Scalar determinant = xx * yy - xy * xy;
    const bool clear = determinant > floor * largest;
    inverse_[0] = clear ? Scalar(yy / determinant) : step_;
    inverse_[1] = clear ? Scalar(-xy / determinant) : Scalar(0);
    inverse_[2] = clear ? Scalar(xx / determinant) : step_;
  }
  /// Solves for γ in place.
  /// @param radius    r [N·s].
  /// @param velocity  u of the rows with γ.
  void solve(const Scalar& radius, const Scalar* velocity, Scalar* impulse) const noexcept {
    using std::sqrt;
    const Scalar square = radius > Scalar(0) ? Scalar(radius * radius) : Scalar(0);
    const Scalar held[2] = {impulse[0] - (inverse_[0] * velocity[0] + inverse_[1] * velocity[1]),
                            impulse[1] - (inverse_[1] * velocity[0] + inverse_[2] * velocity[1])};
    if (held[0] * held[0] + held[1] * held[1] <= square) {
      for (int k = 0; k < 2; ++k) impulse[k] = held[k];
      return;
    }
    const Scalar trial[2] = {impulse[0] - step_ * velocity[0], impulse[1] - step_ * velocity[1]};
    const Scalar size = trial[0] * trial[0] + trial[1] * trial[1];
    const Scalar share = size > square ? Scalar(sqrt(square / size)) : Scalar(1);
    for (int k = 0; k < 2; ++k) impulse[k] = share * trial[k];
  }

 private:
  Scalar step_;        ///< 1/λ
  Scalar inverse_[3];  ///< xx, xy and yy of the inverse block
};

/// A contact under Coulomb's law while the impulses of all other contacts are constant: its normal
/// first, then each of its friction discs with the bound μ γₙ, once. In contrast to LocalTriple and
/// LocalRows the answer is not exact where these act on each other. It is so at the end of many
/// sweeps, and one visit costs a third of the time or less.
/// @tparam Capacity  3: a friction contact. 6: one with torsion or rolling as well.
template <RealScalar Scalar, int Capacity>
class SplitCone {
 public:
  using Rows = Vector<Scalar, Capacity>;
  using Matrix = SquareMatrix<Scalar, Capacity>;

  /// Whether the sets of a shape can be solved.
  [[nodiscard]] static bool covers(const ImpulseSet<Scalar>& set) noexcept {
    const bool round = set.shape == ImpulseShape::friction ||
                       set.shape == ImpulseShape::torsional || set.shape == ImpulseShape::rolling ||
                       set.shape == ImpulseShape::spinless_rolling;
    return round && set.rows <= Capacity && !is_shifted(set);
  }
  /// @param w      the contact's own block W + R, zero beyond its rows.
  /// @param scale  reference for a block of zeros [1/kg], > 0.
  void prepare(const ImpulseSet<Scalar>& set, const Matrix& w, const Scalar& scale) noexcept {
    using std::sqrt;
    CAROM_EXPECTS(covers(set));
    w_ = w;
    Scalar trace(0);
    for (int k = 0; k < 3; ++k) trace += w(k, k);
    const Scalar root = sqrt(std::numeric_limits<Scalar>::epsilon());
    const Scalar floor = root * (trace > Scalar(0) ? trace : scale);
    normal_step_ = Scalar(1) / (w(2, 2) > floor ? w(2, 2) : floor);
    friction_[0] = set.friction.x();
    discs_[0].prepare(w(0, 0), w(1, 0), w(1, 1), floor);
    if constexpr (Capacity == 6) {
      rolls_ = set.rows >= 5;
      spins_ = set.rows == 4 || set.rows == 6;
      friction_[1] = rolls_ ? set.friction.y() : Scalar(0);
      friction_[2] = set.rows == 6 ? set.friction.z() : set.friction.y();
      Scalar turning(0);
      for (int k = 3; k < set.rows; ++k) turning += w(k, k);
      const Scalar least = root * (turning > Scalar(0) ? turning : scale);
      if (rolls_) discs_[1].prepare(w(3, 3), w(4, 3), w(4, 4), least);
      if (spins_) discs_[2].prepare(w(spin(), spin()), Scalar(0), Scalar(0), least);
    }
  }
  /// W + R of one row.
  [[nodiscard]] const Scalar& own(int row) const noexcept { return w_(row, row); }

  /// Solves for γ in place.
  /// @param velocity  u = J v − v̂ + R γ of the rows, with γ.
  void solve(Rows velocity, Rows& impulse) const noexcept {
    const Scalar normal = impulse(2) - normal_step_ * velocity(2);
    if (!(normal > Scalar(0))) {
      impulse.setZero();
      return;
    }
    const Scalar moved = normal - impulse(2);
    impulse(2) = normal;
    CAROM_UNROLL
    for (int r = 0; r < Capacity; ++r) velocity(r) += w_(r, 2) * moved;
    solve_disc(0, 0, 2, velocity, impulse);
    if constexpr (Capacity == 6) {
      if (rolls_) solve_disc(1, 3, 2, velocity, impulse);
      if (spins_) solve_disc(2, spin(), 1, velocity, impulse);
    }
  }

 private:
  /// @param first, count  its rows.
  void solve_disc(int disc, int first, int count, Rows& velocity, Rows& impulse) const noexcept {
    Scalar own[2] = {}, moving[2] = {};
    for (int k = 0; k < count; ++k) {
      own[k] = impulse(first + k);
      moving[k] = velocity(first + k);
    }
    discs_[disc].solve(friction_[disc] * impulse(2), moving, own);
    for (int k = 0; k < count; ++k) {
      const Scalar change = own[k] - impulse(first + k);
      impulse(first + k) = own[k];
      if constexpr (Capacity == 6) {  // nothing comes after the only disc of a friction contact
        for (int r = 3; r < Capacity; ++r) velocity(r) += w_(r, first + k) * change;
      }
    }
  }
  [[nodiscard]] int spin() const noexcept { return rolls_ ? 5 : 3; }

  static constexpr int disc_count = Capacity == 3 ? 1 : 3;  ///< slip, rolling, spin

  Matrix w_;
  Scalar normal_step_;
  Scalar friction_[disc_count];
  SplitDisc<Scalar> discs_[disc_count];
  bool rolls_ = false, spins_ = false;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
