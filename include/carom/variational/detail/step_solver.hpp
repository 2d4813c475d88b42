// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "carom/core/scalar.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/variational/detail/discrete_lagrangian.hpp"
#include "carom/variational/detail/evaluators.hpp"
#include "carom/variational/mechanical_state.hpp"
#include "carom/variational/step_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Controls Newton's corrections of a step: whether another correction is needed, and whether it
/// needs a new matrix or can reuse the factored one.
///
/// If a correction is θ times the one before, the next one is at most θ times this one. If that is
/// small enough, the next correction is not computed.
template <RealScalar Scalar>
class NewtonProgress {
 public:
  /// A matrix is reused while each correction is at most this share of the one before [-]: an old
  /// matrix then costs no more iterations than a new one, and saves its factorisation.
  static constexpr Scalar shrink_of_kept_matrix = Scalar(0.1);
  /// Small corrections that do not decrease to this share of the one before have reached rounding
  /// [-].
  static constexpr Scalar stalled_shrink = Scalar(0.5);
  /// A correction is small up to this multiple of the target [-]. A larger multiple would accept
  /// steps on which Newton's method fails. A smaller one would iterate on rounding where many terms
  /// cancel.
  static constexpr int stalled_targets = 256;
  /// A residual counts as zero if it is one rounding of its terms. After `early_iterations`
  /// iterations, `late_roundings` are accepted, as in a sum of many terms [ε].
  static constexpr int early_iterations = 6, late_roundings = 16;

  /// @param tolerance  see StepOptions.
  /// @param largest    largest absolute coordinate so far.
  NewtonProgress(const Scalar& tolerance, const Scalar& largest) noexcept
      : tolerance_(tolerance), largest_(largest) {}

  /// Count of roundings that is accepted as a zero residual after a count of iterations.
  [[nodiscard]] static Scalar roundings_after(int iterations) noexcept {
    return iterations < early_iterations ? Scalar(1) : Scalar(late_roundings);
  }
  /// The size of a correction that counts as zero [unit of q].
  [[nodiscard]] Scalar target() const noexcept { return tolerance_ * largest_; }
  /// Whether the next iteration needs a new matrix.
  [[nodiscard]] bool needs_matrix() const noexcept { return needs_matrix_; }
  /// Whether no further correction is needed.
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// Whether the corrections ended at rounding, above the target.
  [[nodiscard]] bool stalled() const noexcept { return stalled_; }
  /// Largest entry of the last correction, or of the next one if it was predicted [unit of q].
  [[nodiscard]] const Scalar& residual() const noexcept { return residual_; }

  /// Records a correction.
  /// @param size     its largest entry.
  /// @param largest  largest absolute coordinate after it.
  void see(const Scalar& size, const Scalar& largest) noexcept {
    largest_ = (std::max)(largest_, largest);
    const Scalar shrink = first_ ? Scalar(1) : size / size_;
    const Scalar ahead = size * shrink;
    done_ = size <= target() || (!first_ && shrink < stalled_shrink && ahead <= target());
    stalled_ = !first_ && shrink >= stalled_shrink && size <= stalled_targets * target();
    done_ = done_ || stalled_;
    residual_ = done_ && !stalled_ ? (std::min)(size, ahead) : size;
    // Far from the solution a new matrix is computed in each iteration. The first one is used
    // twice.
    needs_matrix_ = !first_ && shrink > shrink_of_kept_matrix;
    size_ = size;
    first_ = false;
  }

 private:
  Scalar tolerance_, largest_;
  Scalar size_ = 0;  ///< of the last correction
  Scalar residual_ = 0;
  bool first_ = true, needs_matrix_ = true, done_ = false, stalled_ = false;
};

