// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/rows/body_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Some parts of an island's blocks, and passes over their rows Ĵ.
template <RealScalar Scalar>
class ChosenParts {
 public:
  /// A part: its edge, and its place among all parts.
  struct Part {
    Index edge, part;
  };

  /// @param parts  the chosen ones, kept by the caller.
  ChosenParts(const BodyRows<Scalar>& rows, const Part* parts, Index count) noexcept
      : rows_(rows), parts_(parts), count_(count) {}

  /// Ĵ x of one part.
  [[nodiscard]] static Vector3<Scalar> velocity(const BodyRows<Scalar>& rows, const Part& part,
                                                const Scalar* x) noexcept;
  /// Ĵ x of all, one after the other.
  void write_velocities(const Scalar* x, Scalar* velocities) const noexcept {
    for (Index i = 0; i < count_; ++i) {
      Eigen::Map<Vector3<Scalar>>{velocities + 3 * i} = velocity(rows_, parts_[i], x);
    }
  }
  /// x += Ĵᵀ γ for impulses of all, one after the other.
  void add_momentum(const Scalar* impulses, Scalar* x) const noexcept;
  /// W = Ĵ Ĵᵀ, column by column.
  void write_products(Scalar* products) const noexcept;

 private:
  /// Calls visit(Ĵᵀ of one side, its lanes, where the body's unknowns start).
  template <typename Visit>
  static void for_each_side(const BodyRows<Scalar>& rows, const Part& part,
                            Visit&& visit) noexcept {
    const PackedEdge& edge = rows.edges()[part.edge].packed;
    const Index low = lanes_above(edge.low_size), high = lanes_above(edge.high_size);
    const Scalar* const own =
        rows.jacobians(edge) + 3 * (low + high) * (part.part - edge.first_part);
    visit(own, low, edge.low_start);
    if (edge.high_slot >= 0) visit(own + 3 * low, high, edge.high_start);
  }
  void write_product(Index row, Index column, Scalar* products) const noexcept;

  const BodyRows<Scalar>& rows_;
  const Part* parts_;
  Index count_;
};

// --- implementation ---

template <RealScalar Scalar>
Vector3<Scalar> ChosenParts<Scalar>::velocity(const BodyRows<Scalar>& rows, const Part& part,
                                              const Scalar* x) noexcept {
  RowPacket<Scalar> sums[3];
  for (auto& sum : sums) sum.setZero();
  for_each_side(rows, part, [&](const Scalar* row, Index lanes, Index start) {
    for (Index k = 0; k < lanes; k += row_lanes) {
      const RowPacket<Scalar> own = packet_at(x + start + k);
      for (int r = 0; r < 3; ++r) sums[r] += own * packet_at(row + r * lanes + k);
    }
  });
  return {sums[0].sum(), sums[1].sum(), sums[2].sum()};
}

template <RealScalar Scalar>
void ChosenParts<Scalar>::add_momentum(const Scalar* impulses, Scalar* x) const noexcept {
  for (Index i = 0; i < count_; ++i) {
    const Scalar* const g = impulses + 3 * i;
    for_each_side(rows_, parts_[i], [&](const Scalar* row, Index lanes, Index start) {
      for (Index k = 0; k < lanes; k += row_lanes) {
        packet_at(x + start + k) += g[0] * packet_at(row + k) + g[1] * packet_at(row + lanes + k) +
                                    g[2] * packet_at(row + 2 * lanes + k);
      }
    });
  }
}

/// The block of W of two parts, which is zero before.
template <RealScalar Scalar>
void ChosenParts<Scalar>::write_product(Index row, Index column, Scalar* products) const noexcept {
  const Index size = 3 * count_;
  for_each_side(rows_, parts_[row], [&](const Scalar* x, Index lanes, Index start) {
    for_each_side(rows_, parts_[column], [&](const Scalar* y, Index, Index other) {
      if (start != other) return;
      for (int c = 0; c < 3; ++c) {
        RowPacket<Scalar> sums[3];
        for (auto& sum : sums) sum.setZero();
        for (Index k = 0; k < lanes; k += row_lanes) {
          const RowPacket<Scalar> own = packet_at(y + c * lanes + k);
          for (int r = 0; r < 3; ++r) sums[r] += own * packet_at(x + r * lanes + k);
        }
        Scalar* const to = products + (3 * column + c) * size + 3 * row;
        for (int r = 0; r < 3; ++r) to[r] += sums[r].sum();
      }
    });
  });
}

template <RealScalar Scalar>
void ChosenParts<Scalar>::write_products(Scalar* products) const noexcept {
  const Index size = 3 * count_;
  std::fill_n(products, size * size, Scalar(0));
  for (Index column = 0; column < count_; ++column) {
    for (Index row = column; row < count_; ++row) write_product(row, column, products);
  }
  for (Index c = 0; c < size; ++c) {
    for (Index r = 0; r < c; ++r) products[c * size + r] = products[r * size + c];
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
