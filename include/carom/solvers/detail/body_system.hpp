// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>
#include "carom/contact/contact_graph.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/block_cholesky.hpp"
#include "carom/linalg/block_lu.hpp"
#include "carom/solvers/detail/block_rows.hpp"
#include "carom/solvers/detail/edge_kernels.hpp"

namespace carom::inline CAROM_ABI::detail {

/// The gain N of every block: the answer of its impulses to velocities, parts × parts blocks of
/// 3 × 3, row by row of blocks, each column by column.
template <RealScalar Scalar>
class BlockGains {
 public:
  /// Room for blocks of these parts.
  template <typename Blocks>
  void lay_out(const Blocks& blocks) {
    starts_.resize(blocks.size());
    Index next = 0;
    for (Index i = 0; i < blocks.size(); ++i) {
      starts_[i] = next;
      next += 9 * blocks[i].parts * blocks[i].parts;
    }
    values_.resize(next);
  }
  [[nodiscard]] Scalar* at(Index block, int row, int column, int parts) noexcept {
    return values_.data() + starts_[block] + 9 * (row * parts + column);
  }
  [[nodiscard]] const Scalar* at(Index block, int row, int column, int parts) const noexcept {
    return values_.data() + starts_[block] + 9 * (row * parts + column);
  }
  void write(Index block, int parts, const SquareMatrix<Scalar, 6>& gain) noexcept {
    for (int a = 0; a < parts; ++a) {
      for (int b = 0; b < parts; ++b) {
        Eigen::Map<SquareMatrix<Scalar, 3>>(at(block, a, b, parts)) =
            gain.template block<3, 3>(3 * a, 3 * b);
      }
    }
  }
  /// result −= N u of one block, in parts.
  void subtract_product(Index block, int parts, const Scalar* u, Scalar* result) const noexcept {
    for (int a = 0; a < parts; ++a) {
      for (int b = 0; b < parts; ++b) {
        const Scalar* const n = at(block, a, b, parts);
        const Scalar* const x = u + 3 * b;
        for (int r = 0; r < 3; ++r) {
          result[3 * a + r] -= n[r] * x[0] + n[3 + r] * x[1] + n[6 + r] * x[2];
        }
      }
    }
  }

 private:
  Sequence<Scalar> values_;
  Sequence<Index> starts_;
};

/// An island of a system: the blocks of rows that influence each other.
struct SystemIsland {
  Index first_block, block_end;
  Index first_part, part_end;
};

/// The rows of a ContactProblem on its bodies, block by block: W = Ĵ Ĵᵀ is never written down.
///
/// Steps dγ = h − N W dγ come from (I + Ĵᵀ N Ĵ) dw = Ĵᵀ h, which has as many unknowns as the bodies
/// and the pattern of SapSolver's Hessian.
template <RealScalar Scalar>
class BodySystem {
 public:
  using Blocks = Sequence<BlockRows<Scalar>>;

  /// Takes on a problem: pattern and numbers.
  /// @note  Allocates beyond the largest problem so far.
  void take(const ContactProblem<Scalar>& problem);
  /// Whether factors are to be symmetric.
  void set_symmetric(bool symmetric) {
    symmetric_ = symmetric;
    if (symmetric ? cholesky_age_ == graph_.analysis_count() : lu_age_ == graph_.analysis_count()) {
      return;
    }
    if (symmetric) {
      cholesky_.reset(graph_.forest());
      cholesky_age_ = graph_.analysis_count();
    } else {
      lu_.reset(graph_.forest());
      lu_age_ = graph_.analysis_count();
    }
  }
  /// The system has been moved to another place.
  void follow() noexcept {
    if (cholesky_age_ >= 0) cholesky_.follow(graph_.forest());
    if (lu_age_ >= 0) lu_.follow(graph_.forest());
  }

