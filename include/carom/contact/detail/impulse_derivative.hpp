// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/impulse_set.hpp"
#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The boundary between two regions of a set. On it, the impulse has one derivative per side.
enum class RegionBoundary {
  none,         ///< Inside a region: the derivative is the only one.
  stick_slide,  ///< Friction at its limit; slip is about to begin or to end.
  open_closed,  ///< The contact is about to open or to close.
  bound,        ///< A row of intervals is about to reach or to leave a bound.
};

/// The boundary as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(RegionBoundary boundary) noexcept {
  switch (boundary) {
    case RegionBoundary::none:
      return "none";
    case RegionBoundary::stick_slide:
      return "stick_slide";
    case RegionBoundary::open_closed:
      return "open_closed";
    case RegionBoundary::bound:
      return "bound";
  }
  return "unknown";
}

/// The impulse of a block γ = P(R⁻¹e) as a function of e = v̂ − J v, of R and of μ: dγ = G
/// (de − γ∘dR) + dγ/dμ dμ, because γ minimises ½γᵀRγ − eᵀγ over the set.
/// @tparam Capacity  3 for a friction contact. 6 for any other block, see BlockImpulseDerivative;
///                   numbers beyond its rows are zero.
template <RealScalar Scalar, int Capacity>
struct ImpulseDerivative {
  using Rows = Vector<Scalar, Capacity>;

  Rows impulse = Rows::Zero();  ///< γ [N·s]
  /// G = (dP/dy) R⁻¹ [kg], symmetric positive semidefinite
  SquareMatrix<Scalar, Capacity> by_excess = SquareMatrix<Scalar, Capacity>::Zero();
  Rows by_friction = Rows::Zero();  ///< dγ/dμ of a friction contact [N·s]
  /// Distance of e from the next region [m/s, rad/s], ≥ 0. It is infinite for cones other than that
  /// of a friction contact, because their boundaries are not computed.
  Scalar margin = std::numeric_limits<Scalar>::infinity();
  RegionBoundary nearest = RegionBoundary::none;  ///< The boundary at that distance.

  /// dγ for a change of e, of R in the rows, and of μ.
  [[nodiscard]] Rows change(const Rows& excess, const Rows& regularization,
                            const Scalar& friction) const noexcept {
    return by_excess * Rows(excess - impulse.cwiseProduct(regularization)) + friction * by_friction;
  }
};

/// The same for a block that is not a friction contact. It adds dγ/dbounds dbounds. by_friction is
/// zero, because the μ of a cone are numbers of its rows.
template <RealScalar Scalar>
struct BlockImpulseDerivative : ImpulseDerivative<Scalar, 6> {
  using typename ImpulseDerivative<Scalar, 6>::Rows;

  /// Derivative by the upper bounds of intervals [-], or by the μ of each row of a cone [N·s], in
  /// the order of ProblemDifferential::upper.
  SquareMatrix<Scalar, 6> by_upper = SquareMatrix<Scalar, 6>::Zero();
  Rows by_lower = Rows::Zero();  ///< Derivative by the lower bounds of intervals, a diagonal [-].

  /// dγ for a change of the bounds.
  [[nodiscard]] Rows bounds_change(const Rows& lower, const Rows& upper) const noexcept {
    return by_upper * upper + by_lower.cwiseProduct(lower);
  }
};

namespace detail {

/// Distance of e from the next region in the half-plane (‖eₜ‖, eₙ). The stick region ends at the
/// ray along (μ Rₜ, Rₙ). The slide region ends at the ray along (1, −μ), where eₙ + μ‖eₜ‖ = 0.
template <RealScalar Scalar>
void write_region_margin(const FrictionCone<Scalar>& cone, const ContactWeights<Scalar>& weights,
                         const Scalar& slip, const Scalar& normal,
                         ImpulseDerivative<Scalar, 3>& derivative) noexcept {
  using std::abs, std::sqrt;
  const Scalar& mu = cone.friction;
  // Distance to the ray along (x, y), x and y not both zero; to the apex for points behind it.
  const auto distance = [&](const Scalar& x, const Scalar& y) {
    const Scalar large = abs(y) > x ? Scalar(abs(y)) : x;
    const Scalar a = x / large, b = y / large;
    if (!(a * slip + b * normal > Scalar(0))) return Scalar(sqrt(slip * slip + normal * normal));
    return Scalar(abs(Scalar(a * normal - b * slip)) / sqrt(Scalar(a * a + b * b)));
  };
  const Scalar to_stick = distance(mu * weights.tangent, weights.normal);
  const Scalar to_open = distance(Scalar(1), -mu);
  const bool opens = to_open <= to_stick;
  derivative.margin = opens ? to_open : to_stick;
  derivative.nearest = opens ? RegionBoundary::open_closed : RegionBoundary::stick_slide;
}

/// Derivative by the μ of the rows of a cone. With γ = M s, M = diag(μ), the impulse is that of the
/// cone of unit μ for excess M e and weights M R M. It follows that dγ = (γ/μ − G (2 R γ − e)/μ) ∘
/// dμ.
///
/// Notation: u = R (γ − y), the remaining velocity. It is zero in sticking rows, on which μ has no
/// influence. If all μ of a disc are zero, the result is the derivative in the direction μ > 0,
/// equal in its rows.
template <RealScalar Scalar>
void write_by_friction(const WeightedBlock<Scalar>& law, const RowNumbers<Scalar>& trial,
                       BlockImpulseDerivative<Scalar>& derivative) noexcept {
  using std::sqrt;
  const RowNumbers<Scalar> pressed = derivative.impulse + law.set.shift;
  const RowNumbers<Scalar> left =
      law.regularization.cwiseProduct(RowNumbers<Scalar>(derivative.impulse - trial));
  const int normal = normal_row(law.set.shape);
  for (const FrictionBlock<Scalar>& disc : FrictionBlocks<Scalar>(law.set)) {
    Scalar largest(0), speed(0);
    for (int k = 0; k < disc.size; ++k) {
      largest = (std::max)(largest, disc.mu(k));
      speed += left(disc.row(k)) * left(disc.row(k));
    }
    speed = sqrt(speed);
    for (int k = 0; k < disc.size; ++k) {
      const int i = disc.row(k);
      const Scalar& u = left(i);
      if (u == Scalar(0)) continue;
      if (disc.mu(k) > Scalar(0)) {
        const Scalar share = (u + law.regularization(i) * pressed(i)) / disc.mu(k);
        derivative.by_upper.col(i) = -share * derivative.by_excess.col(i);
        derivative.by_upper(i, i) += pressed(i) / disc.mu(k);
      } else if (!(largest > Scalar(0))) {
        derivative.by_upper.col(i) = u * u / speed * derivative.by_excess.col(normal);
        derivative.by_upper(i, i) -= pressed(normal) * u / speed;
      }
    }
  }
}

}  // namespace detail

