// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_newton.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How a PetscSapSolver solves, and how accurately. All ranks have the same.
struct PetscSapOptions {
  /// T [-], > 0: stop when ‖∇ℓ‖_{A⁻¹} ≤ T s, s the momentum_scale(), as SapOptions::tolerance.
  double tolerance = std::sqrt(std::numeric_limits<double>::epsilon());
  int iteration_limit = 200;            ///< Most Newton iterations, ≥ 0.
  double line_search_tolerance = 1e-1;  ///< As SapOptions::line_search_tolerance, in (0, 1).
  /// Islands of a rank whose factor would take more multiply-adds per contact than this, ≥ 0, get
  /// an incomplete factor, whose memory is in proportion to the contacts.
  double factor_work_limit = 1.5e4;
  /// Whether the factor of a rank solves for ghosts too, for two exchanges more per iteration. On a
  /// heap that takes a fifth of the iterations.
  bool overlap = true;
  /// Bodies that move as one in the coarse space, ≥ 1. The default is one aggregate on every rank,
  /// which keeps the coarse system small on thousands of ranks: each of them solves it.
  Index bodies_per_aggregate = 1'000'000;
  /// Most iterations of conjugate gradients per direction, > 0.
  int product_limit = detail::IterativeDirectionsTuning::product_limit;

  /// Whether every option is in its range.
  [[nodiscard]] bool is_valid() const noexcept {
    return tolerance > 0 && iteration_limit >= 0 && line_search_tolerance > 0 &&
           line_search_tolerance < 1 && factor_work_limit >= 0 && bodies_per_aggregate >= 1 &&
           product_limit > 0;
  }
};

/// What a solve on several ranks took, for models of its time. The same on all ranks.
struct PetscCounts {
  long long linear_iterations = 0;  ///< of conjugate gradients, over all directions
  long long exchanges = 0;          ///< of ghosts
  long long exchanged_bytes = 0;    ///< in one exchange, received by all ranks together
  long long sums = 0;               ///< over ranks, of a few numbers; those within KSP not counted
  long long cut_blocks = 0;         ///< blocks between bodies of two ranks
};

namespace detail {

/// Counts what the borders of ranks cut, and the bytes of an exchange. Every rank calls it.
inline void count_borders(const PetscContactProblem& problem, const PetscExchange& exchange,
                          PetscCounts& counts) {
  long long totals[2] = {0, 8 * exchange.ghost_size()};
  for (Index i = 0; i < problem.local().block_count(); ++i) {
    if (problem.is_cut(i) && problem.counts(i)) ++totals[0];
  }
  MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_LONG_LONG, MPI_SUM, problem.communicator());
  counts.cut_blocks = totals[0];
  counts.exchanged_bytes = totals[1];
}

}  // namespace detail

/// SAP on the ranks of a communicator: Newton's method of SapSolver under the convex law, with
/// conjugate gradients of PETSc for the directions and sums over ranks in the line search.
///
/// A product takes one exchange of ghost velocities. The preconditioner is carom's sparse factor of
/// each rank's own part, or an incomplete one, and a coarse space of rigid motions. All islands are
/// iterated together, and end where all together meet the tolerance. Answers are those of one
/// process to the tolerance; their last digits depend on the number of ranks.
///
/// ```
/// carom::PetscSapSolver solver;
/// Eigen::VectorXd velocity = problem.local().free_velocity();
/// const auto report = solver.solve(problem, velocity);
/// ```
/// @note  Cold: allocates. Every rank calls every function. Bad data make all ranks throw
///        std::invalid_argument; where PETSc fails, all ranks end.
/// @cite  castro2021unconstrained, tang2009comparison.
class PetscSapSolver {
 public:
  explicit PetscSapSolver(const PetscSapOptions& options = {}) : options_(options) {
    CAROM_EXPECTS(options.is_valid());
  }

  [[nodiscard]] const PetscSapOptions& options() const noexcept { return options_; }
  /// Those of the solves that follow.
  void set_options(const PetscSapOptions& options) noexcept {
    CAROM_EXPECTS(options.is_valid());
    options_ = options;
  }

  /// Solves the problem from a first guess.
  /// @param velocity  v [m/s, rad/s] of own bodies and ghosts, as local() stacks them: first guess
  ///                  in, answer out. What the ghosts hold at first does not matter.
  /// @return  as SapSolver, for the whole problem, the same on all ranks.
  SolveReport<double> solve(const PetscContactProblem& problem, VectorX<double>& velocity);

  /// γ of this rank's blocks [N·s], as local() stacks them.
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return iterate_.impulse(); }
  /// J v of this rank's blocks [m/s, rad/s].
  [[nodiscard]] const VectorX<double>& contact_velocity() const noexcept {
    return iterate_.velocity();
  }
  /// Of the last solve.
  [[nodiscard]] const PetscCounts& counts() const noexcept { return counts_; }

 private:
  PetscSapOptions options_;
  detail::PetscDirections directions_;
  detail::PetscIterate iterate_;
  PetscCounts counts_;
};

// --- implementation ---

inline SolveReport<double> PetscSapSolver::solve(const PetscContactProblem& problem,
                                                 VectorX<double>& velocity) {
  CAROM_EXPECTS(velocity.size() == problem.local().velocity_count());
  directions_.lay_out(problem, options_.factor_work_limit, options_.bodies_per_aggregate);
  iterate_.lay_out(problem, directions_.graph(), options_.line_search_tolerance);
  counts_ = {};
  detail::count_borders(problem, directions_.exchange(), counts_);
  SolveReport<double> report;
  report.residual_target = options_.tolerance;
  report.measure = ResidualMeasure::momentum_balance;
  if (!detail::on_all_ranks(problem.communicator(),
                            velocity.head(directions_.exchange().own_size()).allFinite())) {
    report.residual = report.error_bound = std::numeric_limits<double>::infinity();
    return report;
  }
  iterate_.whitened = velocity;
  iterate_.whitened.tail(directions_.exchange().ghost_size()).setZero();
  problem.local().whiten(as_span(iterate_.whitened));
  directions_.exchange().update_ghosts(iterate_.whitened.data());
  iterate_.evaluate();
  report.status = SolveStatus::converged;
  if (!iterate_.meet(options_.tolerance)) {
    detail::start_from_best(iterate_);
    iterate_.start_directions();
    const auto find = [this] {
      return directions_.find(iterate_, options_.tolerance, options_.overlap,
                              options_.product_limit);
    };
    const detail::NewtonLimits<double> limits{options_.tolerance, options_.iteration_limit,
                                              options_.line_search_tolerance};
    if (!iterate_.meet(options_.tolerance)) {
      report.status = detail::walk_to_target(iterate_, find, limits, report.iterations);
    }
    velocity = iterate_.whitened;
    problem.local().unwhiten(as_span(velocity));
  }
  detail::finish_report(
      iterate_.residual,
      momentum_scale(iterate_.free_squared, iterate_.pushed_squared, iterate_.gross_squared),
      report);
  counts_.linear_iterations = directions_.iterations();
  counts_.exchanges = directions_.exchange().count();
  counts_.sums = iterate_.sum_count();
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
