// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/linalg/detail/crew.hpp"
#include "carom/solvers/rows/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The vectors and the arrays over parts that an iteration reads and writes, for all islands.
/// lay_out() gives them the sizes of a packed problem.
template <RealScalar Scalar>
class SolverMemory {
 public:
  using Packed = PackedProblem<Scalar>;
  /// One number for each whitened unknown.
  enum VectorName {
    whitened,   ///< the iterate w
    free,       ///< w*
    best,       ///< the best iterate so far
    momentum,   ///< Ĵᵀγ
    gradient,   ///< ∇ℓ, or F under Coulomb's law
    direction,  ///< d
    spare1,
    common_count,           ///< of those above, which each solve uses
    spare2 = common_count,  ///< for IterativeHessian
    spare3,
    vector_count
  };
  /// Three components for each part.
  enum TripleName {
    velocity,       ///< v_c = Ĵ w; during a line search y at another point than the iterate
    trial,          ///< y
    impulse,        ///< γ
    trial_step,     ///< the change of y along the direction d: −R⁻¹ Ĵ d
    impulse_ahead,  ///< γ at another point than the iterate
    triple_count
  };

  /// @param count  vectors in use: vector_count or common_count.
  void lay_out(const Packed& packed, Index count = vector_count) {
    vector_size_ = packed.vector_size();
    part_size_ = packed.part_size();
    // Padding must stay finite, and is zero where sums include it.
    vectors_.reserve(vector_count * vector_size_);
    vectors_.assign(count * vector_size_, Scalar(0));
    const Index room = part_size_ + packed.spare_parts();
    contacts_.reserve((3 * triple_count + 2) * room);
    contacts_.assign((3 * triple_count + 2) * part_size_, Scalar(0));
    regions_.reserve(room);
    regions_.assign(part_size_, -1);
  }
  [[nodiscard]] Scalar* vector(VectorName name) noexcept {
    return vectors_.data() + name * vector_size_;
  }
  [[nodiscard]] Scalar* contact(TripleName name, int component) noexcept {
    return contacts_.data() + (3 * name + component) * part_size_;
  }
  /// All three components.
  [[nodiscard]] PartArray<Scalar> parts(TripleName name) noexcept {
    return {{contact(name, 0), contact(name, 1), contact(name, 2)}};
  }
  /// Unit directions of friction as predicted by the last full step, two components.
  [[nodiscard]] Scalar* predicted_direction(int component) noexcept {
    return contacts_.data() + (3 * triple_count + component) * part_size_;
  }
  /// The region of each part when its curvature was last assembled; negative if the region does not
  /// determine the curvature.
  [[nodiscard]] signed char* regions() noexcept { return regions_.data(); }

 private:
  Sequence<signed char> regions_;
  Sequence<Scalar> vectors_, contacts_;
  Index vector_size_ = 0, part_size_ = 0;
};

/// Constants of IslandPieces.
struct IslandPiecesTuning {
  /// Parts of an island from which its passes are shared, piece by piece. The passes over smaller
  /// ones are too short to be worth sharing.
  static constexpr Index least_parts = 2000;
  /// Parts of a piece, about. More pieces than threads even out the work; a pass over one lasts
  /// some tens of microseconds.
  static constexpr Index piece_parts = 512;
};

/// A large island cut into pieces for passes over it: each has some bodies, the edges at which
/// these are the low ones, and the parts of those. A crew shares the pieces, and their numbers are
/// added in the order of the pieces, so that sums do not depend on the crew. lay_out() for an
/// island, then any pass.
/// @note  lay_out() allocates beyond the largest island so far.
template <RealScalar Scalar>
class IslandPieces {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Whether an island is large enough to be cut.
  [[nodiscard]] static bool suit(const PackedIsland& island) noexcept {
    return island.true_count >= IslandPiecesTuning::least_parts;
  }

  /// Cuts an island.
  void lay_out(const Packed& packed, const PackedIsland& island);

  [[nodiscard]] Index count() const noexcept { return cuts_.size() - 1; }
  /// A piece as a separate island; the last one has the padding.
  [[nodiscard]] PackedIsland piece(const Packed& packed, const PackedIsland& island,
                                   Index k) const noexcept;

  /// Calls visit(edge, side) for the edges of each body of a piece: first those with it as the high
  /// body, side 1. The data of bodies in different pieces are separate.
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
  /// order of these bodies.
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
  /// Memory for the numbers that a loop computes for a piece.
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
  // A last piece without edges would have no first part.
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

/// The numbers of one island in the packed problem and in the memory, and passes over them. Cheap
/// to make.
/// @tparam State  derives from it; part(piece) makes the state of a piece of the island.
template <RealScalar Scalar, typename State>
class IslandView {
 public:
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;
  using Array = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
  using Given = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;

  IslandView(const Packed& packed, Memory& memory, const PackedIsland& island) noexcept
      : packed_(packed), memory_(memory), island_(island) {}

  [[nodiscard]] const PackedIsland& island() const noexcept { return island_; }
  [[nodiscard]] const Packed& packed() const noexcept { return packed_; }

  /// Start of the island's numbers in a vector, in an array over parts, in the parameters.
  [[nodiscard]] Scalar* start_of(typename Memory::VectorName name) const noexcept {
    return memory_.vector(name) + island_.vector_start;
  }
  [[nodiscard]] Scalar* start_of(typename Memory::TripleName name, int component) const noexcept {
    return memory_.contact(name, component) + island_.first_part;
  }
  [[nodiscard]] const Scalar* start_of(typename Packed::Parameter which) const noexcept {
    return packed_.parameter(which) + island_.first_part;
  }

