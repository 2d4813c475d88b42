// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/body_islands.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Compares two numbers: −1 if a < b, 1 if b < a, otherwise 0.
template <typename T>
[[nodiscard]] int order_of(const T& a, const T& b) noexcept {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Compares the laws of two friction contacts by their numbers.
template <RealScalar Scalar>
[[nodiscard]] int compare_laws(const WeightedContact<Scalar>& a,
                               const WeightedContact<Scalar>& b) noexcept {
  const auto numbers = [](const WeightedContact<Scalar>& law) {
    return std::array<Scalar, 6>{law.bias_velocity.z(),      law.regularization.normal,
                                 law.regularization.tangent, law.bias_velocity.x(),
                                 law.bias_velocity.y(),      law.friction};
  };
  const auto first = numbers(a), second = numbers(b);
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (const int order = order_of(first[k], second[k]); order != 0) return order;
  }
  return 0;
}

template <RealScalar Scalar>
[[nodiscard]] int compare_laws(const WeightedBlock<Scalar>& a,
                               const WeightedBlock<Scalar>& b) noexcept {
  if (const int order = order_of(a.set.rows, b.set.rows); order != 0) return order;
  if (const int order = order_of(a.set.shape, b.set.shape); order != 0) return order;
  for (int i = 0; i < 3; ++i) {
    if (const int order = order_of(a.set.friction(i), b.set.friction(i)); order != 0) return order;
  }
  using Rows = RowNumbers<Scalar>;
  for (const auto& [x, y] : {std::pair<const Rows&, const Rows&>(a.set.lower, b.set.lower),
                             {a.set.upper, b.set.upper},
                             {a.set.shift, b.set.shift},
                             {a.regularization, b.regularization},
                             {a.bias_velocity, b.bias_velocity}}) {
    for (int i = 0; i < a.set.rows; ++i) {
      if (const int order = order_of(x(i), y(i)); order != 0) return order;
    }
  }
  return 0;
}

/// Compares the Jacobians of two blocks between the same bodies. If the laws of the blocks are
/// equal too, the blocks are interchangeable.
template <typename View>
[[nodiscard]] int compare_jacobians(const View& a, const View& b) noexcept {
  const auto low_side = [](const View& block) {
    return block.side_count() == 2 && block.side(1).body < block.side(0).body ? 1 : 0;
  };
  for (int s = 0; s < a.side_count(); ++s) {
    const auto &first = a.side(s ^ low_side(a)), &second = b.side(s ^ low_side(b));
    for (Index k = 0; k < first.range.size * a.rows(); ++k) {
      if (!(first.jacobian[k] == second.jacobian[k])) {
        return order_of(first.jacobian[k], second.jacobian[k]);
      }
    }
  }
  return 0;
}

/// Whether a friction contact comes before another one between the same bodies, according to their
/// numbers.
template <RealScalar Scalar>
[[nodiscard]] bool friction_contact_precedes(const ContactProblem<Scalar>& problem, Index a,
                                             Index b) noexcept {
  const int order = compare_laws(problem.friction_contact_law(a), problem.friction_contact_law(b));
  if (order != 0) return order < 0;
  return compare_jacobians(problem.friction_contact(a), problem.friction_contact(b)) < 0;
}

}  // namespace detail

/// The blocks between the same two bodies, or between one body and the world, in parts of up to
/// three rows. Friction contacts come first, then the parts of all others. The parts of one block
/// are consecutive.
struct ContactEdge {
  int low_slot;              ///< the body that is eliminated first, or the only body
  int high_slot;             ///< the other; −1 for the world
  int first_part, part_end;  ///< in ContactGraph::part_at()
  int other_begin;           ///< end of the friction contacts and start of the other parts
};

/// A part of a block: up to three of its rows.
struct BlockPart {
  int block;   ///< the problem's number of the block
  int number;  ///< index of the part in the block: 0 or 1

  friend bool operator==(const BlockPart&, const BlockPart&) = default;
};

/// Bodies that influence each other through blocks, and the parts of these blocks.
struct ContactIsland {
  FrontRange range;  ///< slots of its bodies, and its fronts; no fronts unless direct
  int first_edge, edge_end;
  int first_part, part_end;
  bool direct;  ///< whether its Hessian is factored, because its factor is small enough
};

