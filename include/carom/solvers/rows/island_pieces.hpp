// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/solvers/rows/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of IslandPieces.
struct IslandPiecesTuning {
  /// Parts of an island from which it is passed over in pieces. Smaller ones take too little time
  /// to be worth sharing.
  static constexpr Index least_parts = 2000;
  /// Parts of a piece, about. More pieces than threads even out the work; each takes some tens of
  /// microseconds.
  static constexpr Index piece_parts = 512;
};

/// A large island cut into pieces for passes over it: each has some bodies, the edges at which
/// these are the low ones, and the parts of those. A crew shares the pieces, and sums are taken in
/// their order, so numbers do not depend on the crew.
/// @note  lay_out() allocates beyond the largest island so far.
template <RealScalar Scalar>
class IslandPieces {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Whether an island is passed over in pieces.
  [[nodiscard]] static bool suit(const PackedIsland& island) noexcept {
    return island.true_count >= IslandPiecesTuning::least_parts;
  }

  /// Takes on the pattern of an island.
  void lay_out(const Packed& packed, const PackedIsland& island);

  [[nodiscard]] Index count() const noexcept { return cuts_.size() - 1; }
  /// A piece as an island of its own; the last has the padding.
  [[nodiscard]] PackedIsland piece(const Packed& packed, const PackedIsland& island,
                                   Index k) const noexcept;

  /// Calls visit(edge, side) for the edges of each body of a piece: first those where it is the
  /// high one, side 1. What belongs to the bodies of different pieces is apart.
  template <typename Visit>
  void for_each_side(const Packed& packed, const PackedIsland& island, const PackedIsland& piece,
                     const Visit& visit) const noexcept {
    Index e = piece.first_edge;
    for (int slot = piece.range.first_slot; slot < piece.range.slot_end; ++slot) {
      const Index own = slot - island.range.first_slot;
      for (int k = high_starts_[own]; k < high_starts_[own + 1]; ++k) {
        visit(packed.edge(high_edges_[k]), 1);
      }
      for (; e < piece.edge_end && packed.edge(e).low_slot == slot; ++e) visit(packed.edge(e), 0);
    }
  }
  /// Calls visit(edge) for the edges from bodies of earlier pieces to those of a piece, in the
  /// order of these.
  template <typename Visit>
  void for_each_crossing(const Packed& packed, const PackedIsland& island,
                         const PackedIsland& piece, const Visit& visit) const noexcept {
    for (int slot = piece.range.first_slot; slot < piece.range.slot_end; ++slot) {
      const Index own = slot - island.range.first_slot;
      for (int k = high_starts_[own]; k < high_starts_[own + 1]; ++k) {
        if (high_edges_[k] >= piece.first_edge) break;
        visit(packed.edge(high_edges_[k]));
      }
    }
  }
  /// Room for the numbers that a pass leaves of a piece.
  [[nodiscard]] Scalar* numbers(Index k) noexcept { return numbers_.data() + k * number_count; }
  static constexpr Index number_count = 4;

 private:
  struct Cut {
    int slot;
    Index edge;
  };

  Sequence<Cut> cuts_;
  Sequence<Index> high_edges_;
  Sequence<int> high_starts_, ends_;
  Sequence<Scalar> numbers_;
};

// --- implementation ---

template <RealScalar Scalar>
void IslandPieces<Scalar>::lay_out(const Packed& packed, const PackedIsland& island) {
  const int first = island.range.first_slot, count = island.range.slot_end - first;
  cuts_.clear();
  high_starts_.assign(count + 1, 0);
  Index parts = IslandPiecesTuning::piece_parts, e = island.first_edge;
  for (int slot = first; slot < island.range.slot_end; ++slot) {
    if (parts >= IslandPiecesTuning::piece_parts) {
      cuts_.push_back({slot, e});
      parts = 0;
    }
    for (; e < island.edge_end && packed.edge(e).low_slot == slot; ++e) {
      parts += packed.edge(e).part_end - packed.edge(e).first_part;
      if (packed.edge(e).high_slot >= 0) ++high_starts_[packed.edge(e).high_slot - first + 1];
    }
  }
  // A last piece without edges has nowhere to take its parts from.
  while (cuts_.size() > 1 && cuts_.back().edge == island.edge_end) cuts_.resize(cuts_.size() - 1);
  cuts_.push_back({island.range.slot_end, island.edge_end});
  for (int k = 0; k < count; ++k) high_starts_[k + 1] += high_starts_[k];
  ends_ = high_starts_;
  high_edges_.resize(high_starts_[count]);
  for (e = island.first_edge; e < island.edge_end; ++e) {
    const int high = packed.edge(e).high_slot;
    if (high >= 0) high_edges_[ends_[high - first]++] = e;
  }
  numbers_.assign(this->count() * number_count, Scalar(0));
}

template <RealScalar Scalar>
PackedIsland IslandPieces<Scalar>::piece(const Packed& packed, const PackedIsland& island,
                                         Index k) const noexcept {
  const Cut &begin = cuts_[k], &end = cuts_[k + 1];
  PackedIsland part = island;
  part.range.first_slot = begin.slot;
  part.range.slot_end = end.slot;
  part.first_edge = begin.edge;
  part.edge_end = end.edge;
  part.first_part = packed.edge(begin.edge).first_part;
  const bool last = k + 1 == count();
  const Index true_end = packed.edge(end.edge - 1).part_end;
  part.part_count = (last ? island.first_part + island.part_count : true_end) - part.first_part;
  part.true_count = true_end - part.first_part;
  part.projected_count = part.part_count;
  part.vector_start = packed.starts()[begin.slot];
  part.vector_size = (last ? island.vector_start + island.vector_size : packed.starts()[end.slot]) -
                     part.vector_start;
  part.first_other = packed.edge(begin.edge).first_other;
  part.other_end = packed.edge(end.edge - 1).other_end;
  return part;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
