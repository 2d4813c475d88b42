// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/detail/contact_graph.hpp"
#include "carom/contact/weighted_block.hpp"
#include "carom/linalg/detail/front_forest.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"
#include "carom/linalg/detail/range_loop.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An edge of the contact graph with all data for a loop over its parts.
struct PackedEdge {
  int low_slot, high_slot;      ///< high: −1 for the world
  int low_size, high_size;      ///< unknowns; high: 0 for the world
  Index low_start, high_start;  ///< of the bodies in a vector
  Index first_part, part_end;
  Index jacobians;    ///< of the first part, before those of the others
  Index other_begin;  ///< the first part that is not a friction contact
  Index first_other = 0, other_end = 0;
};

/// Computes the start of the unknowns of each slot in a vector, padded to whole registers.
/// @return  the size of a vector.
inline Index lay_out_vectors(const ContactGraph& graph, Sequence<Index>& starts) {
  starts.resize(graph.slot_count());
  Index size = 0;
  for (Index slot = 0; slot < graph.slot_count(); ++slot) {
    starts[slot] = size;
    size += lanes_above(graph.forest().size(slot));
  }
  return size;
}

/// An edge of a graph with its places in the packed arrays.
/// @param skip  from the graph's parts to those of the arrays.
/// @param jacobian_size  of the edges before; that of this edge is added to it.
[[nodiscard]] inline PackedEdge packed_edge(const ContactGraph& graph, const ContactEdge& edge,
                                            const Sequence<Index>& starts, Index skip,
                                            Index& jacobian_size) noexcept {
  const int low = graph.forest().size(edge.low_slot);
  const int high = edge.high_slot < 0 ? 0 : graph.forest().size(edge.high_slot);
  const Index jacobians = jacobian_size;
  jacobian_size += 3 * (lanes_above(low) + lanes_above(high)) * (edge.part_end - edge.first_part);
  return {edge.low_slot,
          edge.high_slot,
          low,
          high,
          starts[edge.low_slot],
          edge.high_slot < 0 ? 0 : starts[edge.high_slot],
          edge.first_part + skip,
          edge.part_end + skip,
          jacobians,
          edge.other_begin + skip};
}

/// The row of a block at a place of one of its parts; −1 for none.
template <typename Block>
[[nodiscard]] int row_of_part(const Block& block, int number, int place) noexcept {
  if constexpr (Block::capacity == 3) {
    return place;
  } else {
    return row_at_place(block.law().set.shape, block.rows(), 3 * number + place);
  }
}

/// Copies Ĵᵀ of one part of a block: three columns for the low body, then three for the high one.
/// The padding of the columns does not change.
/// @return  the place of the next part's Ĵᵀ.
template <typename Block, typename Scalar>
Scalar* pack_rows(const Block& block, int number, const PackedEdge& edge, Index low_body,
                  Scalar* to) noexcept {
  const Index lanes[2] = {lanes_above(edge.low_size), lanes_above(edge.high_size)};
  const int low = block.side(0).body == low_body ? 0 : 1;
  for (int s = 0; s < (edge.high_slot < 0 ? 1 : 2); ++s) {
    const Index size = block.side(low ^ s).range.size;
    for (int c = 0; c < 3; ++c, to += lanes[s]) {
      const int row = row_of_part(block, number, c);
      if (row < 0) {
        std::fill_n(to, size, Scalar(0));
      } else {
        std::copy_n(block.whitened_row(low ^ s, row), size, to);
      }
    }
  }
  return to;
}

/// An island in the packed arrays.
struct PackedIsland {
  Index first_edge, edge_end;
  Index first_part, part_count;  ///< including the padding
  Index projected_count;         ///< parts to project: including the padding unless there are few
  Index true_count;              ///< without the padding
  Index vector_start, vector_size;  ///< including the padding
  FrontRange range;
  bool direct;
  Index first_other = 0, other_end = 0;
};

/// Three numbers for each part, by component and part.
template <typename Number>
struct PartArray {
  Number* components[3];
  Index stride = 1;  ///< from one part to the next

  [[nodiscard]] Number& operator()(int component, Index part) const noexcept {
    return components[component][part * stride];
  }
};

