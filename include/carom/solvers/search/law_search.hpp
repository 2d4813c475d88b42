// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "carom/core/solve_limits.hpp"
#include "carom/solvers/search/law_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The search for the impulses of an island: what it works on, how long it may go on, and how far
/// it has come.
template <typename System>
struct LawSearch {
  using Scalar = typename System::scalar_type;

  System& system;
  Index island;
  const Yardstick<Scalar>& yardstick;
  LawIterate<Scalar>& iterate;
  StepMemory<Scalar>& memory;
  Scalar tolerance;     ///< residual to end at [-]
  SolveLimits limits;   ///< of the systems in all, and of time
  Scalar error;         ///< merit of the iterate, which steps are to lower [-]
  Scalar residual;      ///< its error, which the tolerance bounds [-]
  int systems = 0;      ///< factored so far
  bool paired = false;  ///< whether the iterate solves with velocities of its own

  /// u of the iterate, and its error.
  void measure() { take(iterate.measure(system, island, yardstick)); }
  void take(const LawError<Scalar>& found) noexcept {
    error = found.merit;
    residual = found.residual;
  }
  /// Goes to where another search of the same island has come.
  void follow(const LawSearch& other) noexcept {
    error = other.error;
    residual = other.residual;
    systems = other.systems;
    paired = other.paired;
  }
  [[nodiscard]] bool is_solved() const noexcept { return residual <= tolerance; }
  [[nodiscard]] bool may_go_on() const noexcept {
    return systems < limits.iteration_limit && !limits.is_over();
  }
  [[nodiscard]] const BlockIsland& parts() const noexcept { return system.islands()[island]; }
  /// Calls visit(i, block) for every block of the island.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    const BlockList<Scalar>& blocks = system.blocks();
    for (Index i = parts().first_block; i < parts().block_end; ++i) {
      blocks.is_triple(i) ? visit(i, blocks.triple(i)) : visit(i, blocks.other(i));
    }
  }
  /// Totals over the rows of the island: add(place, sums) adds a row's numbers to the sums.
  template <std::size_t Count, typename Add>
  [[nodiscard]] std::array<Scalar, Count> total_rows(std::array<Scalar, Count> sums,
                                                     const Add& add) const {
    for_each([&](Index i, const auto& block) {
      if (!counts_block(system, i)) return;
      for (int k = 0; k < block.size(); ++k) add(3 * block.first_part + k, sums);
    });
    return total_of(system, sums);
  }
  /// Copies what belongs to the island.
  void copy(const Scalar* from, Scalar* to) const {
    std::copy(from + 3 * parts().first_part, from + 3 * parts().part_end,
              to + 3 * parts().first_part);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
