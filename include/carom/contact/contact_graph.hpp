// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/contact_order.hpp"
#include "carom/linalg/front_forest.hpp"

namespace carom::inline CAROM_ABI {

/// The contacts between the same two bodies, or between one body and the world. The parts of
/// constraints come after the contacts, those of one constraint together.
struct ContactEdge {
  int low_slot;                    ///< the body eliminated first, or the only one
  int high_slot;                   ///< the other; −1 for the world
  int first_contact, contact_end;  ///< in ContactGraph::contact_at()
  int constraint_begin;            ///< where the contacts end and the constraints' parts begin
};

/// Bodies that influence each other through contacts, and those contacts.
struct ContactIsland {
  FrontRange range;  ///< its bodies' slots; its fronts, none unless direct
  int first_edge, edge_end;
  int first_contact, contact_end;
  bool direct;  ///< whether its Hessian is to be factored: its factor is small enough
};

/// Who touches whom: islands, an order in which to eliminate the bodies, and an order of the
/// contacts that depends on what they are, not on the order in which they were added.
///
/// Bodies with contacts get slots, island by island; bodies without get none. The islands, the
/// slots and all that belongs to the pattern are kept while the pattern stays the same.
/// @note  Allocates only beyond the largest problem so far.
class ContactGraph {
 public:
  /// @param work_limit  multiply-adds per contact of an island's factorisation beyond which the
  ///                    island is not direct.
  template <RealScalar Scalar>
  void analyse(const ContactProblem<Scalar>& problem, double work_limit);

  [[nodiscard]] const FrontForest& forest() const noexcept { return forest_; }
  [[nodiscard]] const Sequence<ContactIsland>& islands() const noexcept { return islands_; }
  /// Ordered by low slot, then by high slot; contacts with the world first.
  [[nodiscard]] const Sequence<ContactEdge>& edges() const noexcept { return edges_; }
  [[nodiscard]] Index slot_count() const noexcept { return body_at_.size(); }
  [[nodiscard]] int body_at(Index slot) const noexcept { return body_at_[slot]; }
  /// Slot of a body; −1 when nothing touches it.
  [[nodiscard]] int slot_of(Index body) const noexcept { return slot_of_[body]; }
  [[nodiscard]] Index contact_count() const noexcept { return contact_at_.size(); }
  /// The problem's number of the contact at a place; of a constraint's part, the number of contacts
  /// plus its own.
  [[nodiscard]] int contact_at(Index place) const noexcept { return contact_at_[place]; }
  /// How often the pattern has been analysed anew.
  [[nodiscard]] int analysis_count() const noexcept { return analysis_count_; }

  /// How often the pattern, or the number of contacts of an edge, has changed.
  [[nodiscard]] int layout_count() const noexcept { return layout_count_; }

 private:
  struct Pair {
    int low, high;  ///< bodies, high −1 for the world
    friend bool operator==(const Pair&, const Pair&) = default;
  };

  void reserve(Index bodies, Index contacts, Index unknowns);
  template <RealScalar Scalar>
  void gather_pairs(const ContactProblem<Scalar>& problem);
  /// Stable: items in the order of key(item) in [0, key_count).
  template <typename Key>
  void sort_items(Sequence<int>& items, Index key_count, const Key& key);
  [[nodiscard]] int find_root(int body) noexcept;
  void find_islands();
  void write_neighbours();
  void eliminate(double work_limit);
  void order_edges();
  void place_contacts();
  template <RealScalar Scalar>
  void order_equal_pairs(const ContactProblem<Scalar>& problem);
  template <RealScalar Scalar>
  [[nodiscard]] static Pair bodies_of(const ContactProblem<Scalar>& problem, int item) noexcept;

