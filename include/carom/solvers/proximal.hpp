// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/detail/natural_map.hpp"
#include "carom/contact/dual.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/core/detail/rollback.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/search/proximal_law.hpp"
#include "carom/solvers/systems/executor_reference.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Accuracy and limit of ProximalSolver.
template <RealScalar Scalar>
struct ProximalOptions {
  FrictionLaw law = FrictionLaw::convex;
  /// The solve ends at this natural map error [-], > 0.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  int iteration_limit = 1000;  ///< Largest total count of Newton steps, ≥ 0.
};

/// Solves rigid contact, or contact under Coulomb's law, without a factor of the whole problem.
/// Memory and the time of an iteration are proportional to bodies and contacts, and an executor
/// shares the work of one heap. Each step is a problem of compliant contact under the convex law
/// for SapSolver.
///
/// Each proximal step softens the rigid blocks by ρ w, where w is the mean of the block's own part
/// of W, and moves their biases by the effect of this softness on the impulses before: γ solves the
/// law with R + ρ w and v̂ + ρ w c. SapSolver computes γ, which is the next centre c; c is then
/// extrapolated in the direction of the last steps. If the steps converge, γ obeys the rigid law. ρ
/// decreases during the steps, and the steps become larger. They end if the natural map error is at
/// most the tolerance and is also small relative to the load ‖q‖, or if no better impulses were
/// found for `patience` steps.
///
/// Under Coulomb's law a step also subtracts De Saxcé's term Σ ‖μ_b ∘ u_b‖ of each cone from its
/// normal's bias, with the u of the steps before. Compliant heaps of 10,000 bodies converge to 1e-8
/// with it. Rigid heaps stay near 1e-4, and InteriorPointSolver is the better choice for them.
///
/// ```
/// carom::ProximalSolver<double> solver({.tolerance = 1e-6});
/// const auto report = solver.solve(problem, velocity, executor);
/// ```
/// @cite rockafellar1976monotone for the steps and their convergence from every guess, if inner
///       errors can be summed; guler1992proximal for carrying the centre on, with a restart where
///       the impulses turn back (odonoghue2015adaptive); acary2018coulomb for Coulomb's law
///       as a fixed point of convex problems, which has no proof of convergence.
template <RealScalar Scalar>
class ProximalSolver {
 public:
  using scalar_type = Scalar;

