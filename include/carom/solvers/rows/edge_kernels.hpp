// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "carom/solvers/rows/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Any 3 × 3 matrix, entry by row and column.
template <typename Scalar>
struct General3 {
  Scalar xx, xy, xz, yx, yy, yz, zx, zy, zz;

  [[nodiscard]] General3 transpose() const noexcept { return {xx, yx, zx, xy, yy, zy, xz, yz, zz}; }
  [[nodiscard]] bool is_zero() const noexcept {
    const Scalar numbers[9] = {xx, xy, xz, yx, yy, yz, zx, zy, zz};
    return std::all_of(numbers, numbers + 9, [](const Scalar& x) { return x == Scalar(0); });
  }
};

/// A symmetric 3 × 3 matrix.
template <typename Scalar>
struct Symmetric3 {
  Scalar xx, xy, yy, xz, yz, zz;

  [[nodiscard]] General3<Scalar> whole() const noexcept {
    return {xx, xy, xz, xy, yy, yz, xz, yz, zz};
  }
};

/// Ĵᵀ of one part on its bodies, three columns of whole registers for each: products with it.
template <typename Scalar>
struct PartRows {
  int side_count;   ///< 2; 1 if the other body is the world
  Index lanes[2];   ///< numbers of a column
  Index starts[2];  ///< of the bodies in a vector
  const Scalar* columns[2];

  /// @param block  Ĵᵀ of the edge's first part.
  PartRows(const PackedEdge& edge, const Scalar* block, Index part) noexcept
      : side_count(edge.high_slot < 0 ? 1 : 2),
        lanes{lanes_above(edge.low_size), lanes_above(edge.high_size)},
        starts{edge.low_start, edge.high_start} {
    columns[0] = block + width() * (part - edge.first_part);
    columns[1] = columns[0] + 3 * lanes[0];
  }
  /// Count of numbers from one part to the next.
  [[nodiscard]] Index width() const noexcept { return 3 * (lanes[0] + lanes[1]); }

  /// Ĵ x, x a vector.
  void write_velocity(const Scalar* x, Scalar (&velocity)[3]) const noexcept {
    RowPacket<Scalar> sums[3];
    for (auto& sum : sums) sum.setZero();
    for (int s = 0; s < side_count; ++s) {
      for (Index i = 0; i < lanes[s]; i += row_lanes) {
        const RowPacket<Scalar> own = packet_at(x + starts[s] + i);
        for (int c = 0; c < 3; ++c) sums[c] += own * packet_at(columns[s] + c * lanes[s] + i);
      }
    }
    for (int c = 0; c < 3; ++c) velocity[c] = sums[c].sum();
  }
  /// A register of Ĵᵀ γ on one body.
  [[nodiscard]] RowPacket<Scalar> momentum(int side, Index i,
                                           const Scalar (&gamma)[3]) const noexcept {
    const Scalar* const own = columns[side] + i;
    return gamma[0] * packet_at(own) + gamma[1] * packet_at(own + lanes[side]) +
           gamma[2] * packet_at(own + 2 * lanes[side]);
  }
  /// x += Ĵᵀ γ on one body, x a vector.
  void add_momentum(int side, const Scalar (&gamma)[3], Scalar* x) const noexcept {
    const Index count = lanes[side];
    Scalar* const to = x + starts[side];
    for (Index i = 0; i < count; i += row_lanes) packet_at(to + i) += momentum(side, i, gamma);
  }
  /// Moves to the next part of the edge.
  void advance() noexcept {
    for (auto& column : columns) column += width();
  }
};

/// Writes Ĵ x of the parts of an edge.
template <typename Scalar>
void write_edge_velocities(const PackedEdge& edge, const Scalar* block, const Scalar* x,
                           const PartArray<Scalar>& velocity) noexcept {
  PartRows<Scalar> part(edge, block, edge.first_part);
  for (Index k = edge.first_part; k < edge.part_end; ++k, part.advance()) {
    Scalar own[3];
    part.write_velocity(x, own);
    for (int c = 0; c < 3; ++c) velocity(c, k) = own[c];
  }
}

/// x += Ĵᵀ γ of the parts of an edge.
/// @param low, high  whether for the low body, and whether for the high one.
template <typename Scalar, typename Number>
void add_edge_momentum(const PackedEdge& edge, const Scalar* block,
                       const PartArray<Number>& impulse, Scalar* x, bool low = true,
                       bool high = true) noexcept {
  PartRows<Scalar> part(edge, block, edge.first_part);
  for (Index k = edge.first_part; k < edge.part_end; ++k, part.advance()) {
    const Scalar gamma[3] = {impulse(0, k), impulse(1, k), impulse(2, k)};
    if (gamma[0] == Scalar(0) && gamma[1] == Scalar(0) && gamma[2] == Scalar(0)) continue;
    if (low) part.add_momentum(0, gamma, x);
    if (high) part.add_momentum(1, gamma, x);
  }
}

/// Three columns of Ĵᵀ, eight rows of them, times G.
template <typename Scalar>
struct CurvedRows {
  RowPacket<Scalar> x, y, z;

