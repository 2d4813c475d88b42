// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/rows/body_rows.hpp"
#include "carom/solvers/search/active_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sweeps of projected Gauss-Seidel over the blocks of an island, on the bodies: each block in turn
/// does a step of its own law, γ ← 𝒞(γ − u/d), and its bodies move with it. A sweep costs two
/// products with Ĵ and no linear system.
///
/// d is an upper bound of the block's own W + R, so that a step is never too large. Rows between
/// bounds are processed one by one; under Coulomb's law the normal comes before friction.
/// It does not use sweep_blocks(), which is slower: with the rows of a disc as its blocks a sweep
/// under Coulomb's law takes 1.60 us instead of 1.38 (14 bodies, 65 rows, g++ 12 -O2), with the
/// same result to the last bit.
/// @cite  acary2018coulomb for solving contacts in turn.
template <RealScalar Scalar>
class BodySweep {
 public:
  /// @param impulse   γ of the island in parts, in its sets; in and out.
  /// @param whitened  memory for a vector of the rows; at the end it is Ĵᵀγ of the island.
  /// @param diagonal  memory for numbers in parts; at the end the diagonal of W + R of the island.
  /// @param go_on     is called before each sweep and returns whether to do it.
  template <typename GoOn>
  static void sweep(const BodyRows<Scalar>& rows, Index island, FrictionLaw law, Scalar* impulse,
                    Scalar* whitened, Scalar* diagonal, GoOn&& go_on) {
    if (!go_on()) return;
    rows.write_momentum(island, impulse, whitened);
    const ContactIsland& own = rows.graph().islands()[island];
    const State state{rows, impulse, whitened, diagonal};
    for (Index k = own.first_edge; k < own.edge_end; ++k) {
      visit(state, k, [](const auto& one) { one.write_diagonal(); });
    }
    bool forwards = true;
    do {
      for (Index k = 0; k < own.edge_end - own.first_edge; ++k) {
        visit(state, forwards ? own.first_edge + k : own.edge_end - 1 - k,
              [&](const auto& one) { step(one, law); });
      }
      forwards = !forwards;
    } while (go_on());
  }

 private:
  /// The rows of a part on its one or two bodies.
  struct PartRows {
    const Scalar* rows[2];
    Index lanes[2];
    Scalar* bodies[2];

