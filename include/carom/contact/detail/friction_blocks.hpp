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

/// The blocks of rows that a cone's normal bounds; none of intervals.
template <RealScalar Scalar>
class FrictionBlocks {
 public:
  explicit FrictionBlocks(const ImpulseSet<Scalar>& set) noexcept {
    const int normal = normal_row(set.shape);
    if (normal < 0) return;
    const bool ellipsoidal = set.shape == ImpulseShape::ellipsoidal_torsional ||
                             set.shape == ImpulseShape::ellipsoidal_rolling;
    const Vector3<Scalar>& mu = set.friction;
    FrictionBlock<Scalar>* block = blocks_;
    for (int r = 0; r < set.rows; ++r) {
      if (r == normal) continue;
      const bool spin = r == set.rows - 1;
      if (!ellipsoidal && (r == 3 || r == 5)) ++block;  // a block begins
      if (r < 2) {
        block->add(r, set.shape == ImpulseShape::elliptic ? mu(r) : mu.x());
      } else {
        block->add(r, spin && set.rows == 6 ? mu.z() : mu.y());
      }
    }
    count_ = int(block - blocks_) + 1;
  }

  [[nodiscard]] const FrictionBlock<Scalar>* begin() const noexcept { return blocks_; }
  [[nodiscard]] const FrictionBlock<Scalar>* end() const noexcept { return blocks_ + count_; }

 private:
  FrictionBlock<Scalar> blocks_[3];
  int count_ = 0;
};

/// Calls visit(block) for every block of rows that one normal bounds, and returns the normal's row;
/// −1 for intervals.
template <RealScalar Scalar, typename Visit>
int visit_friction_blocks(const ImpulseSet<Scalar>& set, Visit&& visit) noexcept {
  for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set)) visit(block);
  return normal_row(set.shape);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
