// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/solvers/detail/active_block.hpp"
#include "carom/solvers/detail/block_sweep.hpp"
#include "carom/solvers/detail/body_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sweeps of projected Gauss-Seidel over the blocks of an island, on the bodies: each block in turn
/// goes a step of its own law, γ ← 𝒞(γ − u/d), and its bodies move with it. A sweep costs two
/// passes over Ĵ, no system.
///
/// d bounds the block's own W + R from above, so that a step never goes too far. Rows between
/// bounds go one by one; friction under Coulomb's law goes along its normal first.
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
      sweep_blocks(own.edge_end - own.first_edge, !forwards, [&](Index k, auto&& solve) {
        pass(rows, own.first_edge + k, law, impulse, whitened, solve);
      });
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

  /// The blocks between two bodies.
  template <typename Solve>
  static void pass(const BodyRows<Scalar>& rows, Index number, FrictionLaw law, Scalar* impulse,
                   Scalar* whitened, const Solve& solve) {
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
        const One<Parts> one{block, parts, rows.load() + 3 * block.first_part,
                             impulse + 3 * block.first_part};
        if (!block.is_cone()) {
          follow_rows(one, solve);
        } else if (law == FrictionLaw::coulomb) {
          slide(one, solve);
        } else if (block.inverse_mass > Scalar(0)) {
          solve(WholeCone<Parts>{one});
        }
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
    Scalar* impulse;

    /// u of a row.
    [[nodiscard]] Scalar velocity(int k) const noexcept {
      return parts[k / 3].velocity(k % 3) + load[k] + block.regularization(k) * impulse[k];
    }
    /// The diagonal of W + R.
    [[nodiscard]] Scalar diagonal(int k) const noexcept {
      return parts[k / 3].squared(k % 3) + block.regularization(k);
    }
    void change(int k, const Scalar& next) const noexcept {
      parts[k / 3].push(k % 3, next - impulse[k]);
      impulse[k] = next;
    }
  };

  /// One row between bounds goes to where its u vanishes, or to a bound.
  template <int Parts>
  struct Row {
    const One<Parts>& one;
    int row;
    Scalar stiff;  ///< of W + R, > 0
    Scalar lower, upper;

    [[nodiscard]] Scalar held() const noexcept { return one.velocity(row); }
    [[nodiscard]] Scalar solve(const Scalar& velocity) const noexcept {
      return (std::min)((std::max)(Scalar(one.impulse[row] - velocity / stiff), lower), upper);
    }
    void spread(const Scalar& next) const noexcept { one.change(row, next); }
  };
  template <int Parts, typename Solve>
  static void follow(const One<Parts>& one, int row, const Scalar& lower, const Scalar& upper,
                     const Solve& solve) noexcept {
    const Scalar stiff = one.diagonal(row);
    if (stiff > Scalar(0)) solve(Row<Parts>{one, row, stiff, lower, upper});
  }

  /// The rows of one disc of friction go together, as far as the normal impulse at hand allows.
  template <int Parts, typename Disc>
  struct DiscRows {
    const One<Parts>& one;
    const Disc& disc;
    Scalar trace;  ///< of W + R over the rows, > 0

    using Numbers = std::array<Scalar, 5>;
    /// The trial impulses, shifted as the set is.
    [[nodiscard]] Numbers held() const noexcept {
      Numbers y{};
      for (int k = 0; k < disc.size; ++k) {
        const int row = disc.places[std::size_t(k)];
        y[std::size_t(k)] = one.impulse[row] + one.block.shift(row) - one.velocity(row) / trace;
      }
      return y;
    }
    [[nodiscard]] Numbers solve(Numbers y) const noexcept {
      using std::sqrt;
      Scalar squared(0);
      for (int k = 0; k < disc.size; ++k) {
        const Scalar scaled = y[std::size_t(k)] / disc.friction[std::size_t(k)];
        squared += scaled * scaled;
      }
      const int n = one.block.normal;
      const Scalar bound = one.impulse[n] + one.block.shift(n), length = sqrt(squared);
      const Scalar share = length > bound ? bound / length : Scalar(1);
      for (int k = 0; k < disc.size; ++k) y[std::size_t(k)] *= share;
      return y;
    }
    void spread(const Numbers& next) const noexcept {
      for (int k = 0; k < disc.size; ++k) {
        const int row = disc.places[std::size_t(k)];
        one.change(row, next[std::size_t(k)] - one.block.shift(row));
      }
    }
  };

  /// A cone under the convex law: all rows at once, by a bound of the block's own W + R.
  template <int Parts>
  struct WholeCone {
    const One<Parts>& one;

    using Active = ActiveBlock<Scalar, Parts>;
    using Numbers = PartNumbers<Scalar, Parts>;
    [[nodiscard]] Numbers held() const noexcept {
      Numbers velocity = Numbers::Zero();
      for (int k = 0; k < one.block.size(); ++k) velocity(k) = one.velocity(k);
      return velocity;
    }
    [[nodiscard]] Numbers solve(const Numbers& velocity) const noexcept {
      Numbers before = Numbers::Zero();
      for (int k = 0; k < one.block.size(); ++k) before(k) = one.impulse[k];
      const Numbers bound = Scalar(3 * Parts) * Active::weights(one.block, FrictionLaw::convex);
      return Active::nearest(one.block, FrictionLaw::convex,
                             before - velocity.cwiseQuotient(bound));
    }
    void spread(const Numbers& next) const noexcept {
      for (int k = 0; k < one.block.size(); ++k) one.change(k, next(k));
    }
  };

  /// Rows between bounds, one after the other.
  template <int Parts, typename Solve>
  static void follow_rows(const One<Parts>& one, const Solve& solve) noexcept {
    if constexpr (Parts == 2) {
      for (int k = 0; k < one.block.size(); ++k) {
        if (one.block.present(k)) follow(one, k, one.block.lower(k), one.block.upper(k), solve);
      }
    }
  }

  /// A cone under Coulomb's law: along the normal, then along the rows of each disc together.
  template <int Parts, typename Solve>
  static void slide(const One<Parts>& one, const Solve& solve) noexcept {
    const int n = one.block.normal;
    follow(one, n, Scalar(-one.block.shift(n)), std::numeric_limits<Scalar>::infinity(), solve);
    for (int d = 0; d < one.block.disc_count; ++d) {
      const auto& disc = one.block.friction_disc(d);
      Scalar trace(0);
      for (int k = 0; k < disc.size; ++k) trace += one.diagonal(disc.places[std::size_t(k)]);
      using Disc = std::remove_cvref_t<decltype(disc)>;
      if (trace > Scalar(0)) solve(DiscRows<Parts, Disc>{one, disc, trace});
    }
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