  CurvedRows(const Scalar* block, Index stride, const General3<Scalar>& g) noexcept {
    const RowPacket<Scalar> a = packet_at(block), b = packet_at(block + stride),
                            c = packet_at(block + 2 * stride);
    x = a * g.xx + b * g.yx + c * g.zx;
    y = a * g.xy + b * g.yy + c * g.zy;
    z = a * g.xz + b * g.yz + c * g.zz;
  }
};

/// The targets of the curvature of an edge: its blocks low-low, high-low and high-high. Blocks
/// without data are omitted; the world has none.
template <typename Scalar>
struct EdgeTargets {
  Columns<Scalar> low, cross = {nullptr, 0}, high = {nullptr, 0};

  EdgeTargets(const PackedEdge& edge, const Columns<Scalar> (&targets)[3]) noexcept
      : low(targets[0]) {
    if (edge.high_slot < 0) return;
    cross = targets[1];
    high = targets[2];
  }
};

/// Calls add(targets) with the blocks of a matrix that an edge adds to: low-low, high-low and
/// high-high.
/// @param block  block(column, row) of two slots, the row eliminated no earlier than the column.
template <typename Block, typename Add>
void add_to_blocks(const PackedEdge& edge, const Block& block, const Add& add) noexcept {
  decltype(block(0, 0)) targets[3] = {block(edge.low_slot, edge.low_slot), {}, {}};
  if (edge.high_slot >= 0) {
    targets[1] = block(edge.low_slot, edge.high_slot);
    targets[2] = block(edge.high_slot, edge.high_slot);
  }
  add(targets);
}

/// Adds the identity to a block on the diagonal.
template <typename Scalar>
void add_identity(const Columns<Scalar>& block, Index size) noexcept {
  for (Index k = 0; k < size; ++k) block.data[k * (block.stride + 1)] += 1;
}

/// The sum of Ĵᵀ G Ĵ over parts of an edge between bodies of the same fixed size.
template <int Size, typename Scalar>
class EdgeCurvature {
 public:
  explicit EdgeCurvature(const EdgeTargets<Scalar>& targets) noexcept
      : targets_(targets),
        has_low_(targets.low.data != nullptr),
        has_cross_(targets.cross.data != nullptr),
        has_high_(targets.high.data != nullptr) {
    for (auto* block : {&low_, &cross_, &high_}) {
      for (RowPacket<Scalar>& column : *block) column.setZero();
    }
  }
  /// @param rows, columns  Ĵᵀ of two parts of one block, or of the same.
  void add(const Scalar* rows, const Scalar* columns, const General3<Scalar>& g) noexcept {
    if (has_low_) add_rows(CurvedRows<Scalar>(rows, row_lanes, g), columns, low_);
    if (!has_cross_ && !has_high_) return;
    const CurvedRows<Scalar> high(rows + 3 * row_lanes, row_lanes, g);
    if (has_cross_) add_rows(high, columns, cross_);
    if (has_high_) add_rows(high, columns + 3 * row_lanes, high_);
  }
  /// Adds the sums to the targets.
  void add_to_targets() const noexcept {
    if (has_low_) add_to(targets_.low, low_);
    if (has_cross_) add_to(targets_.cross, cross_);
    if (has_high_) add_to(targets_.high, high_);
  }

 private:
  using Block = std::array<RowPacket<Scalar>, std::size_t(Size)>;
  static void add_rows(const CurvedRows<Scalar>& rows, const Scalar* columns,
                       Block& block) noexcept {
    for (int c = 0; c < Size; ++c) {
      block[std::size_t(c)] += rows.x * columns[c] + rows.y * columns[row_lanes + c] +
                               rows.z * columns[2 * row_lanes + c];
    }
  }
  static void add_to(const Columns<Scalar>& target, const Block& block) noexcept {
    Scalar numbers[row_lanes];
    for (int c = 0; c < Size; ++c) {
      block[std::size_t(c)].write_to(numbers);
      add_fixed<Size>(target.data + c * target.stride, numbers);
    }
  }
  const EdgeTargets<Scalar>& targets_;
  bool has_low_, has_cross_, has_high_;
  Block low_, cross_, high_;
};

/// target += (Ĵᵀ G)_rows Ĵ_columns of one part, for bodies of any size.
/// @param lower_only  whether only the target's lower triangle is needed.
template <typename Scalar>
void add_curvature_block(const Columns<Scalar>& target, const Scalar* rows, int row_size,
                         const Scalar* columns, int column_size, const General3<Scalar>& g,
                         bool lower_only = false) noexcept {
  const Index row_stride = lanes_above(row_size), column_stride = lanes_above(column_size);
  for (Index i = 0; i < row_size; i += row_lanes) {
    const CurvedRows<Scalar> curved(rows + i, row_stride, g);
    const int count = int((std::min)(row_lanes, row_size - i));
    const Index end =
        lower_only ? (std::min)(i + row_lanes, Index(column_size)) : Index(column_size);
    Scalar numbers[row_lanes];
    for (Index c = 0; c < end; ++c) {
      const RowPacket<Scalar> sum = curved.x * columns[c] + curved.y * columns[column_stride + c] +
                                    curved.z * columns[2 * column_stride + c];
      Scalar* const column = target.data + c * target.stride + i;
      if (count == row_lanes) {
        packet_at(column) += sum;
      } else {
        sum.write_to(numbers);
        add_numbers(column, numbers, count);
      }
    }
  }
}

