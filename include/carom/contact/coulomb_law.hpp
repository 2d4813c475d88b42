// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/impulse_set.hpp"

namespace carom::inline CAROM_ABI {

/// How impulses of a cone and velocities belong together.
enum class FrictionLaw {
  coulomb,  ///< Signorini's and Coulomb's: γ ⟂ ũ, ũ = u + Σ μ_b ‖u_b‖ n in the dual cone.
  convex,   ///< γ ⟂ u, u in the dual cone: a sliding contact separates with μ ‖uₜ‖.
};

/// The law as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(FrictionLaw law) noexcept {
  return law == FrictionLaw::coulomb ? "coulomb" : "convex";
}

namespace detail {

/// Calls visit(start, size, μ of each row) for every block of rows that one normal bounds, and
/// returns the normal's row; −1 for intervals.
template <RealScalar Scalar, typename Visit>
int visit_friction_blocks(const ImpulseSet<Scalar>& set, Visit&& visit) noexcept {
  const Vector3<Scalar>& mu = set.friction;
  using Pair = Vector<Scalar, 2>;
  switch (set.shape) {
    case ImpulseShape::intervals:
      return -1;
    case ImpulseShape::planar:
      visit(0, 1, Pair(mu.x(), mu.x()));
      return 1;
    case ImpulseShape::friction:
      visit(0, 2, Pair(mu.x(), mu.x()));
      return 2;
    case ImpulseShape::elliptic:
      visit(0, 2, Pair(mu.x(), mu.y()));
      return 2;
    case ImpulseShape::torsional:
      visit(0, 2, Pair(mu.x(), mu.x()));
      visit(3, 1, Pair(mu.y(), mu.y()));
      return 2;
    case ImpulseShape::rolling:
      visit(0, 2, Pair(mu.x(), mu.x()));
      visit(3, 2, Pair(mu.y(), mu.y()));
      visit(5, 1, Pair(mu.z(), mu.z()));
      return 2;
  }
  return -1;
}

}  // namespace detail

/// ũ, De Saxcé's velocity: u with Σ μ_b ‖u_b‖ added along the normal, which makes Coulomb's law
/// the complementarity γ ∈ ℱ, ũ ∈ ℱ*, γ·ũ = 0. u itself for rows between bounds.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  desaxce1998bipotential.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> de_saxce_velocity(const ImpulseSet<Scalar>& set,
                                                   const RowNumbers<Scalar>& velocity) noexcept {
  using std::sqrt;
  Scalar lift(0);
  const int normal = detail::visit_friction_blocks(set, [&](int start, int size, const auto& mu) {
    Scalar squared(0);
    for (int k = 0; k < size; ++k) {
      const Scalar x = mu(k) * velocity(start + k);
      squared += x * x;
    }
    lift += sqrt(squared);
  });
  RowNumbers<Scalar> result = velocity;
  if (normal >= 0) result(normal) += lift;
  return result;
}

/// Coulomb's law as a map: γ = 𝒞(γ − a ∘ u) exactly when γ and u obey the law, for any a > 0 equal
/// in the rows of a block; in an elliptic one, in proportion to μ².
///
/// The normal is kept if it pushes; the other rows go to the nearest point of a disc of the radius
/// that this normal allows. Rows between bounds are clipped.
/// @param y  trial impulse, finite.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  alart1991mixed, (3.9), in impulses.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> coulomb_impulse(const ImpulseSet<Scalar>& set,
                                                 const RowNumbers<Scalar>& y) noexcept {
  using std::sqrt;
  if (set.shape == ImpulseShape::intervals) return nearest_impulse(set, y, y);
  const int n = detail::visit_friction_blocks(set, [](int, int, const auto&) {});
  RowNumbers<Scalar> shifted = y + set.shift;
  RowNumbers<Scalar> impulse = RowNumbers<Scalar>::Zero();
  if (shifted(n) > Scalar(0)) {
    impulse(n) = shifted(n);
    detail::visit_friction_blocks(set, [&](int start, int size, const auto& mu) {
      Scalar squared(0);
      for (int k = 0; k < size; ++k) {
        const Scalar x = mu(k) > Scalar(0) ? shifted(start + k) / mu(k) : Scalar(0);
        squared += x * x;
      }
      const Scalar norm = sqrt(squared);
      const Scalar share = norm > impulse(n) ? impulse(n) / norm : Scalar(1);
      for (int k = 0; k < size; ++k) {
        if (mu(k) > Scalar(0)) impulse(start + k) = share * shifted(start + k);
      }
    });
  }
  return impulse - set.shift;
}

/// d𝒞/dy, not symmetric where a contact slides; on a boundary one generalised derivative. Zero
/// beyond the set's rows.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> coulomb_slope(const ImpulseSet<Scalar>& set,
                                                    const RowNumbers<Scalar>& y) noexcept {
  using std::sqrt;
  SquareMatrix<Scalar, 6> slope = SquareMatrix<Scalar, 6>::Zero();
  if (set.shape == ImpulseShape::intervals) {
    for (int i = 0; i < set.rows; ++i) {
      if (set.lower(i) <= y(i) && y(i) <= set.upper(i)) slope(i, i) = Scalar(1);
    }
    return slope;
  }
  const int n = detail::visit_friction_blocks(set, [](int, int, const auto&) {});
  const RowNumbers<Scalar> shifted = y + set.shift;
  if (!(shifted(n) > Scalar(0))) return slope;
  slope(n, n) = Scalar(1);
  detail::visit_friction_blocks(set, [&](int start, int size, const auto& mu) {
    Vector<Scalar, 2> along = Vector<Scalar, 2>::Zero();  // in units of μ
    for (int k = 0; k < size; ++k) {
      if (mu(k) > Scalar(0)) along(k) = shifted(start + k) / mu(k);
    }
    const Scalar norm = sqrt(along(0) * along(0) + along(1) * along(1));
    const bool slides = norm > shifted(n);
    const Scalar share = slides ? shifted(n) / norm : Scalar(1);
    if (slides) along /= norm;
    for (int k = 0; k < size; ++k) {
      if (!(mu(k) > Scalar(0))) continue;
      slope(start + k, start + k) += share;
      if (!slides) continue;
      slope(start + k, n) = mu(k) * along(k);
      for (int l = 0; l < size; ++l) {
        if (mu(l) > Scalar(0)) {
          slope(start + k, start + l) -= share * mu(k) * along(k) * along(l) / mu(l);
        }
      }
    }
  });
  return slope;
}

}  // namespace carom::inline CAROM_ABI
