// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "carom/core/solve_limits.hpp"
#include "carom/solvers/search/dual_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ProjectedGradient.
struct ProjectedGradientTuning {
  /// Largest count of attempts for a step that the curvature bounds.
  static constexpr int attempts = 60;
  /// The curvature grows by a factor of at least `least_rise` and at most `most_rise` in each
  /// attempt.
  static constexpr double least_rise = 2, most_rise = 16;
  /// After each step the curvature decreases to this share, so that steps may grow again. Smaller
  /// shares cost attempts, larger ones make steps short.
  static constexpr double fall = 0.97;
  /// Count of steps between two measurements, each of which costs about as much as a step.
  static constexpr int interval = 5;
};

}  // namespace detail

/// Options of ProjectedGradient.
template <RealScalar Scalar>
struct ProjectedGradientOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// The solve ends at this natural map error [-], > 0: ImpulseCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Largest count of steps, ≥ 0; each multiplies by W once, sometimes twice.
  int iteration_limit = 10000;
};

/// Accelerated projected gradient descent on impulses, with restarts and a step found by
/// backtracking, in the metric of the contacts' own inverse masses.
///
/// It needs only projections and products with W. For the convex law it minimises ½
/// γᵀ(W + R)γ + qᵀγ over the cones. For Coulomb's law it adds De Saxcé's term μ ‖uₜ‖ to qₙ and
/// fixes it until the error of the minimisation is smaller than the error in the law; a fixed point
/// obeys the law. The solve ends if the natural map error is at most the tolerance, or if a step is
/// as small as rounding.
/// @cite  mazhar2015using, APGD; odonoghue2015adaptive, the restart by the gradient.
template <RealScalar Scalar>
class ProjectedGradient {
 public:
  using scalar_type = Scalar;

  explicit ProjectedGradient(const ProjectedGradientOptions<Scalar>& options = {}) noexcept
      : options_(options) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
  }
  [[nodiscard]] const ProjectedGradientOptions<Scalar>& options() const noexcept {
    return options_;
  }
  /// Sets the residual for all later solves [-], > 0.
  void set_tolerance(Scalar tolerance) noexcept {
    CAROM_EXPECTS(tolerance > Scalar(0));
    options_.tolerance = tolerance;
  }
  /// Sets the limits of all later solves; a default SolveLimits has no limit. The answer is the
  /// best measured iterate.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Allocates memory for the problem's size.
  void prepare(const DelassusProblem<Scalar>& problem) {
    iterate_.reserve(problem);
    const Index size = 3 * problem.part_count();
    for (Sequence<Scalar>* numbers :
         {&weights_, &now_, &now_velocity_, &ahead_, &ahead_velocity_, &next_, &next_velocity_}) {
      numbers->resize(size);
    }
    lift_.resize(problem.count());
  }

  /// Solves from a first guess.
  /// @param impulse  γ in rows, row_count(): in: guess, out: best iterate.
  /// @return  residual: natural map error [-], that of certify(); iterations: gradient steps.
  /// @note  Real-time safe after prepare() for a problem of this size: no allocation, no exception.
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            VectorX<Scalar>& impulse) noexcept {
    return solve(problem, as_span(impulse));
  }
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            std::span<Scalar> impulse) noexcept;

 private:
  using Tuning = detail::ProjectedGradientTuning;
  using Numbers = Eigen::Map<VectorX<Scalar>>;
  [[nodiscard]] static Numbers numbers(Sequence<Scalar>& sequence) noexcept {
    return {sequence.data(), sequence.size()};
  }
  void start(const DelassusProblem<Scalar>& problem) noexcept;
  [[nodiscard]] Scalar take_step(const DelassusProblem<Scalar>& problem) noexcept;
  void accelerate() noexcept;
  [[nodiscard]] Scalar measure(const DelassusProblem<Scalar>& problem) noexcept;
  bool hold_lift(const DelassusProblem<Scalar>& problem, const Scalar& error) noexcept;

  ProjectedGradientOptions<Scalar> options_;
  SolveLimits limits_;
  detail::DualIterate<Scalar> iterate_;
  Sequence<Scalar> weights_;
  Sequence<Scalar> now_, now_velocity_;      ///< γ, u
  Sequence<Scalar> ahead_, ahead_velocity_;  ///< the point of the gradient
  Sequence<Scalar> next_, next_velocity_;
  Sequence<Scalar> lift_;  ///< per contact [m/s]
  Scalar curvature_ = 1;   ///< of the cost along steps, in the metric
  Scalar pace_ = 1;
};

// --- implementation ---

template <RealScalar Scalar>
void ProjectedGradient<Scalar>::start(const DelassusProblem<Scalar>& problem) noexcept {
  detail::write_contact_weights(problem, weights_.data());
  std::copy_n(iterate_.impulse(), now_.size(), now_.begin());
  detail::project_all(problem, now_.data());
  problem.write_velocities(as_span(now_), as_span(now_velocity_));
  std::copy(now_.begin(), now_.end(), ahead_.begin());
  std::copy(now_velocity_.begin(), now_velocity_.end(), ahead_velocity_.begin());
  curvature_ = pace_ = Scalar(1);
  for (Index i = 0; i < problem.count(); ++i) {
    lift_[i] = options_.law == FrictionLaw::coulomb
                   ? detail::de_saxce_lift(problem, i, now_velocity_.data())
                   : Scalar(0);
  }
}

