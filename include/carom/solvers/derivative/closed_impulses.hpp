// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "carom/linalg/detail/lu.hpp"
#include "carom/solvers/derivative/law_slope.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A selection of parts of an island's blocks, and products with their rows Ĵ.
template <RealScalar Scalar>
class ChosenParts {
 public:
  /// A part: its edge, and its index among all parts.
  struct Part {
    Index edge, part;
  };

  /// @param parts  the selected ones; the array must outlive this object.
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
  [[nodiscard]] static PartRows<Scalar> rows_of(const BodyRows<Scalar>& rows,
                                                const Part& part) noexcept {
    const PackedEdge& edge = rows.edges()[part.edge].packed;
    return {edge, rows.jacobians(edge), part.part};
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
  Scalar own[3];
  rows_of(rows, part).write_velocity(x, own);
  return {own[0], own[1], own[2]};
}

template <RealScalar Scalar>
void ChosenParts<Scalar>::add_momentum(const Scalar* impulses, Scalar* x) const noexcept {
  for (Index i = 0; i < count_; ++i) {
    const Scalar gamma[3] = {impulses[3 * i], impulses[3 * i + 1], impulses[3 * i + 2]};
    const PartRows<Scalar> part = rows_of(rows_, parts_[i]);
    for (int s = 0; s < part.side_count; ++s) part.add_momentum(s, gamma, x);
  }
}

/// Adds the block of W of two parts.
template <RealScalar Scalar>
void ChosenParts<Scalar>::write_product(Index row, Index column, Scalar* products) const noexcept {
  const Index size = 3 * count_;
  const PartRows<Scalar> left = rows_of(rows_, parts_[row]), right = rows_of(rows_, parts_[column]);
  for (int s = 0; s < left.side_count; ++s) {
    for (int t = 0; t < right.side_count; ++t) {
      if (left.starts[s] != right.starts[t]) continue;
      const Index lanes = left.lanes[s];
      for (int c = 0; c < 3; ++c) {
        RowPacket<Scalar> sums[3];
        for (auto& sum : sums) sum.setZero();
        for (Index k = 0; k < lanes; k += row_lanes) {
          const RowPacket<Scalar> own = packet_at(right.columns[t] + c * lanes + k);
          for (int r = 0; r < 3; ++r) sums[r] += own * packet_at(left.columns[s] + r * lanes + k);
        }
        Scalar* const to = products + (3 * column + c) * size + 3 * row;
        for (int r = 0; r < 3; ++r) to[r] += sums[r].sum();
      }
    }
  }
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

/// Constants of LinearizedLaw: how refinement removes the softness of sticking rows.
struct LinearizedLawTuning {
  /// Largest count of right-hand sides per system. Two are enough if impulses are unique and w is a
  /// suitable scale. Each further one multiplies the remaining error by held_softness divided by
  /// the least eigenvalue of W/w.
  static constexpr int corrections = 4;
  /// Refinement ends if the next right-hand side is expected to change the answer by at most this
  /// share [ε]. With less, noise is computed if impulses are not unique: their part without
  /// momentum changes by ε/held_softness with each right-hand side.
  static constexpr double enough = 512;
  /// If refinement still changes more than this share of the answer, sticking rows contradict each
  /// other: they are then satisfied in the least-squares sense.
  static constexpr double contradiction = 1e-3;
  /// A change of data below ε_m to this power of the solution's own speeds is rounding: a
  /// contradiction of rows is then not an error. A chain of steps with a body at rest makes such
  /// changes, 1e-15 of the speed that gravity adds in a step.
  static constexpr double rounded_change = 0.75;
  /// If no row is softened and the ratio of pivots is at most this factor [ε^(−1/4)], 8192 in
  /// double, one right-hand side is enough: a second one would change the answer by at most as many
  /// ε.
  static constexpr double even_pivots = 1;
  /// Largest count of parts of an island's closed blocks whose impulses replace the bodies'
  /// unknowns in the system. The count of the bodies' unknowns must be at least twice as large.
  static constexpr int closed_parts = 8;
};

/// The linearised law of islands with few closed blocks, as a dense system in the impulses of
/// those. With P, Q, C and N of LawSlope and W = Ĵ Ĵᵀ of the closed blocks,
///
///     (I + N W) dγ = C b − N Ĵ a,    z = Cᵀ (I + N W)⁻ᵀ (b + Ĵ a)
///
/// Open blocks have dγ = b and do not react. The method is for islands without softened rows. It is
/// accurate only if pivots are similar, because solutions are not refined.
/// @note  Real-time safe after take() for a system of this size.
template <RealScalar Scalar>
class ClosedImpulses {
 public:
  /// Allocates memory for a system's size.
  void take(const BodySystem<Scalar>& system);

  /// Factors an island.
  /// @return  the largest pivot divided by the least; infinity if too many blocks are closed or
  ///          softened, or a pivot fails. Then solve() must not be called.
  [[nodiscard]] Scalar factor(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes,
                              Index island) noexcept;

  /// The numbers of one solve, of all islands.
  struct Numbers {
    const Scalar *a, *b;  ///< right sides, a vector and parts
    /// written: dw or y, and dγ or z, but b instead of z for open friction contacts
    Scalar *x, *parts;
  };
  /// Solves the system on an island.
  void solve(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes, Index island,
             const Numbers& numbers) noexcept;
  /// Solves the transposed system on an island.
  void solve_transposed(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes,
                        Index island, const Numbers& numbers) noexcept;

 private:
  using Tuning = LinearizedLawTuning;
  using Parts = ChosenParts<Scalar>;
  using Part = typename Parts::Part;

  /// The first closed part of an island, the count of its closed parts, and the place of its
  /// factor.
  struct Own {
    Index first, count, factor;
  };

  /// Calls visit(block, slope, place) of an island's closed blocks, place counting their rows.
  template <typename Visit>
  void for_each_closed(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes,
                       Index island, Visit&& visit) const noexcept {
    const Own& own = islands_[island];
    for (Index k = own.first; k < own.first + own.count;) {
      k += slopes.visit(system, block_of_part_[closed_[k].part],
                        [&](const auto& block, const auto& slope) {
                          visit(block, slope, 3 * (k - own.first));
                          return Index(block.parts);
                        });
    }
  }
  /// Calls visit(block, slope, first part) of an island's open blocks.
  template <typename Visit>
  static void for_each_open(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes,
                            Index island, Visit&& visit) noexcept {
    const ContactIsland& own = system.rows().graph().islands()[island];
    for (Index e = own.first_edge; e < own.edge_end; ++e) {
      const auto& edge = system.rows().edges()[e];
      for (Index i = edge.first_block; i < edge.block_end; ++i) {
        slopes.visit(system, i, [&](const auto& block, const auto& slope) {
          if (slope.closed()) return;
          visit(block, slope, Part{e, block.first_part});
        });
      }
    }
  }
  /// Numbers of the rows of closed blocks, which are stored consecutively.
  template <typename Block>
  [[nodiscard]] static typename Block::Numbers read_closed(const Block& block,
                                                           const Scalar* from) noexcept {
    typename Block::Numbers result;
    for (int k = 0; k < block.size(); ++k) result(k) = from[k];
    return result;
  }
  template <typename Block>
  static void write_closed(const Block& block, const typename Block::Numbers& numbers,
                           Scalar* to) noexcept {
    for (int k = 0; k < block.size(); ++k) to[k] = numbers(k);
  }
  [[nodiscard]] Parts parts(const BodySystem<Scalar>& system, Index island) const noexcept {
    const Own& own = islands_[island];
    return {system.rows(), closed_.data() + own.first, own.count};
  }
  [[nodiscard]] bool collect(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes,
                             Index island) noexcept;
  void write_matrix(const BodySystem<Scalar>& system, const BlockSlopes<Scalar>& slopes,
                    Index island) noexcept;

  Sequence<Own> islands_;
  Sequence<Part> closed_;        ///< of all islands, each with memory for its largest count
  Sequence<int> block_of_part_;  ///< the block of the system that has a part
  Sequence<Scalar> factors_;     ///< of I + N W
  Sequence<Scalar> products_;    ///< W of one island, column by column
  Sequence<Scalar> response_;    ///< dγ, or (I + N W)⁻ᵀ (b + Ĵ a), of one island
  Sequence<Scalar> moving_;      ///< Ĵ x, or −Nᵀ times response_, of one island
  Sequence<int> exchanges_;      ///< of all islands
};

// --- implementation ---

template <RealScalar Scalar>
void ClosedImpulses<Scalar>::take(const BodySystem<Scalar>& system) {
  islands_.resize(system.islands().size());
  block_of_part_.resize(system.part_count());
  Index first = 0, factor = 0;
  for (Index i = 0; i < system.islands().size(); ++i) {
    const BlockIsland& island = system.islands()[i];
    const Index most = (std::min)(Index(Tuning::closed_parts), island.part_end - island.first_part);
    islands_[i] = {first, 0, factor};
    first += most;
    factor += 9 * most * most;
  }
  for (Index i = 0; i < system.blocks().size(); ++i) {
    const Index part = system.blocks().first_part(i);
    std::fill_n(block_of_part_.begin() + part, system.blocks().parts(i), int(i));
  }
  closed_.resize(first);
  factors_.resize(factor);
  exchanges_.resize(3 * first);
  constexpr Index most = 3 * Index(Tuning::closed_parts);
  products_.resize(most * most);
  response_.resize(most);
  moving_.resize(most);
}

/// Lists the closed parts. Returns false if there are too many, or if one is softened.
template <RealScalar Scalar>
bool ClosedImpulses<Scalar>::collect(const BodySystem<Scalar>& system,
                                     const BlockSlopes<Scalar>& slopes, Index island) noexcept {
  const BodyRows<Scalar>& rows = system.rows();
  const ContactIsland& graph = rows.graph().islands()[island];
  const Index unknowns = rows.vector_end(island) - rows.vector_start(island);
  const Index most = (std::min)(Index(Tuning::closed_parts), unknowns / 6);
  Own& own = islands_[island];
  own.count = 0;
  for (Index e = graph.first_edge; e < graph.edge_end; ++e) {
    const auto& edge = rows.edges()[e];
    for (Index i = edge.first_block; i < edge.block_end; ++i) {
      const bool fits = slopes.visit(system, i, [&](const auto& block, const auto& slope) {
        if (!slope.closed()) return true;
        if (slope.softened || own.count + block.parts > most) return false;
        for (int p = 0; p < block.parts; ++p) {
          closed_[own.first + own.count++] = {e, block.first_part + p};
        }
        return true;
      });
      if (!fits) return false;
    }
  }
  return true;
}

/// I + N W of an island.
template <RealScalar Scalar>
void ClosedImpulses<Scalar>::write_matrix(const BodySystem<Scalar>& system,
                                          const BlockSlopes<Scalar>& slopes,
                                          Index island) noexcept {
  const Own& own = islands_[island];
  const Index size = 3 * own.count;
  parts(system, island).write_products(products_.data());
  for_each_closed(system, slopes, island, [&](const auto& block, const auto& slope, Index place) {
    for (Index c = 0; c < size; ++c) {
      const Scalar* const w = products_.data() + c * size + place;
      Scalar* const to = factors_.data() + own.factor + c * size + place;
      for (int r = 0; r < block.size(); ++r) {
        Scalar sum(c == place + r ? 1 : 0);
        for (int k = 0; k < block.size(); ++k) sum += slope.gain(r, k) * w[k];
        to[r] = sum;
      }
    }
  });
}

template <RealScalar Scalar>
Scalar ClosedImpulses<Scalar>::factor(const BodySystem<Scalar>& system,
                                      const BlockSlopes<Scalar>& slopes, Index island) noexcept {
  constexpr Scalar refused = std::numeric_limits<Scalar>::infinity();
  if (!collect(system, slopes, island)) return refused;
  const Own& own = islands_[island];
  write_matrix(system, slopes, island);
  Scalar* const matrix = factors_.data() + own.factor;
  const Index size = 3 * own.count;
  if (!factor_lu<MultiplyByReciprocals>(matrix, size, exchanges_.data() + 3 * own.first)) {
    return refused;
  }
  PivotSpread<Scalar> spread;
  spread.see(matrix, size);
  return spread.ratio();
}

template <RealScalar Scalar>
void ClosedImpulses<Scalar>::solve(const BodySystem<Scalar>& system,
                                   const BlockSlopes<Scalar>& slopes, Index island,
                                   const Numbers& numbers) noexcept {
  const BodyRows<Scalar>& rows = system.rows();
  const Own& own = islands_[island];
  for_each_open(system, slopes, island, [&](const auto& block, const auto&, const Part&) {
    write_parts(block, read_parts(block, numbers.b), numbers.parts);
  });
  for_each_closed(system, slopes, island, [&](const auto& block, const auto&, Index) {
    write_parts(block, typename std::decay_t<decltype(block)>::Numbers(), numbers.parts);
  });
  rows.write_momentum(island, numbers.parts, numbers.x);
  for (Index k = rows.vector_start(island); k < rows.vector_end(island); ++k) {
    numbers.x[k] += numbers.a[k];
  }
  parts(system, island).write_velocities(numbers.x, moving_.data());
  for_each_closed(system, slopes, island, [&](const auto& block, const auto& slope, Index place) {
    const auto u = read_closed(block, moving_.data() + place);
    write_closed(block, slope.inverse * read_parts(block, numbers.b) - slope.gain * u,
                 response_.data() + place);
  });
  solve_lu<MultiplyByReciprocals>(factors_.data() + own.factor, 3 * own.count,
                                  exchanges_.data() + 3 * own.first, response_.data());
  for_each_closed(system, slopes, island, [&](const auto& block, const auto&, Index place) {
    write_parts(block, read_closed(block, response_.data() + place), numbers.parts);
  });
  parts(system, island).add_momentum(response_.data(), numbers.x);
}

template <RealScalar Scalar>
void ClosedImpulses<Scalar>::solve_transposed(const BodySystem<Scalar>& system,
                                              const BlockSlopes<Scalar>& slopes, Index island,
                                              const Numbers& numbers) noexcept {
  const BodyRows<Scalar>& rows = system.rows();
  const Own& own = islands_[island];
  std::copy(numbers.a + rows.vector_start(island), numbers.a + rows.vector_end(island),
            numbers.x + rows.vector_start(island));
  parts(system, island).write_velocities(numbers.x, response_.data());
  for_each_closed(system, slopes, island, [&](const auto& block, const auto&, Index place) {
    const auto u = read_closed(block, response_.data() + place);
    write_closed(block, u + read_parts(block, numbers.b), response_.data() + place);
  });
  solve_lu_transposed<MultiplyByReciprocals>(factors_.data() + own.factor, 3 * own.count,
                                             exchanges_.data() + 3 * own.first, response_.data());
  for_each_closed(system, slopes, island, [&](const auto& block, const auto& slope, Index place) {
    const auto t = read_closed(block, response_.data() + place);
    write_parts(block, transposed_times(slope.inverse, t), numbers.parts);
    write_closed(block, -transposed_times(slope.gain, t), moving_.data() + place);
  });
  parts(system, island).add_momentum(moving_.data(), numbers.x);
  for_each_open(system, slopes, island, [&](const auto& block, const auto&, const Part& first) {
    auto z = read_parts(block, numbers.b);
    if constexpr (z.size() > 3) {
      for (int p = 0; p < block.parts; ++p) {
        const auto u = Parts::velocity(rows, {first.edge, first.part + p}, numbers.x);
        for (int k = 0; k < 3; ++k) z(3 * p + k) += u(k);
      }
    }
    write_parts(block, z, numbers.parts);
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