/// The graph of contacts between bodies: islands, an elimination order of the bodies, and an order
/// of the blocks. The order of the blocks depends on their data, not on the order in which they
/// were added.
///
/// Bodies with blocks get slots, island by island; bodies without blocks get none. The steps of an
/// update: (1) collect the pairs of bodies with blocks; (2) if the pattern differs from the last
/// one, find the islands, order the bodies of each island by minimum degree, and mark an island as
/// direct if its factorisation needs at most the work limit; (3) write the pairs as edges between
/// slots; (4) sort the blocks of each pair by their data. As long as the pattern is unchanged, the
/// results of step 2 are reused.
/// @note  Allocates only for a problem larger than every problem before.
class ContactGraph {
 public:
  /// @param work_limit  multiply-adds of the factorisation per part of an island; an island that
  ///                    needs more is not direct.
  template <RealScalar Scalar>
  void analyse(const ContactProblem<Scalar>& problem, double work_limit);

  [[nodiscard]] const FrontForest& forest() const noexcept { return forest_; }
  [[nodiscard]] const Sequence<ContactIsland>& islands() const noexcept { return islands_; }
  /// Sorted by low slot, then by high slot. Edges with the world come first.
  [[nodiscard]] const Sequence<ContactEdge>& edges() const noexcept { return edges_; }
  [[nodiscard]] Index body_count() const noexcept { return slot_of_.size(); }
  [[nodiscard]] Index slot_count() const noexcept { return body_at_.size(); }
  [[nodiscard]] int body_at(Index slot) const noexcept { return body_at_[slot]; }
  /// Slot of a body; −1 if it has no blocks.
  [[nodiscard]] int slot_of(Index body) const noexcept { return slot_of_[body]; }
  [[nodiscard]] Index part_count() const noexcept { return part_at_.size(); }
  [[nodiscard]] const BlockPart& part_at(Index k) const noexcept { return part_at_[k]; }
  /// How many times the pattern was analysed.
  [[nodiscard]] int analysis_count() const noexcept { return analysis_count_; }
  /// How many times the pattern, or the count of parts of an edge, changed.
  [[nodiscard]] int layout_count() const noexcept { return layout_count_; }

 private:
  using Pair = detail::BodyPair;

  void reserve(Index bodies, Index parts, Index unknowns);
  template <RealScalar Scalar>
  void gather_pairs(const ContactProblem<Scalar>& problem);
  void eliminate(double work_limit);
  void order_edges();
  void collect_parts();
  template <RealScalar Scalar>
  void order_blocks_of_pairs(const ContactProblem<Scalar>& problem);
  template <RealScalar Scalar>
  [[nodiscard]] static Pair bodies_of(const ContactProblem<Scalar>& problem,
                                      const BlockPart& part) noexcept;

  FrontForest forest_;
  MinimumDegree order_;
  detail::BodyIslands bodies_;
  Sequence<ContactIsland> islands_;
  Sequence<ContactEdge> edges_;
  Sequence<int> body_at_, slot_of_;
  Sequence<BlockPart> part_at_;
  // The pattern is analysed again only if it differs from the last one.
  Sequence<Pair> pairs_, analysed_pairs_;
  Sequence<int> sizes_, analysed_sizes_;
  Sequence<int> collected_starts_, other_starts_, collected_others_;
  double analysed_limit_ = -1;
  int analysis_count_ = 0, layout_count_ = 0;
  Index reserved_bodies_ = -1, reserved_parts_ = -1, reserved_unknowns_ = -1;
  Sequence<BlockPart> by_pair_, sorted_parts_;  ///< all parts, sorted by pair
  Sequence<int> pair_start_;                    ///< per pair: start of its parts
  Sequence<int> pair_at_;                       ///< per edge: its pair
  Sequence<int> sorted_, scratch_, island_slots_;
};

// --- implementation ---

