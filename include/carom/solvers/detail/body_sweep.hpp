// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/solvers/detail/active_block.hpp"
#include "carom/solvers/detail/body_rows.hpp"

namespace carom::inline CAROM_ABI::detail {

/// Sweeps of projected Gauss-Seidel over the blocks of an island, on the bodies: each block in turn
/// goes a step of its own law, γ ← 𝒞(γ − u/d), and its bodies move with it. A sweep costs two
/// passes over Ĵ, no system.
///
/// d bounds the block's own W + R from above, so that a step never goes too far; a friction contact
/// under Coulomb's law goes along its normal first.
/// @cite  acary2018coulomb for solving contacts in turn.
template <RealScalar Scalar>
class BodySweep {
 public:
  /// @param impulse   γ of the island in parts, in its sets; in and out.
  /// @param whitened  room for a vector of the rows; Ĵᵀγ of the island at the end.
  /// @param go_on     called before each sweep, whether to take it.
  template <typename GoOn>
  static void sweep(const BodyRows<Scalar>& rows, Index island, FrictionLaw law, Scalar* impulse,
                    Scalar* whitened, GoOn&& go_on) {
    rows.write_momentum(island, impulse, whitened);
    const ContactIsland& own = rows.graph().islands()[island];
    for (bool forwards = true; go_on(); forwards = !forwards) {
      for (Index k = 0; k < own.edge_end - own.first_edge; ++k) {
        pass(rows, forwards ? own.first_edge + k : own.edge_end - 1 - k, law, impulse, whitened);
      }
    }
  }

 private:
  /// The rows of a part on its one or two bodies.
  struct PartRows {
    const Scalar* rows[2];
    Index lanes[2];
    Scalar* bodies[2];

    [[nodiscard]] Scalar velocity(int row) const noexcept {
      RowLanes<Scalar> sum;
      sum.setZero();
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          sum += lanes_at(rows[s] + row * lanes[s] + i) * lanes_at(bodies[s] + i);
        }
      }
      return sum.sum();
    }
    [[nodiscard]] Scalar squared(int row) const noexcept {
      RowLanes<Scalar> sum;
      sum.setZero();
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          sum += lanes_at(rows[s] + row * lanes[s] + i).square();
        }
      }
      return sum.sum();
    }
    void push(int row, const Scalar& step) const noexcept {
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          lanes_at(bodies[s] + i) += step * lanes_at(rows[s] + row * lanes[s] + i);
        }
      }
    }
  };

  static void pass(const BodyRows<Scalar>& rows, Index number, FrictionLaw law, Scalar* impulse,
                   Scalar* whitened) {
    const auto& edge = rows.edges()[number];
    const PackedEdge& packed = edge.packed;
    const Index lanes[2] = {lanes_above(packed.low_size), lanes_above(packed.high_size)};
    const Index width = 3 * (lanes[0] + lanes[1]);
    const Scalar* jacobian = rows.jacobians(packed);
    for (Index i = edge.first_block; i < edge.block_end; ++i) {
      rows.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
        PartRows parts[Parts];
        for (int a = 0; a < Parts; ++a) {
          parts[a] = {{jacobian + a * width, jacobian + a * width + 3 * lanes[0]},
                      {lanes[0], lanes[1]},
                      {whitened + packed.low_start, whitened + packed.high_start}};
        }
        const Scalar* load = rows.load() + 3 * block.first_part;
        if constexpr (Parts == 1) {
          if (law == FrictionLaw::coulomb) {
            return slide(block, parts[0], load, impulse + 3 * block.first_part);
          }
        }
        project(block, law, parts, load, impulse);
      });
      jacobian += rows.blocks().parts(i) * width;
    }
  }

  /// Along the normal, then along both tangents.
  static void slide(const BlockRows<Scalar, 1>& block, const PartRows& part, const Scalar* load,
                    Scalar* impulse) noexcept {
    using std::sqrt;
    const auto change = [&](int row, const Scalar& next) {
      part.push(row, next - impulse[row]);
      impulse[row] = next;
    };
    const auto velocity = [&](int row) {
      return part.velocity(row) + load[row] + block.regularization(row) * impulse[row];
    };
    const Scalar stiff = part.squared(2) + block.regularization(2);
    if (stiff > Scalar(0)) {
      change(2, (std::max)(Scalar(impulse[2] - velocity(2) / stiff), Scalar(-block.shift(2))));
    }
    const Scalar both = part.squared(0) + part.squared(1) + block.regularization(0);
    if (!(both > Scalar(0))) return;
    Scalar y[2];
    for (int k = 0; k < 2; ++k) y[k] = impulse[k] + block.shift(k) - velocity(k) / both;
    const Scalar bound = block.disc.friction[0] * (impulse[2] + block.shift(2));
    const Scalar length = sqrt(y[0] * y[0] + y[1] * y[1]);
    const Scalar share = length > bound ? bound / length : Scalar(1);
    for (int k = 0; k < 2; ++k) change(k, share * y[k] - block.shift(k));
  }

  /// All rows at once, by the trace of the block.
  template <int Parts>
  static void project(const BlockRows<Scalar, Parts>& block, FrictionLaw law,
                      const PartRows (&parts)[Parts], const Scalar* load,
                      Scalar* impulse) noexcept {
    using Active = ActiveBlock<Scalar, Parts>;
    if (!(block.inverse_mass > Scalar(0))) return;
    const PartNumbers<Scalar, Parts> before = read_parts(block, impulse);
    PartNumbers<Scalar, Parts> velocity = block.regularization.cwiseProduct(before);
    for (int k = 0; k < 3 * Parts; ++k) velocity(k) += parts[k / 3].velocity(k % 3) + load[k];
    const PartNumbers<Scalar, Parts> bound = Scalar(3 * Parts) * Active::weights(block, law);
    const PartNumbers<Scalar, Parts> after =
        Active::nearest(block, law, before - velocity.cwiseQuotient(bound));
    for (int k = 0; k < 3 * Parts; ++k) parts[k / 3].push(k % 3, after(k) - before(k));
    write_parts(block, after, impulse);
  }
};

}  // namespace carom::inline CAROM_ABI::detail
