// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/linalg/detail/cluster_pattern.hpp"
#include "carom/linalg/detail/conjugate_gradient.hpp"
#include "carom/linalg/detail/crew.hpp"
#include "carom/linalg/detail/reduced_factor.hpp"
#include "carom/solvers/rows/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Assembles H = I + Ĵᵀ G Ĵ of one large island row by row, and scales it by the Cholesky factors
/// C of reduced diagonal blocks: D_p = H_pp − θ Σ H_pq D_q⁻¹ H_qp over the rows q before p, with
/// the θ of invert_reduced_factor(). lay_out() for an island, factor() for each H, then scale() and
/// unscale() for each right-hand side.
/// @note  lay_out() allocates beyond the largest island so far; all else is real-time safe.
template <RealScalar Scalar>
class ClusteredFactor {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Analyses the pattern of an island.
  /// @param nearby  most bodies of a cluster.
  void lay_out(const Packed& packed, const PackedIsland& island, Index nearby);

  [[nodiscard]] const ClusterPattern& pattern() const noexcept { return pattern_; }

  /// Writes the scaled blocks; false when H is not positive definite, or not finite.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high. Targets
  ///             without data are left out.
  template <typename Real, typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Crew& crew, ScaledBlocks<Real>& blocks,
                            const Add& add) noexcept;

  /// y_p ← C⁻¹ b_p of a row, b a packed vector.
  template <typename Real>
  void scale(const Packed& packed, Index p, const Scalar* b, Real* y) const noexcept;
  /// x_p ← C⁻ᵀ y_p of a row, x a packed vector; returns Σ|x_p|.
  template <typename Real>
  Scalar unscale(const Packed& packed, Index p, const Real* y, Scalar* x) const noexcept;

 private:
  /// The scratch blocks of a cluster.
  struct Work {
    Scalar *own, *reduced, *cross, *product;
    static constexpr int block_count = 4;
  };
  [[nodiscard]] Index slot_of(Index p) const noexcept {
    return first_slot_ + pattern_.clusters().node_at(p);
  }
  [[nodiscard]] Work work_of(Index cluster) noexcept {
    const Index size = pattern_.largest_block();
    Scalar* const first = work_.data() + cluster * Work::block_count * size;
    return {first, first + size, first + 2 * size, first + 3 * size};
  }
  template <typename Real, typename Add>
  [[nodiscard]] bool factor_row(const Packed& packed, Index p, const Work& work,
                                ScaledBlocks<Real>& blocks, const Add& add) noexcept;
  template <typename Add>
  void assemble_cross(const PackedEdge& edge, Index p, Index q, const Work& work,
                      const Add& add) noexcept;
  template <typename Real>
  void write_row(Index p, const Work& work, ScaledBlocks<Real>& blocks) noexcept;

  ClusterPattern pattern_;
  Index first_slot_ = 0;
  Sequence<Index> world_edges_;  ///< per row, its edge with the world or −1
  Sequence<Scalar> inverse_;     ///< per row, C⁻¹ with zeros above the diagonal
  Sequence<Scalar> work_;
  Sequence<signed char> failed_;  ///< per cluster
  Sequence<ClusterEdge> edges_;
};

// --- implementation ---

template <RealScalar Scalar>
void ClusteredFactor<Scalar>::lay_out(const Packed& packed, const PackedIsland& island,
                                      Index nearby) {
  first_slot_ = island.range.first_slot;
  const Index count = island.range.slot_end - first_slot_;
  edges_.clear();
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    if (edge.high_slot < 0) continue;
    edges_.push_back({int(edge.low_slot - first_slot_), int(edge.high_slot - first_slot_), int(e)});
  }
  pattern_.lay_out(
      count, [&](int node) { return packed.size(first_slot_ + node); }, edges_, nearby);
  world_edges_.assign(count, -1);
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    if (edge.high_slot >= 0) continue;
    world_edges_[pattern_.clusters().position_of(edge.low_slot - first_slot_)] = e;
  }
  inverse_.assign(pattern_.own_size(), Scalar(0));
  const Index clusters = pattern_.clusters().cluster_count();
  work_.assign(clusters * Work::block_count * pattern_.largest_block(), Scalar(0));
  failed_.assign(clusters, 0);
}

