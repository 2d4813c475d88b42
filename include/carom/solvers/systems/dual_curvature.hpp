// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/solvers/rows/edge_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A contact's cone and weights, and its trial impulse, as numbers.
template <typename Scalar>
struct ContactNumbers {
  Scalar mu, tangent, normal;  ///< μ, Rₜ, Rₙ
  Scalar y1, y2, yn;
};

/// A vector of the tangent plane.
template <typename Scalar>
struct Tangent2 {
  Scalar x, y;

  [[nodiscard]] Scalar norm() const noexcept {
    using std::sqrt;
    return sqrt(x * x + y * y);
  }
};

/// The regions in which G does not depend on the trial impulse.
enum SettledRegion : signed char {
  unsettled = -1,  ///< G changes with the trial impulse.
  open,            ///< G = 0
  stuck,           ///< G = R⁻¹
};

/// The position of a trial impulse.
template <typename Scalar>
struct TrialPlace {
  Scalar r;              ///< ‖yₜ‖
  Scalar drive;          ///< s = Rₙ yₙ + μ Rₜ ‖yₜ‖; in slide γₙ = s/d
  SettledRegion region;  ///< of the regions above, the one where it is
};

template <typename Scalar>
[[nodiscard]] TrialPlace<Scalar> place_trial(const ContactNumbers<Scalar>& k) noexcept {
  using std::sqrt;
  const Scalar r = sqrt(k.y1 * k.y1 + k.y2 * k.y2);
  const Scalar drive = k.normal * k.yn + k.mu * k.tangent * r;
  if (k.yn >= Scalar(0) && r <= k.mu * k.yn) return {r, drive, SettledRegion::stuck};
  return {r, drive, drive > Scalar(0) ? SettledRegion::unsettled : SettledRegion::open};
}

/// Curvature of a contact's cost with the direction of friction as a separate unknown, ẑ with
/// ‖ẑ‖ ≤ 1 in place of t = yₜ/‖yₜ‖: in slide G = p pᵀ/d + μ γₙ/(r Rₜ) (I − ½(ẑ tᵀ + t ẑᵀ)).
///
/// Positive semidefinite for every ẑ in the disc, and the true curvature where ẑ = t. While the
/// direction is not settled it resists motion along t, which the true curvature does not resist.
/// @param region  the contact's, by place_trial().
/// @param g       written unless G = 0.
/// @return  false if G = 0.
/// @cite  chan1999nonlinear, their primal-dual linearisation of x/‖x‖, made symmetric as in
///        hintermuller2006infeasible.
template <typename Scalar>
[[nodiscard]] bool write_dual_curvature(SettledRegion region, const ContactNumbers<Scalar>& k,
                                        const Tangent2<Scalar>& z, Symmetric3<Scalar>& g) noexcept {
  if (region == SettledRegion::open) return false;
  if (region == SettledRegion::stuck) {
    const Scalar stuck = Scalar(1) / k.tangent;
    g = {stuck, Scalar(0), stuck, Scalar(0), Scalar(0), Scalar(1) / k.normal};
    return true;
  }
  const TrialPlace<Scalar> place = place_trial(k);
  const Scalar r = place.r, drive = place.drive;
  if (!(drive > Scalar(0))) return false;  // the region is off by a rounding
  const Scalar along = Scalar(1) / (k.normal + k.mu * (k.mu * k.tangent));
  const Scalar inverse = r > Scalar(0) ? Scalar(1) / r : Scalar(0);
  const Scalar tx = k.y1 * inverse, ty = k.y2 * inverse;
  const Scalar across = k.mu * drive * along * inverse / k.tangent;
  const Scalar px = k.mu * tx, py = k.mu * ty;
  g.xx = along * px * px + across * (Scalar(1) - z.x * tx);
  g.yy = along * py * py + across * (Scalar(1) - z.y * ty);
  g.xy = along * px * py - across * (z.x * ty + z.y * tx) / 2;
  g.xz = along * px;
  g.yz = along * py;
  g.zz = along;
  return true;
}

