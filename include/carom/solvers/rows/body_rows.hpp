// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "carom/contact/detail/contact_graph.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/range_loop.hpp"
#include "carom/solvers/rows/block_rows.hpp"
#include "carom/solvers/rows/edge_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The rows of a ContactProblem laid out for passes over them on the bodies: the graph of its
/// bodies and blocks, the blocks by pair of bodies, and Ĵ with every body's unknowns padded to
/// whole registers. take() copies a problem; all other functions read it. A vector has the unknowns
/// of all bodies, slot by slot as starts() says; an array in parts has three numbers for each part.
template <RealScalar Scalar>
class BodyRows {
 public:
  struct Edge {
    PackedEdge packed;
    Index first_block, block_end;
  };

  /// Copies the pattern and the numbers of a problem.
  /// @param loaded  whether load() is wanted, which costs a product with every row.
  /// @return  whether the pattern differs from that of the problem before.
  /// @note  Allocates beyond the largest problem so far.
  bool take(const ContactProblem<Scalar>& problem, bool loaded = true) {
    const int analysed = graph_.analysis_count();
    graph_.analyse(problem, std::numeric_limits<double>::infinity());
    if (layout_ != graph_.layout_count()) lay_out();
    layout_ = graph_.layout_count();
    pack(problem);
    if (loaded) write_load(problem);
    return analysed != graph_.analysis_count();
  }

  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }
  [[nodiscard]] const BlockList<Scalar>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const Sequence<BlockIsland>& islands() const noexcept { return islands_; }
  [[nodiscard]] const Sequence<Edge>& edges() const noexcept { return edges_; }
  [[nodiscard]] Index part_count() const noexcept { return graph_.part_count(); }
  /// q = J v* − v̂ of all parts, of the last problem copied with its load.
  [[nodiscard]] const Scalar* load() const noexcept { return load_.data(); }
  void add_to_load(Index place, const Scalar& velocity) noexcept { load_[place] += velocity; }
  /// Per slot: start of its unknowns in a vector.
  [[nodiscard]] const Index* starts() const noexcept { return starts_.data(); }
  [[nodiscard]] Index vector_size() const noexcept { return vector_size_; }
  [[nodiscard]] Index vector_start(Index island) const noexcept {
    return starts_[graph_.islands()[island].range.first_slot];
  }
  [[nodiscard]] Index vector_end(Index island) const noexcept {
    const Index slot = graph_.islands()[island].range.slot_end;
    return slot == graph_.slot_count() ? vector_size_ : starts_[slot];
  }
  [[nodiscard]] const Scalar* jacobians(const PackedEdge& edge) const noexcept {
    return jacobians_.data() + edge.jacobians;
  }
  /// Start of the rows of a block in the problem's impulses.
  [[nodiscard]] Index first_row(Index block) const noexcept { return rows_[block].first; }
  /// Calls visit(row of the problem's impulses, place in parts).
  template <typename Visit>
  void for_each_row(Visit&& visit) const noexcept {
    for (Index i = 0; i < blocks_.size(); ++i) {
      blocks_.visit(i, [&](const auto& block) {
        for (int r = 0; r < rows_[i].count; ++r) {
          visit(Index(rows_[i].first) + r, 3 * block.first_part + block.place(r));
        }
      });
    }
  }

  /// Ĵᵀ γ of an island, into a vector.
  void write_momentum(Index island, const Scalar* impulse, Scalar* momentum) const noexcept;
  /// Ĵ w of an island, into parts.
  /// @param loop  shares the edges.
  void write_velocities(Index island, const Scalar* whitened, Scalar* velocity,
                        const SharedLoop& loop = {}) const noexcept;

 private:
  /// Numbers in parts, three for each, by component.
  template <typename Number>
  [[nodiscard]] static PartArray<Number> by_component(Number* numbers) noexcept {
    return {{numbers, numbers + 1, numbers + 2}, 3};
  }
  /// The rows of a block in the problem's impulses.
  struct Rows {
    int first, count;
  };
  void lay_out();
  void pack(const ContactProblem<Scalar>& problem);
  void write_load(const ContactProblem<Scalar>& problem) noexcept;
  template <typename Block>
  void add_block(const Block& block, Index part);

  ContactGraph graph_;
  int layout_ = -1;
  BlockList<Scalar> blocks_;
  Sequence<Rows> rows_;
  Sequence<Edge> edges_;
  Sequence<BlockIsland> islands_;
  Sequence<Index> starts_;
  Sequence<Scalar> jacobians_, load_;
  Index vector_size_ = 0;
};

// --- implementation ---

/// Computes places of bodies, edges and parts.
template <RealScalar Scalar>
void BodyRows<Scalar>::lay_out() {
  vector_size_ = lay_out_vectors(graph_, starts_);
  edges_.reserve(graph_.part_count());
  edges_.clear();
  Index jacobian_size = 0;
  for (const ContactEdge& edge : graph_.edges()) {
    edges_.push_back({packed_edge(graph_, edge, starts_, 0, jacobian_size), 0, 0});
  }
  jacobians_.assign(jacobian_size, Scalar(0));
  load_.assign(3 * part_count(), Scalar(0));
  blocks_.reserve(part_count());
  rows_.reserve(part_count());
  islands_.reserve(graph_.slot_count());
}

