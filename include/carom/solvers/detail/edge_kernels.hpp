// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/detail/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A symmetric 3 × 3 matrix.
template <typename Scalar>
struct Symmetric3 {
  Scalar xx, xy, yy, xz, yz, zz;
};

/// Any 3 × 3 matrix, entry by row and column.
template <typename Scalar>
struct General3 {
  Scalar xx, xy, xz, yx, yy, yz, zx, zy, zz;

  [[nodiscard]] General3 transpose() const noexcept { return {xx, yx, zx, xy, yy, zy, xz, yz, zz}; }
};

/// v_c = Ĵ w of the parts of an edge, components in three arrays.
template <typename Scalar>
void write_edge_velocities(const PackedEdge& edge, const Scalar* block, const Scalar* whitened,
                           Scalar* const (&velocity)[3]) noexcept {
  const Index low_lanes = lanes_above(edge.low_size), high_lanes = lanes_above(edge.high_size);
  for (Index k = edge.first_part; k < edge.part_end; ++k) {
    RowLanes<Scalar> sum[3];
    for (auto& component : sum) component.setZero();
    const auto add = [&](const Scalar* start, Index lanes) {
      for (Index i = 0; i < lanes; i += row_lanes) {
        const RowLanes<Scalar> w = lanes_at(start + i);
        for (int c = 0; c < 3; ++c) sum[c] += w * lanes_at(block + c * lanes + i);
      }
      block += 3 * lanes;
    };
    add(whitened + edge.low_start, low_lanes);
    add(whitened + edge.high_start, high_lanes);
    for (int c = 0; c < 3; ++c) velocity[c][k] = sum[c].sum();
  }
}

/// p += Ĵᵀ γ of the parts of an edge.
template <typename Scalar>
void add_edge_momentum(const PackedEdge& edge, const Scalar* block,
                       const Scalar* const (&impulse)[3], Scalar* momentum) noexcept {
  const Index low_lanes = lanes_above(edge.low_size), high_lanes = lanes_above(edge.high_size);
  for (Index k = edge.first_part; k < edge.part_end; ++k) {
    const Scalar x = impulse[0][k], y = impulse[1][k], z = impulse[2][k];
    const auto add = [&](Scalar* start, Index lanes) {
      for (Index i = 0; i < lanes; i += row_lanes) {
        lanes_at(start + i) += x * lanes_at(block + i) + y * lanes_at(block + lanes + i) +
                               z * lanes_at(block + 2 * lanes + i);
      }
      block += 3 * lanes;
    };
    if (x == Scalar(0) && y == Scalar(0) && z == Scalar(0)) {
      block += 3 * (low_lanes + high_lanes);
      continue;
    }
    add(momentum + edge.low_start, low_lanes);
    add(momentum + edge.high_start, high_lanes);
  }
}

/// p += Ĵᵀ γ of the parts of an edge for one of its bodies.
/// @param side  0 for the low body, 1 for the high one.
template <typename Scalar>
void add_side_momentum(const PackedEdge& edge, int side, const Scalar* block,
                       const Scalar* const (&impulse)[3], Scalar* momentum) noexcept {
  const Index low_lanes = lanes_above(edge.low_size), high_lanes = lanes_above(edge.high_size);
  const Index lanes = side == 0 ? low_lanes : high_lanes, width = 3 * (low_lanes + high_lanes);
  Scalar* const start = momentum + (side == 0 ? edge.low_start : edge.high_start);
  if (side == 1) block += 3 * low_lanes;
  for (Index k = edge.first_part; k < edge.part_end; ++k, block += width) {
    const Scalar x = impulse[0][k], y = impulse[1][k], z = impulse[2][k];
    if (x == Scalar(0) && y == Scalar(0) && z == Scalar(0)) continue;
    for (Index i = 0; i < lanes; i += row_lanes) {
      lanes_at(start + i) += x * lanes_at(block + i) + y * lanes_at(block + lanes + i) +
                             z * lanes_at(block + 2 * lanes + i);
    }
  }
}

/// Three columns of Ĵᵀ, eight rows of them, times G.
template <typename Scalar>
struct CurvedRows {
  RowLanes<Scalar> x, y, z;

