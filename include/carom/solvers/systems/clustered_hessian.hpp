// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/linalg/detail/conjugate_gradient.hpp"
#include "carom/linalg/detail/crew.hpp"
#include "carom/solvers/systems/clustered_factor.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ClusteredHessian.
struct ClusteredHessianTuning {
  /// Bodies of an island from which it is large [-]: with fewer there is little to share.
  static constexpr Index least_bodies = 400;
  /// Most bodies of a cluster. Fewer leave more to share out and more often something to wait for,
  /// more slow down conjugate gradients less by the colours.
  static constexpr Index cluster_size = 48;
  /// Curvature of a contact relative to the momentum above which numbers are double [-]: floats
  /// would leave a Newton step fewer digits than one more of its iterations costs.
  static constexpr double stiff = 1e6;
};

/// H = I + Ĵᵀ G Ĵ of one large island as conjugate gradients see it: clusters of bodies by colours,
/// preconditioned by symmetric block Gauss-Seidel with diagonal blocks that are reduced by those
/// before them (a block DILU). A crew shares the clusters; the numbers do not depend on it.
/// @note  lay_out() allocates beyond the largest island so far, and factor() when it is the first
///        that needs double numbers; all else is real-time safe.
/// @cite  eisenstat1981efficient for the passes; barrett1994templates, D-ILU, for the diagonal.
template <RealScalar Scalar>
class ClusteredHessian {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Whether an island is large enough. Its pattern alone decides.
  [[nodiscard]] static bool suits(const PackedIsland& island) noexcept {
    return island.range.slot_end - island.range.first_slot >= ClusteredHessianTuning::least_bodies;
  }

  /// Takes on the pattern of an island.
  void lay_out(const Packed& packed, const PackedIsland& island);

  /// Assembles H and its preconditioner.
  /// @param add        add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high,
  /// of
  ///                   which those without data are left out.
  /// @param curvature  largest of a part [-], which decides about the precision.
  /// @return  false when H is not positive definite, or holds NaN.
  template <typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Crew& crew, const Scalar& curvature,
                            const Add& add) {
    long_numbers_ = !(double(curvature) < ClusteredHessianTuning::stiff);
    return with_system(
        [&](auto& system) { return factor_.factor(packed, crew, system.blocks, add); });
  }

  /// Solves H x = b until what is left of b, in the norm of the preconditioner, is a share of it.
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
    Sequence<Real> behind, before;  ///< (I + Lᵀ)⁻¹ d, and (I + L)⁻¹ of what is left of the product
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

  /// Calls task(span) for the clusters, all at once, and adds what it returns in their order.
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
    if (!(curvature > 0)) break;  // round-off, or not definite
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
