// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>

#include <Eigen/Core>

#include "carom/solvers/detail/island_pieces.hpp"
#include "carom/solvers/detail/solver_memory.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What an iterate of an island is judged by.
template <RealScalar Scalar>
struct IslandMeasures {
  Scalar residual = 0;        ///< ‖∇ℓ‖
  Scalar free_squared = 0;    ///< ‖w*‖²
  Scalar pushed_squared = 0;  ///< ‖Ĵᵀγ‖²
  Scalar gross_squared = 0;  ///< Σ ‖Ĵₖ‖² γₖ² over the rows: what Ĵᵀγ is if none cancels another

  /// Takes ‖∇ℓ‖² and the others, in their order.
  void take(const std::array<Scalar, 4>& sums) noexcept {
    using std::sqrt;
    residual = sqrt(sums[0]);
    free_squared = sums[1];
    pushed_squared = sums[2];
    gross_squared = sums[3];
  }
};

/// What the packed problem and the memory hold of one island, and passes over it. Cheap to make.
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

  /// What a vector holds of the island.
  [[nodiscard]] Array vector(typename Memory::VectorName name) const noexcept {
    return {memory_.vector(name) + island_.vector_start, island_.vector_size};
  }
  /// What one component of an array over parts holds of the island.
  [[nodiscard]] Array contacts(typename Memory::TripleName name, int component) const noexcept {
    return {memory_.contact(name, component) + island_.first_part, island_.part_count};
  }
  [[nodiscard]] Given parameter(typename Packed::Parameter which) const noexcept {
    return {packed_.parameter(which) + island_.first_part, island_.part_count};
  }

  /// The rows of a block that is not a friction contact, out of an array over parts.
  [[nodiscard]] RowNumbers<Scalar> rows_of(const PackedBlock<Scalar>& other,
                                           typename Memory::TripleName name) const noexcept {
    return other.read(
        {memory_.contact(name, 0), memory_.contact(name, 1), memory_.contact(name, 2)});
  }

  /// Says that passes over the island go piece by piece, and who shares the pieces.
  void share(IslandPieces<Scalar>& pieces, Crew& crew) noexcept {
    pieces_ = &pieces;
    crew_ = &crew;
  }
  /// Takes on how the passes of another state are shared.
  void share_as(const IslandView& other) noexcept {
    pieces_ = other.pieces_;
    crew_ = other.crew_;
  }
  /// The crew of share(); null without one.
  [[nodiscard]] Crew* crew() const noexcept { return crew_; }
  /// Calls task(state) for the pieces of the island, or for the whole if it has none.
  template <typename Task>
  void for_each_piece(const Task& task) noexcept {
    if (pieces_ == nullptr) return task(state());
    pieces_->for_each(packed_, island_, *crew_, [&](const PackedIsland& piece, Index) {
      State part = state().part(piece);
      task(part);
    });
  }
  /// Calls visit(edge) for the edges from bodies of earlier pieces to those of one.
  template <typename Visit>
  void for_each_crossing(const PackedIsland& piece, const Visit& visit) const noexcept {
    if (pieces_ != nullptr) pieces_->for_each_crossing(packed_, island_, piece, visit);
  }
  /// The sums of the numbers that task(state) returns for the pieces, or for the whole.
  template <std::size_t Count, typename Task>
  [[nodiscard]] std::array<Scalar, Count> sum_pieces(const Task& task) const noexcept {
    if (pieces_ == nullptr) return task(state());
    std::array<Scalar, Count> sums{};
    gather_pieces<Count>(task, [&](const Scalar* numbers) {
      for (std::size_t k = 0; k < Count; ++k) sums[k] += numbers[k];
    });
    return sums;
  }
  /// The largest number that task(state) returns for the pieces, or for the whole.
  template <typename Task>
  [[nodiscard]] Scalar largest_of_pieces(const Task& task) const noexcept {
    if (pieces_ == nullptr) return task(state());
    Scalar largest = 0;
    gather_pieces<1>([&](const State& part) { return std::array<Scalar, 1>{task(part)}; },
                     [&](const Scalar* number) {
                       if (!(*number <= largest)) largest = *number;
                     });
    return largest;
  }

 protected:
  /// Calls add(numbers) with what task(state) returns for each piece, in their order.
  template <std::size_t Count, typename Task, typename Add>
  void gather_pieces(const Task& task, const Add& add) const noexcept {
    pieces_->template gather<Count>(
        packed_, island_, *crew_,
        [&](const PackedIsland& piece) {
          return std::array<Scalar, Count>(task(state().part(piece)));
        },
        add);
  }

  const Packed& packed_;
  Memory& memory_;
  const PackedIsland& island_;
  IslandPieces<Scalar>* pieces_ = nullptr;
  Crew* crew_ = nullptr;

 private:
  [[nodiscard]] State& state() noexcept { return static_cast<State&>(*this); }
  [[nodiscard]] const State& state() const noexcept { return static_cast<const State&>(*this); }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