/// Steps from ahead_ to next_. The curvature grows until it bounds the curvature of the cost on the
/// way.
/// @return  ‖step‖² in the metric.
template <RealScalar Scalar>
Scalar ProjectedGradient<Scalar>::take_step(const DelassusProblem<Scalar>& problem) noexcept {
  const Scalar least = Scalar(Tuning::least_rise), most = Scalar(Tuning::most_rise);
  Scalar length(0);
  for (int attempt = 0; attempt < Tuning::attempts; ++attempt) {
    numbers(next_) =
        numbers(ahead_) - numbers(ahead_velocity_).cwiseQuotient(numbers(weights_)) / curvature_;
    for (Index i = 0; i < problem.count(); ++i) {
      const Index n = detail::normal_place(problem, i);
      next_[n] -= lift_[i] / (weights_[n] * curvature_);
    }
    detail::project_all(problem, next_.data());
    problem.write_velocities(as_span(next_), as_span(next_velocity_));
    Scalar bent(0);
    length = Scalar(0);
    for (Index k = 0; k < next_.size(); ++k) {
      const Scalar step = next_[k] - ahead_[k];
      length += weights_[k] * step * step;
      bent += step * (next_velocity_[k] - ahead_velocity_[k]);
    }
    if (!(bent > curvature_ * length)) break;
    curvature_ = (std::max)(least * curvature_, (std::min)(bent / length, most * curvature_));
  }
  return length;
}

/// Sets the point of the next gradient: ahead along the last step, or at its end if the cost
/// increased.
template <RealScalar Scalar>
void ProjectedGradient<Scalar>::accelerate() noexcept {
  using std::sqrt;
  Scalar climb(0);
  for (Index k = 0; k < next_.size(); ++k) {
    climb += weights_[k] * (ahead_[k] - next_[k]) * (next_[k] - now_[k]);
  }
  Scalar momentum(0);
  if (climb > Scalar(0)) {
    pace_ = Scalar(1);
  } else {
    const Scalar pace = (Scalar(1) + sqrt(Scalar(1) + 4 * pace_ * pace_)) / 2;
    momentum = (pace_ - Scalar(1)) / pace;
    pace_ = pace;
  }
  numbers(ahead_) = numbers(next_) + momentum * (numbers(next_) - numbers(now_));
  numbers(ahead_velocity_) =
      numbers(next_velocity_) + momentum * (numbers(next_velocity_) - numbers(now_velocity_));
  std::swap(now_, next_);
  std::swap(now_velocity_, next_velocity_);
  curvature_ *= Scalar(Tuning::fall);
}

template <RealScalar Scalar>
Scalar ProjectedGradient<Scalar>::measure(const DelassusProblem<Scalar>& problem) noexcept {
  std::copy(now_.begin(), now_.end(), iterate_.impulse());
  return iterate_.measure(problem, options_.law);
}

/// Updates De Saxcé's term to that of now_, if the problem with the last one is solved accurately
/// enough.
/// @return  whether it was updated.
template <RealScalar Scalar>
bool ProjectedGradient<Scalar>::hold_lift(const DelassusProblem<Scalar>& problem,
                                          const Scalar& error) noexcept {
  if (options_.law != FrictionLaw::coulomb) return false;
  const Scalar held =
      detail::held_natural_map(problem, now_.data(), now_velocity_.data(), lift_.data());
  if (!(held <= Scalar(detail::HeldLiftTuning::held_error) * error)) return false;
  for (Index i = 0; i < problem.count(); ++i) {
    lift_[i] = detail::de_saxce_lift(problem, i, now_velocity_.data());
  }
  return true;
}

template <RealScalar Scalar>
SolveReport<Scalar> ProjectedGradient<Scalar>::solve(const DelassusProblem<Scalar>& problem,
                                                     std::span<Scalar> impulse) noexcept {
  CAROM_EXPECTS(Index(impulse.size()) == problem.row_count());
  Eigen::Map<VectorX<Scalar>> rows(impulse.data(), Index(impulse.size()));
  prepare(problem);
  const auto finish = [&](SolveStatus status, int steps) {
    return iterate_.finish(problem, status, steps, options_.tolerance, rows);
  };
  if (!iterate_.start(problem, rows)) return finish(SolveStatus::not_finite, 0);
  Scalar error = iterate_.measure(problem, options_.law);
  if (!detail::is_finite(error)) return finish(SolveStatus::not_finite, 0);
  if (error <= options_.tolerance) return finish(SolveStatus::converged, 0);
  const int limit = (std::min)(options_.iteration_limit, limits_.iteration_limit);
  if (limits_.now != nullptr) iterate_.confine_best(problem, options_.law);
  if (limits_.is_over()) return finish(SolveStatus::deadline, 0);
  start(problem);
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  for (int step = 1; step <= limit; ++step) {
    if (limits_.is_over()) return finish(SolveStatus::deadline, step - 1);
    const Scalar length = take_step(problem);
    accelerate();
    const Scalar size = numbers(now_).cwiseAbs2().dot(numbers(weights_));
    const bool still = !(length > rounding * rounding * size);
    if (step % Tuning::interval != 0 && step != limit && step != 1 && !still) continue;
    error = measure(problem);
    if (!detail::is_finite(error)) return finish(SolveStatus::not_finite, step);
    if (error <= options_.tolerance) return finish(SolveStatus::converged, step);
    const bool moved = hold_lift(problem, iterate_.map_norm());
    if (moved) {
      pace_ = Scalar(1);
      std::copy(now_.begin(), now_.end(), ahead_.begin());
      std::copy(now_velocity_.begin(), now_velocity_.end(), ahead_velocity_.begin());
    } else if (still) {
      return finish(SolveStatus::no_progress, step);
    }
  }
  return finish(SolveStatus::iteration_limit, limit);
}

}  // namespace CAROM_ABI
}  // namespace carom
