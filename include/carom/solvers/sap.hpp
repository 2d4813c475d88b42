// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/concepts.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/linalg/cholesky.hpp"
#include "carom/linalg/increasing_root.hpp"
#include "carom/solvers/detail/contact_arrays.hpp"
#include "carom/solvers/detail/dense_hessian.hpp"

namespace carom::inline CAROM_ABI {

template <RealScalar Scalar>
struct SapOptions {
  /// T [-], > 0: stop when ‖∇ℓ‖_{A⁻¹} ≤ T max(‖v*‖_A, ‖Jᵀγ‖_{A⁻¹}). Half the type's digits; the
  /// last Newton steps converge quadratically, so a tighter one costs an iteration or two.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Most Newton iterations, ≥ 0. Piles from a poor guess take some tens.
  int iteration_limit = 200;
  /// The line search ends when the slope has fallen to this fraction of its start [-], in (0, 1).
  /// Each evaluation is O(contacts), far below a factorisation.
  Scalar line_search_tolerance = Scalar(1e-2);
};

/// SAP: Newton's method with an exact line search on the unconstrained form of compliant contact.
///
/// Works in whitened velocities w = Lᵀv, where ℓ(w) = ½‖w − w*‖² + ½‖P(y)‖²_R, the Hessian is
/// I + Ĵᵀ G Ĵ, and the norm of the gradient bounds the distance to the solution in kinetic energy.
/// The step length is the root of the slope along the step, an increasing function, so no
/// difference of costs is ever taken. The Hessian is dense: n_v³/6 multiply-adds per iteration.
///
/// ```
/// carom::SapSolver<double> solver;
/// Eigen::VectorXd velocity = problem.free_velocity();  // or the last step's, as a warm start
/// const auto report = solver.solve(problem, velocity);
/// ```
/// @cite castro2021unconstrained; globally convergent because ℓ is strongly convex and every step
///       is a descent direction with an exact line search.
template <RealScalar Scalar>
class SapSolver {
 public:
  using scalar_type = Scalar;

  explicit SapSolver(const SapOptions<Scalar>& options = {}) noexcept : options_(options) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
    CAROM_EXPECTS(options.line_search_tolerance > Scalar(0) &&
                  options.line_search_tolerance < Scalar(1));
  }

  /// Movable, not copyable: results are read from the solver's own memory.
  SapSolver(SapSolver&&) noexcept = default;
  SapSolver& operator=(SapSolver&&) noexcept = default;

  [[nodiscard]] const SapOptions<Scalar>& options() const noexcept { return options_; }

  /// Grows memory to the problem's size, so that solve() need not.
  void prepare(const ContactProblem<Scalar>& problem) { lay_out(problem); }