  CurvedRows(const Scalar* block, Index stride, const Symmetric3<Scalar>& g) noexcept
      : CurvedRows(block, stride,
                   General3<Scalar>{g.xx, g.xy, g.xz, g.xy, g.yy, g.yz, g.xz, g.yz, g.zz}) {}
  CurvedRows(const Scalar* block, Index stride, const General3<Scalar>& g) noexcept {
    const RowLanes<Scalar> a = lanes_at(block), b = lanes_at(block + stride),
                           c = lanes_at(block + 2 * stride);
    x = a * g.xx + b * g.yx + c * g.zx;
    y = a * g.xy + b * g.yy + c * g.zy;
    z = a * g.xz + b * g.yz + c * g.zz;
  }
  /// One column of (Ĵᵀ G) Ĵ, for the unknown whose row of Ĵᵀ starts at `row`.
  [[nodiscard]] RowLanes<Scalar> times(const Scalar* row, Index stride) const noexcept {
    return x * row[0] + y * row[stride] + z * row[2 * stride];
  }
};

/// The sum of Ĵᵀ G Ĵ over the friction contacts of an edge between bodies of the same fixed size:
/// blocks low-low, high-low and high-high.
template <int Size, typename Scalar>
class EdgeCurvature {
 public:
  explicit EdgeCurvature(bool two_sided) noexcept : EdgeCurvature(true, two_sided, two_sided) {}
  /// @param low, cross, high  which blocks are asked for.
  EdgeCurvature(bool low, bool cross, bool high) noexcept
      : wants_low_(low), wants_cross_(cross), wants_high_(high) {
    for (auto* block : {&low_, &cross_, &high_}) {
      for (RowLanes<Scalar>& column : *block) column.setZero();
    }
  }
  template <typename Matrix3>
  void add(const Scalar* block, const Matrix3& g) noexcept {
    add(block, block, g);
  }
  /// The same with the rows of two parts of one block.
  template <typename Matrix3>
  void add(const Scalar* rows, const Scalar* columns, const Matrix3& g) noexcept {
    if (wants_low_) add_rows(CurvedRows<Scalar>(rows, row_lanes, g), columns, low_);
    if (!wants_cross_ && !wants_high_) return;
    const CurvedRows<Scalar> high(rows + 3 * row_lanes, row_lanes, g);
    if (wants_cross_) add_rows(high, columns, cross_);
    if (wants_high_) add_rows(high, columns + 3 * row_lanes, high_);
  }
  void add_low_to(const Columns<Scalar>& target) const noexcept { add_to(target, low_); }
  void add_cross_to(const Columns<Scalar>& target) const noexcept { add_to(target, cross_); }
  void add_high_to(const Columns<Scalar>& target) const noexcept { add_to(target, high_); }

 private:
  using Block = std::array<RowLanes<Scalar>, std::size_t(Size)>;
  static void add_rows(const CurvedRows<Scalar>& rows, const Scalar* columns,
                       Block& block) noexcept {
    for (int c = 0; c < Size; ++c) block[std::size_t(c)] += rows.times(columns + c, row_lanes);
  }
  static void add_to(const Columns<Scalar>& target, const Block& block) noexcept {
    for (int c = 0; c < Size; ++c) {
      Eigen::Map<Eigen::Array<Scalar, Size, 1>>(target.data + c * target.stride) +=
          block[std::size_t(c)].template head<Size>();
    }
  }
  Block low_, cross_, high_;
  bool wants_low_, wants_cross_, wants_high_;
};

/// target += (Ĵᵀ G)_rows Ĵ_columns of one part, for bodies of any size.
/// @tparam LowerOnly  whether only the target's lower triangle matters.
template <bool LowerOnly = false, typename Scalar, typename Matrix3>
void add_curvature_block(const Columns<Scalar>& target, const Scalar* rows, int row_size,
                         const Scalar* columns, int column_size, const Matrix3& g) noexcept {
  const Index row_stride = lanes_above(row_size), column_stride = lanes_above(column_size);
  for (Index i = 0; i < row_size; i += row_lanes) {
    const CurvedRows<Scalar> curved(rows + i, row_stride, g);
    const Index count = (std::min)(row_lanes, row_size - i);
    const Index end =
        LowerOnly ? (std::min)(i + row_lanes, Index(column_size)) : Index(column_size);
    for (Index c = 0; c < end; ++c) {
      const RowLanes<Scalar> sum = curved.times(columns + c, column_stride);
      Scalar* const column = target.data + c * target.stride + i;
      if (count == row_lanes) {
        lanes_at(column) += sum;
      } else {
        add_numbers(column, sum.data(), int(count));
      }
    }
  }
}

