// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/detail/impulse_derivative.hpp"
#include "carom/contact/primal.hpp"
#include "carom/solvers/derivative/linearized_answer.hpp"
#include "carom/solvers/rows/edge_kernels.hpp"
#include "carom/solvers/systems/island_hessians.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// ‖|J||v|‖ + ‖v̂‖ of a block [m/s, rad/s], the scale of the rounding of its velocity.
template <typename Block, typename Velocity>
[[nodiscard]] auto speed_of(const Block& block, const Velocity& velocity) noexcept {
  using std::abs, std::sqrt;
  using Scalar = typename Block::Rows::Scalar;
  Scalar speed = block.bias_velocity().norm();
  for (int s = 0; s < block.side_count(); ++s) {
    const auto columns = block.columns(s);
    const auto [start, size] = block.side(s).range;
    Scalar squared = 0;
    for (int row = 0; row < block.rows(); ++row) {
      Scalar sum = 0;
      for (Index k = 0; k < size; ++k) sum += abs(columns(k, row) * velocity(start + k));
      squared += sum * sum;
    }
    speed += sqrt(squared);
  }
  return speed;
}

/// H = A + Jᵀ G J of a compliant problem under the convex law, with the true curvature G of its
/// blocks at a solution: the law of LinearizedAnswer for γ = P(R⁻¹(v̂ − J v)), so that P = 1 and
/// Q = G. Direct islands of the graph are factored. For the others, conjugate gradients use the
/// blocks of H and an incomplete factor.
/// @note  Real-time safe after prepare() for a problem of this size.
template <RealScalar Scalar>
class LinearizedHessian {
 public:
  using scalar_type = Scalar;
  using Numbers = Growing<VectorX<Scalar>>;

  /// Analyses a problem's pattern, and allocates memory for its size.
  /// @param factor_work_limit  as in SapOptions.
  void prepare(const ContactProblem<Scalar>& problem, double factor_work_limit);
  /// Copies the analysis of the next problem's pattern.
  void take_graph(const ContactGraph& graph) {
    graph_ = graph;
    laid_out_ = -1;
  }
  /// Differentiates all impulses at a velocity.
  /// @param options  as SapDerivativeOptions.
  /// @return  the first block whose numbers are not finite, at which the work ends; −1 if there is
  ///          none.
  template <typename Options>
  [[nodiscard]] Index linearize(const ContactProblem<Scalar>& problem, const Numbers& velocity,
                                const Options& options) noexcept;
  /// Assembles and factors H. Returns false if round-off makes it indefinite.
  [[nodiscard]] bool factor(const ContactProblem<Scalar>& problem) noexcept;

  [[nodiscard]] const ImpulseDerivative<Scalar, 3>& friction_contact(Index block) const noexcept {
    return contacts_[places_[block]];
  }
  [[nodiscard]] const BlockImpulseDerivative<Scalar>& other_block(Index block) const noexcept {
    return others_[-1 - places_[block]];
  }
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept {
    return places_[block] >= 0 ? friction_contact(block).nearest : other_block(block).nearest;
  }
  /// Blocks on a boundary.
  [[nodiscard]] Index boundary_count() const noexcept { return boundary_count_; }

  // --- the functions that LinearizedAnswer calls ---

