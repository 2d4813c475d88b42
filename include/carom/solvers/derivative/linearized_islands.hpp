// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/systems/direct_hessian.hpp"
#include "carom/solvers/systems/iterative_hessian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// How well an island's system was solved.
template <RealScalar Scalar>
struct LinearSolveReport {
  int products = 0;     ///< by conjugate gradients; 0 with a factor
  Scalar residual = 0;  ///< ‖b − H x‖/‖b‖ of conjugate gradients; 0 with a factor
  bool usable = true;
};

/// The systems H x = b, H = I + Ĵᵀ G Ĵ, of all islands at one G: factored where the graph says
/// direct, else kept as blocks with an incomplete factor for conjugate gradients.
template <RealScalar Scalar>
class LinearizedIslands {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Takes on a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    direct_.lay_out(graph, packed);
    iterative_.lay_out(packed);
    vectors_.assign(vector_count * packed.vector_size(), Scalar(0));
  }
  /// Says that the graph taken on has moved in memory, unchanged.
  void follow(const ContactGraph& graph) noexcept { direct_.follow(graph); }

  /// Assembles and factors an island's H.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high.
  /// @return  false when round-off leaves H indefinite, or it is not finite.
  template <typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Index i, const Add& add) noexcept {
    const PackedIsland& island = packed.islands()[i];
    if (!island.direct) return iterative_.factor(packed, i, add);
    direct_.clear(island);
    const Scalar largest = direct_.fill(packed, island, add);
    return largest <= (std::numeric_limits<Scalar>::max)() && direct_.factor(island);
  }

  /// x ← H⁻¹ x on an island, in a packed vector; the rest of it is left alone.
  /// @param relative  accuracy asked of conjugate gradients, and the most products they may take.
  [[nodiscard]] LinearSolveReport<Scalar> solve(const Packed& packed, Index i, Scalar* x,
                                                const Scalar& relative, int limit) noexcept;

 private:
  /// The vectors besides x that conjugate gradients work on.
  enum { residual, direction, product, vector_count };

  DirectHessian<Scalar> direct_;
  IterativeHessian<Scalar> iterative_;
  Sequence<Scalar> vectors_;
};

// --- implementation ---

template <RealScalar Scalar>
LinearSolveReport<Scalar> LinearizedIslands<Scalar>::solve(const Packed& packed, Index i, Scalar* x,
                                                           const Scalar& relative,
                                                           int limit) noexcept {
  using std::sqrt;
  const PackedIsland& island = packed.islands()[i];
  if (island.direct) {
    direct_.solve(packed, island, x);
    return {};
  }
  const Index start = island.vector_start, size = island.vector_size;
  const auto part = [&](int which) {
    return vectors_.data() + which * packed.vector_size() + start;
  };
  std::copy_n(x + start, size, part(residual));
  Scalar squared = 0;
  for (Index k = 0; k < size; ++k) squared += part(residual)[k] * part(residual)[k];
  const Scalar norm = sqrt(squared);
  if (!(norm > Scalar(0))) return {};
  const auto report =
      iterative_.solve(packed, i, {x + start, part(residual), part(direction), part(product), size},
                       relative * norm, limit);
  return {report.iterations, report.residual / norm, report.usable};
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
