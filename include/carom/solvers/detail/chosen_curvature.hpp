// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/detail/edge_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// add_chosen_edge_curvature() between bodies of the same fixed size.
template <int Size, typename Scalar, typename Curvature>
void add_chosen_curvature(const PackedEdge& edge, const Scalar* block, const Curvature& curvature,
                          const Columns<Scalar> (&targets)[3]) noexcept {
  constexpr Index side = 3 * row_lanes;
  const Index width = edge.high_slot < 0 ? side : 2 * side;
  RowLanes<Scalar> sums[3][std::size_t(Size)];
  bool wanted[3];
  for (int t = 0; t < 3; ++t) {
    wanted[t] = targets[t].data != nullptr;
    for (RowLanes<Scalar>& column : sums[t]) column.setZero();
  }
  Symmetric3<Scalar> g;
  bool any = false;
  for (Index k = edge.first_part; k < edge.other_begin; ++k, block += width) {
    if (!curvature(k, g)) continue;
    any = true;
    for (int t = 0; t < 3; ++t) {
      if (!wanted[t]) continue;
      const Scalar* const rows = t == 0 ? block : block + side;
      const Scalar* column = t == 2 ? block + side : block;
      const RowLanes<Scalar> a = lanes_at(rows), b = lanes_at(rows + row_lanes),
                             c = lanes_at(rows + 2 * row_lanes);
      const RowLanes<Scalar> x = a * g.xx + b * g.xy + c * g.xz;
      const RowLanes<Scalar> y = a * g.xy + b * g.yy + c * g.yz;
      const RowLanes<Scalar> z = a * g.xz + b * g.yz + c * g.zz;
      for (RowLanes<Scalar>& sum : sums[t]) {
        sum += x * column[0] + y * column[row_lanes] + z * column[2 * row_lanes];
        ++column;
      }
    }
  }
  for (int t = 0; t < 3 && any; ++t) {
    for (int c = 0; c < Size && wanted[t]; ++c) {
      Eigen::Map<Eigen::Array<Scalar, Size, 1>>(targets[t].data + c * targets[t].stride) +=
          sums[t][c].template head<Size>();
    }
  }
}

/// Adds the curvature of an edge's friction contacts to those of the blocks low-low, high-low and
/// high-high whose targets have data.
/// @param curvature  curvature(part, g) writes G; false where it is zero.
template <typename Scalar, typename Curvature>
void add_chosen_edge_curvature(const PackedEdge& edge, const Scalar* block,
                               const Curvature& curvature,
                               const Columns<Scalar> (&targets)[3]) noexcept {
  const bool same = edge.high_slot < 0 || edge.high_size == edge.low_size;
  if (same && edge.low_size == 6) return add_chosen_curvature<6>(edge, block, curvature, targets);
  const Index low_width = 3 * lanes_above(edge.low_size);
  const Index width = low_width + 3 * lanes_above(edge.high_size);
  Symmetric3<Scalar> g;
  for (Index k = edge.first_part; k < edge.other_begin; ++k, block += width) {
    if (!curvature(k, g)) continue;
    add_chosen_blocks(edge, block, block, g, targets);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
