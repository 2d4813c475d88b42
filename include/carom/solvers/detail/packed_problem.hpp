// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_graph.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"
#include "carom/solvers/detail/packed_constraint.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// An edge of the contact graph with all that a pass over its contacts reads.
struct PackedEdge {
  int low_slot, high_slot;      ///< high −1 for the world
  int low_size, high_size;      ///< unknowns; high 0 for the world
  Index low_start, high_start;  ///< of the bodies in a vector
  Index first_contact, contact_end;
  Index jacobians;         ///< of the first contact; the others follow
  Index constraint_begin;  ///< the first place that is not a contact's but a constraint's part
  Index first_constraint = 0, constraint_end = 0;
};

/// An island in the packed arrays.
struct PackedIsland {
  Index first_edge, edge_end;
  Index first_contact, contact_count;  ///< the padding counts
  Index projected_count;               ///< contacts to project: with the padding unless few
  Index true_count;                    ///< without the padding
  Index vector_start, vector_size;     ///< the padding counts
  FrontRange range;
  bool direct;
  Index first_constraint = 0, constraint_end = 0;
};

/// A contact problem laid out for passes over it: bodies in the order of elimination, contacts by
/// edge, every body's unknowns and every island's contacts padded with ones that do nothing to
/// whole registers. An island's arrays are contiguous and start at a multiple of a register.
template <RealScalar Scalar>
class PackedProblem {
 public:
  /// Contacts of an island are padded to a multiple of this: the widest register of floats.
  static constexpr Index contact_lanes = 16;
  /// Islands of fewer contacts than this are padded to it alone.
  static constexpr Index few_contacts = 8;

  void lay_out(const ContactGraph& graph);
  /// Copies the numbers; the layout must fit.
  void pack(const ContactProblem<Scalar>& problem, const ContactGraph& graph) noexcept;

  [[nodiscard]] Index slot_count() const noexcept { return starts_.size(); }
  [[nodiscard]] Index vector_size() const noexcept { return vector_size_; }
  [[nodiscard]] Index contact_size() const noexcept { return contact_size_; }
  [[nodiscard]] const Sequence<PackedIsland>& islands() const noexcept { return islands_; }
  [[nodiscard]] Index edge_count() const noexcept { return edges_.size(); }
  [[nodiscard]] const PackedEdge& edge(Index e) const noexcept { return edges_[e]; }
  /// Per slot, where its unknowns start in a vector.
  [[nodiscard]] const Index* starts() const noexcept { return starts_.data(); }
  /// Unknowns of the body in a slot.
  [[nodiscard]] int size(Index slot) const noexcept { return sizes_[slot]; }
  /// Ĵᵀ of the sides of a contact: three columns for the low body, then three for the high one.
  [[nodiscard]] const Scalar* jacobians(Index first) const noexcept {
    return jacobians_.data() + first;
  }
  /// Parameters over the contacts: μ, Rₜ, Rₙ, v̂, and the squared norms of the rows of Ĵ.
  enum Parameter {
    friction,
    tangent,
    normal,
    bias1,
    bias2,
    bias3,
    row1,
    row2,
    row3,
    parameter_count
  };
  [[nodiscard]] const Scalar* parameter(Parameter which) const noexcept {
    return parameters_.data() + which * contact_size_;
  }
  /// v̂ₙ over the contacts, to be changed for a while.
  [[nodiscard]] Scalar* normal_bias() noexcept {
    return parameters_.data() + bias3 * contact_size_;
  }
  /// The constraints that are not contacts, those of an edge and of an island together.
  [[nodiscard]] const PackedConstraint<Scalar>& constraint(Index c) const noexcept {
    return constraints_[c];
  }
  [[nodiscard]] Index constraint_count() const noexcept { return constraints_.size(); }
  /// Calls visit(contact of the problem, place in the packed arrays).
  template <typename Visit>
  void for_each_contact(const ContactGraph& graph, Visit&& visit) const noexcept {
    for (Index e = 0; e < edges_.size(); ++e) {
      const Index skip = edges_[e].first_contact - graph.edges()[e].first_contact;
      for (Index k = edges_[e].first_contact; k < edges_[e].constraint_begin; ++k) {
        visit(Index(graph.contact_at(k - skip)), k);
      }
    }
  }