  /// The island's numbers in a vector.
  [[nodiscard]] Array vector(typename Memory::VectorName name) const noexcept {
    return {start_of(name), island_.vector_size};
  }
  /// The island's numbers in one component of an array over parts.
  [[nodiscard]] Array contacts(typename Memory::TripleName name, int component) const noexcept {
    return {start_of(name, component), island_.part_count};
  }
  [[nodiscard]] Given parameter(typename Packed::Parameter which) const noexcept {
    return {start_of(which), island_.part_count};
  }

  /// The rows of a block that is not a friction contact, from an array over parts.
  [[nodiscard]] RowNumbers<Scalar> rows_of(const PackedBlock<Scalar>& other,
                                           typename Memory::TripleName name) const noexcept {
    return other.read(memory_.parts(name));
  }

  /// From now on passes over the island go piece by piece, and the crew shares the pieces.
  void share(IslandPieces<Scalar>& pieces, Crew& crew) noexcept {
    pieces_ = &pieces;
    crew_ = &crew;
  }
  /// From now on passes are shared as those of another state.
  void share_as(const IslandView& other) noexcept {
    pieces_ = other.pieces_;
    crew_ = other.crew_;
  }
  /// x ← y on the island.
  void copy(typename Memory::VectorName from, typename Memory::VectorName to) const noexcept {
    std::copy_n(start_of(from), island_.vector_size, start_of(to));
  }
  /// x ← 0 on the island.
  void clear(typename Memory::VectorName name) const noexcept {
    std::fill_n(start_of(name), island_.vector_size, Scalar(0));
  }
  void clear(typename Memory::TripleName name) const noexcept {
    for (int c = 0; c < 3; ++c) std::fill_n(start_of(name, c), island_.part_count, Scalar(0));
  }

  /// y ← −x on the island.
  void negate(typename Memory::VectorName from, typename Memory::VectorName to) const noexcept {
    write_negative(start_of(from), island_.vector_size, start_of(to));
  }
  [[nodiscard]] Scalar dot(typename Memory::VectorName a,
                           typename Memory::VectorName b) const noexcept {
    return sum_of_products(start_of(a), start_of(b), island_.vector_size);
  }
  /// Whether the sum of the numbers' sizes is a finite number.
  [[nodiscard]] bool is_finite(typename Memory::VectorName name) const noexcept {
    return sum_of_sizes(start_of(name), island_.vector_size) <=
           (std::numeric_limits<Scalar>::max)();
  }

  /// The crew of share(); null without one.
  [[nodiscard]] Crew* crew() const noexcept { return crew_; }
  /// Calls visit(edge) for the edges from bodies of earlier pieces to those of one.
  template <typename Visit>
  void for_each_crossing(const PackedIsland& piece, const Visit& visit) const noexcept {
    if (pieces_ != nullptr) pieces_->for_each_crossing(packed_, island_, piece, visit);
  }
  /// A task over the pieces, as two pointers: task(state, numbers) may write numbers for a piece,
  /// which are zero before.
  class Task {
   public:
    template <typename Given>
    // NOLINTNEXTLINE(google-explicit-constructor): any task may be given to a pass.
    Task(const Given& task) noexcept
        : task_(&task), call_([](const void* what, const State& part, Scalar* numbers) noexcept {
            (*static_cast<const Given*>(what))(part, numbers);
          }) {}
    void operator()(const State& part, Scalar* numbers) const noexcept {
      call_(task_, part, numbers);
    }

   private:
    const void* task_;
    void (*call_)(const void*, const State&, Scalar*) noexcept;
  };
  using Numbers = std::array<Scalar, std::size_t(IslandPieces<Scalar>::number_count)>;

  /// Runs a task for the pieces of the island, or for the whole island if it has none.
  void for_each_piece(const Task& task) const noexcept { static_cast<void>(sum_pieces(task)); }
  /// Runs a task and returns the sums of its numbers.
  Numbers sum_pieces(const Task& task) const noexcept {
    Numbers sums{};
    if (pieces_ == nullptr) {
      task(state(), sums.data());
      return sums;
    }
    share_pieces(task);
    for (Index k = 0; k < pieces_->count(); ++k) {
      for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += pieces_->numbers(k)[n];
    }
    return sums;
  }
  /// Runs a task and returns the largest of its first numbers, which are ≥ 0; NaN if one is NaN.
  [[nodiscard]] Scalar largest_of_pieces(const Task& task) const noexcept {
    if (pieces_ == nullptr) return sum_pieces(task)[0];
    share_pieces(task);
    Scalar largest = 0;
    for (Index k = 0; k < pieces_->count(); ++k) {
      const Scalar own = pieces_->numbers(k)[0];
      if (own != own) return own;  // NaN, which later pieces must not replace
      if (own > largest) largest = own;
    }
    return largest;
  }

 protected:
  void share_pieces(const Task& task) const noexcept {
    crew_->run(pieces_->count(), [&](Index k) {
      const PackedIsland piece = pieces_->piece(packed_, island_, k);
      Scalar* const numbers = pieces_->numbers(k);
      std::fill_n(numbers, IslandPieces<Scalar>::number_count, Scalar(0));
      task(state().part(piece), numbers);
    });
  }

  const Packed& packed_;
  Memory& memory_;
  const PackedIsland& island_;
  IslandPieces<Scalar>* pieces_ = nullptr;
  Crew* crew_ = nullptr;

 private:
  [[nodiscard]] const State& state() const noexcept { return static_cast<const State&>(*this); }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