  /// Solves the problem from a first guess.
  ///
  /// @param velocity  v [m/s, rad/s], n_v: first guess in, best iterate out. If the guess meets the
  ///                  tolerance it is returned unchanged, in zero iterations. The better of guess,
  ///                  rest and free velocity starts the iteration otherwise.
  /// @return  residual: ‖∇ℓ‖_{A⁻¹} relative to max(‖v*‖_A, ‖Jᵀγ‖_{A⁻¹}) [-]; error_bound:
  /// ‖∇ℓ‖_{A⁻¹}
  ///          [√J], which ‖v − v_opt‖_A never exceeds; the duality gap is error_bound²/2 [J].
  /// @note  Real-time safe once prepare() has seen a problem of the size: no allocation, no
  ///        exception, at most iteration_limit factorisations.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem,
                            VectorX<Scalar>& velocity) noexcept;

  /// γ of the last solve, stacked triples (t₁, t₂, n) [N·s].
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulse_triples_, 3 * impulse_.count};
  }
  /// J v of the last solve, stacked triples [m/s].
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> contact_velocity() const noexcept {
    return {velocity_triples_, 3 * impulse_.count};
  }

 private:
  using VectorMap = detail::VectorMap<Scalar>;
  using Arrays = detail::ContactArrays<Scalar>;

  void lay_out(const ContactProblem<Scalar>& problem);
  [[nodiscard]] VectorMap vector(Scalar* data) const noexcept { return {data, size_}; }

  void write_trial(const ContactProblem<Scalar>& problem) noexcept;
  void evaluate(const ContactProblem<Scalar>& problem) noexcept;
  [[nodiscard]] Scalar cost(const ContactProblem<Scalar>& problem) const noexcept;
  void start_from_best(const ContactProblem<Scalar>& problem) noexcept;
  [[nodiscard]] bool meets_target() const noexcept {  // infinity meets none
    return detail::is_finite(residual_) && residual_ <= options_.tolerance * scale_;
  }
  [[nodiscard]] bool find_direction(const ContactProblem<Scalar>& problem) noexcept;
  [[nodiscard]] Scalar find_step(const ContactProblem<Scalar>& problem) noexcept;
  [[nodiscard]] SolveStatus iterate(const ContactProblem<Scalar>& problem,
                                    SolveReport<Scalar>& report) noexcept;
  void write_results(const ContactProblem<Scalar>& problem) noexcept;

  SapOptions<Scalar> options_;
  std::vector<Scalar, Eigen::aligned_allocator<Scalar>> memory_;
  Index size_ = 0;    ///< n_v
  Index stride_ = 0;  ///< between columns of the Hessian
  Scalar *whitened_ = nullptr, *best_ = nullptr, *momentum_ = nullptr, *gradient_ = nullptr,
         *direction_ = nullptr, *hessian_ = nullptr, *sides_ = nullptr;
  Arrays contact_velocity_{}, trial_{}, impulse_{};                          ///< at the iterate
  Arrays velocity_step_{}, trial_step_{}, trial_ahead_{}, impulse_ahead_{};  ///< along the step
  Scalar residual_ = 0;                                                      ///< ‖gradient‖
  Scalar scale_ = 0;  ///< max(‖w*‖, ‖Ĵᵀγ‖)
  Scalar *impulse_triples_ = nullptr, *velocity_triples_ = nullptr;
};

// --- implementation ---

/// Hands out one block of memory: five velocity vectors, nine contact vectors, the Hessian.
template <RealScalar Scalar>
void SapSolver<Scalar>::lay_out(const ContactProblem<Scalar>& problem) {
  constexpr Index line = 64 / Index(sizeof(Scalar));  // keeps arrays apart by cache lines
  const auto padded = [](Index count) { return (count + line - 1) / line * line; };
  size_ = problem.velocity_count();
  stride_ = padded(size_);
  const Index contacts = problem.contact_count();
  const Index total =
      5 * padded(size_) + 27 * padded(contacts) + 6 * stride_ + padded(stride_ * size_);
  if (Index(memory_.size()) < total) memory_.resize(std::size_t(total));
  Scalar* next = memory_.data();
  const auto take = [&](Index count) {
    Scalar* const taken = next;
    next += padded(count);
    return taken;
  };
  for (Scalar** part : {&whitened_, &best_, &momentum_, &gradient_, &direction_}) {
    *part = take(size_);
  }
  for (Arrays* arrays : {&contact_velocity_, &trial_, &impulse_, &velocity_step_, &trial_step_,
                         &trial_ahead_, &impulse_ahead_}) {
    *arrays = {{take(contacts), take(contacts), take(contacts)}, contacts};
  }
  sides_ = take(6 * stride_);
  hessian_ = take(stride_ * size_);
  impulse_triples_ = take(3 * contacts);
  velocity_triples_ = take(3 * contacts);
}

/// y = R⁻¹(v̂ − v_c).
template <RealScalar Scalar>
void SapSolver<Scalar>::write_trial(const ContactProblem<Scalar>& problem) noexcept {
  using Given = detail::ConstArrayMap<Scalar>;
  const Index count = problem.contact_count();
  const TripleArrays<const Scalar> bias = problem.bias_velocities();
  const Given tangent(problem.tangent_regularizations().data, count);
  const Given normal(problem.normal_regularizations().data, count);
  trial_[0] = (Given(bias.tangent1, count) - contact_velocity_[0]) / tangent;
  trial_[1] = (Given(bias.tangent2, count) - contact_velocity_[1]) / tangent;
  trial_[2] = (Given(bias.normal, count) - contact_velocity_[2]) / normal;
}