  template <typename Block>
  [[nodiscard]] typename Block::Rows impulse(const Block& block) const noexcept {
    return derivative(block).impulse;
  }
  template <typename Block>
  [[nodiscard]] static constexpr bool is_soft(const Block&) noexcept {
    return true;
  }
  template <typename Block>
  void push(const Block& block, const BlockData<typename Block::Rows>& change,
            VectorX<Scalar>& momentum) noexcept {
    const auto& of_block = derivative(block);
    typename Block::Rows moved =
        of_block.by_excess * change.excess + change.friction * of_block.by_friction;
    if constexpr (Block::capacity != 3) moved += of_block.bounds_change(change.lower, change.upper);
    block.write(moved, right_);
    block.add_momentum(moved, momentum);
  }
  /// dγ = b − G J dv.
  template <typename Block>
  [[nodiscard]] typename Block::Rows impulse_change(const Block& block,
                                                    const VectorX<Scalar>& change) const noexcept {
    return block.read(right_) - derivative(block).by_excess * block.velocity(change);
  }
  void clear_gradient() noexcept { right_.setZero(); }
  template <typename Block>
  void set_gradient(const Block& block, const typename Block::Rows& by_impulse,
                    Numbers& momentum) noexcept {
    block.write(by_impulse, right_);
    block.add_momentum(-(derivative(block).by_excess * by_impulse), momentum);
  }
  /// The transposed system has z = dc/dγ + J λ.
  template <typename Block>
  [[nodiscard]] BlockData<typename Block::Rows> pull(const Block& block,
                                                     const Numbers& lambda) const noexcept {
    using Rows = typename Block::Rows;
    const auto& of_block = derivative(block);
    const Rows z = block.velocity(lambda) + block.read(right_);
    BlockData<Rows> result;
    result.excess = of_block.by_excess * z;
    result.friction = of_block.by_friction.dot(z);
    if constexpr (Block::capacity != 3) {
      result.lower = of_block.by_lower.cwiseProduct(z);
      result.upper = of_block.by_upper.transpose() * z;
    }
    return result;
  }
  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }
  [[nodiscard]] const Index* starts() const noexcept { return packed_.starts(); }
  [[nodiscard]] Scalar* given() noexcept { return whitened_.data(); }
  [[nodiscard]] const Scalar* solution() const noexcept { return whitened_.data(); }
  /// given() ← H⁻¹ given(). H is its own transpose.
  /// @return  see SapDerivative::push_forward().
  template <bool Transposed>
  SolveReport<Scalar> solve() noexcept;

 private:
  /// The vectors of conjugate gradients except x.
  enum { residual, direction, product, vector_count };

  /// The derivative of a block; its type depends on the type of the block.
  template <typename Block>
  [[nodiscard]] const auto& derivative(const Block& block) const noexcept {
    if constexpr (Block::capacity == 3) {
      return friction_contact(block.number());
    } else {
      return other_block(block.number());
    }
  }
  /// Adds Ĵᵀ G Ĵ of an edge's blocks.
  void add_curvature(const PackedEdge& edge, const Columns<Scalar> (&targets)[3]) const noexcept;
  void solve_iteratively(Index island, SolveReport<Scalar>& report) noexcept;

  Sequence<ImpulseDerivative<Scalar, 3>> contacts_;
  Sequence<BlockImpulseDerivative<Scalar>> others_;
  Sequence<Index> places_;  ///< per block, among the friction contacts, or −1 less among the others
  Numbers right_;           ///< b, or dc/dγ, of all rows
  Index boundary_count_ = 0;
  Scalar tolerance_{0};
  int product_limit_ = 0;

  ContactGraph graph_;
  PackedProblem<Scalar> packed_;
  DirectHessian<Scalar> direct_;
  IterativeHessian<Scalar> iterative_;
  Sequence<Index> block_at_;  ///< per part, the block of a friction contact; −1 otherwise
  Sequence<Scalar> whitened_, vectors_;  ///< packed vectors: x, and the others
  int analysed_ = -1, laid_out_ = -1;
};

// --- implementation ---

template <RealScalar Scalar>
void LinearizedHessian<Scalar>::prepare(const ContactProblem<Scalar>& problem,
                                        double factor_work_limit) {
  const Index contacts = problem.friction_contact_count();
  contacts_.resize(contacts);
  others_.resize(problem.block_count() - contacts);
  places_.resize(problem.block_count());
  right_.grow(problem.impulse_count());
  graph_.analyse(problem, factor_work_limit);
  if (laid_out_ != graph_.layout_count()) {
    const bool analysed = laid_out_ < 0 || analysed_ != graph_.analysis_count();
    laid_out_ = graph_.layout_count();
    analysed_ = graph_.analysis_count();
    packed_.lay_out(graph_);
    if (analysed) {
      direct_.lay_out(graph_, packed_);
      iterative_.lay_out(packed_);
      whitened_.assign(packed_.vector_size(), Scalar(0));
      vectors_.assign(vector_count * packed_.vector_size(), Scalar(0));
    }
  }
  // The order of contacts between the same bodies depends on their data and may have changed.
  block_at_.assign(packed_.part_size(), -1);
  packed_.for_each_friction_contact(graph_,
                                    [&](Index block, Index part) { block_at_[part] = block; });
}