/// A block that is not a friction contact in the packed arrays, where it has one part or two. Its
/// rows are scaled so that R = 1: J_s = D J, γ_s = D⁻¹ γ, y_s = D⁻¹ y with D = √R⁻¹.
template <RealScalar Scalar>
struct PackedBlock {
  using Rows = RowNumbers<Scalar>;

  ImpulseSet<Scalar> set;
  Rows regularization;  ///< R
  Rows scale;           ///< D; zero beyond the rows
  Index number;         ///< in the problem
  Index first_part;     ///< in the packed arrays
  int part_count;       ///< 1 or 2

  PackedBlock() noexcept = default;
  PackedBlock(const WeightedBlock<Scalar>& law, Index number_given, Index first_part_given) noexcept
      : set(law.set),
        regularization(law.regularization),
        scale(Rows::Zero()),
        number(number_given),
        first_part(first_part_given),
        part_count((law.set.rows + 2) / 3) {
    using std::sqrt;
    for (int i = 0; i < set.rows; ++i) scale(i) = Scalar(1) / sqrt(regularization(i));
  }

  /// The component of a row, three to a part.
  [[nodiscard]] int component_of(int row) const noexcept { return part_place(set.shape, row); }
  /// The numbers of the rows out of an array over all parts.
  template <typename Number>
  [[nodiscard]] Rows read(const PartArray<Number>& numbers) const noexcept {
    Rows rows = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) {
      const int at = component_of(i);
      rows(i) = numbers(at % 3, first_part + at / 3);
    }
    return rows;
  }
  void write(const Rows& rows, const PartArray<Scalar>& numbers) const noexcept {
    for (int i = 0; i < 3 * part_count; ++i) numbers(i % 3, first_part + i / 3) = Scalar(0);
    for (int i = 0; i < set.rows; ++i) {
      const int at = component_of(i);
      numbers(at % 3, first_part + at / 3) = rows(i);
    }
  }

  /// D y.
  [[nodiscard]] Rows unscaled(const Rows& y) const noexcept {
    Rows result;
    for (int i = 0; i < 6; ++i) result(i) = scale(i) * y(i);
    return result;
  }
  /// γ_s = D⁻¹ γ(D y_s) of a law.
  [[nodiscard]] Rows impulse_scaled(FrictionLaw law, const Rows& trial) const noexcept {
    const Rows y = unscaled(trial);
    const Rows gamma = law == FrictionLaw::coulomb ? coulomb_impulse(set, regularization, y)
                                                   : nearest_impulse(set, regularization, y);
    Rows impulse = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) impulse(i) = gamma(i) / scale(i);
    return impulse;
  }
  /// Count of its parts that begin with two rows of equal weight whose norm the cone bounds: each
  /// has a direction of friction.
  [[nodiscard]] int direction_count() const noexcept {
    switch (set.shape) {
      case ImpulseShape::friction:
      case ImpulseShape::torsional:
        return 1;
      case ImpulseShape::rolling:
      case ImpulseShape::spinless_rolling:
        return 2;
      default:
        return 0;
    }
  }
  /// D⁻¹ G D⁻¹ of the convex law, at most the identity, by components.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature(const Rows& trial) const noexcept {
    return scale_curvature(impulse_curvature(set, regularization, unscaled(trial)));
  }
  /// The same for Coulomb's law, which need not be symmetric.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature_of_coulomb(const Rows& trial) const noexcept {
    return scale_curvature(coulomb_curvature(set, regularization, unscaled(trial)));
  }
  /// The region of intervals where the trial impulse is, one bit per row: set where the row is
  /// within its bounds. The curvature is constant in it. −1 for cones, whose curvature changes
  /// inside a region.
  [[nodiscard]] signed char settled_region(const Rows& trial) const noexcept {
    if (set.shape != ImpulseShape::intervals) return -1;
    int region = 0;
    for (int i = 0; i < set.rows; ++i) {
      const Scalar y = scale(i) * trial(i);
      if (set.lower(i) <= y && y <= set.upper(i)) region |= 1 << i;
    }
    return static_cast<signed char>(region);
  }
  /// D⁻¹ G D⁻¹, by components.
  /// @param g  G by rows.
  [[nodiscard]] SquareMatrix<Scalar, 6> scale_curvature(
      const SquareMatrix<Scalar, 6>& g) const noexcept {
    SquareMatrix<Scalar, 6> scaled = SquareMatrix<Scalar, 6>::Zero();
    for (int j = 0; j < set.rows; ++j) {
      for (int i = 0; i < set.rows; ++i) {
        scaled(component_of(i), component_of(j)) = g(i, j) / (scale(i) * scale(j));
      }
    }
    return scaled;
  }
};