  [[nodiscard]] const Blocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] Index part_count() const noexcept { return part_count_; }
  [[nodiscard]] const Sequence<SystemIsland>& islands() const noexcept { return islands_; }
  [[nodiscard]] const Scalar* load() const noexcept { return load_.data(); }
  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }

  /// product = W γ of an island, in parts.
  void multiply(Index island, const Scalar* impulse, Scalar* product) noexcept {
    momentum(island, impulse, spare_.data());
    velocities(island, spare_.data(), product);
  }
  /// Factors with the gains as they stand; false when a pivot fails.
  [[nodiscard]] bool factor(Index island, const BlockGains<Scalar>& gains) noexcept;
  /// dγ = h − N W dγ, and W dγ.
  void solve(Index island, const BlockGains<Scalar>& gains, const Scalar* offset, Scalar* step,
             Scalar* moved) noexcept;

  /// Calls visit(row of the problem's impulses, place in parts).
  template <typename Visit>
  void for_each_row(Visit&& visit) const noexcept {
    for (Index i = 0; i < blocks_.size(); ++i) {
      for (int r = 0; r < rows_[i].count; ++r) {
        visit(Index(rows_[i].first + r), 3 * blocks_[i].first_part + rows_[i].place(r));
      }
    }
  }

  bool rigid_all = true;

 private:
  struct Rows {
    int first, count;
    bool planar;
    [[nodiscard]] int place(int r) const noexcept { return planar ? 2 * r : r; }
  };
  struct Edge {
    PackedEdge packed;
    Index first_block, block_end;
  };
  void lay_out();
  void pack(const ContactProblem<Scalar>& problem);
  void pack_side(const Scalar* rows, Index size, bool planar, Index lanes, Scalar* block) noexcept;
  void momentum(Index island, const Scalar* impulse, Scalar* result) noexcept;
  void velocities(Index island, const Scalar* whitened, Scalar* result) const noexcept;
  template <bool Transposed>
  void add_edge(const Edge& edge, const BlockGains<Scalar>& gains,
                const Columns<Scalar> (&targets)[3]) const noexcept;

  ContactGraph graph_;
  int layout_ = -1, cholesky_age_ = -1, lu_age_ = -1;
  bool symmetric_ = true;
  Blocks blocks_;
  Sequence<Rows> rows_;
  Sequence<Edge> edges_;
  Sequence<SystemIsland> islands_;
  Sequence<Index> starts_, cross_places_;
  Sequence<Scalar> jacobians_, load_, vector_, spare_, scratch_, rest_, sum_;
  Index part_count_ = 0, vector_size_ = 0;
  BlockCholesky<Scalar> cholesky_;
  BlockLu<Scalar> lu_;
};

// --- implementation ---

template <RealScalar Scalar>
void BodySystem<Scalar>::take(const ContactProblem<Scalar>& problem) {
  graph_.analyse(problem, std::numeric_limits<double>::infinity());
  follow();
  if (layout_ != graph_.layout_count()) lay_out();
  layout_ = graph_.layout_count();
  pack(problem);
}

/// Places of bodies, edges and parts.
template <RealScalar Scalar>
void BodySystem<Scalar>::lay_out() {
  const FrontForest& forest = graph_.forest();
  starts_.resize(graph_.slot_count());
  vector_size_ = 0;
  for (Index slot = 0; slot < graph_.slot_count(); ++slot) {
    starts_[slot] = vector_size_;
    vector_size_ += lanes_above(forest.size(slot));
  }
  for (Sequence<Scalar>* numbers : {&vector_, &spare_, &scratch_}) {
    numbers->assign(vector_size_, Scalar(0));
  }
  edges_.clear();
  Index jacobian_size = 0;
  for (const ContactEdge& edge : graph_.edges()) {
    const int low = forest.size(edge.low_slot);
    const int high = edge.high_slot < 0 ? 0 : forest.size(edge.high_slot);
    edges_.push_back({{edge.low_slot, edge.high_slot, low, high, starts_[edge.low_slot],
                       edge.high_slot < 0 ? 0 : starts_[edge.high_slot], edge.first_contact,
                       edge.contact_end, jacobian_size, edge.constraint_begin},
                      0,
                      0});
    jacobian_size +=
        3 * (lanes_above(low) + lanes_above(high)) * (edge.contact_end - edge.first_contact);
  }
  jacobians_.assign(jacobian_size, Scalar(0));
  part_count_ = graph_.contact_count();
  load_.assign(3 * part_count_, Scalar(0));
}

/// Ĵᵀ of three rows on one side, those of a planar contact at the first and the last place.
template <RealScalar Scalar>
void BodySystem<Scalar>::pack_side(const Scalar* rows, Index size, bool planar, Index lanes,
                                   Scalar* block) noexcept {
  for (int c = 0; c < 3; ++c) {
    const int from = planar ? (c == 2 ? 1 : c == 1 ? 2 : 0) : c;
    std::copy_n(rows + from * size, size, block + c * lanes);
  }
}