template <RealScalar Scalar>
template <typename Real, typename Add>
bool ClusteredFactor<Scalar>::factor(const Packed& packed, Crew& crew, ScaledBlocks<Real>& blocks,
                                     const Add& add) noexcept {
  const GraphClusters& clusters = pattern_.clusters();
  for (Index colour = 0; colour < clusters.colour_count(); ++colour) {
    const Index first = clusters.colour_begin(colour);
    crew.run(clusters.colour_begin(colour + 1) - first, [&](Index k) {
      const Work work = work_of(first + k);
      bool good = true;
      const Index end = clusters.cluster_begin(first + k + 1);
      for (Index p = clusters.cluster_begin(first + k); p < end && good; ++p) {
        good = factor_row(packed, p, work, blocks, add);
      }
      failed_[first + k] = good ? 0 : 1;
    });
    for (Index c = first; c < clusters.colour_begin(colour + 1); ++c) {
      if (failed_[c] != 0) return false;
    }
  }
  return true;
}

/// H_pq of a row p and a row q before it, and the contribution of the edge to H_pp.
template <RealScalar Scalar>
template <typename Add>
void ClusteredFactor<Scalar>::assemble_cross(const PackedEdge& edge, Index p, Index q,
                                             const Work& work, const Add& add) noexcept {
  const Index size = pattern_.row(p).size, lanes = lanes_above(size);
  const Index other = pattern_.row(q).size, other_lanes = lanes_above(other);
  std::fill_n(work.cross, lanes * other, Scalar(0));
  if (edge.high_slot == slot_of(p)) {
    return add(edge, {{}, {work.cross, lanes}, {work.own, lanes}});
  }
  std::fill_n(work.product, other_lanes * size, Scalar(0));
  add(edge, {{work.own, lanes}, {work.product, other_lanes}, {}});
  for (Index c = 0; c < other; ++c) {
    for (Index r = 0; r < size; ++r) work.cross[c * lanes + r] = work.product[r * other_lanes + c];
  }
}

template <RealScalar Scalar>
template <typename Real, typename Add>
bool ClusteredFactor<Scalar>::factor_row(const Packed& packed, Index p, const Work& work,
                                         ScaledBlocks<Real>& blocks, const Add& add) noexcept {
  const auto& row = pattern_.row(p);
  const Index size = row.size, lanes = lanes_above(size);
  std::fill_n(work.own, lanes * size, Scalar(0));
  std::fill_n(work.reduced, lanes * size, Scalar(0));
  for (Index k = 0; k < size; ++k) work.own[k * (lanes + 1)] = Scalar(1);
  if (world_edges_[p] >= 0) add(packed.edge(world_edges_[p]), {{work.own, lanes}, {}, {}});
  for (Index k = row.behind_begin; k < row.behind_end; ++k) {
    const PackedEdge& edge = packed.edge(pattern_.behind(k).number);
    const Columns<Scalar> own{work.own, lanes}, none{nullptr, 0};
    if (edge.low_slot == slot_of(p)) {
      add(edge, {own, none, none});
    } else {
      add(edge, {none, none, own});
    }
  }
  Real* values = blocks.before(row.before_values);
  for (Index k = row.before_begin; k < row.before_end; ++k) {
    const Index q = pattern_.before(k).column;
    const Index other = pattern_.row(q).size, other_lanes = lanes_above(other);
    assemble_cross(packed.edge(pattern_.before(k).number), p, q, work, add);
    const Scalar* const inverse = inverse_.data() + pattern_.row(q).own_values;
    for (Index i = 0; i < lanes; i += row_lanes) {
      for (Index c = 0; c < other; ++c) {  // W = H_pq C_q⁻ᵀ
        RowPacket<Scalar> sum = RowPacket<Scalar>::Zero();
        for (Index m = 0; m <= c; ++m) {
          sum += packet_at(work.cross + m * lanes + i) * inverse[m * other_lanes + c];
        }
        packet_at(work.product + c * lanes + i) = sum;
        packet_at(values + c * lanes + i) = sum.template cast<Real>();
      }
    }
    for (Index i = 0; i < lanes; i += row_lanes) {
      for (Index c = 0; c < size; ++c) {
        RowPacket<Scalar> sum = packet_at(work.reduced + c * lanes + i);
        for (Index m = 0; m < other; ++m) {
          sum += packet_at(work.product + m * lanes + i) * work.product[m * lanes + c];
        }
        packet_at(work.reduced + c * lanes + i) = sum;
      }
    }
    values += lanes * other;
  }
  if (!invert_reduced_factor(work.own, work.reduced, size, work.cross,
                             inverse_.data() + row.own_values)) {
    return false;
  }
  write_row(p, work, blocks);
  return true;
}