/// Reserves memory for any pattern with this count of bodies, parts and unknowns, and a factor of
/// usual size.
inline void ContactGraph::reserve(Index bodies, Index parts, Index unknowns) {
  if (bodies <= reserved_bodies_ && parts <= reserved_parts_ && unknowns <= reserved_unknowns_) {
    return;
  }
  reserved_bodies_ = bodies = (std::max)(bodies, reserved_bodies_);
  reserved_unknowns_ = unknowns = (std::max)(unknowns, reserved_unknowns_);
  reserved_parts_ = parts = (std::max)(parts, reserved_parts_);
  const Index neighbours = (std::min)(2 * parts, bodies * (bodies - 1));
  order_.reserve(bodies, neighbours, unknowns);
  forest_.reserve(bodies, neighbours);
  bodies_.reserve(bodies, neighbours);
  for (Sequence<int>* numbers : {&body_at_, &slot_of_, &sizes_, &analysed_sizes_, &island_slots_}) {
    numbers->reserve(bodies);
  }
  for (Sequence<BlockPart>* given : {&part_at_, &by_pair_, &sorted_parts_}) given->reserve(parts);
  for (Sequence<int>* numbers : {&pair_start_, &pair_at_, &sorted_, &collected_starts_,
                                 &other_starts_, &collected_others_}) {
    numbers->reserve(parts + bodies + 1);
  }
  islands_.reserve(bodies);
  edges_.reserve(parts);
  pairs_.reserve(parts);
  analysed_pairs_.reserve(parts);
  scratch_.reserve(2 * bodies + 2);
}

template <RealScalar Scalar>
ContactGraph::Pair ContactGraph::bodies_of(const ContactProblem<Scalar>& problem,
                                           const BlockPart& part) noexcept {
  const int first = int(problem.side_body(part.block, 0));
  if (problem.side_count(part.block) == 1) return {first, -1};
  const int second = int(problem.side_body(part.block, 1));
  return {(std::min)(first, second), (std::max)(first, second)};
}

/// Collects the parts by pair, friction contacts first, and the list of pairs.
template <RealScalar Scalar>
void ContactGraph::gather_pairs(const ContactProblem<Scalar>& problem) {
  sizes_.resize(problem.body_count());
  for (Index b = 0; b < problem.body_count(); ++b) sizes_[b] = int(problem.body(b).size);
  by_pair_.clear();
  const int blocks = int(problem.block_count());
  for (int i = 0; i < blocks; ++i) {
    if (problem.is_friction_contact(i)) by_pair_.push_back({i, 0});
  }
  for (int i = 0; i < blocks && by_pair_.size() < problem.part_count(); ++i) {
    if (problem.is_friction_contact(i)) continue;
    by_pair_.push_back({i, 0});
    if (problem.rows(i) > 3) by_pair_.push_back({i, 1});
  }
  const auto pair_of = [&](const BlockPart& part) { return bodies_of(problem, part); };
  const auto high = [&](const BlockPart& part) { return pair_of(part).high + 1; };
  const auto low = [&](const BlockPart& part) { return pair_of(part).low; };
  detail::sort_by_key(by_pair_, sizes_.size() + 1, high, sorted_parts_, scratch_);
  detail::sort_by_key(by_pair_, sizes_.size(), low, sorted_parts_, scratch_);
  pairs_.clear();
  pair_start_.clear();
  other_starts_.clear();
  const int count = int(by_pair_.size());
  for (int k = 0; k < count; ++k) {
    const Pair pair = pair_of(by_pair_[k]);
    if (pairs_.empty() || !(pairs_.back() == pair)) {
      pairs_.push_back(pair);
      pair_start_.push_back(k);
      other_starts_.push_back(k);
    }
    if (problem.is_friction_contact(by_pair_[k].block)) other_starts_.back() = k + 1;
  }
  pair_start_.push_back(count);
}

/// Orders the bodies of each island for elimination. If the factor of an island would be too large,
/// the island is not direct, and its bodies are in breadth-first order.
inline void ContactGraph::eliminate(double work_limit) {
  const Index count = bodies_.count();
  forest_.clear();
  Sequence<int>& parts = scratch_;  // per island
  parts.assign(count, 0);
  for (Index p = 0; p < pairs_.size(); ++p) {
    parts[bodies_.island_of(pairs_[p].low)] += pair_start_[p + 1] - pair_start_[p];
  }
  islands_.clear();
  slot_of_.assign(sizes_.size(), -1);
  body_at_.resize(bodies_.member_count());
  island_slots_.resize(bodies_.member_count());
  for (Index i = 0; i < count; ++i) {
    const WeightedGraph graph = bodies_.graph(i);
    ContactIsland island{};
    island.direct = order_.compute(graph, work_limit * parts[i]);
    island.range = island.direct ? forest_.append(graph, order_, island_slots_.data())
                                 : forest_.append_breadth_first(graph, island_slots_.data());
    for (Index k = 0; k < graph.node_count; ++k) {
      const int body = bodies_.member(i, k), slot = island_slots_[k];
      slot_of_[body] = slot;
      body_at_[slot] = body;
    }
    islands_.push_back(island);
  }
}