  // NOLINTNEXTLINE(bugprone-exception-escape): a problem without bodies has a time step of 1 s
  explicit ProximalSolver(const ProximalOptions<Scalar>& options = {}) noexcept
      : options_(options), solver_({.tolerance = Scalar(Tuning::first_tolerance)}) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
  }
  [[nodiscard]] const ProximalOptions<Scalar>& options() const noexcept { return options_; }
  /// Sets the residual for all later solves [-], > 0.
  void set_tolerance(Scalar tolerance) noexcept {
    CAROM_EXPECTS(tolerance > Scalar(0));
    options_.tolerance = tolerance;
  }
  /// Sets the limits of all later solves; a default SolveLimits has no limit. At a deadline the
  /// answer is the one with the least natural map error.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return limits_; }

  /// Allocates memory for the problem's size and pattern, so that solve() does not.
  void prepare(const ContactProblem<Scalar>& problem) {
    detail::prepare_or_renew(*this, limits_, [&] {
      take(problem);
      solver_.prepare(softened_);
    });
  }

  /// Solves from zero impulses.
  /// @param velocity  v, n_v: in: guess of the first step, out: v(γ).
  /// @param executor  as for SapSolver::solve.
  /// @return  residual: natural map error of impulse() [-]; error_bound: infinite; iterations: of
  ///          Newton's method. A residual below its target but above a tenth of ‖q‖ is not an
  ///          answer, and the search continues: impulses grow if none obey the law.
  /// @note  Real-time safe after prepare() for a problem of this size and pattern.
  template <typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            Executor&& executor = {}) noexcept {
    take(problem);
    set_zero(centre_);
    return search(problem, velocity, detail::ExecutorReference(executor));
  }
  /// The same from a first guess of the impulses.
  template <typename Impulse, typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const Eigen::MatrixBase<Impulse>& impulse,
                                 VectorX<Scalar>& velocity, Executor&& executor = {}) noexcept {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    take(problem);
    for (Index i = 0; i < centre_.size(); ++i) centre_(i) = impulse(i);
    if (!detail::all_finite(centre_.data(), centre_.size())) set_zero(centre_);
    write_velocity(problem, centre_, velocity);
    return search(problem, velocity, detail::ExecutorReference(executor));
  }

  /// γ of the last solve [N·s], stacked block by block.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {best_.data(), best_.size()};
  }

 private:
  using Tuning = detail::ProximalSolverTuning;
  static constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

  /// The state of a search.
  struct Search {
    Scalar softness = Scalar(Tuning::first_softness);  ///< ρ [-]
    Scalar pace = 1;                                   ///< grows while the centre is extrapolated
    Scalar error = infinity, best = infinity;          ///< of the last step, and the least error
    bool bounded = false;  ///< whether the best error is small relative to ‖q‖
    int iterations = 0, since_best = 0;
  };
  /// The errors of impulses in the law, relative to all terms and to ‖q‖.
  struct Errors {
    Scalar relative, by_load;
  };

  static void set_zero(Growing<VectorX<Scalar>>& numbers) noexcept {
    std::fill_n(numbers.data(), numbers.size(), Scalar(0));
  }
  static void copy(const Growing<VectorX<Scalar>>& from, Growing<VectorX<Scalar>>& to) noexcept {
    std::copy_n(from.data(), from.size(), to.data());
  }
  void take(const ContactProblem<Scalar>& problem);
  SolveReport<Scalar> search(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                             const detail::ExecutorReference& executor) noexcept;
  void move_centre(Search& at) noexcept;
  [[nodiscard]] Errors measure(const ContactProblem<Scalar>& problem,
                               const VectorX<Scalar>& velocity) noexcept;
  void judge(const ContactProblem<Scalar>& problem, Search& at) noexcept;
  [[nodiscard]] bool is_found(const Search& at) const noexcept {
    return at.best <= options_.tolerance && at.bounded;
  }

  ProximalOptions<Scalar> options_;
  SolveLimits limits_;
  SapSolver<Scalar> solver_;
  ContactProblem<Scalar> softened_{Scalar(1)};
  detail::Yardstick<Scalar> yardstick_{};
  Growing<VectorX<Scalar>> weights_;  ///< w, by blocks [1/kg]
  detail::RelaxedLifts<Scalar> lifts_;
  Growing<VectorX<Scalar>> centre_, last_, best_;  ///< c, γ of the last step, and the best
  VectorX<Scalar> step_velocity_, own_velocity_;   ///< of SapSolver, and v(γ)
};

// --- implementation ---

/// Copies the problem and reads the data that do not change in a solve.
template <RealScalar Scalar>
void ProximalSolver<Scalar>::take(const ContactProblem<Scalar>& problem) {
  softened_ = problem;
  weights_.grow(problem.block_count());
  lifts_.reset(problem.block_count());
  for (Growing<VectorX<Scalar>>* numbers : {&centre_, &last_, &best_}) {
    numbers->grow(problem.impulse_count());
  }
  detail::YardstickSums<Scalar> sums;
  problem.for_each_block([&](const auto& block) {
    const Scalar trace = sums.add(block, block.velocity(problem.free_velocity()));
    weights_(block.number()) = trace / Scalar(block.rows());
  });
  yardstick_ = sums.yardstick(options_.law);
}

/// Extrapolates the centre beyond the impulses of the step, unless they reversed their direction.
template <RealScalar Scalar>
void ProximalSolver<Scalar>::move_centre(Search& at) noexcept {
  const auto& impulse = solver_.impulse();
  Scalar back(0);
  for (Index i = 0; i < impulse.size(); ++i) {
    back += (centre_(i) - impulse(i)) * (impulse(i) - last_(i));
  }
  const bool turned = back > Scalar(0);
  const Scalar next = turned ? Scalar(1) : (1 + std::sqrt(1 + 4 * at.pace * at.pace)) / 2;
  const Scalar carry = turned ? Scalar(0) : (at.pace - 1) / next;
  for (Index i = 0; i < impulse.size(); ++i) {
    centre_(i) = impulse(i) + carry * (impulse(i) - last_(i));
    last_(i) = impulse(i);
  }
  at.pace = next;
}

