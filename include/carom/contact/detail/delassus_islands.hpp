// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "carom/contact/delassus_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Contacts of a DelassusProblem that influence each other form an island. Each island is written
/// as a separate problem.
/// @note  The memory is reused. Allocates only for a problem larger than every problem before.
template <RealScalar Scalar>
class DelassusIslands {
 public:
  /// Finds the islands of an assembled problem, in the order of their first contacts.
  void find(const DelassusProblem<Scalar>& problem) {
    const Index count = problem.count();
    island_of_.assign(count, -1);
    starts_.clear();
    starts_.push_back(0);
    contacts_.clear();
    for (Index seed = 0; seed < count; ++seed) {
      if (island_of_[seed] >= 0) continue;
      const int island = int(starts_.size()) - 1;
      const Index begin = contacts_.size();
      take(int(seed), island);
      for (Index k = begin; k < contacts_.size(); ++k) visit_neighbours(problem, k, island);
      starts_.push_back(int(contacts_.size()));
    }
    next_ = starts_;
    for (Index i = 0; i < count; ++i) contacts_[next_[island_of_[i]]++] = int(i);
  }

  [[nodiscard]] Index count() const noexcept { return starts_.empty() ? 0 : starts_.size() - 1; }
  /// Contacts of an island, ascending.
  [[nodiscard]] std::span<const int> contacts(Index island) const noexcept {
    const std::size_t size = std::size_t(starts_[island + 1] - starts_[island]);
    return {contacts_.data() + starts_[island], size};
  }

  /// The problem of one island with its contacts in their order. It has the mean diagonal and the
  /// load norm of the whole problem, such that the errors of the islands can be added.
  void write(const DelassusProblem<Scalar>& whole, Index island, DelassusProblem<Scalar>& part) {
    part.reset();
    part_at_.resize(whole.part_count());
    for (const int i : contacts(island)) {
      auto contact = whole.contacts_[i];
      const int first = contact.first_part;
      contact.first_row = int(part.row_count_);
      contact.first_part = int(part.parts_.size());
      for (int p = first; p < first + whole.parts(i); ++p) {
        part_at_[p] = int(part.parts_.size());
        part.parts_.push_back(whole.parts_[p]);
        part.parts_.back().contact = int(part.contacts_.size());
      }
      part.row_count_ += contact.set.rows;
      part.contacts_.push_back(contact);
    }
    for (const int i : contacts(island)) {
      for (Index p = whole.first_part(i); p < whole.first_part(i) + whole.parts(i); ++p) {
        part.blocks_.begin_row();
        for (const auto* n = whole.begin(p); n != whole.end(p); ++n) {
          part.blocks_.append({part_at_[n->part], n->matrix});
        }
      }
    }
    part.blocks_.begin_row();  // the end of the last row
    part.mean_diagonal_ = whole.mean_diagonal_;
    part.load_norm_ = whole.load_norm_;
  }

 private:
  void take(int contact, int island) {
    island_of_[contact] = island;
    contacts_.push_back(contact);
  }
  void visit_neighbours(const DelassusProblem<Scalar>& problem, Index place, int island) {
    const Index contact = contacts_[place], first = problem.first_part(contact);
    for (Index p = first; p < first + problem.parts(contact); ++p) {
      for (const auto* n = problem.begin(p); n != problem.end(p); ++n) {
        const int other = int(problem.part_contact(n->part));
        if (island_of_[other] < 0) take(other, island);
      }
    }
  }

  Sequence<int> island_of_, starts_, contacts_, part_at_;
  Sequence<int> next_;  ///< scratch
};

}  // namespace CAROM_ABI
}  // namespace carom