/// Adds (Ĵᵀ G)_rows Ĵ_columns of two parts to those of an edge's blocks whose targets have data.
template <typename Scalar, typename Matrix3>
void add_chosen_blocks(const PackedEdge& edge, const Scalar* rows, const Scalar* columns,
                       const Matrix3& g, const Columns<Scalar> (&targets)[3]) noexcept {
  const int low = edge.low_size, high = edge.high_size;
  const Scalar *const high_rows = rows + 3 * lanes_above(low), *const high_columns =
                                                                   columns + 3 * lanes_above(low);
  if (targets[0].data != nullptr) add_curvature_block(targets[0], rows, low, columns, low, g);
  if (targets[1].data != nullptr) add_curvature_block(targets[1], high_rows, high, columns, low, g);
  if (targets[2].data != nullptr) {
    add_curvature_block(targets[2], high_rows, high, high_columns, high, g);
  }
}

/// Adds the curvature of an edge's friction contacts to a matrix of blocks.
/// @tparam Matrix3  Symmetric3, or General3 for a G that is not symmetric.
/// @param curvature  curvature(part, g) writes G; false where it is zero.
/// @param targets  where low-low, high-low and high-high go. Those of the world are not used; where
///                 the first has no data, low-low and high-low are left out, and where the last has
///                 none, high-high.
template <template <typename> typename Matrix3 = Symmetric3, typename Scalar, typename Curvature>
void add_edge_curvature(const PackedEdge& edge, const Scalar* block, const Curvature& curvature,
                        const Columns<Scalar> (&targets)[3]) noexcept {
  const Index low_width = 3 * lanes_above(edge.low_size);
  const Index width = low_width + 3 * lanes_above(edge.high_size);
  const bool two_sided = edge.high_slot >= 0, low = targets[0].data != nullptr;
  const bool cross = two_sided && low, high = two_sided && targets[2].data != nullptr;
  Matrix3<Scalar> g;
  const auto add_fixed = [&]<int Size>(std::integral_constant<int, Size>) {
    EdgeCurvature<Size, Scalar> sum(low, cross, high);
    bool any = false;
    for (Index k = edge.first_part; k < edge.other_begin; ++k, block += width) {
      if (!curvature(k, g)) continue;
      sum.add(block, g);
      any = true;
    }
    if (!any) return;
    if (low) sum.add_low_to(targets[0]);
    if (cross) sum.add_cross_to(targets[1]);
    if (high) sum.add_high_to(targets[2]);
  };
  const bool same = !two_sided || edge.high_size == edge.low_size;
  if (same && edge.low_size == 6) return add_fixed(std::integral_constant<int, 6>{});
  if (same && edge.low_size == 3) return add_fixed(std::integral_constant<int, 3>{});
  for (Index k = edge.first_part; k < edge.other_begin; ++k, block += width) {
    if (!curvature(k, g)) continue;
    const Scalar* const other = block + low_width;
    if (low) add_curvature_block(targets[0], block, edge.low_size, block, edge.low_size, g);
    if (cross) add_curvature_block(targets[1], other, edge.high_size, block, edge.low_size, g);
    if (high) add_curvature_block(targets[2], other, edge.high_size, other, edge.high_size, g);
  }
}

/// Adds the curvature of any other block of an edge to a matrix of blocks.
/// @param block  Ĵᵀ of the edge's first part.
/// @param g      scaled G, zero beyond the rows.
/// @param any_target  whether high-low may be wanted where low-low is not.
template <typename Scalar>
void add_other_curvature(const PackedEdge& edge, const Scalar* block,
                         const PackedBlock<Scalar>& other, const SquareMatrix<Scalar, 6>& g,
                         const Columns<Scalar> (&targets)[3], bool any_target = false) noexcept {
  const Index width = 3 * (lanes_above(edge.low_size) + lanes_above(edge.high_size));
  const Scalar* const first = block + (other.first_part - edge.first_part) * width;
  const bool cross = targets[0].data != nullptr || any_target;
  const Columns<Scalar> none{nullptr, 0};
  const bool two_sided = edge.high_slot >= 0;
  const Columns<Scalar> wanted[3] = {targets[0], two_sided && cross ? targets[1] : none,
                                     two_sided ? targets[2] : none};
  for (int i = 0; i < other.part_count; ++i) {
    for (int j = 0; j < other.part_count; ++j) {
      const SquareMatrix<Scalar, 3> p = g.template block<3, 3>(3 * i, 3 * j);
      if (p.isZero(Scalar(0))) continue;
      const General3<Scalar> own{p(0, 0), p(0, 1), p(0, 2), p(1, 0), p(1, 1),
                                 p(1, 2), p(2, 0), p(2, 1), p(2, 2)};
      const Scalar* const low_i = first + i * width;
      const Scalar* const low_j = first + j * width;
      add_chosen_blocks(edge, low_i, low_j, own, wanted);
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
