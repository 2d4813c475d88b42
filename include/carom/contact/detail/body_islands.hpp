// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/counting_sort.hpp"
#include "carom/linalg/detail/front_forest.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Two bodies with blocks between them, or one body with blocks to the world.
struct BodyPair {
  int low, high;  ///< bodies, low < high; high −1 for the world
  friend bool operator==(const BodyPair&, const BodyPair&) = default;
};

/// Groups of bodies that are merged by joins (union-find). The name of a group is its lowest body.
/// @note  Allocates only for sizes larger than all sizes before.
class BodyGroups {
 public:
  void reserve(Index bodies) { towards_.reserve(bodies); }
  /// Puts each body into a group of its own.
  void reset(Index bodies) {
    towards_.resize(bodies);
    for (int b = 0; b < int(bodies); ++b) towards_[b] = b;
  }
  [[nodiscard]] int lowest(Index body) noexcept {
    int at = int(body);
    while (towards_[at] != at) at = towards_[at] = towards_[towards_[at]];
    return at;
  }
  void join(Index one, Index two) noexcept {
    const int a = lowest(one), b = lowest(two);
    towards_[(std::max)(a, b)] = (std::min)(a, b);
  }

 private:
  Sequence<int> towards_;  ///< per body: a lower body of its group, or itself
};

/// The islands of pairs of bodies, in the order of their lowest bodies, and the graph of neighbours
/// in each island.
/// @note  Allocates only for sizes larger than all sizes before.
class BodyIslands {
 public:
  void reserve(Index bodies, Index neighbours) {
    groups_.reserve(bodies);
    for (Sequence<int>* numbers :
         {&island_of_, &local_, &first_start_, &weights_, &members_, &sorted_, &neighbour_begin_}) {
      numbers->reserve(bodies);
    }
    firsts_.reserve(bodies + 1);
    neighbours_.reserve(neighbours);
    starts_.reserve(2 * bodies + 1);
    scratch_.reserve(2 * bodies + 2);
  }
  /// @param sizes  count of unknowns of each body.
  void find(const Sequence<BodyPair>& pairs, const Sequence<int>& sizes) {
    find_members(pairs, sizes.size());
    write_neighbours(pairs, sizes);
  }

  [[nodiscard]] Index count() const noexcept { return firsts_.size() - 1; }
  /// The island of a body; −1 for a body in no pair.
  [[nodiscard]] int island_of(Index body) const noexcept { return island_of_[body]; }
  /// Count of bodies in all islands together.
  [[nodiscard]] Index member_count() const noexcept { return members_.size(); }
  /// Body k of an island, ascending.
  [[nodiscard]] int member(Index island, Index k) const noexcept {
    return members_[firsts_[island] + k];
  }
  [[nodiscard]] Index size(Index island) const noexcept {
    return firsts_[island + 1] - firsts_[island];
  }
  /// The island as a graph whose nodes are its members.
  [[nodiscard]] WeightedGraph graph(Index island) const noexcept {
    const Index first = firsts_[island];
    return {size(island), starts_.data() + first + island,
            neighbours_.data() + neighbour_begin_[island], weights_.data() + first};
  }

 private:
  void find_members(const Sequence<BodyPair>& pairs, Index body_count);
  void write_neighbours(const Sequence<BodyPair>& pairs, const Sequence<int>& sizes);

  BodyGroups groups_;
  Sequence<int> island_of_;
  Sequence<int> members_, firsts_;  ///< bodies by island; per island, where its own begin
  Sequence<int> local_;             ///< per body: its index among the members of its island
  Sequence<int> starts_, neighbours_, weights_, neighbour_begin_;
  Sequence<int> first_start_, sorted_, scratch_;
};

// --- implementation ---

inline void BodyIslands::find_members(const Sequence<BodyPair>& pairs, Index body_count) {
  groups_.reset(body_count);
  Sequence<int>& paired = local_;  // first used for the flag whether a body is in a pair
  paired.assign(body_count, 0);
  for (const BodyPair& pair : pairs) {
    paired[pair.low] = 1;
    if (pair.high < 0) continue;
    paired[pair.high] = 1;
    groups_.join(pair.low, pair.high);
  }
  int islands = 0;
  members_.clear();
  island_of_.assign(body_count, -1);
  for (int b = 0; b < int(body_count); ++b) {
    if (paired[b] == 0) continue;
    const int lowest = groups_.lowest(b);
    island_of_[b] = lowest == b ? islands++ : island_of_[lowest];
    members_.push_back(b);
  }
  sort_by_key(
      members_, islands, [&](int b) { return island_of_[b]; }, sorted_, scratch_);
  firsts_.assign(islands + 1, 0);
  for (const int b : members_) ++firsts_[island_of_[b] + 1];
  for (int i = 0; i < islands; ++i) firsts_[i + 1] += firsts_[i];
  for (int k = 0; k < int(members_.size()); ++k) {
    local_[members_[k]] = k - firsts_[island_of_[members_[k]]];
  }
}

inline void BodyIslands::write_neighbours(const Sequence<BodyPair>& pairs,
                                          const Sequence<int>& sizes) {
  const Index count = members_.size();
  starts_.assign(count + this->count() + 1, 0);
  weights_.resize(count);
  first_start_.resize(sizes.size());  // start in starts_, for each body
  for (int k = 0; k < int(count); ++k) {
    first_start_[members_[k]] = k + island_of_[members_[k]];
    weights_[k] = sizes[members_[k]];
  }
  Index total = 0;
  for (const BodyPair& pair : pairs) {
    if (pair.high < 0) continue;
    ++starts_[first_start_[pair.low] + 1];
    ++starts_[first_start_[pair.high] + 1];
    total += 2;
  }
  neighbours_.resize(total);
  for (Index i = 0; i < starts_.size() - 1; ++i) starts_[i + 1] += starts_[i];
  Sequence<int>& next = scratch_;
  next.resize(starts_.size());
  std::copy(starts_.begin(), starts_.end(), next.begin());
  for (const BodyPair& pair : pairs) {
    if (pair.high < 0) continue;
    neighbours_[next[first_start_[pair.low]]++] = local_[pair.high];
    neighbours_[next[first_start_[pair.high]]++] = local_[pair.low];
  }
  neighbour_begin_.resize(this->count());
  // the graph of each island counts from its own first entry
  for (Index i = 0; i < this->count(); ++i) {
    int* const starts = starts_.data() + firsts_[i] + i;
    neighbour_begin_[i] = starts[0];
    for (Index k = 0; k <= size(i); ++k) starts[k] -= neighbour_begin_[i];
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