/// Adds (Ĵᵀ G)_rows Ĵ_columns of two parts of an edge.
/// @param lower_only  as above, for the diagonal blocks.
template <typename Scalar>
void add_part_curvature(const PackedEdge& edge, const Scalar* rows, const Scalar* columns,
                        const General3<Scalar>& g, const EdgeTargets<Scalar>& targets,
                        bool lower_only = false) noexcept {
  const int low = edge.low_size, high = edge.high_size;
  const Scalar* const high_rows = rows + 3 * lanes_above(low);
  const Scalar* const high_columns = columns + 3 * lanes_above(low);
  if (targets.low.data != nullptr) {
    add_curvature_block(targets.low, rows, low, columns, low, g, lower_only);
  }
  if (targets.cross.data != nullptr) {
    add_curvature_block(targets.cross, high_rows, high, columns, low, g);
  }
  if (targets.high.data != nullptr) {
    add_curvature_block(targets.high, high_rows, high, high_columns, high, g, lower_only);
  }
}

/// Adds Ĵᵀ G Ĵ of parts of an edge to a matrix of blocks: low-low, high-low and high-high.
/// @param targets  as in EdgeTargets.
/// @param lower_only  whether entries above the diagonal of low-low and high-high are not needed.
/// @param for_each_pair  calls visit(rows, columns, g) for pairs of parts of one block, with Ĵᵀ of
///                       the two and the 3 × 3 part of G that couples them.
template <typename Scalar, typename ForEachPair>
void add_curvature_of_pairs(const PackedEdge& edge, const Columns<Scalar> (&targets)[3],
                            bool lower_only, const ForEachPair& for_each_pair) noexcept {
  const EdgeTargets<Scalar> wanted(edge, targets);
  const auto add_fixed = [&]<int Size>(std::integral_constant<int, Size>) {
    EdgeCurvature<Size, Scalar> sum(wanted);
    bool any = false;
    for_each_pair([&](const Scalar* rows, const Scalar* columns, const General3<Scalar>& g) {
      sum.add(rows, columns, g);
      any = true;
    });
    if (any) sum.add_to_targets();
  };
  const bool same = edge.high_slot < 0 || edge.high_size == edge.low_size;
  if (same && edge.low_size == 6) return add_fixed(std::integral_constant<int, 6>{});
  if (same && edge.low_size == 3) return add_fixed(std::integral_constant<int, 3>{});
  for_each_pair([&](const Scalar* rows, const Scalar* columns, const General3<Scalar>& g) {
    add_part_curvature(edge, rows, columns, g, wanted, lower_only);
  });
}

/// Adds the curvature of an edge's friction contacts to a matrix of blocks.
/// @param block  Ĵᵀ of the edge's first part.
/// @param curvature  curvature(part, g) writes G; returns false if it is zero.
template <typename Scalar, typename Curvature>
void add_edge_curvature(const PackedEdge& edge, const Scalar* block, const Curvature& curvature,
                        const Columns<Scalar> (&targets)[3]) noexcept {
  add_curvature_of_pairs(edge, targets, false, [&](const auto& visit) {
    General3<Scalar> g;
    for (Index k = edge.first_part; k < edge.other_begin; ++k) {
      if (!curvature(k, g)) continue;
      const Scalar* const own = PartRows<Scalar>(edge, block, k).columns[0];
      visit(own, own, g);
    }
  });
}

/// Adds the curvature of any other block of an edge to a matrix of blocks.
/// @param g      scaled G, zero beyond the rows; with `transposed`, its transpose is added.
template <typename Scalar>
void add_other_curvature(const PackedEdge& edge, const Scalar* block,
                         const PackedBlock<Scalar>& other, const SquareMatrix<Scalar, 6>& g,
                         const Columns<Scalar> (&targets)[3], bool transposed = false) noexcept {
  const PartRows<Scalar> first(edge, block, other.first_part);
  const EdgeTargets<Scalar> wanted(edge, targets);
  for (int i = 0; i < other.part_count; ++i) {
    for (int j = 0; j < other.part_count; ++j) {
      const auto at = [&](int r, int c) {
        return transposed ? g(3 * j + c, 3 * i + r) : g(3 * i + r, 3 * j + c);
      };
      const General3<Scalar> own{at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 1),
                                 at(1, 2), at(2, 0), at(2, 1), at(2, 2)};
      if (own.is_zero()) continue;
      add_part_curvature(edge, first.columns[0] + i * first.width(),
                         first.columns[0] + j * first.width(), own, wanted);
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
