// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/core/solve_report.hpp"
#include "carom/solvers/derivative/linearized_impulses.hpp"
#include "carom/solvers/derivative/linearized_islands.hpp"
#include "carom/solvers/rows/edge_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// H = A + Jᵀ G J of a whole problem, with the true curvature G of its blocks at a solution, and
/// products with its inverse. Bodies without blocks have H = A.
/// @note  Real-time safe once a problem of the size has been prepared.
template <RealScalar Scalar>
class LinearizedHessian {
 public:
  /// Takes on a problem's pattern, and grows memory to its size.
  /// @param factor_work_limit  as that of SapOptions.
  void prepare(const ContactProblem<Scalar>& problem, double factor_work_limit);
  /// Takes over another analysis of the pattern of the next problem.
  void take_graph(const ContactGraph& graph) {
    graph_ = graph;
    laid_out_ = -1;
  }
  /// Assembles and factors H.
  /// @param impulses  the blocks' impulses with their derivatives at the solution.
  /// @return  false where round-off leaves it indefinite.
  /// @pre  prepare() has seen the problem.
  [[nodiscard]] bool factor(const ContactProblem<Scalar>& problem,
                            const LinearizedImpulses<Scalar>& impulses) noexcept;
  /// x ← H⁻¹ x, from momenta to velocities.
  /// @param tolerance      of conjugate gradients, relative to the right-hand side [-], > 0.
  /// @param product_limit  most of their products per island, ≥ 0.
  /// @return  see SapDerivative::push_forward().
  SolveReport<Scalar> apply_inverse(const ContactProblem<Scalar>& problem, const Scalar& tolerance,
                                    int product_limit, Scalar* x) noexcept;

 private:
  /// Adds Ĵᵀ G Ĵ of an edge's blocks.
  void add_curvature(const PackedEdge& edge, const LinearizedImpulses<Scalar>& impulses,
                     const Columns<Scalar> (&targets)[3]) const noexcept;

  ContactGraph graph_;
  PackedProblem<Scalar> packed_;
  LinearizedIslands<Scalar> islands_;
  Sequence<Index> block_at_;   ///< per part, the block of a friction contact; −1 of all others
  Sequence<Scalar> whitened_;  ///< a packed vector
  int analysed_ = -1, laid_out_ = -1;
};

// --- implementation ---

template <RealScalar Scalar>
void LinearizedHessian<Scalar>::prepare(const ContactProblem<Scalar>& problem,
                                        double factor_work_limit) {
  graph_.analyse(problem, factor_work_limit);
  if (laid_out_ != graph_.layout_count()) {
    const bool analysed = laid_out_ < 0 || analysed_ != graph_.analysis_count();
    laid_out_ = graph_.layout_count();
    analysed_ = graph_.analysis_count();
    packed_.lay_out(graph_);
    if (analysed) {
      islands_.lay_out(graph_, packed_);
      whitened_.assign(packed_.vector_size(), Scalar(0));
    }
  }
  // The data of contacts between the same bodies decide their order, which may have changed.
  block_at_.assign(packed_.part_size(), -1);
  packed_.for_each_friction_contact(graph_,
                                    [&](Index block, Index part) { block_at_[part] = block; });
}

template <RealScalar Scalar>
void LinearizedHessian<Scalar>::add_curvature(const PackedEdge& edge,
                                              const LinearizedImpulses<Scalar>& impulses,
                                              const Columns<Scalar> (&targets)[3]) const noexcept {
  const Scalar* const block = packed_.jacobians(edge.jacobians);
  const auto curvature = [&](Index part, General3<Scalar>& g) {
    const SquareMatrix<Scalar, 3>& by = impulses.friction_contact(block_at_[part]).by_excess;
    g = Symmetric3<Scalar>{by(0, 0), by(1, 0), by(1, 1), by(2, 0), by(2, 1), by(2, 2)}.whole();
    return g.zz > Scalar(0);
  };
  add_edge_curvature(edge, block, curvature, targets);
  for (Index c = edge.first_other; c < edge.other_end; ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const auto scaled = other.scale_curvature(impulses.other_block(other.number).by_excess);
    add_other_curvature(edge, block, other, scaled, targets);
  }
}

template <RealScalar Scalar>
bool LinearizedHessian<Scalar>::factor(const ContactProblem<Scalar>& problem,
                                       const LinearizedImpulses<Scalar>& impulses) noexcept {
  packed_.pack(problem, graph_);
  islands_.follow(graph_);
  const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
    add_curvature(edge, impulses, targets);
  };
  bool factored = true;
  for (Index i = 0; i < packed_.islands().size(); ++i) {
    if (!islands_.factor(packed_, i, add)) factored = false;
  }
  return factored;
}

template <RealScalar Scalar>
SolveReport<Scalar> LinearizedHessian<Scalar>::apply_inverse(const ContactProblem<Scalar>& problem,
                                                             const Scalar& tolerance,
                                                             int product_limit,
                                                             Scalar* x) noexcept {
  islands_.follow(graph_);  // this object may have been moved, and the graph with it
  problem.whiten_momentum({x, std::size_t(problem.velocity_count())});
  const auto for_each_body = [&](const auto& visit) {
    for (Index b = 0; b < problem.body_count(); ++b) {
      const int slot = graph_.slot_of(b);
      if (slot < 0) continue;  // H = A
      const auto [start, size] = problem.body(b);
      visit(x + start, whitened_.data() + packed_.starts()[slot], size);
    }
  };
  for_each_body([](Scalar* here, Scalar* there, Index size) { std::copy_n(here, size, there); });
  SolveReport<Scalar> report;
  report.status = SolveStatus::converged;
  for (Index i = 0; i < packed_.islands().size(); ++i) {
    const auto solved = islands_.solve(packed_, i, whitened_.data(), tolerance, product_limit);
    report.iterations = (std::max)(report.iterations, solved.products);
    report.residual = (std::max)(report.residual, solved.residual);
    if (!solved.usable) report.status = SolveStatus::not_finite;
    if (packed_.islands()[i].direct) continue;
    report.residual_target = tolerance;
    if (solved.residual > tolerance && report.status == SolveStatus::converged) {
      report.status =
          solved.products < product_limit ? SolveStatus::no_progress : SolveStatus::iteration_limit;
    }
  }
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  for_each_body([](Scalar* here, Scalar* there, Index size) { std::copy_n(there, size, here); });
  problem.unwhiten({x, std::size_t(problem.velocity_count())});
  if (!Eigen::Map<VectorX<Scalar>>(x, problem.velocity_count()).allFinite()) {
    report.status = SolveStatus::not_finite;
  }
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