/// A contact problem laid out for passes over it. Bodies stand in the order of elimination, blocks
/// edge by edge, in parts of three rows. The unknowns of every body and the parts of every island
/// are padded to whole registers. The arrays of an island are contiguous and start at a multiple of
/// a register. The friction contacts of an edge come first, one part each, with their numbers in
/// arrays; after them come all other blocks, as PackedBlock. lay_out() for a pattern, then pack()
/// for each problem of this pattern.
template <RealScalar Scalar>
class PackedProblem {
 public:
  /// Parts of an island are padded to a multiple of this count: floats in the widest register, 512
  /// bits.
  static constexpr Index part_lanes = 16;
  /// Islands with fewer parts than this are padded to this count only: floats in a register of 256
  /// bits.
  static constexpr Index few_parts = 8;
  /// Islands with fewer parts than this are projected part by part, without the padding.
  static constexpr Index least_projected = 4;
  /// The reserve is room for `spare_islands` more islands, and for no more than one per
  /// `parts_per_spare_island` parts that there are. These bound the memory, to 1024 parts or four
  /// times those there are; a pattern that needs more allocates. Other values were not measured.
  static constexpr Index spare_islands = 64, parts_per_spare_island = 4;

  void lay_out(const ContactGraph& graph);
  /// Copies the numbers; the layout must fit.
  /// @param loop  shares the edges.
  void pack(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
            const SharedLoop& loop = {}) noexcept;

  [[nodiscard]] Index slot_count() const noexcept { return starts_.size(); }
  [[nodiscard]] Index vector_size() const noexcept { return vector_size_; }
  [[nodiscard]] Index part_size() const noexcept { return part_size_; }
  /// The reserve [parts]: another pattern may have more islands, each with padding of its own.
  [[nodiscard]] Index spare_parts() const noexcept {
    return part_lanes *
           (std::min)({slot_count(), part_size_ / parts_per_spare_island, spare_islands});
  }
  [[nodiscard]] const Sequence<PackedIsland>& islands() const noexcept { return islands_; }
  [[nodiscard]] Index edge_count() const noexcept { return edges_.size(); }
  [[nodiscard]] const PackedEdge& edge(Index e) const noexcept { return edges_[e]; }
  /// Per slot: start of its unknowns in a vector.
  [[nodiscard]] const Index* starts() const noexcept { return starts_.data(); }
  /// Unknowns of the body in a slot.
  [[nodiscard]] int size(Index slot) const noexcept { return sizes_[slot]; }
  /// Ĵᵀ of the sides of a part: three columns for the low body, then three for the high one.
  [[nodiscard]] const Scalar* jacobians(Index first) const noexcept {
    return jacobians_.data() + first;
  }
  /// Parameters over the parts: μ, Rₜ, Rₙ, v̂, and the squared norms of the rows of Ĵ.
  enum Parameter {
    friction,
    tangent,
    normal,
    bias1,
    bias2,
    bias3,
    row_square1,
    row_square2,
    row_square3,
    parameter_count
  };
  /// The parameter of a component: R, and then v̂ and the squared norm of its row.
  [[nodiscard]] static constexpr Parameter weight(int component) noexcept {
    return component < 2 ? tangent : normal;
  }
  [[nodiscard]] static constexpr Parameter bias(int component) noexcept {
    return Parameter(bias1 + component);
  }
  [[nodiscard]] static constexpr Parameter row_square(int component) noexcept {
    return Parameter(row_square1 + component);
  }
  [[nodiscard]] const Scalar* parameter(Parameter which) const noexcept {
    return parameters_.data() + which * part_size_;
  }
  /// v̂ₙ over the parts, for a caller who reduces it temporarily and then restores it.
  [[nodiscard]] Scalar* normal_bias() noexcept { return parameters_.data() + bias3 * part_size_; }
  /// The blocks that are not friction contacts, those of an edge and of an island together.
  [[nodiscard]] const PackedBlock<Scalar>& other(Index c) const noexcept { return others_[c]; }
  [[nodiscard]] Index other_count() const noexcept { return others_.size(); }
  /// Calls visit(block of the problem, part) for every friction contact.
  template <typename Visit>
  void for_each_friction_contact(const ContactGraph& graph, Visit&& visit) const noexcept {
    for_each_friction_contact(graph, 0, edges_.size(), visit);
  }
  /// The same for those of some edges.
  template <typename Visit>
  void for_each_friction_contact(const ContactGraph& graph, Index first_edge, Index edge_end,
                                 Visit&& visit) const noexcept {
    for (Index e = first_edge; e < edge_end; ++e) {
      const Index skip = edges_[e].first_part - graph.edges()[e].first_part;
      for (Index k = edges_[e].first_part; k < edges_[e].other_begin; ++k) {
        visit(Index(graph.part_at(k - skip).block), k);
      }
    }
  }

