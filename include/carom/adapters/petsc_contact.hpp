// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/petsc.hpp"
#include "carom/adapters/petsc_certificate.hpp"
#include "carom/adapters/petsc_interior_point.hpp"
#include "carom/solvers/search/proximal_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What a PetscContactSolver solves, and how accurately. All ranks have the same.
struct PetscContactOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// T [-], > 0: of compliant contact under the convex law as PetscSapOptions::tolerance; otherwise
  /// the natural_map_error at which to stop.
  double tolerance = 1e-6;
  int problem_limit = 400;  ///< Most convex problems of a sequence, > 0.
  /// Blocks of all ranks up to which PetscInteriorPointSolver looks for the answer first, ≥ 0; 0
  /// for never. In heaps of 400 bodies it takes as long as the sequence to 1e-6, beyond longer.
  Index interior_point_limit = 3000;
  int system_limit = 1000;  ///< Most systems of the interior point, ≥ 0.
  PetscSapOptions sap{};    ///< How each is solved; its tolerance is not used.

  [[nodiscard]] bool is_valid() const noexcept {
    return tolerance > 0 && problem_limit > 0 && interior_point_limit >= 0 && system_limit >= 0 &&
           sap.is_valid();
  }
};

namespace detail {

/// Constants of PetscContactSolver.
struct PetscContactTuning {
  /// R of rigid rows, relative to the mean diagonal of their own W [-]: at first, and the least. A
  /// larger one takes more problems of a sequence, a smaller one more iterations of each. Under
  /// Coulomb's law it also keeps the lifts from changing too much at once: with the least R of the
  /// convex law, a pile of ten rigid bodies stayed at 3e-5 for hundreds of problems.
  static constexpr double first_softness = 1e-2, least_convex = 1e-5, least_coulomb = 1e-3;
  /// R shrinks by `shrink` where a problem leaves more than this share of the error.
  static constexpr double shrink = 0.25, slow_convex = 0.7, slow_coulomb = 0.9;
  /// Relative residual asked of a convex problem: `first_tolerance` at first, then `share` of the
  /// error of the law, and no less than `least_share` of the tolerance.
  static constexpr double first_tolerance = 1e-2, share = 0.05, least_share = 0.02;
};

}  // namespace detail

/// Coulomb's law and rigid contact on the ranks of a communicator: by PetscInteriorPointSolver, and
/// where there are too many blocks for it, or it finds no answer, by a sequence of compliant convex
/// problems, each solved by PetscSapSolver.
///
/// In the sequence rigid rows get a small R and v̂ + R γ of the impulses so far, a proximal step on
/// the impulses, whose fixed points do not depend on R. Under Coulomb's law normals have De Saxcé's
/// lift of the velocities so far. The sequence ends where the natural map of the law itself is
/// small. Compliant contact under the convex law is one problem.
/// @note  Cold: allocates. Every rank calls every function.
/// @cite  rockafellar1976monotone, desaxce1998bipotential.
class PetscContactSolver {
 public:
  explicit PetscContactSolver(const PetscContactOptions& options = {})
      : options_(options), sap_(options.sap) {
    CAROM_EXPECTS(options.is_valid());
  }