/// L_pq = C⁻¹ W on both sides of the diagonal, and K − 2I = C⁻¹ H_pp C⁻ᵀ − 2I.
template <RealScalar Scalar>
template <typename Real>
void ClusteredFactor<Scalar>::write_row(Index p, const Work& work,
                                        ScaledBlocks<Real>& blocks) noexcept {
  const auto& row = pattern_.row(p);
  const Index size = row.size, lanes = lanes_above(size);
  const Scalar* const inverse = inverse_.data() + row.own_values;
  Scalar* const column = work.product;  // one column, of whole registers
  const auto multiply = [&](const auto* from, Scalar* to) {
    for (Index i = 0; i < lanes; i += row_lanes) {
      RowPacket<Scalar> sum = RowPacket<Scalar>::Zero();
      for (Index m = 0; m < size; ++m) {
        sum += packet_at(inverse + m * lanes + i) * Scalar(from[m]);
      }
      packet_at(to + i) = sum;
    }
  };
  Real* values = blocks.before(row.before_values);
  for (Index k = row.before_begin; k < row.before_end; ++k) {
    const auto& entry = pattern_.before(k);
    const Index other = pattern_.row(entry.column).size, other_lanes = lanes_above(other);
    Real* const mirror = blocks.behind(entry.other);
    for (Index c = 0; c < other; ++c, values += lanes) {
      multiply(values, column);
      for (Index r = 0; r < size; ++r) {
        values[r] = Real(column[r]);
        mirror[r * other_lanes + c] = values[r];
      }
    }
  }
  // C⁻¹ H_pp overwrites the sums, which are not needed again; its rows times C⁻ᵀ are the block.
  for (Index c = 0; c < size; ++c) multiply(work.own + c * lanes, work.reduced + c * lanes);
  Real* const own = blocks.own(row.own_values);
  for (Index i = 0; i < lanes; i += row_lanes) {
    for (Index c = 0; c < size; ++c) {
      RowPacket<Scalar> sum = RowPacket<Scalar>::Zero();
      for (Index m = 0; m <= c; ++m) {
        sum += packet_at(work.reduced + m * lanes + i) * inverse[m * lanes + c];
      }
      packet_at(own + c * lanes + i) = sum.template cast<Real>();
    }
  }
  for (Index c = 0; c < size; ++c) own[c * (lanes + 1)] -= Real(2);
}

template <RealScalar Scalar>
template <typename Real>
void ClusteredFactor<Scalar>::scale(const Packed& packed, Index p, const Scalar* b,
                                    Real* y) const noexcept {
  const auto& row = pattern_.row(p);
  const Index lanes = lanes_above(row.size);
  const Scalar* const from = b + packed.starts()[slot_of(p)];
  const Scalar* const inverse = inverse_.data() + row.own_values;
  for (Index r = 0; r < row.size; ++r) {
    Scalar sum = 0;
    for (Index c = 0; c <= r; ++c) sum += inverse[c * lanes + r] * from[c];
    y[row.start + r] = Real(sum);
  }
}

