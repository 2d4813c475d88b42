// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
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

/// The row of a cone's normal; −1 for intervals.
[[nodiscard]] constexpr int normal_row(ImpulseShape shape) noexcept {
  if (shape == ImpulseShape::intervals) return -1;
  return shape == ImpulseShape::planar ? 1 : 2;
}

/// Rows that one normal bounds together, ‖(γ_i/μ_i)‖ ≤ γₙ, and their μ.
template <RealScalar Scalar>
struct FrictionBlock {
  int size = 0;
  std::array<int, 5> rows{};
  std::array<Scalar, 5> friction{};

  void add(int row, const Scalar& mu) noexcept {
    rows[std::size_t(size)] = row;
    friction[std::size_t(size)] = mu;
    ++size;
  }
  [[nodiscard]] int row(int k) const noexcept { return rows[std::size_t(k)]; }
  [[nodiscard]] const Scalar& mu(int k) const noexcept { return friction[std::size_t(k)]; }
};

/// Calls visit(block) for every block of rows that one normal bounds, and returns the normal's row;
/// −1 for intervals.
template <RealScalar Scalar, typename Visit>
int visit_friction_blocks(const ImpulseSet<Scalar>& set, Visit&& visit) noexcept {
  const int normal = normal_row(set.shape);
  if (normal < 0) return normal;
  const bool ellipsoidal = set.shape == ImpulseShape::ellipsoidal_torsional ||
                           set.shape == ImpulseShape::ellipsoidal_rolling;
  const Vector3<Scalar>& mu = set.friction;
  FrictionBlock<Scalar> block;
  for (int r = 0; r < set.rows; ++r) {
    if (r == normal) continue;
    const bool spin = r == set.rows - 1;
    const bool own = !ellipsoidal && (r == 3 || r == 5);  // a block begins
    if (own) {
      visit(block);
      block = {};
    }
    if (r < 2) {
      block.add(r, set.shape == ImpulseShape::elliptic ? mu(r) : mu.x());
    } else {
      block.add(r, spin && set.rows == 6 ? mu.z() : mu.y());
    }
  }
  visit(block);
  return normal;
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
  const int normal = detail::visit_friction_blocks(set, [&](const auto& block) {
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      const Scalar x = block.mu(k) * velocity(block.row(k));
      squared += x * x;
    }
    lift += sqrt(squared);
  });
  RowNumbers<Scalar> result = velocity;
  if (normal >= 0) result(normal) += lift;
  return result;
}

/// Coulomb's law as a map: γ = 𝒞(γ − a ∘ u) exactly when γ and u obey the law, for any a > 0 equal
/// in the rows of a block; where their μ differ, in proportion to μ².
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
  const int n = detail::normal_row(set.shape);
  RowNumbers<Scalar> shifted = y + set.shift;
  RowNumbers<Scalar> impulse = RowNumbers<Scalar>::Zero();
  if (shifted(n) > Scalar(0)) {
    impulse(n) = shifted(n);
    detail::visit_friction_blocks(set, [&](const auto& block) {
      Scalar squared(0);
      for (int k = 0; k < block.size; ++k) {
        const Scalar& mu = block.mu(k);
        const Scalar x = mu > Scalar(0) ? shifted(block.row(k)) / mu : Scalar(0);
        squared += x * x;
      }
      const Scalar norm = sqrt(squared);
      const Scalar share = norm > impulse(n) ? impulse(n) / norm : Scalar(1);
      for (int k = 0; k < block.size; ++k) {
        if (block.mu(k) > Scalar(0)) impulse(block.row(k)) = share * shifted(block.row(k));
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
  const int n = detail::normal_row(set.shape);
  const RowNumbers<Scalar> shifted = y + set.shift;
  if (!(shifted(n) > Scalar(0))) return slope;
  slope(n, n) = Scalar(1);
  detail::visit_friction_blocks(set, [&](const auto& block) {
    std::array<Scalar, 5> along{};  // in units of μ
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;
      Scalar& x = along[std::size_t(k)];
      x = shifted(block.row(k)) / block.mu(k);
      squared += x * x;
    }
    const Scalar norm = sqrt(squared);
    const bool slides = norm > shifted(n);
    const Scalar share = slides ? shifted(n) / norm : Scalar(1);
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;
      const int row = block.row(k);
      slope(row, row) += share;
      if (!slides) continue;
      const Scalar direction = along[std::size_t(k)] / norm;
      slope(row, n) = block.mu(k) * direction;
      for (int l = 0; l < block.size; ++l) {
        if (!(block.mu(l) > Scalar(0))) continue;
        slope(row, block.row(l)) -=
            share * block.mu(k) * direction * (along[std::size_t(l)] / norm) / block.mu(l);
      }
    }
  });
  return slope;
}

}  // namespace carom::inline CAROM_ABI