/// The natural map of the law at impulses last_ and their velocity. Under Coulomb's law it also
/// updates De Saxcé's terms.
template <RealScalar Scalar>
auto ProximalSolver<Scalar>::measure(const ContactProblem<Scalar>& problem,
                                     const VectorX<Scalar>& velocity) noexcept -> Errors {
  using std::sqrt;
  detail::MapSums<Scalar> sums;
  problem.for_each_block([&](const auto& block) {
    const auto impulse = block.read(last_),
               slope = block.law_slope(block.velocity(velocity), impulse);
    if (options_.law == FrictionLaw::coulomb) {
      lifts_.move(block.number(), block.set(), slope.data());
    }
    sums.add(yardstick_, block.set(), impulse, slope);
  });
  const Scalar relative = sums.error(yardstick_), load = yardstick_.load;
  return {relative, load > Scalar(0) ? Scalar(sqrt(sums.map) / load) : relative};
}

/// Measures the last step and stores its impulses if they are the best.
template <RealScalar Scalar>
void ProximalSolver<Scalar>::judge(const ContactProblem<Scalar>& problem, Search& at) noexcept {
  write_velocity(problem, last_, own_velocity_);
  const Errors errors = measure(problem, own_velocity_);
  at.error = errors.relative;
  ++at.since_best;
  if (!(errors.relative < at.best)) return;
  at.best = errors.relative;
  at.bounded = errors.by_load <= Scalar(Tuning::load_share);
  at.since_best = 0;
  copy(last_, best_);
}

template <RealScalar Scalar>
SolveReport<Scalar> ProximalSolver<Scalar>::search(
    const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
    const detail::ExecutorReference& executor) noexcept {
  SolveReport<Scalar> report;
  report.measure = ResidualMeasure::natural_map;
  report.residual_target = options_.tolerance;
  report.error_bound = infinity;
  Search at;
  copy(centre_, last_);
  copy(centre_, best_);
  step_velocity_ = velocity;
  judge(problem, at);
  const bool guessed = std::any_of(centre_.data(), centre_.data() + centre_.size(),
                                   [](const Scalar& x) { return x != Scalar(0); });
  if (!guessed) lifts_.reset(problem.block_count());  // u is not known
  const int most = (std::min)(options_.iteration_limit, limits_.iteration_limit);
  report.status = SolveStatus::iteration_limit;
  for (int step = 0; !is_found(at) && at.iterations < most; ++step) {
    if (step > 0 && step % Tuning::steps == 0) {
      at.softness =
          (std::max)(Scalar(Tuning::shrink) * at.softness, Scalar(Tuning::least_softness));
    }
    detail::write_proximal_laws(
        problem, options_.law, [&](Index i) { return at.softness * weights_(i); }, lifts_,
        centre_.data(), softened_);
    const Scalar wanted =
        (std::min)(Scalar(Tuning::first_tolerance), Scalar(Tuning::share) * at.error);
    solver_.set_tolerance((std::max)(wanted, Scalar(Tuning::least_share) * options_.tolerance));
    solver_.set_limits(limits_.with_iterations(most - at.iterations));
    const SolveReport<Scalar> inner = solver_.solve(softened_, step_velocity_, executor);
    at.iterations += (std::max)(inner.iterations, 1);
    if (inner.status == SolveStatus::not_finite) {
      report.status = inner.status;
      break;
    }
    move_centre(at);
    judge(problem, at);
    if (limits_.is_over()) {
      report.status = SolveStatus::deadline;
      break;
    }
    const bool lifted = options_.law == FrictionLaw::coulomb;
    if (at.since_best >= (lifted ? Tuning::lift_patience : Tuning::patience)) {
      report.status = SolveStatus::no_progress;
      break;
    }
  }
  if (is_found(at)) report.status = SolveStatus::converged;
  write_velocity(problem, best_, velocity);
  report.residual = at.best;
  report.iterations = at.iterations;
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