template <RealScalar Scalar>
template <typename Real>
Scalar ClusteredFactor<Scalar>::unscale(const Packed& packed, Index p, const Real* y,
                                        Scalar* x) const noexcept {
  using std::abs;
  const auto& row = pattern_.row(p);
  const Index lanes = lanes_above(row.size);
  Scalar* const to = x + packed.starts()[slot_of(p)];
  const Scalar* const inverse = inverse_.data() + row.own_values;
  Scalar size = 0;
  for (Index c = 0; c < row.size; ++c) {
    Scalar sum = 0;
    for (Index r = c; r < row.size; ++r) sum += inverse[c * lanes + r] * Scalar(y[row.start + r]);
    to[c] = sum;
    size += abs(sum);
  }
  return size;
}

/// Constants of ClusteredHessian.
struct ClusteredHessianTuning {
  /// Count of bodies from which an island is large [-]: with fewer, little work can be shared.
  static constexpr Index least_bodies = 400;
  /// Largest count of bodies in a cluster. With fewer, there is more to share but also more
  /// waiting; with more, the colours slow down conjugate gradients less.
  static constexpr Index cluster_size = 48;
  /// Curvature of a contact relative to the momentum above which numbers are double [-]: with
  /// float, a Newton step would lose digits that cost more than one further iteration.
  static constexpr double stiff = 1e6;
};

/// H = I + Ĵᵀ G Ĵ of one large island for conjugate gradients: clusters of bodies by colours,
/// preconditioned by symmetric block Gauss-Seidel with diagonal blocks that are reduced by those
/// before them (a block DILU). A crew shares the clusters; the numbers do not depend on it.
/// lay_out() for an island, factor() for each H, then solve().
/// @note  lay_out() allocates only for an island larger than every island before, and factor() for
///        the first island that needs double numbers; all else is real-time safe.
/// @cite  eisenstat1981efficient for the passes; barrett1994templates, D-ILU, for the diagonal.
template <RealScalar Scalar>
class ClusteredHessian {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Whether an island is large enough. It depends only on its pattern.
  [[nodiscard]] static bool suits(const PackedIsland& island) noexcept {
    return island.range.slot_end - island.range.first_slot >= ClusteredHessianTuning::least_bodies;
  }

  /// Analyses the pattern of an island.
  void lay_out(const Packed& packed, const PackedIsland& island);