 private:
  void pack_constraints(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
                        Index edge, Scalar* block) noexcept;
  /// The numbers of one place, and the norms of its rows.
  /// @param block  Ĵᵀ of the place.
  void write(Index place, const PackedEdge& edge, const Scalar* block, const Scalar& mu,
             const ContactWeights<Scalar>& weights, const Vector3<Scalar>& bias) noexcept {
    const Index low = lanes_above(edge.low_size), high = lanes_above(edge.high_size);
    const auto squared = [](const Scalar* first, Index size) {
      Scalar sum = 0;
      for (Index k = 0; k < size; k += row_lanes) sum += lanes_at(first + k).square().sum();
      return sum;
    };
    Scalar rows[3];
    for (int c = 0; c < 3; ++c) {
      rows[c] = squared(block + c * low, low) + squared(block + 3 * low + c * high, high);
    }
    write(place, {mu, weights.tangent, weights.normal, bias.x(), bias.y(), bias.z(), rows[0],
                  rows[1], rows[2]});
  }
  void write(Index place, const Scalar (&numbers)[parameter_count]) noexcept {
    for (int p = 0; p < parameter_count; ++p) {
      parameters_[p * contact_size_ + place] = numbers[p];
    }
  }

  Sequence<PackedIsland> islands_;
  Sequence<PackedEdge> edges_;
  Sequence<Index> starts_;
  Sequence<int> sizes_;
  Sequence<Scalar> jacobians_, parameters_;
  Sequence<PackedConstraint<Scalar>> constraints_;
  Index vector_size_ = 0, contact_size_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void PackedProblem<Scalar>::lay_out(const ContactGraph& graph) {
  const FrontForest& forest = graph.forest();
  starts_.resize(graph.slot_count());
  sizes_.resize(graph.slot_count());
  vector_size_ = 0;
  for (Index slot = 0; slot < graph.slot_count(); ++slot) {
    starts_[slot] = vector_size_;
    sizes_[slot] = forest.size(slot);
    vector_size_ += lanes_above(forest.size(slot));
  }
  islands_.clear();
  islands_.reserve(graph.slot_count());
  edges_.reserve(graph.contact_count());
  edges_.clear();
  contact_size_ = 0;
  Index jacobian_size = 0, parts = 0;
  for (const ContactIsland& island : graph.islands()) {
    const Index contacts = island.contact_end - island.first_contact;
    const bool few = contacts < few_contacts;
    const Index lanes = few ? few_contacts : contact_lanes;
    contact_size_ = (contact_size_ + lanes - 1) / lanes * lanes;
    const Index padded = (contacts + lanes - 1) / lanes * lanes;
    const Index start = starts_[island.range.first_slot];
    const Index end =
        island.range.slot_end == graph.slot_count() ? vector_size_ : starts_[island.range.slot_end];
    islands_.push_back({island.first_edge, island.edge_end, contact_size_, padded,
                        contacts < 4 ? contacts : padded, contacts, start, end - start,
                        island.range, island.direct});
    const Index skip = contact_size_ - island.first_contact;
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const ContactEdge& edge = graph.edges()[e];
      const int low_size = forest.size(edge.low_slot);
      const int high_size = edge.high_slot < 0 ? 0 : forest.size(edge.high_slot);
      edges_.push_back({edge.low_slot, edge.high_slot, low_size, high_size, starts_[edge.low_slot],
                        edge.high_slot < 0 ? 0 : starts_[edge.high_slot], edge.first_contact + skip,
                        edge.contact_end + skip, jacobian_size, edge.constraint_begin + skip});
      parts += edge.contact_end - edge.constraint_begin;
      jacobian_size += 3 * (lanes_above(low_size) + lanes_above(high_size)) *
                       (edge.contact_end - edge.first_contact);
    }
    contact_size_ += padded;
  }
  // Few contacts: room for two sides of the largest size, as another pattern may have them.
  int largest = 1;
  for (const int size : sizes_) largest = (std::max)(largest, size);
  if (contact_size_ <= 128) jacobians_.reserve(contact_size_ * 6 * lanes_above(largest));
  jacobians_.assign(jacobian_size, Scalar(0));
  constraints_.reserve(parts);
  // A similar problem may fall into more islands, each with its padding.
  const Index split = (std::min)({graph.slot_count(), contact_size_ / 4, Index(64)});
  parameters_.reserve(parameter_count * (contact_size_ + contact_lanes * split));
  parameters_.resize(parameter_count * contact_size_);
}