/// Everything that follows from the iterate: v_c, y, γ, Ĵᵀγ, the gradient and its norm.
template <RealScalar Scalar>
void SapSolver<Scalar>::evaluate(const ContactProblem<Scalar>& problem) noexcept {
  using std::sqrt;
  detail::write_contact_velocities(problem, vector(whitened_), contact_velocity_);
  write_trial(problem);
  if (!detail::write_projections(problem, trial_, impulse_)) {
    for (int k = 0; k < 3; ++k) impulse_[k].setZero();
    residual_ = std::numeric_limits<Scalar>::infinity();
    return;
  }
  detail::write_contact_momentum(problem, impulse_, vector(momentum_));
  vector(gradient_) = vector(whitened_) - problem.whitened_free_velocity() - vector(momentum_);
  residual_ = sqrt(vector(gradient_).squaredNorm());
  const Scalar free = problem.whitened_free_velocity().squaredNorm();
  const Scalar pushed = vector(momentum_).squaredNorm();
  scale_ = sqrt(free > pushed ? free : pushed);
}

/// ℓ at the iterate last evaluated; infinite where that left the range of numbers.
template <RealScalar Scalar>
Scalar SapSolver<Scalar>::cost(const ContactProblem<Scalar>& problem) const noexcept {
  if (!detail::is_finite(residual_)) return std::numeric_limits<Scalar>::infinity();
  using Given = detail::ConstArrayMap<Scalar>;
  const Index count = problem.contact_count();
  const Given tangent(problem.tangent_regularizations().data, count);
  const Given normal(problem.normal_regularizations().data, count);
  return ((vector(whitened_) - problem.whitened_free_velocity()).squaredNorm() +
          (tangent * (impulse_[0].square() + impulse_[1].square())).sum() +
          (normal * impulse_[2].square()).sum()) /
         2;
}

/// Moves to rest or to the free velocity if the cost there is lower than at the guess.
template <RealScalar Scalar>
void SapSolver<Scalar>::start_from_best(const ContactProblem<Scalar>& problem) noexcept {
  vector(best_) = vector(whitened_);
  Scalar lowest = cost(problem);
  vector(whitened_).setZero();
  evaluate(problem);
  if (const Scalar at_rest = cost(problem); at_rest < lowest) {
    lowest = at_rest;
    vector(best_) = vector(whitened_);
  }
  vector(whitened_) = problem.whitened_free_velocity();
  evaluate(problem);
  if (cost(problem) < lowest) return;
  vector(whitened_) = vector(best_);
  evaluate(problem);
}

/// d = −H⁻¹∇ℓ, and what it does to contact velocities and trial impulses.
template <RealScalar Scalar>
bool SapSolver<Scalar>::find_direction(const ContactProblem<Scalar>& problem) noexcept {
  using Given = detail::ConstArrayMap<Scalar>;
  detail::write_dense_hessian<Scalar>(problem, trial_, {hessian_, size_, stride_}, sides_);
  if (!factor_cholesky(hessian_, size_, stride_)) return false;
  vector(direction_) = -vector(gradient_);
  solve_lower(hessian_, size_, stride_, direction_);
  solve_lower_transposed(hessian_, size_, stride_, direction_);
  detail::write_contact_velocities(problem, vector(direction_), velocity_step_);
  const Index count = problem.contact_count();
  const Given tangent(problem.tangent_regularizations().data, count);
  const Given normal(problem.normal_regularizations().data, count);
  trial_step_[0] = -velocity_step_[0] / tangent;
  trial_step_[1] = -velocity_step_[1] / tangent;
  trial_step_[2] = -velocity_step_[2] / normal;
  return true;
}