template <RealScalar Scalar>
template <typename Options>
Index LinearizedHessian<Scalar>::linearize(const ContactProblem<Scalar>& problem,
                                           const Numbers& velocity,
                                           const Options& options) noexcept {
  tolerance_ = options.tolerance;
  product_limit_ = options.product_limit;
  boundary_count_ = 0;
  Index contacts = 0, others = 0;
  const auto differentiate = [&](const auto& block, auto& result) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows of_block = block.velocity(velocity);
    if (!block.trial(of_block).allFinite()) return false;
    result = make_impulse_derivative(block.law(), Rows(block.bias_velocity() - of_block));
    if (result.margin > options.boundary_tolerance * speed_of(block, velocity)) {
      result.nearest = RegionBoundary::none;
    }
    if (result.nearest != RegionBoundary::none) ++boundary_count_;
    return true;
  };
  for (Index i = 0; i < problem.block_count(); ++i) {
    bool finite;
    if (problem.is_friction_contact(i)) {
      places_[i] = contacts;
      finite = differentiate(problem.friction_contact(i), contacts_[contacts++]);
    } else {
      places_[i] = -1 - others;
      finite = differentiate(problem.other_block(i), others_[others++]);
    }
    if (!finite) return i;
  }
  return -1;
}

template <RealScalar Scalar>
void LinearizedHessian<Scalar>::add_curvature(const PackedEdge& edge,
                                              const Columns<Scalar> (&targets)[3]) const noexcept {
  const Scalar* const block = packed_.jacobians(edge.jacobians);
  const auto curvature = [&](Index part, General3<Scalar>& g) {
    const SquareMatrix<Scalar, 3>& by = friction_contact(block_at_[part]).by_excess;
    g = Symmetric3<Scalar>{by(0, 0), by(1, 0), by(1, 1), by(2, 0), by(2, 1), by(2, 2)}.whole();
    return g.zz > Scalar(0);
  };
  add_edge_curvature(edge, block, curvature, targets);
  for (Index c = edge.first_other; c < edge.other_end; ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const auto scaled = other.scale_curvature(other_block(other.number).by_excess);
    add_other_curvature(edge, block, other, scaled, targets);
  }
}

template <RealScalar Scalar>
bool LinearizedHessian<Scalar>::factor(const ContactProblem<Scalar>& problem) noexcept {
  packed_.pack(problem, graph_);
  direct_.follow(graph_);
  const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
    add_curvature(edge, targets);
  };
  bool factored = true;
  for (Index i = 0; i < packed_.islands().size(); ++i) {
    const PackedIsland& island = packed_.islands()[i];
    if (!island.direct) {
      factored = iterative_.factor(packed_, i, add) && factored;
      continue;
    }
    direct_.clear(island);
    const Scalar largest = direct_.fill(packed_, island, add);
    factored =
        largest <= (std::numeric_limits<Scalar>::max)() && direct_.factor(island) && factored;
  }
  return factored;
}

/// Solves an island by conjugate gradients.
template <RealScalar Scalar>
void LinearizedHessian<Scalar>::solve_iteratively(Index i, SolveReport<Scalar>& report) noexcept {
  using std::sqrt;
  report.residual_target = tolerance_;
  const PackedIsland& island = packed_.islands()[i];
  const Index start = island.vector_start, size = island.vector_size;
  Scalar* const x = whitened_.data() + start;
  const auto part = [&](int which) {
    return vectors_.data() + which * packed_.vector_size() + start;
  };
  std::copy_n(x, size, part(residual));
  Scalar squared = 0;
  for (Index k = 0; k < size; ++k) squared += x[k] * x[k];
  const Scalar norm = sqrt(squared);
  if (!(norm > Scalar(0))) return;
  const auto solved =
      iterative_.solve(packed_, i, {x, part(residual), part(direction), part(product), size},
                       tolerance_ * norm, product_limit_);
  const Scalar left = solved.residual / norm;
  report.iterations = (std::max)(report.iterations, solved.iterations);
  report.residual = (std::max)(report.residual, left);
  if (!solved.usable) report.status = SolveStatus::not_finite;
  if (left > tolerance_ && report.status == SolveStatus::converged) {
    report.status = solved.iterations < product_limit_ ? SolveStatus::no_progress
                                                       : SolveStatus::iteration_limit;
  }
}

template <RealScalar Scalar>
template <bool Transposed>
SolveReport<Scalar> LinearizedHessian<Scalar>::solve() noexcept {
  direct_.follow(graph_);  // this object and its graph may have moved
  SolveReport<Scalar> report;
  report.status = SolveStatus::converged;
  for (Index i = 0; i < packed_.islands().size(); ++i) {
    const PackedIsland& island = packed_.islands()[i];
    if (island.direct) {
      direct_.solve(packed_, island, whitened_.data());
    } else {
      solve_iteratively(i, report);
    }
  }
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
