// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/systems/body_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The velocities that take overlaps out of the contacts of a BodySystem, island by island. They
/// are a wish, not a law: bodies between walls that overlap them from two sides have no answer that
/// grants it, so that an island is first solved without them.
template <RealScalar Scalar>
class OverlapLoads {
 public:
  /// @param system  that has taken the problem.
  /// @note  Allocates beyond the largest problem so far.
  void find(const ContactProblem<Scalar>& problem, const BodySystem<Scalar>& system) {
    loads_.clear();
    first_.assign(system.islands().size() + 1, 0);
    for (Index island = 0; island < system.islands().size(); ++island) {
      const BlockIsland& own = system.islands()[island];
      for (Index i = own.first_block; i < own.block_end; ++i) {
        const Index block = system.block_number(i);
        const Scalar velocity = problem.overlap_velocity(block);
        if (!(velocity > Scalar(0))) continue;
        loads_.push_back({3 * system.blocks().first_part(i) + 2, velocity});
      }
      first_[island + 1] = int(loads_.size());
    }
  }
  [[nodiscard]] bool any(Index island) const noexcept {
    return first_[island] < first_[island + 1];
  }
  /// Takes the velocities of an island off what its contacts are asked for, or gives them back.
  void leave_out(BodySystem<Scalar>& system, Index island) const noexcept {
    add(system, island, Scalar(1));
  }
  void ask_again(BodySystem<Scalar>& system, Index island) const noexcept {
    add(system, island, Scalar(-1));
  }

 private:
  struct Load {
    Index place;
    Scalar velocity;
  };
  void add(BodySystem<Scalar>& system, Index island, const Scalar& sign) const noexcept {
    for (Index k = first_[island]; k < first_[island + 1]; ++k) {
      system.add_to_load(loads_[k].place, sign * loads_[k].velocity);
    }
  }

  Sequence<Load> loads_;
  Sequence<int> first_;  ///< per island, where its own begin
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
