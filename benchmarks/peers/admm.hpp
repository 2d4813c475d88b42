// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "carom/core/solve_limits.hpp"
#include "carom/solvers/search/dual_iterate.hpp"

#include "peers/delassus_factor.hpp"
#include "peers/spectral_step.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How ADMM finds its penalty ϱ.
enum class AdmmPenalty {
  balanced,  ///< From the ratio of the residuals, by its square root.
  spectral,  ///< From the curvatures that W and the cones show along the last steps.
};

/// What Admm is asked for, and how it sets its penalty.
template <RealScalar Scalar>
struct AdmmOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Natural map error at which to stop [-], > 0: ImpulseCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  int iteration_limit = 5000;  ///< Most iterations, ≥ 0.
  AdmmPenalty rule = AdmmPenalty::spectral;
  /// ϱ at the start [-], > 0, relative to the contacts' own inverse masses.
  Scalar penalty = Scalar(0.1);
  /// Balanced, or where the spectral rule cannot tell: ϱ changes when one residual is this many
  /// times the other, > 1. Each change costs a factorisation.
  Scalar imbalance = 8;
  Scalar relaxation = Scalar(1.6);  ///< [-], in (0, 2).
};

/// The alternating direction method of multipliers on impulses: a linear solve with the factor of
/// W + R + ϱ D, D the contacts' own inverse masses, and a projection onto the cones, in turn.
///
/// One factorisation per ϱ, which follows the iterates by one of two rules. Under Coulomb's law the
/// normal load carries De Saxcé's μ ‖uₜ‖, from the latest iterate. ADMM copes with mass ratios and
/// stacks that slow sweeps down, at the price of the factor.
/// @cite  boyd2011distributed, sections 3.1, 3.4.1 and 3.4.3; xu2017adaptive for spectral
///        penalties; acary2018coulomb for friction.
template <RealScalar Scalar>
class Admm {
 public:
  using scalar_type = Scalar;

  explicit Admm(const AdmmOptions<Scalar>& options = {}) noexcept : options_(options) {
    CAROM_EXPECTS(options.tolerance > Scalar(0) && options.iteration_limit >= 0);
    CAROM_EXPECTS(options.penalty > Scalar(0) && options.imbalance > Scalar(1));
    CAROM_EXPECTS(options.relaxation > Scalar(0) && options.relaxation < Scalar(2));
  }
  /// Movable, not copyable: the factor refers to the order of elimination.
  Admm(Admm&&) noexcept = default;
  Admm& operator=(Admm&&) noexcept = default;
  [[nodiscard]] const AdmmOptions<Scalar>& options() const noexcept { return options_; }
  /// Asks the solves that follow for another residual [-], > 0.
  void set_tolerance(Scalar tolerance) noexcept {
    CAROM_EXPECTS(tolerance > Scalar(0));
    options_.tolerance = tolerance;
  }
  /// Bounds every solve that follows; the answer is the best iterate measured by then.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Finds an order of elimination and grows memory to the problem's size.
  void prepare(const DelassusProblem<Scalar>& problem) {
    iterate_.reserve(problem);
    factor_.analyse(problem);
    for (Sequence<Scalar>* numbers :
         {&weights_, &added_, &solved_, &projected_, &before_, &multiplier_, &mark_.solved,
          &mark_.pushed, &mark_.projected, &mark_.multiplier}) {
      numbers->resize(3 * problem.part_count());
    }
    lift_.resize(problem.count());
  }

  /// Solves from a first guess.
  /// @param impulse  γ in rows, row_count(): guess in, best iterate out.
  /// @return  residual: natural map error [-], that of certify().
  /// @note  Real-time safe once prepare() has seen the pattern: no allocation, no exception.
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            VectorX<Scalar>& impulse) noexcept {
    return solve(problem, as_span(impulse));
  }
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            std::span<Scalar> impulse) noexcept;

 private:
  using Tuning = detail::AdmmTuning;
  using Numbers = Eigen::Map<VectorX<Scalar>>;
  [[nodiscard]] static Numbers numbers(Sequence<Scalar>& sequence) noexcept {
    return {sequence.data(), sequence.size()};
  }
  void start(const DelassusProblem<Scalar>& problem) noexcept;
  [[nodiscard]] bool refactor(const DelassusProblem<Scalar>& problem) noexcept;
  void lift_from(const DelassusProblem<Scalar>& problem, const Scalar* velocity) noexcept;
  void iterate(const DelassusProblem<Scalar>& problem) noexcept;
  [[nodiscard]] Scalar balanced_factor() const noexcept;
  [[nodiscard]] Scalar spectral_factor() noexcept;
  [[nodiscard]] bool change_penalty(const DelassusProblem<Scalar>& problem) noexcept;

  /// Where curvatures are measured from.
  struct Mark {
    Sequence<Scalar> solved, pushed;         ///< γ of a linear solve, D⁻¹ of its velocity
    Sequence<Scalar> projected, multiplier;  ///< γ of a projection, ϱ y
  };

  AdmmOptions<Scalar> options_;
  SolveLimits limits_;
  detail::DualIterate<Scalar> iterate_;
  detail::DelassusFactor<Scalar> factor_;
  Sequence<Scalar> weights_;             ///< D
  Sequence<Scalar> added_;               ///< ϱ D
  Sequence<Scalar> solved_;              ///< γ of the linear solve
  Sequence<Scalar> projected_, before_;  ///< γ of the projection, and of the one before
  Sequence<Scalar> multiplier_;          ///< y, scaled: u ≈ ϱ D y
  Sequence<Scalar> lift_;                ///< per contact [m/s]
  Mark mark_;
  Scalar penalty_ = 1;
  Scalar apart_ = 0, moved_ = 0;  ///< squared residuals since the last balance
};

