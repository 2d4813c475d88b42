// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/linalg/detail/crew.hpp"
#include "carom/solvers/rows/island_pieces.hpp"
#include "carom/solvers/systems/solver_memory.hpp"

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

  /// Where the island's numbers start in a vector, in an array over parts, in the parameters.
  [[nodiscard]] Scalar* start_of(typename Memory::VectorName name) const noexcept {
    return memory_.vector(name) + island_.vector_start;
  }
  [[nodiscard]] Scalar* start_of(typename Memory::TripleName name, int component) const noexcept {
    return memory_.contact(name, component) + island_.first_part;
  }
  [[nodiscard]] const Scalar* start_of(typename Packed::Parameter which) const noexcept {
    return packed_.parameter(which) + island_.first_part;
  }

  /// What a vector holds of the island.
  [[nodiscard]] Array vector(typename Memory::VectorName name) const noexcept {
    return {start_of(name), island_.vector_size};
  }
  /// What one component of an array over parts holds of the island.
  [[nodiscard]] Array contacts(typename Memory::TripleName name, int component) const noexcept {
    return {start_of(name, component), island_.part_count};
  }
  [[nodiscard]] Given parameter(typename Packed::Parameter which) const noexcept {
    return {start_of(which), island_.part_count};
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
  /// A task over the pieces, referred to by two pointers: task(state, numbers) may leave numbers of
  /// a piece, which are zero before.
  class Task {
   public:
    template <typename Given>
    // NOLINTNEXTLINE(google-explicit-constructor): a pass takes any task.
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

  /// Does a task for the pieces of the island, or for the whole if it has none.
  void for_each_piece(const Task& task) const noexcept { static_cast<void>(sum_pieces(task)); }
  /// The sums of the numbers that it leaves.
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
  /// The largest of the first numbers that it leaves, which are no less than zero; NaN if one is.
  [[nodiscard]] Scalar largest_of_pieces(const Task& task) const noexcept {
    if (pieces_ == nullptr) return sum_pieces(task)[0];
    share_pieces(task);
    Scalar largest = 0;
    for (Index k = 0; k < pieces_->count(); ++k) {
      const Scalar own = pieces_->numbers(k)[0];
      if (!(own <= largest)) largest = own;
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