/// Two rows whose impulse friction bounds by a disc.
template <typename Scalar>
struct FrictionRows {
  Tangent2<Scalar> y;  ///< trial impulse
  Scalar limit;        ///< radius μ γₙ of the disc
};

/// The direction of the friction impulse at the iterate.
template <typename Scalar>
[[nodiscard]] Tangent2<Scalar> current_direction(const FrictionRows<Scalar>& rows) noexcept {
  const Scalar r = rows.y.norm();
  const Scalar inverse = r > Scalar(0) ? Scalar(1) / r : Scalar(0);
  return {rows.y.x * inverse, rows.y.y * inverse};
}

/// The direction of friction after a full step, from the same linearisation, shortened to the disc.
/// @param step  change of y along the full step.
template <typename Scalar>
[[nodiscard]] Tangent2<Scalar> predict_direction(const FrictionRows<Scalar>& rows,
                                                 const Tangent2<Scalar>& z,
                                                 const Tangent2<Scalar>& step) noexcept {
  using std::sqrt;
  if (!(rows.limit > Scalar(0))) return {Scalar(0), Scalar(0)};
  const Scalar r = rows.y.norm();
  Tangent2<Scalar> next;
  if (r <= rows.limit) {
    next = {(rows.y.x + step.x) / rows.limit, (rows.y.y + step.y) / rows.limit};
  } else {
    const Scalar tx = rows.y.x / r, ty = rows.y.y / r;
    const Scalar along = tx * step.x + ty * step.y;
    next = {tx + (step.x - z.x * along) / r, ty + (step.y - z.y * along) / r};
  }
  const Scalar squared = next.x * next.x + next.y * next.y;
  if (squared <= Scalar(1)) return next;
  if (!(squared <= (std::numeric_limits<Scalar>::max)())) return {Scalar(0), Scalar(0)};
  // The direction ends a rounding inside the disc.
  const Scalar shrink = (Scalar(1) - 4 * std::numeric_limits<Scalar>::epsilon()) / sqrt(squared);
  return {next.x * shrink, next.y * shrink};
}

/// The rows 3p and 3p + 1 of a constraint's part p, in its scaled rows.
/// @pre  p < direction_count().
template <typename Scalar>
[[nodiscard]] FrictionRows<Scalar> friction_rows(const PackedBlock<Scalar>& other, int part,
                                                 const RowNumbers<Scalar>& trial,
                                                 const RowNumbers<Scalar>& impulse) noexcept {
  const ImpulseSet<Scalar>& set = other.set;
  const int i = 3 * part;
  const Scalar scale = other.scale(i);
  const Scalar normal = other.scale(2) * impulse(2) + set.shift(2);
  return {{trial(i) + set.shift(i) / scale, trial(i + 1) + set.shift(i + 1) / scale},
          set.friction(part) * normal / scale};
}

/// Adds the difference between the curvature with ẑ in place of t and the true curvature for such
/// rows, R = 1: μ γₙ/r (t tᵀ − ½(ẑ tᵀ + t ẑᵀ)) in slide.
template <typename Scalar>
void add_direction_curvature(const FrictionRows<Scalar>& rows, const Tangent2<Scalar>& z, int i,
                             SquareMatrix<Scalar, 6>& g) noexcept {
  const Scalar r = rows.y.norm();
  if (!(rows.limit > Scalar(0) && r > rows.limit)) return;
  const Scalar across = rows.limit / r;
  const Tangent2<Scalar> t = current_direction(rows);
  g(i, i) += across * t.x * (t.x - z.x);
  g(i + 1, i + 1) += across * t.y * (t.y - z.y);
  const Scalar cross = across * (t.x * t.y - (z.x * t.y + z.y * t.x) / 2);
  g(i, i + 1) += cross;
  g(i + 1, i) += cross;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
