// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/delassus_islands.hpp"
#include "carom/solvers/detail/proximal_search.hpp"

namespace carom::inline CAROM_ABI {

/// Semismooth Newton for rigid or compliant contact under the exact law of Coulomb, or the convex
/// one, in impulses: from sweeps of Gauss-Seidel, by proximal steps, to machine accuracy.
///
/// Each proximal step solves γ = 𝒞(c − a ∘ u(γ)/ρ) for a held centre c by Newton's method, in the
/// law's own, not symmetric slope; then the answer is the next centre. W may be singular: the
/// weight ρ, the step's softness relative to the contact's own, falls while steps succeed and
/// rises when one does not. Near a solution Newton's method on the law itself, ρ = 1 and no held
/// centre, ends what is left to do. When both stall the search begins anew, softer and with more
/// patience, from where it started; the best iterate met is what is returned.
///
/// ```
/// carom::ContactNewton<double> solver({.tolerance = 1e-10});
/// Eigen::VectorXd impulse = Eigen::VectorXd::Zero(problem.row_count());
/// const auto report = solver.solve(problem, impulse);
/// ```
/// @cite  alart1991mixed for the law as a map; rockafellar1976monotone for proximal steps.
///        Coulomb's law is not monotone: no proof of convergence exists.
template <RealScalar Scalar>
class ContactNewton {
 public:
  using scalar_type = Scalar;

  explicit ContactNewton(const ContactNewtonOptions<Scalar>& options = {})
      : options_(options), search_(options) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0 && options.sweeps >= 0);
  }
  [[nodiscard]] const ContactNewtonOptions<Scalar>& options() const noexcept { return options_; }
  /// Bounds every solve from now on; a default SolveLimits bounds none.
  void set_limits(const SolveLimits& limits) noexcept {
    limits_ = limits;
    search_.set_limits(limits);
  }

  /// Grows memory for problems of this size and pattern. Cold: allocates.
  void prepare(const DelassusProblem<Scalar>& problem) {
    iterate_.reserve(problem);
    islands_.find(problem);
    guess_.resize(3 * problem.part_count());
    search_.prepare(problem);
  }

  /// Solves from a first guess, island by island.
  /// @param impulse  γ in rows, row_count(): guess in, best iterate out.
  /// @return  residual: natural map error [-], that of certify(); iterations: systems solved.
  /// @note  Allocates nothing once a problem of the size and pattern has been solved, or prepared
  ///        for if all its contacts influence each other.
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            Eigen::Ref<VectorX<Scalar>> impulse);

 private:
  SolveStatus solve_island(const DelassusProblem<Scalar>& problem, Index island);

  ContactNewtonOptions<Scalar> options_;
  SolveLimits limits_;
  detail::ProximalSearch<Scalar> search_;
  DelassusIslands<Scalar> islands_;
  DelassusProblem<Scalar> island_;
  detail::DualIterate<Scalar> iterate_;
  Sequence<Scalar> guess_;
  int iterations_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
SolveStatus ContactNewton<Scalar>::solve_island(const DelassusProblem<Scalar>& problem,
                                                Index island) {
  using std::sqrt;
  const bool alone = islands_.count() == 1;
  if (!alone) islands_.write(problem, island, island_);
  const DelassusProblem<Scalar>& part = alone ? problem : island_;
  guess_.resize(3 * part.part_count());
  const auto for_each_number = [&](auto&& visit) {
    Index to = 0;
    for (const int i : islands_.contacts(island)) {
      const Index from = 3 * problem.first_part(i);
      for (int k = 0; k < 3 * problem.parts(i); ++k) visit(from + k, to++);
    }
  };
  for_each_number([&](Index whole, Index own) { guess_[own] = iterate_.impulse()[whole]; });
  const SolveStatus status =
      search_.solve(part, guess_.data(), options_.tolerance / sqrt(Scalar(islands_.count())),
                    (std::min)(options_.iteration_limit, limits_.iteration_limit) - iterations_);
  iterations_ += search_.iterations();
  for_each_number([&](Index whole, Index own) { iterate_.impulse()[whole] = search_.best()[own]; });
  return status;
}

template <RealScalar Scalar>
SolveReport<Scalar> ContactNewton<Scalar>::solve(const DelassusProblem<Scalar>& problem,
                                                 Eigen::Ref<VectorX<Scalar>> impulse) {
  CAROM_EXPECTS(!problem.matrix_free());
  CAROM_EXPECTS(impulse.size() == problem.row_count());
  iterations_ = 0;
  iterate_.reserve(problem);
  const auto finish = [&](SolveStatus status) {
    return iterate_.finish(problem, status, iterations_, options_.tolerance, impulse);
  };
  if (!iterate_.start(problem, impulse)) return finish(SolveStatus::not_finite);
  const Scalar error = iterate_.measure(problem, options_.law);
  if (!detail::is_finite(error)) return finish(SolveStatus::not_finite);
  if (error <= options_.tolerance) return finish(SolveStatus::converged);
  if (limits_.now != nullptr) iterate_.confine_best(problem, options_.law);
  if (limits_.is_over()) return finish(SolveStatus::deadline);
  islands_.find(problem);
  SolveStatus status = SolveStatus::converged;
  for (Index k = 0; k < islands_.count(); ++k) {
    const SolveStatus own = solve_island(problem, k);
    if (own != SolveStatus::converged) status = own;
  }
  static_cast<void>(iterate_.measure(problem, options_.law));
  return finish(status == SolveStatus::converged ? SolveStatus::no_progress : status);
}

}  // namespace carom::inline CAROM_ABI