// --- implementation ---

template <RealScalar Scalar>
bool Admm<Scalar>::refactor(const DelassusProblem<Scalar>& problem) noexcept {
  for (int attempt = 0; attempt < Tuning::factor_attempts; ++attempt) {
    numbers(added_) = penalty_ * numbers(weights_);
    if (factor_.factor(problem, added_.data())) return true;
    penalty_ *= Scalar(Tuning::factor_rise);  // rounding left W indefinite by more than ϱ D
  }
  return false;
}

template <RealScalar Scalar>
void Admm<Scalar>::lift_from(const DelassusProblem<Scalar>& problem,
                             const Scalar* velocity) noexcept {
  if (options_.law != FrictionLaw::coulomb) return;
  for (Index i = 0; i < problem.count(); ++i) {
    lift_[i] = detail::de_saxce_lift(problem, i, velocity);
  }
}

/// Takes the guess as the first projection, and γ = 0 as the mark of curvatures.
template <RealScalar Scalar>
void Admm<Scalar>::start(const DelassusProblem<Scalar>& problem) noexcept {
  detail::write_contact_weights(problem, weights_.data());
  std::fill(lift_.begin(), lift_.end(), Scalar(0));
  lift_from(problem, iterate_.velocity());
  std::copy_n(iterate_.impulse(), projected_.size(), projected_.begin());
  detail::project_all(problem, projected_.data());
  for (Sequence<Scalar>* numbers : {&mark_.solved, &mark_.projected, &mark_.multiplier}) {
    std::fill(numbers->begin(), numbers->end(), Scalar(0));
  }
  for (Index p = 0; p < problem.part_count(); ++p) {  // at γ = 0 the velocity is q + lift
    for (int k = 0; k < 3; ++k) mark_.pushed[3 * p + k] = problem.load(p)(k);
  }
  for (Index i = 0; i < problem.count(); ++i) {
    mark_.pushed[detail::normal_place(problem, i)] += lift_[i];
  }
  numbers(mark_.pushed).array() /= numbers(weights_).array();
  penalty_ = options_.penalty;
  apart_ = moved_ = Scalar(0);
}

template <RealScalar Scalar>
void Admm<Scalar>::iterate(const DelassusProblem<Scalar>& problem) noexcept {
  // (W + R + ϱ D) γ = ϱ D (z + y) − q − lift
  for (Index p = 0; p < problem.part_count(); ++p) {
    for (int k = 0; k < 3; ++k) {
      const Index row = 3 * p + k;
      solved_[row] = added_[row] * (projected_[row] + multiplier_[row]) - problem.load(p)(k);
    }
  }
  for (Index i = 0; i < problem.count(); ++i) {
    solved_[detail::normal_place(problem, i)] -= lift_[i];
  }
  factor_.solve(solved_.data());
  std::swap(before_, projected_);
  const Scalar& omega = options_.relaxation;
  for (Index k = 0; k < solved_.size(); ++k) {
    const Scalar mixed = omega * solved_[k] + (Scalar(1) - omega) * before_[k];
    projected_[k] = mixed - multiplier_[k];
    multiplier_[k] -= mixed;
  }
  detail::project_all(problem, projected_.data());
  numbers(multiplier_) += numbers(projected_);
  for (Index k = 0; k < solved_.size(); ++k) {
    const Scalar gap = solved_[k] - projected_[k], step = projected_[k] - before_[k];
    apart_ += weights_[k] * gap * gap;
    moved_ += weights_[k] * step * step;
  }
}

/// By what to multiply ϱ where one residual is far larger than the other.
template <RealScalar Scalar>
Scalar Admm<Scalar>::balanced_factor() const noexcept {
  using std::sqrt;
  const Scalar apart = sqrt(apart_), moved = penalty_ * sqrt(moved_);
  const Scalar& most = options_.imbalance;
  if (!(apart > most * moved) && !(moved > most * apart)) return Scalar(1);
  return moved > Scalar(0) ? sqrt(apart / moved) : Scalar(Tuning::apart_rise);
}