 private:
  void place_others(const ContactGraph& graph) noexcept;
  void pack_edge(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
                 Index edge) noexcept;
  void pack_others(const ContactProblem<Scalar>& problem, const ContactGraph& graph, Index edge,
                   Scalar* to) noexcept;
  /// Writes the numbers of one part, and the squared norms of its rows.
  /// @param block  Ĵᵀ of the part.
  void write(Index part, const PackedEdge& edge, const Scalar* block, const Scalar& mu,
             const ContactWeights<Scalar>& weights, const Vector3<Scalar>& bias) noexcept {
    const Index low = lanes_above(edge.low_size), high = lanes_above(edge.high_size);
    const auto squared = [](const Scalar* first, Index size) {
      Scalar sum = 0;
      for (Index k = 0; k < size; k += row_lanes) sum += packet_at(first + k).square().sum();
      return sum;
    };
    Scalar rows[3];
    for (int c = 0; c < 3; ++c) {
      rows[c] = squared(block + c * low, low) + squared(block + 3 * low + c * high, high);
    }
    write(part, {mu, weights.tangent, weights.normal, bias.x(), bias.y(), bias.z(), rows[0],
                 rows[1], rows[2]});
  }
  void write(Index part, const Scalar (&numbers)[parameter_count]) noexcept {
    for (int p = 0; p < parameter_count; ++p) {
      parameters_[p * part_size_ + part] = numbers[p];
    }
  }

  Sequence<PackedIsland> islands_;
  Sequence<PackedEdge> edges_;
  Sequence<Index> starts_;
  Sequence<int> sizes_;
  Sequence<Scalar> jacobians_, parameters_;
  Sequence<PackedBlock<Scalar>> others_;
  Index vector_size_ = 0, part_size_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void PackedProblem<Scalar>::lay_out(const ContactGraph& graph) {
  const FrontForest& forest = graph.forest();
  vector_size_ = lay_out_vectors(graph, starts_);
  sizes_.resize(graph.slot_count());
  for (Index slot = 0; slot < graph.slot_count(); ++slot) sizes_[slot] = forest.size(slot);
  islands_.clear();
  islands_.reserve(graph.slot_count());
  edges_.reserve(graph.part_count());
  edges_.clear();
  part_size_ = 0;
  Index jacobian_size = 0, parts = 0;
  for (const ContactIsland& island : graph.islands()) {
    const Index count = island.part_end - island.first_part;
    const Index lanes = count < few_parts ? few_parts : part_lanes;
    part_size_ = (part_size_ + lanes - 1) / lanes * lanes;
    const Index padded = (count + lanes - 1) / lanes * lanes;
    const Index start = starts_[island.range.first_slot];
    const Index end =
        island.range.slot_end == graph.slot_count() ? vector_size_ : starts_[island.range.slot_end];
    islands_.push_back({island.first_edge, island.edge_end, part_size_, padded,
                        count < least_projected ? count : padded, count, start, end - start,
                        island.range, island.direct});
    const Index skip = part_size_ - island.first_part;
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const ContactEdge& edge = graph.edges()[e];
      edges_.push_back(packed_edge(graph, edge, starts_, skip, jacobian_size));
      parts += edge.part_end - edge.other_begin;
    }
    part_size_ += padded;
  }
  // Another pattern with few parts may have two bodies of the largest size for each part. With more
  // parts than this, that much memory is out of proportion: the limit bounds the memory.
  constexpr Index few = 128;
  int largest = 1;
  for (const int size : sizes_) largest = (std::max)(largest, size);
  if (part_size_ <= few) jacobians_.reserve(part_size_ * 6 * lanes_above(largest));
  jacobians_.assign(jacobian_size, Scalar(0));
  others_.reserve(parts);
  parameters_.reserve(parameter_count * (part_size_ + spare_parts()));
  parameters_.resize(parameter_count * part_size_);
}

