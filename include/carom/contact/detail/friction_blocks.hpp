// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {
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
}  // namespace CAROM_ABI
}  // namespace carom