template <RealScalar Scalar>
void PackedProblem<Scalar>::pack(const ContactProblem<Scalar>& problem,
                                 const ContactGraph& graph) noexcept {
  constraints_.clear();
  for (const PackedIsland& island : islands_) {  // the padding: contacts far from touching
    const Index end = island.first_contact + island.contact_count;
    for (Index k = edges_[island.edge_end - 1].contact_end; k < end; ++k) {
      write(k, {Scalar(1), Scalar(1), Scalar(1), Scalar(1), Scalar(0), Scalar(-10), Scalar(0),
                Scalar(0), Scalar(0)});
    }
  }
  for (Index e = 0; e < edges_.size(); ++e) {
    const PackedEdge& edge = edges_[e];
    const Index low_lanes = lanes_above(edge.low_size), high_lanes = lanes_above(edge.high_size);
    Scalar* block = jacobians_.data() + edge.jacobians;
    const int low_body = graph.body_at(edge.low_slot);
    const Index skip = edge.first_contact - graph.edges()[e].first_contact;
    for (Index k = edge.first_contact; k < edge.constraint_begin; ++k) {
      const Scalar* const rows = block;
      const Index contact = graph.contact_at(k - skip);
      const int low_side = problem.side_body(contact, 0) == low_body ? 0 : 1;
      const auto low = problem.whitened_jacobian(contact, low_side);
      for (int c = 0; c < 3; ++c) {
        std::copy_n(low.data() + c * low.rows(), low.rows(), block + c * low_lanes);
      }
      block += 3 * low_lanes;
      if (edge.high_slot >= 0) {
        const auto high = problem.whitened_jacobian(contact, 1 - low_side);
        for (int c = 0; c < 3; ++c) {
          std::copy_n(high.data() + c * high.rows(), high.rows(), block + c * high_lanes);
        }
        block += 3 * high_lanes;
      }
      write(k, edge, rows, problem.cone(contact).friction, problem.regularization(contact),
            problem.bias_velocity(contact));
    }
    pack_constraints(problem, graph, e, block);
  }
  for (PackedIsland& island : islands_) {
    island.first_constraint = edges_[island.first_edge].first_constraint;
    island.constraint_end = edges_[island.edge_end - 1].constraint_end;
  }
}

/// The constraints of an edge, rows scaled by √R⁻¹, which makes their regularization one.
template <RealScalar Scalar>
void PackedProblem<Scalar>::pack_constraints(const ContactProblem<Scalar>& problem,
                                             const ContactGraph& graph, Index e,
                                             Scalar* block) noexcept {
  PackedEdge& edge = edges_[e];
  const ConstraintList<Scalar>& list = problem.constraints();
  const Index lanes[2] = {lanes_above(edge.low_size), lanes_above(edge.high_size)};
  const Index skip = edge.first_contact - graph.edges()[e].first_contact;
  edge.first_constraint = constraints_.size();
  for (Index k = edge.constraint_begin; k < edge.contact_end; ++k) {
    const Index item = graph.contact_at(k - skip) - problem.contact_count();
    const Index number = list.part_constraint(item);
    const int part = list.part_number(item);
    const int low_side = list.side_body(number, 0) == graph.body_at(edge.low_slot) ? 0 : 1;
    if (part == 0) constraints_.push_back(PackedConstraint<Scalar>(list.law(number), number, k));
    const RowNumbers<Scalar> scale = constraints_.back().scale;
    const Scalar* const first = block;
    for (int side = 0; side < (edge.high_slot < 0 ? 1 : 2); ++side) {
      const auto rows = list.whitened_jacobian(number, low_side ^ side, part);
      for (int c = 0; c < 3; ++c) {
        for (Index i = 0; i < rows.rows(); ++i) block[i] = scale(3 * part + c) * rows(i, c);
        block += lanes[side];
      }
    }
    const Vector3<Scalar> bias = scale.template segment<3>(3 * part).cwiseProduct(
        list.law(number).bias_velocity.template segment<3>(3 * part));
    write(k, edge, first, Scalar(1), {Scalar(1), Scalar(1)}, bias);
  }
  edge.constraint_end = constraints_.size();
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