  /// Assembles H and its preconditioner.
  /// @param add        add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high.
  ///                   Targets without data are left out.
  /// @param curvature  largest of a part [-], which decides about the precision.
  /// @return  false when H is not positive definite, or not finite.
  template <typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Crew& crew, const Scalar& curvature,
                            const Add& add) {
    long_numbers_ = !(double(curvature) < ClusteredHessianTuning::stiff);
    return with_system(
        [&](auto& system) { return factor_.factor(packed, crew, system.blocks, add); });
  }

  /// x ← M⁻¹ b with the preconditioner M.
  /// @param b, x  packed vectors, of which the island's part is read and written.
  void precondition(const Packed& packed, Crew& crew, const Scalar* b, Scalar* x) {
    with_system([&](auto& system) {
      const Call call{packed, crew, b, x, 0};
      static_cast<void>(start(call, system));
      std::copy(system.residual.begin(), system.residual.end(), system.solution.begin());
      return finish(call, system);
    });
  }

  /// Solves H x = b until the residual, in the norm of the preconditioner, is a given share of b.
  /// @param b, x  packed vectors, of which the island's part is read and written.
  [[nodiscard]] ConjugateGradientReport<Scalar> solve(const Packed& packed, Crew& crew,
                                                      const Scalar* b, Scalar* x,
                                                      const Scalar& share, int limit) {
    return with_system([&](auto& system) {
      return iterate({packed, crew, b, x, limit}, system, share);
    });
  }

 private:
  /// A system of one precision, and the vectors of conjugate gradients.
  template <typename Real>
  struct System {
    ScaledBlocks<Real> blocks;
    Sequence<Real> solution, residual, direction;
    Sequence<Real> behind, before;  ///< (I + Lᵀ)⁻¹ d, and (I + L)⁻¹ of the rest of the product
    void reset(const ClusterPattern& pattern) {
      blocks.reset(pattern);
      for (auto* numbers : {&solution, &residual, &direction, &behind, &before}) {
        numbers->assign(pattern.vector_size(), Real(0));
      }
    }
  };
  using Short = std::conditional_t<(sizeof(Scalar) > sizeof(float)), float, Scalar>;
  struct Call {
    const Packed& packed;
    Crew& crew;
    const Scalar* b;
    Scalar* x;
    int limit;
  };
  /// Positions and unknowns of a cluster.
  struct Span {
    Index first, end, start, size;
    template <typename Real>
    [[nodiscard]] Real* of(Sequence<Real>& numbers) const noexcept {
      return numbers.data() + start;
    }
  };

  template <typename Run>
  auto with_system(const Run& run) {
    if (!long_numbers_) return run(short_);
    if (!long_.blocks.fits(pattern())) long_.reset(pattern());
    return run(long_);
  }
  [[nodiscard]] const ClusterPattern& pattern() const noexcept { return factor_.pattern(); }
  [[nodiscard]] Span span(Index cluster) const noexcept {
    const GraphClusters& clusters = pattern().clusters();
    const Index start = pattern().vector_begin(cluster);
    return {clusters.cluster_begin(cluster), clusters.cluster_begin(cluster + 1), start,
            pattern().vector_begin(cluster + 1) - start};
  }

  template <typename Real>
  [[nodiscard]] ConjugateGradientReport<Scalar> iterate(const Call& call, System<Real>& system,
                                                        const Scalar& share) noexcept;
  template <typename Real>
  [[nodiscard]] double start(const Call& call, System<Real>& system) noexcept;
  template <typename Real>
  [[nodiscard]] double multiply(Crew& crew, System<Real>& system, Real beta) noexcept;
  template <typename Real>
  [[nodiscard]] double finish(const Call& call, System<Real>& system) noexcept;

  /// Calls task(span) for all clusters at once, and adds the results in their order.
  template <typename Task>
  [[nodiscard]] double sum(Crew& crew, const Task& task) noexcept {
    crew.run(sums_.size(), [&](Index c) { sums_[c] = task(span(c)); });
    return add_up();
  }
  /// The same colour by colour, from the first or from the last.
  template <typename Task>
  [[nodiscard]] double sum_colours(Crew& crew, bool ascending, const Task& task) noexcept {
    const GraphClusters& clusters = pattern().clusters();
    const Index colours = clusters.colour_count();
    for (Index k = 0; k < colours; ++k) {
      const Index colour = ascending ? k : colours - 1 - k, first = clusters.colour_begin(colour);
      crew.run(clusters.colour_begin(colour + 1) - first,
               [&](Index c) { sums_[first + c] = task(span(first + c)); });
    }
    return add_up();
  }
  [[nodiscard]] double add_up() const noexcept {
    double sum = 0;
    for (const double part : sums_) sum += part;
    return sum;
  }

  ClusteredFactor<Scalar> factor_;
  System<Short> short_;
  System<Scalar> long_;
  Sequence<double> sums_;  ///< per cluster
  bool long_numbers_ = false;
};

// --- implementation ---

template <RealScalar Scalar>
void ClusteredHessian<Scalar>::lay_out(const Packed& packed, const PackedIsland& island) {
  factor_.lay_out(packed, island, ClusteredHessianTuning::cluster_size);
  short_.reset(pattern());
  sums_.assign(pattern().clusters().cluster_count(), 0.0);
}