/// Step length α where the slope ℓ′(α) = d·(w + α d − w*) − γ(α)·Ĵd vanishes.
template <RealScalar Scalar>
Scalar SapSolver<Scalar>::find_step(const ContactProblem<Scalar>& problem) noexcept {
  const Scalar slope_at_zero = vector(gradient_).dot(vector(direction_));
  const Scalar momentum_slope =
      vector(direction_).dot(vector(whitened_) - problem.whitened_free_velocity());
  const Scalar momentum_curvature = vector(direction_).squaredNorm();
  if (!(slope_at_zero < Scalar(0))) return Scalar(1);  // round-off: nothing left to search
  const auto slope = [&](const Scalar& step) {
    for (int k = 0; k < 3; ++k) trial_ahead_[k] = trial_[k] + step * trial_step_[k];
    if (!detail::write_projections(problem, trial_ahead_, impulse_ahead_)) {
      return std::numeric_limits<Scalar>::infinity();  // too far: any γ here ascends
    }
    Scalar work = 0;
    for (int k = 0; k < 3; ++k) work += (impulse_ahead_[k] * velocity_step_[k]).sum();
    return momentum_slope + step * momentum_curvature - work;
  };
  return find_increasing_root<Scalar>(
             slope, slope_at_zero, {.tolerance = -options_.line_search_tolerance * slope_at_zero})
      .argument;
}

template <RealScalar Scalar>
SolveStatus SapSolver<Scalar>::iterate(const ContactProblem<Scalar>& problem,
                                       SolveReport<Scalar>& report) noexcept {
  Scalar best_residual = residual_;
  vector(best_) = vector(whitened_);
  const auto give_best = [&](SolveStatus status) {
    vector(whitened_) = vector(best_);
    evaluate(problem);
    return status;
  };
  int stalls = 0;
  while (report.iterations < options_.iteration_limit) {
    if (!find_direction(problem)) return give_best(SolveStatus::not_finite);
    const Scalar step = find_step(problem);
    vector(whitened_) += step * vector(direction_);
    ++report.iterations;
    evaluate(problem);
    if (!detail::is_finite(residual_)) return give_best(SolveStatus::not_finite);
    // A full step that does not shrink a small residual has met the round-off floor.
    // Near the floor the line search sees noise, and any length counts as full.
    const bool full = (step > Scalar(0.5) && step < Scalar(2)) ||
                      residual_ <= std::sqrt(std::numeric_limits<Scalar>::epsilon()) * scale_;
    stalls =
        full && residual_ > best_residual / 2 && residual_ < Scalar(1e-3) * scale_ ? stalls + 1 : 0;
    if (residual_ < best_residual) {
      best_residual = residual_;
      vector(best_) = vector(whitened_);
    }
    if (meets_target()) return SolveStatus::converged;
    if (stalls >= 3) return give_best(SolveStatus::no_progress);
  }
  return give_best(SolveStatus::iteration_limit);
}

template <RealScalar Scalar>
void SapSolver<Scalar>::write_results(const ContactProblem<Scalar>& problem) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    for (int k = 0; k < 3; ++k) {
      impulse_triples_[3 * i + k] = impulse_.component[k][i];
      velocity_triples_[3 * i + k] = contact_velocity_.component[k][i];
    }
  }
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::solve(const ContactProblem<Scalar>& problem,
                                             VectorX<Scalar>& velocity) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  lay_out(problem);
  SolveReport<Scalar> report;
  report.residual_target = options_.tolerance;
  if (!velocity.allFinite()) {
    report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
    std::fill_n(impulse_triples_, 3 * impulse_.count, std::numeric_limits<Scalar>::quiet_NaN());
    std::fill_n(velocity_triples_, 3 * impulse_.count, std::numeric_limits<Scalar>::quiet_NaN());
    return report;
  }
  vector(whitened_) = velocity;
  problem.whiten(whitened_);
  evaluate(problem);
  if (meets_target()) {
    report.status = SolveStatus::converged;
  } else {
    start_from_best(problem);
    if (meets_target()) {
      report.status = SolveStatus::converged;
    } else if (detail::is_finite(residual_)) {
      report.status = iterate(problem, report);
    }
    velocity = vector(whitened_);
    problem.unwhiten(velocity.data());
  }
  write_results(problem);
  report.error_bound = residual_;
  report.residual = scale_ > Scalar(0) ? residual_ / scale_ : residual_;
  return report;
}

}  // namespace carom::inline CAROM_ABI