/// By what to multiply ϱ to make it the mean curvature, relative to D, of the two costs that ADMM
/// splits, along the steps since the mark, which moves here.
template <RealScalar Scalar>
Scalar Admm<Scalar>::spectral_factor() noexcept {
  using std::sqrt;
  detail::SpectralStep<Scalar> solve, projection;
  const Scalar& omega = options_.relaxation;
  for (Index k = 0; k < solved_.size(); ++k) {
    const Scalar pushed =
        penalty_ * ((Scalar(2) - omega) * before_[k] + (omega - Scalar(1)) * solved_[k] +
                    multiplier_[k] - projected_[k]);
    const Scalar multiplier = penalty_ * multiplier_[k];
    solve.add(weights_[k], solved_[k] - mark_.solved[k], pushed - mark_.pushed[k]);
    projection.add(weights_[k], projected_[k] - mark_.projected[k],
                   mark_.multiplier[k] - multiplier);
    mark_.solved[k] = solved_[k];
    mark_.pushed[k] = pushed;
    mark_.projected[k] = projected_[k];
    mark_.multiplier[k] = multiplier;
  }
  const Scalar own = solve.curvature(), other = projection.curvature();
  if (own > Scalar(0) && other > Scalar(0)) return sqrt(own * other) / penalty_;
  if (own > Scalar(0)) return own / penalty_;
  return other > Scalar(0) ? other / penalty_ : balanced_factor();
}

/// @return  false when the matrix could not be factored.
template <RealScalar Scalar>
bool Admm<Scalar>::change_penalty(const DelassusProblem<Scalar>& problem) noexcept {
  const Scalar wanted =
      options_.rule == AdmmPenalty::spectral ? spectral_factor() : balanced_factor();
  apart_ = moved_ = Scalar(0);
  const Scalar least = Scalar(Tuning::least_change), most = Scalar(Tuning::most_change);
  if (wanted > 1 / least && wanted < least) return true;
  const Scalar factor = std::clamp(wanted, 1 / most, most);
  const Scalar next =
      std::clamp(penalty_ * factor, Scalar(Tuning::least_penalty), Scalar(Tuning::most_penalty));
  if (next == penalty_) return true;
  const Scalar before = penalty_;
  penalty_ = next;
  if (!refactor(problem)) return false;
  numbers(multiplier_) *= before / penalty_;
  return true;
}

template <RealScalar Scalar>
SolveReport<Scalar> Admm<Scalar>::solve(const DelassusProblem<Scalar>& problem,
                                        std::span<Scalar> impulse) noexcept {
  CAROM_EXPECTS(!problem.matrix_free());
  CAROM_EXPECTS(Index(impulse.size()) == problem.row_count());
  Eigen::Map<VectorX<Scalar>> rows(impulse.data(), Index(impulse.size()));
  prepare(problem);
  const auto finish = [&](SolveStatus status, int iterations) {
    return iterate_.finish(problem, status, iterations, options_.tolerance, rows);
  };
  if (!iterate_.start(problem, rows)) return finish(SolveStatus::not_finite, 0);
  Scalar error = iterate_.measure(problem, options_.law);
  if (!detail::is_finite(error)) return finish(SolveStatus::not_finite, 0);
  if (error <= options_.tolerance) return finish(SolveStatus::converged, 0);
  const int limit = (std::min)(options_.iteration_limit, limits_.iteration_limit);
  if (limits_.now != nullptr) iterate_.confine_best(problem, options_.law);
  if (limits_.is_over()) return finish(SolveStatus::deadline, 0);
  if (limit == 0) return finish(SolveStatus::iteration_limit, 0);
  start(problem);
  if (!refactor(problem)) return finish(SolveStatus::no_progress, 0);
  for (Index k = 0; k < multiplier_.size(); ++k) {
    multiplier_[k] = iterate_.velocity()[k] / added_[k];
  }
  int next_change = Tuning::first_wait, since = next_change;
  for (int k = 1; k <= limit; ++k) {
    if (limits_.is_over()) return finish(SolveStatus::deadline, k - 1);
    iterate(problem);
    if (k % Tuning::interval != 0 && k != limit && k != 1) {
      continue;
    }
    std::copy(projected_.begin(), projected_.end(), iterate_.impulse());
    error = iterate_.measure(problem, options_.law);
    if (!detail::is_finite(error)) return finish(SolveStatus::not_finite, k);
    if (error <= options_.tolerance) return finish(SolveStatus::converged, k);
    const Scalar held =
        detail::held_natural_map(problem, iterate_.impulse(), iterate_.velocity(), lift_.data());
    if (held <= Scalar(detail::HeldLiftTuning::held_error) * iterate_.map_norm())
      lift_from(problem, iterate_.velocity());
    if (k < next_change) continue;
    since += since / Tuning::wait_growth;
    next_change = k + since;
    if (!change_penalty(problem)) return finish(SolveStatus::no_progress, k);
  }
  return finish(SolveStatus::iteration_limit, limit);
}

}  // namespace CAROM_ABI
}  // namespace carom