/// Solves the equations of one step for (q₁, λ):
///
///   p₀ + left(q₀, q₁) + C(q₀)ᵀ λ = 0,   c(q₁) = 0,   then   p₁ = right(q₀, q₁).
///
/// Notation: q₀, p₀ are the state; C are the gradients of the constraints c and of the constrained
/// contacts; λ are their impulses; left and right are the derivatives of the discrete Lagrangian.
///
/// The steps of Newton's method, from a guess of q₁: (1) evaluate left and C at q₁ and the
/// residual; (2) factor [∂left/∂q₁ C(q₀)ᵀ; C(q₁) 0], or reuse the last factors while each
/// correction is at most a tenth of the one before; (3) solve for the correction of (q₁, λ) and add
/// it. The iteration ends if the correction, or the predicted next one, is at most the tolerance,
/// or if the residual is rounding. It fails if the matrix is singular, a number is not finite, or
/// the iteration limit is reached.
/// @cite  seghete2014propagative, section VI; marsden2001discrete, section 3.5.2 for constraints
template <LagrangianSystemLike System>
class StepSolver {
 public:
  using Scalar = typename System::scalar_type;
  using Constraints = LevelFunctions<System, LevelKind::constraints>;
  using Gaps = LevelFunctions<System, LevelKind::gaps>;

  explicit StepSolver(const StepOptions<Scalar>& options = {}) noexcept
      : options_(options), action_(options.quadrature) {
    CAROM_EXPECTS(options.tolerance >= Scalar(0) && options.iteration_limit >= 1);
  }

  /// Allocates memory for the system with all its constraints and contacts. Cold.
  void prepare(const System& system) {
    const Index n = system.size(), rows = Constraints::count(system) + Gaps::count(system);
    action_.prepare(system);
    constraints_.prepare(system);
    gaps_.prepare(system);
    held_.clear();
    held_.reserve(std::size_t(Gaps::count(system)));
    for (MatrixX<Scalar>* m : {&gradients_now_, &gradients_next_}) m->setZero(rows, n);
    for (VectorX<Scalar>* v : {&levels_, &multipliers_}) v->setZero(rows);
    matrix_.setZero(n + rows, n + rows);
    change_.setZero(n + rows);
    for (VectorX<Scalar>* v : {&q_next_, &momentum_next_}) v->setZero(n);
    lu_.prepare(n + rows);
  }

