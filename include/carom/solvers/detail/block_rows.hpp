// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/coulomb_law.hpp"
#include "carom/linalg/sequence.hpp"

namespace carom::inline CAROM_ABI::detail {

/// Numbers of one block in parts of three, the second zero where the block has one part.
template <RealScalar Scalar>
using PartNumbers = Vector<Scalar, 6>;

/// Rows of one block that its normal bounds together, ‖γ_k/μ_k‖ ≤ γₙ, by their places in parts.
/// Those without friction are left out: their impulse is fixed.
template <RealScalar Scalar>
struct FrictionDisc {
  int size = 0;
  std::array<int, 5> places{};
  std::array<Scalar, 5> friction{};
};

/// One block of rows, a contact or a constraint: the set of its impulses and its R, by places in
/// parts of three rows, those that a block lacks being empty.
///
/// A cone is a normal with up to three discs. Anything else is rows between bounds.
template <RealScalar Scalar>
struct BlockRows {
  Index first_part = 0;  ///< among the parts of all blocks
  int parts = 1;
  int normal = -1;  ///< place of the normal; −1 for rows between bounds
  int disc_count = 0;
  bool triple = false;  ///< A cone with one disc, of equal friction, on the first two places.
  std::array<FrictionDisc<Scalar>, 3> discs{};
  std::array<bool, 6> present{};
  PartNumbers<Scalar> lower = PartNumbers<Scalar>::Zero(), upper = PartNumbers<Scalar>::Zero();
  PartNumbers<Scalar> shift = PartNumbers<Scalar>::Zero();
  PartNumbers<Scalar> regularization = PartNumbers<Scalar>::Zero();
  ImpulseSet<Scalar> set;
  Scalar inverse_mass = 0;  ///< w, the mean diagonal of the block's own W + R [1/kg], > 0

  [[nodiscard]] bool is_cone() const noexcept { return normal >= 0; }
  [[nodiscard]] int size() const noexcept { return 3 * parts; }
};

/// A block from its set and R, given by rows.
/// @param place  place(row) of a row in parts.
template <RealScalar Scalar, typename Place>
[[nodiscard]] BlockRows<Scalar> make_block_rows(const ImpulseSet<Scalar>& set,
                                                const RowNumbers<Scalar>& regularization,
                                                Index first_part, const Place& place) noexcept {
  BlockRows<Scalar> block;
  block.set = set;
  block.first_part = first_part;
  block.parts = (set.rows + 2) / 3;
  for (int r = 0; r < set.rows; ++r) {
    const int p = place(r);
    block.present[std::size_t(p)] = true;
    block.lower(p) = set.lower(r);
    block.upper(p) = set.upper(r);
    block.shift(p) = set.shift(r);
    block.regularization(p) = regularization(r);
  }
  const int normal = visit_friction_blocks(set, [&](const FrictionBlock<Scalar>& rows) {
    FrictionDisc<Scalar> disc;
    for (int k = 0; k < rows.size; ++k) {
      if (!(rows.mu(k) > Scalar(0))) continue;
      disc.places[std::size_t(disc.size)] = place(rows.row(k));
      disc.friction[std::size_t(disc.size)] = rows.mu(k);
      ++disc.size;
    }
    if (disc.size > 0) block.discs[std::size_t(block.disc_count++)] = disc;
  });
  if (normal >= 0) block.normal = place(normal);
  const FrictionDisc<Scalar>& first = block.discs[0];
  block.triple = block.parts == 1 && block.disc_count == 1 && first.size == 2 &&
                 first.friction[0] == first.friction[1];
  return block;
}

}  // namespace carom::inline CAROM_ABI::detail