/// Writes the pairs as edges between slots, in the order of edges().
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
  detail::sort_by_key(
      pair_at_, slot_count() + 1, [&](int p) { return high(p) + 1; }, sorted_, scratch_);
  detail::sort_by_key(pair_at_, slot_count(), low, sorted_, scratch_);
  edges_.clear();
  for (const int p : pair_at_) edges_.push_back({low(p), high(p), 0, 0, 0});
  Index edge = 0;
  for (ContactIsland& island : islands_) {
    island.first_edge = int(edge);
    while (edge < edges_.size() && edges_[edge].low_slot < island.range.slot_end) ++edge;
    island.edge_end = int(edge);
  }
}

inline void ContactGraph::collect_parts() {
  part_at_.clear();
  part_at_.reserve(by_pair_.size());
  for (Index e = 0; e < edges_.size(); ++e) {
    const int pair = pair_at_[e];
    ContactEdge& edge = edges_[e];
    edge.first_part = int(part_at_.size());
    for (int k = pair_start_[pair]; k < pair_start_[pair + 1]; ++k) {
      part_at_.push_back(by_pair_[k]);
    }
    edge.part_end = int(part_at_.size());
    edge.other_begin = edge.first_part + other_starts_[pair] - pair_start_[pair];
  }
  for (ContactIsland& island : islands_) {
    island.first_part = edges_[island.first_edge].first_part;
    island.part_end = edges_[island.edge_end - 1].part_end;
  }
}

/// Sorts the blocks of each pair by their data. Blocks that compare equal are interchangeable.
template <RealScalar Scalar>
void ContactGraph::order_blocks_of_pairs(const ContactProblem<Scalar>& problem) {
  const auto precedes = [&](const BlockPart& a, const BlockPart& b) {
    if (a.block == b.block) return a.number < b.number;
    if (problem.is_friction_contact(a.block)) {
      return detail::friction_contact_precedes(problem, a.block, b.block);
    }
    const auto first = problem.other_block(a.block), second = problem.other_block(b.block);
    int order = detail::compare_laws(first.law(), second.law());
    if (order == 0) order = detail::compare_jacobians(first, second);
    return order != 0 ? order < 0 : a.block < b.block;
  };
  for (const ContactEdge& edge : edges_) {
    BlockPart* const begin = part_at_.begin();
    if (edge.other_begin - edge.first_part > 1) {
      std::sort(begin + edge.first_part, begin + edge.other_begin, precedes);
    }
    if (edge.part_end - edge.other_begin > 1) {
      std::sort(begin + edge.other_begin, begin + edge.part_end, precedes);
    }
  }
}

template <RealScalar Scalar>
void ContactGraph::analyse(const ContactProblem<Scalar>& problem, double work_limit) {
  reserve(problem.body_count(), problem.part_count(), problem.velocity_count());
  gather_pairs(problem);
  const bool known =
      pairs_ == analysed_pairs_ && sizes_ == analysed_sizes_ && work_limit == analysed_limit_;
  if (!known) {
    bodies_.find(pairs_, sizes_);
    eliminate(work_limit);
    order_edges();
    analysed_pairs_ = pairs_;
    analysed_sizes_ = sizes_;
    analysed_limit_ = work_limit;
    ++analysis_count_;
  }
  if (!known || !(pair_start_ == collected_starts_) || !(other_starts_ == collected_others_)) {
    collected_starts_ = pair_start_;
    collected_others_ = other_starts_;
    ++layout_count_;
  }
  collect_parts();
  order_blocks_of_pairs(problem);
}

}  // namespace CAROM_ABI
}  // namespace carom
