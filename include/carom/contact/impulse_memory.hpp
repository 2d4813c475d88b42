// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Impulses of the last step, stored by names that the user assigns to blocks. A solver that starts
/// from impulses then has a good guess, although contacts appear, disappear and change their order.
///
/// A name is any number that belongs to a contact in all steps, and to no other block of the same
/// step: for example a hash of a pair of features of two bodies from the collision detection. A
/// block without a name, or with a new name, starts from zero.
///
/// ```
/// problem.reset(dt);
/// memory.name_block(problem.add_contact(body, jacobian, law), feature);  // for each contact
/// memory.write_guess(problem, impulse);
/// solver.solve(dual, impulse);
/// memory.remember(problem, impulse); // and remove the names
/// ```
/// @note  Allocates only for a step larger than every step before, and if the count of rows
///        changes, which resizes `impulse`.
template <RealScalar Scalar>
class ImpulseMemory {
 public:
  using Name = std::uint64_t;

  /// Assigns a name to a block of the coming step. If two blocks have the same name, it belongs to
  /// the one that was added first.
  /// @param block  return value of add_contact() or add_constraint().
  void name_block(Index block, Name name) {
    names_.push_back({name, block});
    sorted_ = false;
  }

  /// The remembered impulse for each block whose name and count of rows are those of a block of the
  /// step before, and zero for all others. Impulses are scaled by the ratio of the time steps.
  /// @param impulse  γ [N·s], stacked block by block; resized to impulse_count().
  void write_guess(const ContactProblem<Scalar>& problem, VectorX<Scalar>& impulse) {
    sort_names();
    impulse.setZero(problem.impulse_count());
    const Scalar scale = time_step_ > Scalar(0) ? problem.time_step() / time_step_ : Scalar(1);
    auto old = kept_.begin();
    for (const Named& now : names_) {
      while (old != kept_.end() && old->name < now.name) ++old;
      if (old == kept_.end()) break;
      const int rows = problem.rows(now.block);
      if (old->name != now.name || old->rows != rows) continue;
      const Index first = problem.first_row(now.block);
      for (int r = 0; r < rows; ++r) {
        impulse(first + r) = scale * impulses_[std::size_t(old->first + r)];
      }
    }
  }

  /// Stores the impulses of all blocks with a name, and removes the names. Blocks of the next step
  /// get new names.
  /// @param impulse  γ [N·s], stacked block by block.
  /// @pre  impulse.size() == problem.impulse_count().
  void remember(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse) {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    sort_names();
    time_step_ = problem.time_step();
    kept_.clear();
    impulses_.clear();
    for (const Named& now : names_) {
      const int rows = problem.rows(now.block);
      const Index first = problem.first_row(now.block);
      kept_.push_back({now.name, Index(impulses_.size()), rows});
      for (int r = 0; r < rows; ++r) impulses_.push_back(impulse(first + r));
    }
    names_.clear();
  }

  /// Removes impulses and names without freeing memory: for use after a jump of the scene.
  void clear() noexcept {
    names_.clear();
    kept_.clear();
    impulses_.clear();
  }

  /// Count of blocks with a remembered impulse.
  [[nodiscard]] Index count() const noexcept { return Index(kept_.size()); }

 private:
  struct Named {
    Name name;
    Index block;
  };
  struct Kept {
    Name name;
    Index first;
    int rows;
  };

  /// Sorts by name and removes repeated names.
  void sort_names() {
    if (sorted_) return;
    std::sort(names_.begin(), names_.end(), [](const Named& a, const Named& b) {
      return a.name != b.name ? a.name < b.name : a.block < b.block;
    });
    const auto same = [](const Named& a, const Named& b) { return a.name == b.name; };
    names_.erase(std::unique(names_.begin(), names_.end(), same), names_.end());
    sorted_ = true;
  }

  std::vector<Named> names_;
  std::vector<Kept> kept_;
  std::vector<Scalar> impulses_;
  Scalar time_step_ = 0;
  bool sorted_ = true;
};

}  // namespace CAROM_ABI
}  // namespace carom