template <RealScalar Scalar>
void BodySystem<Scalar>::pack(const ContactProblem<Scalar>& problem) {
  const ConstraintList<Scalar>& list = problem.constraints();
  const Index contacts = problem.contact_count();
  blocks_.clear();
  rows_.clear();
  for (Index e = 0; e < edges_.size(); ++e) {
    Edge& edge = edges_[e];
    edge.first_block = blocks_.size();
    const PackedEdge& packed = edge.packed;
    const Index lanes[2] = {lanes_above(packed.low_size), lanes_above(packed.high_size)};
    const int sides = packed.high_slot < 0 ? 1 : 2;
    Scalar* rows = jacobians_.data() + packed.jacobians;
    const int low_body = graph_.body_at(packed.low_slot);
    for (Index k = packed.first_contact; k < packed.contact_end; ++k) {
      const int item = graph_.contact_at(k);
      const Scalar* const first = rows;
      if (item < contacts) {
        const int low_side = problem.side_body(item, 0) == low_body ? 0 : 1;
        for (int s = 0; s < sides; ++s) {
          const auto side = problem.whitened_jacobian(item, low_side ^ s);
          pack_side(side.data(), side.rows(), false, lanes[s], rows);
          rows += 3 * lanes[s];
        }
        RowNumbers<Scalar> r = RowNumbers<Scalar>::Zero();
        if (!rigid_all) {
          const auto [tangent, normal] = problem.regularization(item);
          r.template head<3>() << tangent, tangent, normal;
        }
        blocks_.push_back(make_block_rows(friction_impulses(problem.cone(item).friction), r, k,
                                          [](int row) { return row; }));
        rows_.push_back({3 * item, 3, false});
        const Vector3<Scalar> q =
            contact_velocity(problem, item, problem.free_velocity()) - problem.bias_velocity(item);
        for (int c = 0; c < 3; ++c) load_[3 * k + c] = q(c);
      } else {
        const Index number = list.part_constraint(item - contacts);
        const int part = list.part_number(item - contacts);
        const int low_side = list.side_body(number, 0) == low_body ? 0 : 1;
        const WeightedConstraint<Scalar>& law = list.law(number);
        const bool planar = law.set.shape == ImpulseShape::planar;
        for (int s = 0; s < sides; ++s) {
          const auto side = list.whitened_jacobian(number, low_side ^ s, part);
          pack_side(side.data(), side.rows(), planar, lanes[s], rows);
          rows += 3 * lanes[s];
        }
        if (part == 0) {
          blocks_.push_back(make_block_rows(law.set, law.regularization, k,
                                            [&](int row) { return planar ? 2 * row : row; }));
          rows_.push_back({int(3 * contacts + list.first_row(number)), law.set.rows, planar});
        }
        const RowNumbers<Scalar> q =
            constraint_velocity(problem, number, problem.free_velocity()) - law.bias_velocity;
        for (int c = 0; c < 3; ++c) load_[3 * k + c] = 0;
        for (int r = 3 * part; r < (std::min)(3 * part + 3, law.set.rows); ++r) {
          load_[3 * k + (planar ? 2 * r : r - 3 * part)] = q(r);
        }
      }
      // w: the mean diagonal over the rows.
      BlockRows<Scalar>& block = blocks_.back();
      const int offset = int(3 * (k - block.first_part));
      for (const Scalar* x = first; x != rows; ++x) block.inverse_mass += *x * *x;
      for (int c = 0; c < 3; ++c) block.inverse_mass += block.regularization(offset + c);
    }
    edge.block_end = blocks_.size();
  }
  for (Index i = 0; i < blocks_.size(); ++i) blocks_[i].inverse_mass /= Scalar(rows_[i].count);
  islands_.clear();
  for (const ContactIsland& island : graph_.islands()) {
    const Index first = edges_[island.first_edge].first_block;
    const Index end = edges_[island.edge_end - 1].block_end;
    islands_.push_back({first, end, island.first_contact, island.contact_end});
  }
}

template <RealScalar Scalar>
void BodySystem<Scalar>::momentum(Index island, const Scalar* impulse, Scalar* result) noexcept {
  const ContactIsland& own = graph_.islands()[island];
  for (int slot = own.range.first_slot; slot < own.range.slot_end; ++slot) {
    std::fill_n(result + starts_[slot], lanes_above(graph_.forest().size(slot)), Scalar(0));
  }
  for (Index e = own.first_edge; e < own.edge_end; ++e) {
    const PackedEdge& edge = edges_[e].packed;
    const Scalar* block = jacobians_.data() + edge.jacobians;
    const Index lanes[2] = {lanes_above(edge.low_size), lanes_above(edge.high_size)};
    const Index starts[2] = {edge.low_start, edge.high_start};
    for (Index k = edge.first_contact; k < edge.contact_end; ++k) {
      const Scalar x = impulse[3 * k], y = impulse[3 * k + 1], z = impulse[3 * k + 2];
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          lanes_at(result + starts[s] + i) += x * lanes_at(block + i) +
                                              y * lanes_at(block + lanes[s] + i) +
                                              z * lanes_at(block + 2 * lanes[s] + i);
        }
        block += 3 * lanes[s];
      }
    }
  }
}