template <RealScalar Scalar>
void PackedProblem<Scalar>::pack(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
                                 const SharedLoop& loop) noexcept {
  for (const PackedIsland& island : islands_) {
    const Index end = island.first_part + island.part_count;
    for (Index k = edges_[island.edge_end - 1].part_end; k < end; ++k) {
      // The padding: open contacts, which contribute to no sum. Their trial impulse has a
      // tangential component, because a batch projects an impulse without one separately.
      write(k, {Scalar(1), Scalar(1), Scalar(1), Scalar(1), Scalar(0),
                Scalar(PaddingContact::normal_bias), Scalar(0), Scalar(0), Scalar(0)});
    }
  }
  place_others(graph);
  loop(edges_.size(), [&](Index begin, Index end) {
    for (Index e = begin; e < end; ++e) pack_edge(problem, graph, e);
  });
}

/// Places the blocks that are not friction contacts, edge by edge.
template <RealScalar Scalar>
void PackedProblem<Scalar>::place_others(const ContactGraph& graph) noexcept {
  Index count = 0;
  for (PackedIsland& island : islands_) {
    island.first_other = count;
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      PackedEdge& edge = edges_[e];
      const Index skip = edge.first_part - graph.edges()[e].first_part;
      edge.first_other = count;
      for (Index k = edge.other_begin; k < edge.part_end; ++k) {
        count += graph.part_at(k - skip).number == 0;
      }
      edge.other_end = count;
    }
    island.other_end = count;
  }
  others_.resize(count);
}

/// Packs the blocks of an edge, each into its own place.
template <RealScalar Scalar>
void PackedProblem<Scalar>::pack_edge(const ContactProblem<Scalar>& problem,
                                      const ContactGraph& graph, Index e) noexcept {
  const PackedEdge& edge = edges_[e];
  Scalar* to = jacobians_.data() + edge.jacobians;
  const Index skip = edge.first_part - graph.edges()[e].first_part;
  for (Index k = edge.first_part; k < edge.other_begin; ++k) {
    const Scalar* const rows = to;
    const auto contact = problem.friction_contact(graph.part_at(k - skip).block);
    to = pack_rows(contact, 0, edge, graph.body_at(edge.low_slot), to);
    const WeightedContact<Scalar>& law = contact.law();
    write(k, edge, rows, law.friction, law.regularization, law.bias_velocity);
  }
  if (edge.other_begin < edge.part_end) pack_others(problem, graph, e, to);
}

/// Packs the blocks of an edge that are not friction contacts, rows scaled by √R⁻¹, which makes
/// their regularization one.
template <RealScalar Scalar>
void PackedProblem<Scalar>::pack_others(const ContactProblem<Scalar>& problem,
                                        const ContactGraph& graph, Index e, Scalar* to) noexcept {
  const PackedEdge& edge = edges_[e];
  const Index lanes[2] = {lanes_above(edge.low_size), lanes_above(edge.high_size)};
  const Index skip = edge.first_part - graph.edges()[e].first_part;
  Index next = edge.first_other;
  for (Index k = edge.other_begin; k < edge.part_end; ++k) {
    const BlockPart part = graph.part_at(k - skip);
    const auto block = problem.other_block(part.block);
    if (part.number == 0) others_[next++] = PackedBlock<Scalar>(block.law(), part.block, k);
    const PackedBlock<Scalar>& packed = others_[next - 1];
    Scalar* const first = to;
    to = pack_rows(block, part.number, edge, graph.body_at(edge.low_slot), to);
    Vector3<Scalar> bias = Vector3<Scalar>::Zero();
    for (int c = 0; c < 3; ++c) {
      const int r = row_of_part(block, part.number, c);
      if (r < 0) continue;
      const Scalar& scale = packed.scale(r);
      bias(c) = scale * block.bias_velocity()(r);
      Scalar* column = first;
      for (const Index size : lanes) {
        for (Index i = 0; i < size; ++i) column[c * size + i] *= scale;
        column += 3 * size;
      }
    }
    write(k, edge, first, Scalar(1), {Scalar(1), Scalar(1)}, bias);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