  /// Contacts that are constrained to stay closed, by index.
  [[nodiscard]] std::span<const Index> held() const noexcept { return held_; }
  void release_all() noexcept { held_.clear(); }
  void hold(Index contact) noexcept {
    if (!holds(contact)) held_.push_back(contact);  // memory for all was reserved
  }
  void release(Index contact) noexcept { std::erase(held_, contact); }
  [[nodiscard]] bool holds(Index contact) const noexcept {
    return std::find(held_.begin(), held_.end(), contact) != held_.end();
  }
  /// Releases the constrained contact with the largest pull in the last solve. Returns −1 if no
  /// contact pulled.
  Index release_pulling(const System& system) noexcept {
    const Index offset = Constraints::count(system);
    std::size_t worst = held_.size();
    Scalar lowest = 0;
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const Scalar push = multipliers_(offset + Index(k));
      if (push < lowest) lowest = push, worst = k;
    }
    const Index contact = worst < held_.size() ? held_[worst] : -1;
    release(contact);
    return contact;
  }

  /// Solves a step from `now` of length h.
  /// @param guess  start of q₁, n.
  /// @return  residual: predicted largest entry of the next Newton correction [unit of q]; target:
  ///          the size that counts as zero.
  /// @note  Real-time safe once prepared: no allocation, no exception, at most
  ///        options.iteration_limit × (n + rows)³/3 multiply-adds.
  SolveReport<Scalar> solve(const System& system, const MechanicalState<Scalar>& now,
                            const Scalar& h, const VectorX<Scalar>& guess) noexcept;

  /// One Newton correction of a guess, for a point that need not be accurate. The error of q_next()
  /// is the square of the guess's error; momentum_next() is not written.
  /// @return  false if the equations are singular or not finite.
  [[nodiscard]] bool correct(const System& system, const MechanicalState<Scalar>& now,
                             const Scalar& h, const VectorX<Scalar>& guess) noexcept {
    const Index count = rows(system);
    start(system, now, guess);
    action_.write_newton(system, now.q, q_next_, now.time, h);
    write_rows(system, q_next_, gradients_next_);
    if (!write_residual(now, count, Scalar(1)) || !factor(count)) return false;
    lu_.solve(change_.data());
    move(count);
    return true;
  }

  [[nodiscard]] const VectorX<Scalar>& q_next() const noexcept { return q_next_; }
  /// p₁ = p₀ + Cᵀλ + (left + right). D₂L_d alone would contain the rounding of q₁ times 1/h. This
  /// formula does not, so even very short steps preserve their momentum.
  [[nodiscard]] const VectorX<Scalar>& momentum_next() const noexcept { return momentum_next_; }
  /// λ of the last step: impulses of the constraints, then of the constrained contacts; rows()
  /// numbers.
  [[nodiscard]] const VectorX<Scalar>& multipliers() const noexcept { return multipliers_; }
  /// Gradients of constraints and constrained contacts at q₁; the first rows() rows are valid.
  [[nodiscard]] const MatrixX<Scalar>& gradients_next() const noexcept { return gradients_next_; }
  [[nodiscard]] Index rows(const System& system) const noexcept {
    return Constraints::count(system) + Index(held_.size());
  }

  /// Factors the matrix of the step's equations, [left₁ C₀ᵀ; C₁ 0], from the second derivatives in
  /// action() and the gradients of the last solve. Returns false if it is singular.
  /// @param rows  rows() of the system.
  [[nodiscard]] bool factor(Index rows) noexcept {
    const Index n = q_next_.size();
    if (rows == 0) return lu_.factor(action_.left_by_1, n);
    matrix_.topLeftCorner(n + rows, n + rows).setZero();
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) matrix_(i, j) = action_.left_by_1(i, j);
      for (Index k = 0; k < rows; ++k) {
        matrix_(j, n + k) = gradients_now_(k, j);
        matrix_(n + k, j) = gradients_next_(k, j);
      }
    }
    return lu_.factor(matrix_, n + rows);
  }

  /// Solves for (dq₁, dλ) from right-hand sides, in place, with the last factored matrix.
  void solve_linearized(VectorX<Scalar>& x) const noexcept { lu_.solve(x); }

  /// Factors the matrix at the solution of the last solve with this state and h. Returns false if
  /// it is singular there.
  [[nodiscard]] bool refresh(const System& system, const MechanicalState<Scalar>& now,
                             const Scalar& h) noexcept {
    action_.write_newton(system, now.q, q_next_, now.time, h);
    return factor(rows(system));
  }

  /// dq₁/dh of the last solve. Without a preceding refresh() it is that of Newton's first iterate.
  /// Its relative error is then that of the guess.
  void write_rate(VectorX<Scalar>& out) noexcept {
    out = action_.left_by_step;
    write_response(out);
  }
  /// The change of q₁ for a small change of the first momentum, in place; as accurate as
  /// write_rate.
  void write_response(VectorX<Scalar>& change) noexcept {
    const Index n = q_next_.size();
    change_.setZero();
    change_.head(n) = -change;
    lu_.solve(change_.data());
    change = change_.head(n);
  }

  [[nodiscard]] DiscreteLagrangian<System>& action() noexcept { return action_; }
  [[nodiscard]] Constraints& constraints() noexcept { return constraints_; }
  [[nodiscard]] Gaps& gaps() noexcept { return gaps_; }

  /// Gradients of constraints and constrained contacts at q, rows() of them; levels() are their
  /// values.
  void write_rows(const System& system, const VectorX<Scalar>& q,
                  MatrixX<Scalar>& gradients) noexcept {
    if constexpr (Constraints::present || Gaps::present) {
      Index row = 0;
      if constexpr (Constraints::present) {
        constraints_.write_gradients(system, q);
        for (; row < constraints_.values.size(); ++row) {
          levels_(row) = constraints_.values(row);
          for (Index j = 0; j < q.size(); ++j) gradients(row, j) = constraints_.gradients(row, j);
        }
      }
      if (held_.empty()) return;
      gaps_.write_gradients(system, q);
      for (const Index contact : held_) {
        levels_(row) = gaps_.values(contact);
        for (Index j = 0; j < q.size(); ++j) gradients(row, j) = gaps_.gradients(contact, j);
        ++row;
      }
    }
  }

 private:
  void start(const System& system, const MechanicalState<Scalar>& now,
             const VectorX<Scalar>& guess) noexcept {
    q_next_ = guess;
    multipliers_.setZero();
    write_rows(system, now.q, gradients_now_);
  }

  /// Writes the negative residual to change_. Returns false if it is not finite. settled_ becomes
  /// true if the residual is at most some roundings of its terms.
  [[nodiscard]] bool write_residual(const MechanicalState<Scalar>& now, Index rows,
                                    Scalar roundings) noexcept {
    using std::abs;
    const Index n = q_next_.size();
    const Scalar some = roundings * std::numeric_limits<Scalar>::epsilon();
    Scalar sum = 0;
    settled_ = true;
    for (Index i = 0; i < n; ++i) {
      Scalar r = now.momentum(i) + action_.left(i);
      Scalar scale = abs(now.momentum(i)) + abs(action_.left(i));
      for (Index k = 0; k < rows; ++k) {
        r += gradients_now_(k, i) * multipliers_(k);
        scale += abs(gradients_now_(k, i) * multipliers_(k));
      }
      settled_ = settled_ && abs(r) <= some * scale;
      change_(i) = -r;
      sum += r;
    }
    for (Index k = 0; k < rows; ++k) {
      Scalar scale = 0;
      for (Index i = 0; i < n; ++i) {
        scale += abs(gradients_next_(k, i)) * (abs(q_next_(i)) + abs(now.q(i)));
      }
      settled_ = settled_ && abs(levels_(k)) <= some * scale;
      change_(n + k) = -levels_(k);
      sum += levels_(k);
    }
    return sum - sum == Scalar(0);
  }

  /// Adds the correction. Returns its largest entry among the coordinates.
  Scalar move(Index rows) noexcept {
    using std::abs;
    const Index n = q_next_.size();
    Scalar size = 0;
    for (Index i = 0; i < n; ++i) {
      q_next_(i) += change_(i);
      size = (std::max)(size, Scalar(abs(change_(i))));
    }
    for (Index k = 0; k < rows; ++k) multipliers_(k) += change_(n + k);
    return size;
  }

  StepOptions<Scalar> options_;
  DiscreteLagrangian<System> action_;
  Constraints constraints_;
  Gaps gaps_;
  std::vector<Index> held_;
  MatrixX<Scalar> gradients_now_, gradients_next_, matrix_;
  VectorX<Scalar> levels_, multipliers_, change_, q_next_, momentum_next_;
  LuFactor<Scalar> lu_;
  bool settled_ = false;
};