/// The law of a block, whose first part is given.
template <RealScalar Scalar>
template <typename Block>
void BodyRows<Scalar>::add_block(const Block& block, Index part) {
  using Softness = typename Block::Rows;
  const Softness softness = block.law().rigid ? Softness(Softness::Zero()) : block.regularization();
  rows_.push_back({int(block.first_row()), block.rows()});
  if constexpr (Block::capacity == 3) {
    if (const Scalar& friction = block.law().friction; friction > Scalar(0)) {
      return blocks_.add_triple(friction, PartNumbers<Scalar, 1>::at(softness.data()), {}, part);
    }
    RowNumbers<Scalar> all = RowNumbers<Scalar>::Zero();
    std::copy_n(softness.data(), 3, all.data());
    blocks_.add(block.set(), all, part);
  } else {
    blocks_.add(block.set(), softness, part);
  }
}

template <RealScalar Scalar>
void BodyRows<Scalar>::pack(const ContactProblem<Scalar>& problem) {
  blocks_.clear();
  rows_.clear();
  for (Edge& edge : edges_) {
    edge.first_block = blocks_.size();
    Scalar* to = jacobians_.data() + edge.packed.jacobians;
    for (Index part = edge.packed.first_part; part < edge.packed.part_end; ++part) {
      const BlockPart& item = graph_.part_at(part);
      const Scalar* const from = to;
      to = problem.visit_by_kind(item.block, [&](const auto& block) {
        if (item.number == 0) add_block(block, part);
        return pack_rows(block, item.number, edge.packed, graph_.body_at(edge.packed.low_slot), to);
      });
      RowPacket<Scalar> squares = RowPacket<Scalar>::Zero();
      for (const Scalar* x = from; x != to; x += row_lanes) squares += packet_at(x).square();
      Scalar squared = squares.sum();
      const Index i = blocks_.size() - 1;
      blocks_.change(i, [&](auto& block) {
        if (part == block.first_part) squared += block.regularization.sum();
        block.inverse_mass += squared / Scalar(rows_[i].count);
        const bool last = part + 1 == block.first_part + block.parts;
        if (last && !(block.inverse_mass > Scalar(0))) block.inverse_mass = Scalar(1);
      });
    }
    edge.block_end = blocks_.size();
  }
  islands_.clear();
  for (const ContactIsland& island : graph_.islands()) {
    islands_.push_back({edges_[island.first_edge].first_block,
                        edges_[island.edge_end - 1].block_end, island.first_part, island.part_end});
  }
}

template <RealScalar Scalar>
void BodyRows<Scalar>::write_load(const ContactProblem<Scalar>& problem) noexcept {
  for (Index part = 0; part < part_count(); ++part) {
    const BlockPart& item = graph_.part_at(part);
    problem.visit_by_kind(item.block, [&](const auto& block) {
      const auto moved = block.velocity(problem.free_velocity());
      for (int c = 0; c < 3; ++c) {
        const int row = row_of_part(block, item.number, c);
        load_[3 * part + c] = row < 0 ? Scalar(0) : moved(row) - block.bias_velocity()(row);
      }
    });
  }
}

template <RealScalar Scalar>
void BodyRows<Scalar>::write_momentum(Index island, const Scalar* impulse,
                                      Scalar* momentum) const noexcept {
  const ContactIsland& own = graph_.islands()[island];
  std::fill(momentum + vector_start(island), momentum + vector_end(island), Scalar(0));
  for (Index e = own.first_edge; e < own.edge_end; ++e) {
    const PackedEdge& edge = edges_[e].packed;
    add_edge_momentum(edge, jacobians(edge), by_component(impulse), momentum);
  }
}

template <RealScalar Scalar>
void BodyRows<Scalar>::write_velocities(Index island, const Scalar* whitened, Scalar* velocity,
                                        const SharedLoop& loop) const noexcept {
  const ContactIsland& own = graph_.islands()[island];
  loop(own.edge_end - own.first_edge, [&](Index begin, Index end) {
    for (Index e = own.first_edge + begin; e < own.first_edge + end; ++e) {
      const PackedEdge& edge = edges_[e].packed;
      write_edge_velocities(edge, jacobians(edge), whitened, by_component(velocity));
    }
  });
}

/// Adds Ĵᵀ N Ĵ of an edge's blocks, or of Nᵀ: low-low, high-low and high-high.
/// @param number   of the edge.
/// @param targets  of these blocks; what is above the diagonal of the matrix is not defined.
template <RealScalar Scalar>
void add_edge_gains(const BodyRows<Scalar>& rows, Index number, const BlockGains<Scalar>& gains,
                    bool transposed, const Columns<Scalar> (&targets)[3]) noexcept {
  const typename BodyRows<Scalar>::Edge& edge = rows.edges()[number];
  const PartRows<Scalar> part(edge.packed, rows.jacobians(edge.packed), edge.packed.first_part);
  add_curvature_of_pairs(edge.packed, targets, true, [&](const auto& visit) {
    const Scalar* first = part.columns[0];
    for (Index i = edge.first_block; i < edge.block_end; ++i) {
      const int parts = rows.blocks().parts(i);
      for (int a = 0; a < parts; ++a) {
        for (int b = 0; b < parts; ++b) {
          const Scalar* const n = transposed ? gains.at(i, b, a, parts) : gains.at(i, a, b, parts);
          const General3<Scalar> g{n[0], n[3], n[6], n[1], n[4], n[7], n[2], n[5], n[8]};
          if (g.is_zero()) continue;
          visit(first + a * part.width(), first + b * part.width(), transposed ? g.transpose() : g);
        }
      }
      first += parts * part.width();
    }
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