template <RealScalar Scalar>
void BodySystem<Scalar>::velocities(Index island, const Scalar* whitened,
                                    Scalar* result) const noexcept {
  const ContactIsland& own = graph_.islands()[island];
  for (Index e = own.first_edge; e < own.edge_end; ++e) {
    const PackedEdge& edge = edges_[e].packed;
    const Scalar* block = jacobians_.data() + edge.jacobians;
    const Index lanes[2] = {lanes_above(edge.low_size), lanes_above(edge.high_size)};
    const Index starts[2] = {edge.low_start, edge.high_start};
    for (Index k = edge.first_contact; k < edge.contact_end; ++k) {
      RowLanes<Scalar> sum[3];
      for (auto& part : sum) part.setZero();
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          const RowLanes<Scalar> w = lanes_at(whitened + starts[s] + i);
          for (int c = 0; c < 3; ++c) sum[c] += w * lanes_at(block + c * lanes[s] + i);
        }
        block += 3 * lanes[s];
      }
      for (int c = 0; c < 3; ++c) result[3 * k + c] = sum[c].sum();
    }
  }
}

template <RealScalar Scalar>
template <bool Transposed>
void BodySystem<Scalar>::add_edge(const Edge& edge, const BlockGains<Scalar>& gains,
                                  const Columns<Scalar> (&targets)[3]) const noexcept {
  const PackedEdge& packed = edge.packed;
  const Index low_width = 3 * lanes_above(packed.low_size);
  const Index width = low_width + 3 * lanes_above(packed.high_size);
  const Scalar* const jacobians = jacobians_.data() + packed.jacobians;
  const bool two_sided = packed.high_slot >= 0;
  const auto read = [&](Index i, int a, int b, int parts) {
    const Scalar* const n = Transposed ? gains.at(i, b, a, parts) : gains.at(i, a, b, parts);
    const General3<Scalar> g{n[0], n[3], n[6], n[1], n[4], n[7], n[2], n[5], n[8]};
    return Transposed ? g.transpose() : g;
  };
  const auto add_fixed = [&]<int Size>(std::integral_constant<int, Size>) {
    EdgeCurvature<Size, Scalar> sum(two_sided);
    for (Index i = edge.first_block; i < edge.block_end; ++i) {
      const int parts = blocks_[i].parts;
      const Scalar* const first =
          jacobians + (blocks_[i].first_part - packed.first_contact) * width;
      for (int a = 0; a < parts; ++a) {
        for (int b = 0; b < parts; ++b) {
          sum.add(first + a * width, first + b * width, read(i, a, b, parts));
        }
      }
    }
    sum.add_low_to(targets[0]);
    if (!two_sided) return;
    sum.add_cross_to(targets[1]);
    sum.add_high_to(targets[2]);
  };
  const bool same = !two_sided || packed.high_size == packed.low_size;
  if (same && packed.low_size == 6) return add_fixed(std::integral_constant<int, 6>{});
  if (same && packed.low_size == 3) return add_fixed(std::integral_constant<int, 3>{});
  for (Index i = edge.first_block; i < edge.block_end; ++i) {
    const int parts = blocks_[i].parts;
    const Scalar* const first = jacobians + (blocks_[i].first_part - packed.first_contact) * width;
    for (int a = 0; a < parts; ++a) {
      for (int b = 0; b < parts; ++b) {
        const General3<Scalar> g = read(i, a, b, parts);
        const Scalar *const x = first + a * width, *const y = first + b * width;
        add_curvature_block(targets[0], x, packed.low_size, y, packed.low_size, g);
        if (!two_sided) continue;
        add_curvature_block(targets[1], x + low_width, packed.high_size, y, packed.low_size, g);
        add_curvature_block(targets[2], x + low_width, packed.high_size, y + low_width,
                            packed.high_size, g);
      }
    }
  }
}