  FrontForest forest_;
  MinimumDegree order_;
  Sequence<ContactIsland> islands_;
  Sequence<ContactEdge> edges_;
  Sequence<int> body_at_, slot_of_, contact_at_;
  // The pattern: what it was last time decides whether it is analysed again.
  Sequence<Pair> pairs_, analysed_pairs_;
  Sequence<int> sizes_, analysed_sizes_;
  Sequence<int> placed_starts_, constraint_starts_, placed_constraints_;
  double analysed_limit_ = -1;
  int analysis_count_ = 0, layout_count_ = 0;
  Index reserved_bodies_ = -1, reserved_contacts_ = -1, reserved_unknowns_ = -1;
  // Scratch.
  Sequence<int> by_pair_, pair_start_, pair_at_, buckets_, sorted_;
  Sequence<int> root_, island_of_, local_, bodies_, starts_, neighbours_, weights_, local_slot_;
};

// --- implementation ---

/// Room for any pattern of so many bodies, contacts and unknowns, of a factor of usual size.
inline void ContactGraph::reserve(Index bodies, Index contacts, Index unknowns) {
  if (bodies <= reserved_bodies_ && contacts <= reserved_contacts_ &&
      unknowns <= reserved_unknowns_) {
    return;
  }
  reserved_bodies_ = bodies = (std::max)(bodies, reserved_bodies_);
  reserved_unknowns_ = unknowns = (std::max)(unknowns, reserved_unknowns_);
  reserved_contacts_ = contacts = (std::max)(contacts, reserved_contacts_);
  const Index neighbours = (std::min)(2 * contacts, bodies * (bodies - 1));
  order_.reserve(bodies, neighbours, unknowns);
  forest_.reserve(bodies, neighbours);
  for (Sequence<int>* numbers : {&body_at_, &slot_of_, &sizes_, &analysed_sizes_, &root_,
                                 &island_of_, &local_, &weights_, &local_slot_}) {
    numbers->reserve(bodies);
  }
  for (Sequence<int>* numbers :
       {&bodies_, &contact_at_, &by_pair_, &pair_start_, &pair_at_, &sorted_, &placed_starts_,
        &constraint_starts_, &placed_constraints_}) {
    numbers->reserve(contacts + bodies + 1);
  }
  islands_.reserve(bodies);
  edges_.reserve(contacts);
  pairs_.reserve(contacts);
  analysed_pairs_.reserve(contacts);
  neighbours_.reserve(neighbours);
  starts_.reserve(2 * bodies + 1);
  buckets_.reserve(2 * bodies + 2);
}

template <typename Key>
void ContactGraph::sort_items(Sequence<int>& items, Index key_count, const Key& key) {
  buckets_.assign(key_count + 1, 0);
  for (const int item : items) ++buckets_[key(item) + 1];
  for (Index k = 0; k < key_count; ++k) buckets_[k + 1] += buckets_[k];
  sorted_.resize(items.size());
  for (const int item : items) sorted_[buckets_[key(item)]++] = item;
  std::swap(items, sorted_);
}

/// The bodies that a contact or a constraint's part joins.
template <RealScalar Scalar>
ContactGraph::Pair ContactGraph::bodies_of(const ContactProblem<Scalar>& problem,
                                           int item) noexcept {
  const auto sorted = [](const auto& list, Index i) -> Pair {
    const int first = int(list.side_body(i, 0));
    if (list.side_count(i) == 1) return {first, -1};
    const int second = int(list.side_body(i, 1));
    return {(std::min)(first, second), (std::max)(first, second)};
  };
  if (item < problem.contact_count()) return sorted(problem, item);
  const ConstraintList<Scalar>& constraints = problem.constraints();
  return sorted(constraints, constraints.part_constraint(item - problem.contact_count()));
}

/// Contacts and constraints' parts by their pair of bodies, and the pairs that occur.
template <RealScalar Scalar>
void ContactGraph::gather_pairs(const ContactProblem<Scalar>& problem) {
  const Index count = problem.contact_count() + problem.constraints().part_count();
  sizes_.resize(problem.body_count());
  for (Index b = 0; b < problem.body_count(); ++b) sizes_[b] = int(problem.body(b).size);
  const auto pair_of = [&](int item) { return bodies_of(problem, item); };
  by_pair_.resize(count);
  for (int i = 0; i < int(count); ++i) by_pair_[i] = i;
  sort_items(by_pair_, sizes_.size() + 1, [&](int i) { return pair_of(i).high + 1; });
  sort_items(by_pair_, sizes_.size(), [&](int i) { return pair_of(i).low; });
  pairs_.clear();
  pair_start_.clear();
  constraint_starts_.clear();
  for (int k = 0; k < int(count); ++k) {
    const Pair pair = pair_of(by_pair_[k]);
    if (pairs_.empty() || !(pairs_.back() == pair)) {
      pairs_.push_back(pair);
      pair_start_.push_back(k);
      constraint_starts_.push_back(k);
    }
    if (by_pair_[k] < problem.contact_count()) constraint_starts_.back() = k + 1;
  }
  pair_start_.push_back(int(count));
}

inline int ContactGraph::find_root(int body) noexcept {
  while (root_[body] != body) body = root_[body] = root_[root_[body]];
  return body;
}

/// Islands in the order of their lowest body, bodies_ by island, their place inside it in local_.
inline void ContactGraph::find_islands() {
  const Index count = sizes_.size();
  root_.resize(count);
  for (int b = 0; b < int(count); ++b) root_[b] = b;
  slot_of_.assign(count, -1);
  for (const Pair& pair : pairs_) {
    slot_of_[pair.low] = 0;  // has contacts; the slot itself comes later
    if (pair.high < 0) continue;
    slot_of_[pair.high] = 0;
    const int a = find_root(pair.low), b = find_root(pair.high);
    root_[(std::max)(a, b)] = (std::min)(a, b);
  }
  islands_.clear();
  bodies_.clear();
  island_of_.assign(count, -1);
  for (int b = 0; b < int(count); ++b) {
    if (slot_of_[b] < 0) continue;
    const int root = find_root(b);  // the lowest body of its island
    if (root == b) {
      island_of_[b] = int(islands_.size());
      islands_.push_back({});
    }
    island_of_[b] = island_of_[root];
    bodies_.push_back(b);
  }
  sort_items(bodies_, islands_.size(), [&](int b) { return island_of_[b]; });
  local_.resize(count);
  for (int k = 0, place = 0; k < int(bodies_.size()); ++k) {
    if (k > 0 && island_of_[bodies_[k]] != island_of_[bodies_[k - 1]]) place = 0;
    local_[bodies_[k]] = place++;
  }
}

/// Neighbour lists by places inside the island; those of island i start with its own numbering.
inline void ContactGraph::write_neighbours() {
  const Index count = bodies_.size();
  starts_.assign(count + islands_.size() + 1, 0);
  weights_.resize(count);
  Sequence<int>& place = local_slot_;  // in starts_, of every body
  place.resize(sizes_.size());
  for (int k = 0; k < int(count); ++k) {
    place[bodies_[k]] = k + island_of_[bodies_[k]];
    weights_[k] = sizes_[bodies_[k]];
  }
  Index total = 0;
  for (const Pair& pair : pairs_) {
    if (pair.high < 0) continue;
    ++starts_[place[pair.low] + 1];
    ++starts_[place[pair.high] + 1];
    total += 2;
  }
  neighbours_.resize(total);
  for (Index i = 0; i < starts_.size() - 1; ++i) starts_[i + 1] += starts_[i];
  Sequence<int>& next = buckets_;
  next.resize(starts_.size());
  std::copy(starts_.begin(), starts_.end(), next.begin());
  for (const Pair& pair : pairs_) {
    if (pair.high < 0) continue;
    neighbours_[next[place[pair.low]]++] = local_[pair.high];
    neighbours_[next[place[pair.high]]++] = local_[pair.low];
  }
}

/// Orders each island's bodies, or gives up where the factor would be too large.
inline void ContactGraph::eliminate(double work_limit) {
  forest_.clear();
  Sequence<int>& contacts = buckets_;  // per island
  contacts.assign(islands_.size(), 0);
  for (Index p = 0; p < pairs_.size(); ++p) {
    contacts[island_of_[pairs_[p].low]] += pair_start_[p + 1] - pair_start_[p];
  }
  Index first = 0;
  body_at_.resize(bodies_.size());
  local_slot_.resize(bodies_.size());
  for (Index i = 0; i < islands_.size(); ++i) {
    Index end = first;
    while (end < bodies_.size() && island_of_[bodies_[end]] == i) ++end;
    int* const starts = starts_.data() + first + i;
    const int offset = starts[0];
    for (Index k = 0; k <= end - first; ++k) starts[k] -= offset;
    const WeightedGraph graph{end - first, starts, neighbours_.data() + offset,
                              weights_.data() + first};
    ContactIsland& island = islands_[i];
    island.direct = order_.compute(graph, work_limit * contacts[i]);
    island.range = island.direct ? forest_.append(graph, order_, local_slot_.data())
                                 : forest_.append_breadth_first(graph, local_slot_.data());
    for (Index k = first; k < end; ++k) {
      const int slot = local_slot_[k - first];
      slot_of_[bodies_[k]] = slot;
      body_at_[slot] = bodies_[k];
    }
    first = end;
  }
}

/// Pairs as edges between slots, in their order.
inline void ContactGraph::order_edges() {
  const auto low = [&](int p) {
    const Pair pair = pairs_[p];
    return pair.high < 0 ? slot_of_[pair.low] : (std::min)(slot_of_[pair.low], slot_of_[pair.high]);
  };
  const auto high = [&](int p) {
    const Pair pair = pairs_[p];
    return pair.high < 0 ? -1 : (std::max)(slot_of_[pair.low], slot_of_[pair.high]);
  };
  pair_at_.resize(pairs_.size());
  for (int p = 0; p < int(pairs_.size()); ++p) pair_at_[p] = p;
  sort_items(pair_at_, slot_count() + 1, [&](int p) { return high(p) + 1; });
  sort_items(pair_at_, slot_count(), low);
  edges_.clear();
  for (const int p : pair_at_) edges_.push_back({low(p), high(p), 0, 0, 0});
  Index edge = 0;
  for (ContactIsland& island : islands_) {
    island.first_edge = int(edge);
    while (edge < edges_.size() && edges_[edge].low_slot < island.range.slot_end) ++edge;
    island.edge_end = int(edge);
  }
}

inline void ContactGraph::place_contacts() {
  contact_at_.clear();
  contact_at_.reserve(by_pair_.size());
  for (Index e = 0; e < edges_.size(); ++e) {
    const int pair = pair_at_[e];
    edges_[e].first_contact = int(contact_at_.size());
    for (int k = pair_start_[pair]; k < pair_start_[pair + 1]; ++k) {
      contact_at_.push_back(by_pair_[k]);
    }
    edges_[e].contact_end = int(contact_at_.size());
    edges_[e].constraint_begin =
        edges_[e].first_contact + constraint_starts_[pair] - pair_start_[pair];
  }
  for (ContactIsland& island : islands_) {
    island.first_contact = edges_[island.first_edge].first_contact;
    island.contact_end = edges_[island.edge_end - 1].contact_end;
  }
}

/// Contacts of the same pair by their numbers: those that compare equal are interchangeable.
template <RealScalar Scalar>
void ContactGraph::order_equal_pairs(const ContactProblem<Scalar>& problem) {
  const auto precedes = [&](int a, int b) { return detail::contact_precedes(problem, a, b); };
  const Index contacts = problem.contact_count();
  const auto part_precedes = [&](int a, int b) {
    const ConstraintList<Scalar>& list = problem.constraints();
    const Index first = list.part_constraint(a - contacts),
                second = list.part_constraint(b - contacts);
    if (first == second) return a < b;
    const int order = list.compare(first, second);
    return order != 0 ? order < 0 : first < second;
  };
  for (const ContactEdge& edge : edges_) {
    int* const begin = contact_at_.begin();
    if (edge.constraint_begin - edge.first_contact > 1) {
      std::sort(begin + edge.first_contact, begin + edge.constraint_begin, precedes);
    }
    if (edge.contact_end - edge.constraint_begin > 1) {
      std::sort(begin + edge.constraint_begin, begin + edge.contact_end, part_precedes);
    }
  }
}

template <RealScalar Scalar>
void ContactGraph::analyse(const ContactProblem<Scalar>& problem, double work_limit) {
  reserve(problem.body_count(), problem.contact_count() + problem.constraints().part_count(),
          problem.velocity_count());
  gather_pairs(problem);
  const bool known =
      pairs_ == analysed_pairs_ && sizes_ == analysed_sizes_ && work_limit == analysed_limit_;
  if (!known) {
    find_islands();
    write_neighbours();
    eliminate(work_limit);
    order_edges();
    analysed_pairs_ = pairs_;
    analysed_sizes_ = sizes_;
    analysed_limit_ = work_limit;
    ++analysis_count_;
  }
  if (!known || !(pair_start_ == placed_starts_) || !(constraint_starts_ == placed_constraints_)) {
    placed_starts_ = pair_start_;
    placed_constraints_ = constraint_starts_;
    ++layout_count_;
  }
  place_contacts();
  order_equal_pairs(problem);
}

}  // namespace carom::inline CAROM_ABI