/// Writes the scaled right-hand side as the residual; returns its square.
template <RealScalar Scalar>
template <typename Real>
double ClusteredHessian<Scalar>::start(const Call& call, System<Real>& system) noexcept {
  static_cast<void>(sum(call.crew, [&](const Span& own) {
    for (Index p = own.first; p < own.end; ++p) {
      factor_.scale(call.packed, p, call.b, system.residual.data());
    }
    std::fill_n(own.of(system.solution), own.size, Real(0));
    return 0.0;
  }));
  return sum_colours(call.crew, true, [&](const Span& own) {
    for (Index p = own.first; p < own.end; ++p) {
      system.blocks.reduce_before(pattern(), p, system.residual.data());
    }
    return double(squared_norm(own.of(system.residual), own.size));
  });
}

/// d ← r + β d; writes the two parts of the system's product with d and returns dᵀ of it.
template <RealScalar Scalar>
template <typename Real>
double ClusteredHessian<Scalar>::multiply(Crew& crew, System<Real>& system, Real beta) noexcept {
  static_cast<void>(sum_colours(crew, false, [&](const Span& own) {
    Real* const d = own.of(system.direction);
    write_sum(own.of(system.residual), beta, d, own.size, d);
    std::copy_n(d, own.size, own.of(system.behind));
    for (Index p = own.end - 1; p >= own.first; --p) {
      system.blocks.reduce_behind(pattern(), p, system.behind.data());
    }
    return 0.0;
  }));
  return sum_colours(crew, true, [&](const Span& own) {
    std::copy_n(own.of(system.direction), own.size, own.of(system.before));
    for (Index p = own.first; p < own.end; ++p) {
      system.blocks.add_own(pattern(), p, system.behind.data(), system.before.data());
      system.blocks.reduce_before(pattern(), p, system.before.data());
    }
    const Real *const d = own.of(system.direction), *const behind = own.of(system.behind),
                      *const before = own.of(system.before);
    return double(sum_packets<Real>(own.size, [&]<typename Numbers>(Index k) {
      return Numbers::at(d + k) * (Numbers::at(behind + k) + Numbers::at(before + k));
    }));
  });
}

/// Writes x; returns the sum of its absolute values.
template <RealScalar Scalar>
template <typename Real>
double ClusteredHessian<Scalar>::finish(const Call& call, System<Real>& system) noexcept {
  return sum_colours(call.crew, false, [&](const Span& own) {
    Scalar size = 0;
    for (Index p = own.end - 1; p >= own.first; --p) {
      system.blocks.reduce_behind(pattern(), p, system.solution.data());
      size += factor_.unscale(call.packed, p, system.solution.data(), call.x);
    }
    return double(size);
  });
}

template <RealScalar Scalar>
template <typename Real>
ConjugateGradientReport<Scalar> ClusteredHessian<Scalar>::iterate(const Call& call,
                                                                  System<Real>& system,
                                                                  const Scalar& share) noexcept {
  using std::sqrt;
  double rho = start(call, system), before = rho;
  const double target = double(share) * double(share) * rho;
  ConjugateGradientReport<Scalar> report{0, Scalar(sqrt(rho)), true};
  while (rho > target && report.iterations < call.limit) {
    const Real beta = report.iterations == 0 ? Real(0) : Real(rho / before);
    const double curvature = multiply(call.crew, system, beta);
    if (!(curvature > 0)) break;  // round-off, or H is not positive definite
    const Real step = Real(rho / curvature);
    before = rho;
    rho = sum(call.crew, [&](const Span& own) {
      Real *const x = own.of(system.solution), *const r = own.of(system.residual);
      const Real *const behind = own.of(system.behind), *const ahead = own.of(system.before);
      write_sum(x, step, own.of(system.direction), own.size, x);
      return double(sum_packets<Real>(own.size, [&]<typename Numbers>(Index k) {
        const Numbers left =
            Numbers::at(r + k) - step * (Numbers::at(behind + k) + Numbers::at(ahead + k));
        left.write_to(r + k);
        return left.square();
      }));
    });
    ++report.iterations;
    report.residual = Scalar(sqrt(rho));
  }
  const double size = finish(call, system);
  report.usable = report.iterations > 0 && size <= (std::numeric_limits<double>::max)();
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