// --- implementation ---

template <LagrangianSystemLike System>
SolveReport<typename System::scalar_type> StepSolver<System>::solve(
    const System& system, const MechanicalState<Scalar>& now, const Scalar& h,
    const VectorX<Scalar>& guess) noexcept {
  SolveReport<Scalar> report;
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  const Index count = rows(system);
  start(system, now, guess);
  Scalar largest = 0;
  for (Index i = 0; i < now.q.size(); ++i) {
    using std::abs;
    largest = (std::max)({largest, Scalar(abs(now.q(i))), Scalar(abs(guess(i)))});
  }
  NewtonProgress<Scalar> newton(options_.tolerance, largest);
  report.residual_target = newton.target();
  while (true) {
    if (newton.needs_matrix() && !newton.done()) {
      action_.write_newton(system, now.q, q_next_, now.time, h);
    } else {
      action_.write_slopes(system, now.q, q_next_, now.time, h);
    }
    write_rows(system, q_next_, gradients_next_);
    if (!write_residual(now, count, newton.roundings_after(report.iterations))) {
      report.status = SolveStatus::not_finite;
      return report;
    }
    if (newton.done() || (settled_ && report.iterations > 0)) break;
    report.status = SolveStatus::iteration_limit;
    if (report.iterations == options_.iteration_limit) return report;
    report.status = SolveStatus::no_progress;
    if (newton.needs_matrix() && !factor(count)) return report;
    lu_.solve(change_.data());
    const Scalar size = move(count);
    newton.see(size, q_next_.cwiseAbs().maxCoeff());
    report.residual = newton.residual();
    report.residual_target = newton.target();
    ++report.iterations;
  }
  if (newton.stalled() || !newton.done()) {
    report.residual_target = (std::max)(report.residual_target, report.residual);
  }
  report.status = SolveStatus::converged;
  // change_ is the negative of the last residual, p₀ + left + Cᵀλ.
  for (Index i = 0; i < now.q.size(); ++i) momentum_next_(i) = action_.right(i) - change_(i);
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
