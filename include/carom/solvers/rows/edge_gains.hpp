// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "carom/solvers/rows/body_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds Ĵᵀ N Ĵ of an edge's blocks, or of Nᵀ: low-low, high-low and high-high.
/// @param number   of the edge.
/// @param targets  of these blocks; on the diagonal nothing above it is promised.
template <RealScalar Scalar>
void add_edge_gains(const BodyRows<Scalar>& rows, Index number, const BlockGains<Scalar>& gains,
                    bool transposed, const Columns<Scalar> (&targets)[3]) noexcept {
  const typename BodyRows<Scalar>::Edge& edge = rows.edges()[number];
  const PackedEdge& packed = edge.packed;
  const Index width = 3 * (lanes_above(packed.low_size) + lanes_above(packed.high_size));
  const EdgeTargets<Scalar> wanted(packed, targets);
  // Calls visit(rows, columns, gain) for every pair of parts of every block.
  const auto for_each_pair = [&](const auto& visit) {
    const Scalar* first = rows.jacobians(packed);
    for (Index i = edge.first_block; i < edge.block_end; ++i) {
      const int parts = rows.blocks().parts(i);
      for (int a = 0; a < parts; ++a) {
        for (int b = 0; b < parts; ++b) {
          const Scalar* const n = transposed ? gains.at(i, b, a, parts) : gains.at(i, a, b, parts);
          const General3<Scalar> g{n[0], n[3], n[6], n[1], n[4], n[7], n[2], n[5], n[8]};
          if (g.is_zero()) continue;
          visit(first + a * width, first + b * width, transposed ? g.transpose() : g);
        }
      }
      first += parts * width;
    }
  };
  const auto add_fixed = [&]<int Size>(std::integral_constant<int, Size>) {
    EdgeCurvature<Size, Scalar> sum(wanted);
    for_each_pair(
        [&](const Scalar* x, const Scalar* y, const General3<Scalar>& g) { sum.add(x, y, g); });
    sum.add_to_targets();
  };
  const bool same = packed.high_slot < 0 || packed.high_size == packed.low_size;
  if (same && packed.low_size == 6) return add_fixed(std::integral_constant<int, 6>{});
  if (same && packed.low_size == 3) return add_fixed(std::integral_constant<int, 3>{});
  for_each_pair([&](const Scalar* x, const Scalar* y, const General3<Scalar>& g) {
    add_part_curvature(packed, x, y, g, wanted, true);
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