/// The impulse of a friction contact and its derivatives.
///
/// Notation: t = eₜ/‖eₜ‖, p = (μ t, 1), d = Rₙ + μ² Rₜ. Slide: γ = γₙ p with γₙ = (eₙ + μ‖eₜ‖)/d,
/// so dγ/dμ = (γₙ t, 0) + (‖eₜ‖ − 2 μ Rₜ γₙ)/d p. G is that of projection_curvature(). Separate:
/// all zero. On a boundary, the derivatives are those of the region that project() returns.
/// @param law     contains μ and R.
/// @param excess  e = v̂ − v_c [m/s], finite: the remaining relaxation velocity of the contact.
/// @note  Real-time safe: no allocation, no exception, constant work. Without friction there is no
///        stick: dγ/dμ is the derivative in the direction μ > 0, and zero if the contact does not
///        slip.
/// @cite  castro2021unconstrained, derivatives of the analytical inverse dynamics; here also with
///        respect to its parameters.
template <RealScalar Scalar>
[[nodiscard]] ImpulseDerivative<Scalar, 3> make_impulse_derivative(
    const WeightedContact<Scalar>& law, const Vector3<Scalar>& excess) noexcept {
  using std::sqrt;
  const Scalar zero(0);
  const Scalar& mu = law.friction;
  const FrictionCone<Scalar> cone{mu};
  const ContactWeights<Scalar>& weights = law.regularization;
  const Vector3<Scalar> trial(excess.x() / weights.tangent, excess.y() / weights.tangent,
                              excess.z() / weights.normal);
  const ConeProjection<Scalar, 3> nearest = project(cone, weights, trial);
  ImpulseDerivative<Scalar, 3> result;
  result.impulse = nearest.point;
  const Scalar slip = sqrt(Scalar(excess.x() * excess.x() + excess.y() * excess.y()));
  detail::write_region_margin(cone, weights, slip, excess.z(), result);
  if (nearest.region == ConeRegion::separate) return result;
  if (mu > zero) {
    const Vector3<Scalar> diagonal(weights.tangent, weights.tangent, weights.normal);
    result.by_excess = projection_curvature(cone, diagonal, trial);
    if (nearest.region == ConeRegion::stick) return result;
  } else {
    result.by_excess(2, 2) = Scalar(1) / weights.normal;
  }
  const Scalar resistance = weights.normal + mu * mu * weights.tangent;
  const Scalar normal = nearest.point.z();
  const Scalar inverse = slip > zero ? Scalar(1) / slip : zero;
  const Scalar t1 = excess.x() * inverse, t2 = excess.y() * inverse;
  const Vector3<Scalar> along(mu * t1, mu * t2, Scalar(1));
  const Scalar turn = (slip - Scalar(2) * mu * weights.tangent * normal) / resistance;
  result.by_friction = turn * along + Vector3<Scalar>(normal * t1, normal * t2, zero);
  return result;
}

/// The impulse of any other block and its derivatives.
/// @param law     contains the set and R.
/// @param excess  e [m/s, rad/s], finite.
/// @note  Real-time safe: no allocation, no exception, bounded work.
template <RealScalar Scalar>
[[nodiscard]] BlockImpulseDerivative<Scalar> make_impulse_derivative(
    const WeightedBlock<Scalar>& law, const RowNumbers<Scalar>& excess) noexcept {
  using std::abs;
  RowNumbers<Scalar> trial = RowNumbers<Scalar>::Zero();
  for (int i = 0; i < law.set.rows; ++i) trial(i) = excess(i) / law.regularization(i);
  BlockImpulseDerivative<Scalar> result;
  result.impulse = nearest_impulse(law.set, law.regularization, trial);
  result.by_excess = impulse_curvature(law.set, law.regularization, trial);
  if (law.set.shape != ImpulseShape::intervals) {
    detail::write_by_friction(law, trial, result);
    return result;
  }
  for (int i = 0; i < law.set.rows; ++i) {
    if (trial(i) > law.set.upper(i)) {
      result.by_upper(i, i) = Scalar(1);
    } else if (trial(i) < law.set.lower(i)) {
      result.by_lower(i) = Scalar(1);
    }
    for (const Scalar& bound : {law.set.lower(i), law.set.upper(i)}) {
      const Scalar margin = abs(trial(i) - bound) * law.regularization(i);
      if (!(margin < result.margin)) continue;
      result.margin = margin;
      result.nearest = RegionBoundary::bound;
    }
  }
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