    [[nodiscard]] Scalar velocity(int row) const noexcept {
      RowPacket<Scalar> sum;
      sum.setZero();
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          sum += packet_at(rows[s] + row * lanes[s] + i) * packet_at(bodies[s] + i);
        }
      }
      return sum.sum();
    }
    [[nodiscard]] Scalar squared(int row) const noexcept {
      RowPacket<Scalar> sum;
      sum.setZero();
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          sum += packet_at(rows[s] + row * lanes[s] + i).square();
        }
      }
      return sum.sum();
    }
    void push(int row, const Scalar& step) const noexcept {
      for (int s = 0; s < 2; ++s) {
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          packet_at(bodies[s] + i) += step * packet_at(rows[s] + row * lanes[s] + i);
        }
      }
    }
  };

  /// The problem and the vectors of a sweep.
  struct State {
    const BodyRows<Scalar>& rows;
    Scalar *impulse, *whitened, *diagonal;
  };

  /// Calls use(One) for the blocks of an edge.
  template <typename Use>
  static void visit(const State& state, Index number, const Use& use) {
    const BodyRows<Scalar>& rows = state.rows;
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
                      {state.whitened + packed.low_start, state.whitened + packed.high_start}};
        }
        const Index row = 3 * block.first_part;
        use(One<Parts>{block, parts, rows.load() + row, state.impulse + row, state.diagonal + row});
      });
      jacobian += rows.blocks().parts(i) * width;
    }
  }

  /// A block with its place in the problem.
  template <int Parts>
  struct One {
    const BlockRows<Scalar, Parts>& block;
    const PartRows (&parts)[Parts];
    const Scalar* load;
    Scalar *impulse, *diagonal;  ///< γ, and the diagonal of W + R

    /// u of a row.
    [[nodiscard]] Scalar velocity(int k) const noexcept {
      return parts[k / 3].velocity(k % 3) + load[k] + block.regularization(k) * impulse[k];
    }
    void write_diagonal() const noexcept {
      for (int k = 0; k < block.size(); ++k) {
        diagonal[k] = parts[k / 3].squared(k % 3) + block.regularization(k);
      }
    }
    void change(int k, const Scalar& next) const noexcept {
      parts[k / 3].push(k % 3, next - impulse[k]);
      impulse[k] = next;
    }
    /// Moves the impulse to the point where u vanishes, or to a bound.
    void follow(int k, const Scalar& lower, const Scalar& upper) const noexcept {
      const Scalar stiff = diagonal[k];
      if (!(stiff > Scalar(0))) return;
      change(k, (std::min)((std::max)(Scalar(impulse[k] - velocity(k) / stiff), lower), upper));
    }
  };

  /// A step of a block's own law.
  template <int Parts>
  static void step(const One<Parts>& one, FrictionLaw law) noexcept {
    if (!one.block.is_cone()) {
      follow_rows(one);
    } else if (law == FrictionLaw::coulomb) {
      slide(one);
    } else {
      project(one);
    }
  }

  /// Solves rows between bounds, one after the other.
  template <int Parts>
  static void follow_rows(const One<Parts>& one) noexcept {
    if constexpr (Parts == 2) {
      for (int k = 0; k < one.block.size(); ++k) {
        if (one.block.present(k)) one.follow(k, one.block.lower(k), one.block.upper(k));
      }
    }
  }

  /// Steps along the normal, then along the rows of each disc together.
  template <int Parts>
  static void slide(const One<Parts>& one) noexcept {
    using std::sqrt;
    const int n = one.block.normal;
    const Scalar& shift = one.block.shift(n);
    one.follow(n, -shift, std::numeric_limits<Scalar>::infinity());
    for (int d = 0; d < one.block.disc_count; ++d) {
      const auto& disc = one.block.friction_disc(d);
      Scalar trace(0), squared(0), y[5];
      for (int k = 0; k < disc.size; ++k) trace += one.diagonal[disc.places[k]];
      if (!(trace > Scalar(0))) continue;
      for (int k = 0; k < disc.size; ++k) {
        const int row = disc.places[k];
        y[k] = one.impulse[row] + one.block.shift(row) - one.velocity(row) / trace;
        const Scalar scaled = y[k] / disc.friction[k];
        squared += scaled * scaled;
      }
      const Scalar bound = one.impulse[n] + shift, length = sqrt(squared);
      const Scalar share = length > bound ? bound / length : Scalar(1);
      for (int k = 0; k < disc.size; ++k) {
        const int row = disc.places[k];
        one.change(row, share * y[k] - one.block.shift(row));
      }
    }
  }

  /// Steps along all rows at once, by a bound of the block's own W + R.
  template <int Parts>
  static void project(const One<Parts>& one) noexcept {
    using Active = ActiveBlock<Scalar, Parts>;
    // BodyRows gives a block that nothing moves the inverse mass 1, so that no bound is zero.
    PartNumbers<Scalar, Parts> before, velocity;
    for (int k = 0; k < one.block.size(); ++k) {
      before(k) = one.impulse[k];
      velocity(k) = one.velocity(k);
    }
    const PartNumbers<Scalar, Parts> bound =
        Scalar(3 * Parts) * Active::weights(one.block, FrictionLaw::convex);
    const PartNumbers<Scalar, Parts> after =
        Active::nearest(one.block, FrictionLaw::convex, before - quotients(velocity, bound));
    for (int k = 0; k < one.block.size(); ++k) one.change(k, after(k));
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