  /// Solves the problem from a first guess.
  /// @param velocity  as PetscSapSolver::solve().
  /// @return  residual: of compliant contact under the convex law as PetscSapSolver; otherwise the
  ///          natural_map_error of the answer [-]. iterations: systems of the interior point and
  ///          steps of Newton's method in all.
  SolveReport<double> solve(const PetscContactProblem& problem, VectorX<double>& velocity) {
    counts_ = {};
    long long totals[2] = {problem.local().rigid_count(), 0};  // rigid blocks, all blocks
    for (Index i = 0; i < problem.local().block_count(); ++i) totals[1] += problem.counts(i);
    MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_LONG_LONG, MPI_SUM, problem.communicator());
    if (options_.law == FrictionLaw::convex && totals[0] == 0) {
      set_tolerance(options_.tolerance);
      const SolveReport<double> report = sap_.solve(problem, velocity);
      impulse_ = sap_.impulse();
      counts_ = sap_.counts();
      return report;
    }
    Answer best{std::numeric_limits<double>::infinity(), velocity,
                VectorX<double>::Zero(problem.local().impulse_count())};
    SolveReport<double> result;
    result.status = SolveStatus::iteration_limit;
    if (totals[1] <= options_.interior_point_limit) result = follow_path(problem, best);
    if (!result.converged()) solve_sequence(problem, velocity, best, result);
    velocity = best.velocity;
    impulse_ = best.impulse;
    result.measure = ResidualMeasure::natural_map;
    result.residual_target = options_.tolerance;
    result.residual = best.error;
    result.error_bound = std::numeric_limits<double>::infinity();
    return result;
  }

  /// γ of this rank's blocks [N·s], as local() stacks them.
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  /// Of the last solve, over all problems of a sequence.
  [[nodiscard]] const PetscCounts& counts() const noexcept { return counts_; }

 private:
  using Tuning = detail::PetscContactTuning;

  void set_tolerance(double tolerance) {
    PetscSapOptions options = options_.sap;
    options.tolerance = tolerance;
    sap_.set_options(options);
  }
  /// The best answer met.
  struct Answer {
    double error;  ///< natural map error [-]
    VectorX<double> velocity, impulse;
  };
  SolveReport<double> follow_path(const PetscContactProblem& problem, Answer& best) {
    PetscInteriorPointSolver interior({.law = options_.law,
                                       .tolerance = options_.tolerance,
                                       .iteration_limit = options_.system_limit});
    const SolveReport<double> report = interior.solve(problem, best.velocity);
    add_counts(interior.counts());
    best.error = report.residual;
    best.impulse = interior.impulse();
    return report;
  }
  void add_counts(const PetscCounts& more) {
    counts_.linear_iterations += more.linear_iterations;
    counts_.exchanges += more.exchanges;
    counts_.sums += more.sums;
    counts_.exchanged_bytes = more.exchanged_bytes;
    counts_.cut_blocks = more.cut_blocks;
  }
  /// The lifts of the velocities of the last convex problem, by the laws themselves.
  void write_lifts(const ContactProblem<double>& local) {
    if (options_.law == FrictionLaw::convex) return;
    local.for_each_block([&](const auto& block) {
      const auto moved = block.read(sap_.contact_velocity()), gamma = block.read(impulse_);
      lift_[std::size_t(block.number())] =
          de_saxce_lift(block.set(), block.law_slope(moved, gamma));
    });
  }
  /// @param velocity  the guess in, the last velocity out.
  /// @param best      replaced where an answer is better.
  /// @param result    its iterations and status.
  void solve_sequence(const PetscContactProblem& problem, VectorX<double>& velocity, Answer& best,
                      SolveReport<double>& result);

  PetscContactOptions options_;
  PetscSapSolver sap_;
  PetscCounts counts_;
  VectorX<double> impulse_;
  std::vector<double> weights_;  ///< per block, the mean diagonal of its own W [1/kg]
  std::vector<double> lift_;     ///< per block [m/s]
};

// --- implementation ---

inline void PetscContactSolver::solve_sequence(const PetscContactProblem& problem,
                                               VectorX<double>& velocity, Answer& best,
                                               SolveReport<double>& result) {
  PetscContactProblem softened = problem;
  const ContactProblem<double>& local = problem.local();
  weights_.clear();
  lift_.assign(std::size_t(local.block_count()), 0.0);
  local.for_each_block(
      [&](const auto& block) { weights_.push_back(block.own_trace() / block.rows()); });
  impulse_.setZero(local.impulse_count());
  result.status = SolveStatus::iteration_limit;
  double error = std::numeric_limits<double>::infinity(), softness = Tuning::first_softness;
  const bool convex = options_.law == FrictionLaw::convex;
  const double slow = convex ? Tuning::slow_convex : Tuning::slow_coulomb;
  const double least = convex ? Tuning::least_convex : Tuning::least_coulomb;
  for (int k = 0; k < options_.problem_limit; ++k) {
    detail::write_proximal_laws(
        local, options_.law, [&](Index i) { return softness * weights_[std::size_t(i)]; },
        [this](Index i) { return lift_[std::size_t(i)]; }, impulse_.data(), softened.local());
    set_tolerance(std::clamp(Tuning::share * error, Tuning::least_share * options_.tolerance,
                             Tuning::first_tolerance));
    const SolveReport<double> report = sap_.solve(softened, velocity);
    add_counts(sap_.counts());
    result.iterations += report.iterations;
    if (report.status == SolveStatus::not_finite) {
      result.status = report.status;
      break;
    }
    impulse_ = sap_.impulse();
    write_lifts(local);
    const double now = certify(problem, velocity, impulse_, options_.law).natural_map_error;
    if (now < best.error) best = {now, velocity, impulse_};
    if (now <= options_.tolerance) {
      result.status = SolveStatus::converged;
      break;
    }
    if (now > slow * error) softness = (std::max)(Tuning::shrink * softness, least);
    error = now;
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