template <RealScalar Scalar>
bool BodySystem<Scalar>::factor(Index island, const BlockGains<Scalar>& gains) noexcept {
  const ContactIsland& own = graph_.islands()[island];
  if (symmetric_) {
    cholesky_.clear(own.range);
  } else {
    lu_.clear(own.range);
  }
  for (Index e = own.first_edge; e < own.edge_end; ++e) {
    const PackedEdge& edge = edges_[e].packed;
    if (symmetric_) {
      Columns<Scalar> targets[3] = {cholesky_.diagonal(edge.low_slot), {}, {}};
      if (edge.high_slot >= 0) {
        const Index place = cholesky_.place_below(edge.low_slot, edge.high_slot);
        targets[1] = cholesky_.block(place, edge.low_slot);
        targets[2] = cholesky_.diagonal(edge.high_slot);
      }
      add_edge<false>(edges_[e], gains, targets);
      continue;
    }
    const Index low = lu_.place(edge.low_slot, edge.low_slot);
    Columns<Scalar> lower[3] = {lu_.lower(low, edge.low_slot), {}, {}};
    Columns<Scalar> upper[3] = {lu_.upper(low, edge.low_slot), {}, {}};
    if (edge.high_slot >= 0) {
      const Index cross = lu_.place(edge.low_slot, edge.high_slot);
      const Index high = lu_.place(edge.high_slot, edge.high_slot);
      lower[1] = lu_.lower(cross, edge.low_slot);
      upper[1] = lu_.upper(cross, edge.low_slot);
      lower[2] = lu_.lower(high, edge.high_slot);
      upper[2] = lu_.upper(high, edge.high_slot);
    }
    add_edge<false>(edges_[e], gains, lower);
    add_edge<true>(edges_[e], gains, upper);
  }
  const auto add_identity = [](const Columns<Scalar>& block, int size) {
    for (Index k = 0; k < size; ++k) block.data[k * (block.stride + 1)] += 1;
  };
  for (int slot = own.range.first_slot; slot < own.range.slot_end; ++slot) {
    const int size = graph_.forest().size(slot);
    if (symmetric_) {
      add_identity(cholesky_.diagonal(slot), size);
    } else {
      const Index place = lu_.place(slot, slot);
      add_identity(lu_.lower(place, slot), size);
      add_identity(lu_.upper(place, slot), size);
    }
  }
  return symmetric_ ? cholesky_.factor(own.range) : lu_.factor(own.range);
}

template <RealScalar Scalar>
void BodySystem<Scalar>::solve(Index island, const BlockGains<Scalar>& gains, const Scalar* offset,
                               Scalar* step, Scalar* moved) noexcept {
  const ContactIsland& own = graph_.islands()[island];
  const SystemIsland& blocks = islands_[island];
  Scalar* const scratch = scratch_.data() + starts_[own.range.first_slot];
  const Index begin = 3 * blocks.first_part, end = 3 * blocks.part_end;
  std::copy(offset + begin, offset + end, step + begin);
  std::fill(moved + begin, moved + end, Scalar(0));
  rest_.resize(load_.size());
  sum_.resize(vector_size_);
  const int refinements = 4;
  momentum(island, step, vector_.data());
  const Index vb = starts_[own.range.first_slot];
  const Index ve = own.range.slot_end == graph_.slot_count() ? vector_size_ : starts_[own.range.slot_end];
  std::fill(sum_.begin() + vb, sum_.begin() + ve, Scalar(0));
  Scalar last = std::numeric_limits<Scalar>::infinity();
  for (int k = 0; k <= refinements; ++k) {
    if (symmetric_) {
      cholesky_.solve(own.range, vector_.data(), starts_.data(), scratch);
    } else {
      lu_.solve(own.range, vector_.data(), starts_.data(), scratch);
    }
    velocities(island, vector_.data(), rest_.data());
    for (Index i = blocks.first_block; i < blocks.block_end; ++i) {
      const Index first = 3 * blocks_[i].first_part;
      gains.subtract_product(i, blocks_[i].parts, rest_.data() + first, step + first);
      for (int c = 0; c < blocks_[i].size(); ++c) moved[first + c] += rest_[first + c];
    }
    for (Index u = vb; u < ve; ++u) sum_[u] += vector_[u];
    momentum(island, step, vector_.data());
    Scalar norm(0), rn(0);
    for (Index u = vb; u < ve; ++u) {
      vector_[u] -= sum_[u];
      norm += sum_[u] * sum_[u];
      rn += vector_[u] * vector_[u];
    }
    const Scalar rel = std::sqrt(rn / norm);
    if (getenv("RES")) printf("[%.1e]", double(rel));
    if (!(rel > Scalar(1e-10)) || rel > last / 2) break;
    last = rel;
  }
}

}  // namespace carom::inline CAROM_ABI::detail
