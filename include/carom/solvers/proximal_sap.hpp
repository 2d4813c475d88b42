// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/dual.hpp"
#include "carom/linalg/growing.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

namespace carom::inline CAROM_ABI {

/// What ProximalSap is asked for, and how far its steps go.
template <RealScalar Scalar>
struct ProximalSapOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Natural map error at which to stop [-], > 0: ContactCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  int iteration_limit = 500;  ///< Most convex problems, ≥ 0.
  /// Weight of the proximal term at the start [-], > 0, relative to the contacts' own inverse
  /// masses. It falls while the convex problems are easy.
  Scalar proximal = Scalar(1e-2);
};

/// Rigid contact and Coulomb's law exactly, by compliant convex problems in a row, on bodies.
/// Contacts that give way and constraints keep their R.
///
/// With weights R̂ the impulses γ^{k+1} solve the convex problem with R + R̂ and v̂ + R̂ γ^k, a
/// proximal step on the dual that needs no regular W; contacts have them, and constraints with a
/// friction cone. Under Coulomb's law v̂ₙ is lowered by Σ μ_b ‖u_b‖ of the iterate before.
///
/// ```
/// carom::ProximalSap<double> solver;
/// Eigen::VectorXd velocity = problem.free_velocity();
/// const auto report = solver.solve(problem, velocity);  // rigid, Coulomb
/// ```
/// @cite  rockafellar1976augmented for the proximal loop; desaxce1998bipotential for the shift.
template <RealScalar Scalar>
class ProximalSap {
 public:
  using scalar_type = Scalar;

  explicit ProximalSap(const ProximalSapOptions<Scalar>& options = {})
      : options_(options), sap_(inner_options(options)) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
    CAROM_EXPECTS(options.proximal > Scalar(0));
  }
  [[nodiscard]] const ProximalSapOptions<Scalar>& options() const noexcept { return options_; }
  /// Bounds every solve from now on; a default SolveLimits bounds none.
  void set_limits(const SolveLimits& limits) noexcept {
    limits_ = limits;
    sap_.set_limits(limits.with_iterations(SolveLimits().iteration_limit));
  }

  /// Grows memory to the problem's size.
  void prepare(const ContactProblem<Scalar>& problem) {
    work_ = problem;
    sap_.prepare(problem);
    outer_.grow(problem.velocity_count());
    for (Growing<VectorX<Scalar>>* rows : {&impulse_, &best_, &held_, &velocity_}) {
      rows->grow(problem.impulse_count());
    }
    weights_.resize(problem.contact_count());
    factors_.resize(problem.constraints().count());
    lift_.resize(weights_.size() + factors_.size());
  }

  /// Solves from a first guess.
  /// @param velocity  v, n_v [m/s, rad/s]: guess in, velocity of the best impulses out.
  /// @return  residual: natural map error of impulse() [-], that of certify() on the dual form;
  ///          iterations: convex problems solved.
  /// @note  Real-time safe once prepare() has seen a problem of the size: no allocation, no
  ///        exception.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem,
                            VectorX<Scalar>& velocity) noexcept;

  /// γ of the last solve [N·s], stacked as in ContactProblem.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {best_.data(), best_.size()};
  }

 private:
  [[nodiscard]] static SapOptions<Scalar> inner_options(
      const ProximalSapOptions<Scalar>& options) noexcept {
    SapOptions<Scalar> inner;
    inner.tolerance =
        (std::max)(Scalar(1e-3) * options.tolerance, 64 * std::numeric_limits<Scalar>::epsilon());
    return inner;
  }
  void read(const ContactProblem<Scalar>& problem) noexcept;
  void pose(const ContactProblem<Scalar>& problem) noexcept;
  void pose_constraint(const ContactProblem<Scalar>& problem, Index c) noexcept;
  [[nodiscard]] Scalar measure(const ContactProblem<Scalar>& problem) noexcept;
  void renew_lift(const ContactProblem<Scalar>& problem, const Scalar& share) noexcept;

  ProximalSapOptions<Scalar> options_;
  SolveLimits limits_;
  SapSolver<Scalar> sap_;
  ContactProblem<Scalar> work_{Scalar(1)};
  Growing<VectorX<Scalar>> outer_;                  ///< v of γ
  Growing<VectorX<Scalar>> impulse_, best_, held_;  ///< γ; the best; γ^k
  Growing<VectorX<Scalar>> velocity_;               ///< u by rows
  Sequence<Scalar> weights_;                        ///< per contact: mean of W_ii
  Sequence<Scalar> factors_;  ///< per constraint: Σ W_rr/Σ R_rr of a cone, else 0
  Sequence<Scalar> lift_;     ///< of contacts, then of constraints: Σ μ_b ‖u_b‖
  Scalar mean_diagonal_ = 0, load_norm_ = 0, best_error_ = 0, proximal_ = 0;
};

// --- implementation ---

/// What the natural map is measured by.
template <RealScalar Scalar>
void ProximalSap<Scalar>::read(const ContactProblem<Scalar>& problem) noexcept {
  using std::sqrt;
  Scalar trace(0), squared(0);
  for (Index i = 0; i < problem.contact_count(); ++i) {
    Scalar own(0);
    for (int side = 0; side < problem.side_count(i); ++side) {
      own += problem.whitened_jacobian(i, side).squaredNorm();
    }
    const auto [tangent, normal] = problem.own_regularization(i);
    trace += own + 2 * tangent + normal;
    weights_[i] = own > Scalar(0) ? own / 3 : Scalar(1);
    squared += (contact_velocity(problem, i, problem.free_velocity()) - problem.bias_velocity(i))
                   .squaredNorm();
  }
  const ConstraintList<Scalar>& list = problem.constraints();
  for (Index c = 0; c < list.count(); ++c) {
    const WeightedConstraint<Scalar>& law = list.law(c);
    const Scalar soft = law.regularization.head(law.set.rows).sum();
    Scalar own(0);
    for (int side = 0; side < list.side_count(c); ++side) {
      for (int r = 0; r < law.set.rows; ++r) {
        own += list.whitened_jacobian(c, side, r / 3).col(r % 3).squaredNorm();
      }
    }
    trace += soft + own;
    factors_[c] = detail::normal_row(law.set.shape) >= 0 ? own / soft : Scalar(0);
    squared += (constraint_velocity(problem, c, problem.free_velocity()) - law.bias_velocity)
                   .head(law.set.rows)
                   .squaredNorm();
  }
  mean_diagonal_ =
      problem.impulse_count() > 0 ? trace / Scalar(problem.impulse_count()) : Scalar(0);
  load_norm_ = sqrt(squared);
}

/// Writes the laws of the next convex problem.
template <RealScalar Scalar>
void ProximalSap<Scalar>::pose(const ContactProblem<Scalar>& problem) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Scalar added = proximal_ * weights_[i];
    auto [tangent, normal] = problem.own_regularization(i);
    Vector3<Scalar> bias = problem.bias_velocity(i) + added * held_.template segment<3>(3 * i);
    bias(2) -= lift_[i];
    work_.set_law(i, {problem.cone(i).friction, {tangent + added, normal + added}, bias});
  }
  for (Index c = 0; c < factors_.size(); ++c) {
    if (factors_[c] > Scalar(0)) pose_constraint(problem, c);
  }
}

/// R̂ in proportion to R, which keeps what the cone asks of it.
template <RealScalar Scalar>
void ProximalSap<Scalar>::pose_constraint(const ContactProblem<Scalar>& problem, Index c) noexcept {
  WeightedConstraint<Scalar> law = problem.constraints().law(c);
  const RowNumbers<Scalar> added = proximal_ * factors_[c] * law.regularization;
  law.bias_velocity += added.cwiseProduct(constraint_rows(problem, c, held_));
  law.bias_velocity(detail::normal_row(law.set.shape)) -= lift_[weights_.size() + c];
  law.regularization += added;
  work_.set_constraint_law(c, law);
}

/// u and the natural map error of impulse_; keeps the best.
template <RealScalar Scalar>
Scalar ProximalSap<Scalar>::measure(const ContactProblem<Scalar>& problem) noexcept {
  using std::sqrt;
  const Scalar w = mean_diagonal_ > Scalar(0) ? mean_diagonal_ : Scalar(1);
  write_velocity(problem, impulse_, outer_);
  Scalar sum(0);
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto [tangent, normal] = problem.own_regularization(i);
    const Vector3<Scalar> g = impulse_.template segment<3>(3 * i);
    const Vector3<Scalar> u = contact_velocity(problem, i, outer_) - problem.bias_velocity(i) +
                              Vector3<Scalar>(tangent, tangent, normal).cwiseProduct(g);
    velocity_.template segment<3>(3 * i) = u;
    RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero(), rate = gamma;
    gamma.template head<3>() = g;
    rate.template head<3>() = u;
    const auto set = friction_impulses(problem.cone(i).friction);
    sum += detail::natural_map_squared(options_.law, set, gamma, rate, w);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    const WeightedConstraint<Scalar>& law = problem.constraints().law(c);
    const RowNumbers<Scalar> gamma = constraint_rows(problem, c, impulse_);
    RowNumbers<Scalar> rate = constraint_slope(problem, c, outer_, gamma);
    for (int r = law.set.rows; r < 6; ++r) rate(r) = Scalar(0);
    write_constraint_rows(problem, c, rate, velocity_);
    sum += detail::natural_map_squared(options_.law, law.set, gamma, rate, w);
  }
  const Scalar scale = (std::max)({load_norm_, Scalar(w * impulse_.norm()), velocity_.norm()});
  const Scalar error = detail::relative_error(Scalar(sqrt(sum)), scale);
  if (error < best_error_) {
    best_error_ = error;
    best_ = impulse_;
  }
  return error;
}

/// De Saxcé's lift, a share of the way to that of the latest u.
template <RealScalar Scalar>
void ProximalSap<Scalar>::renew_lift(const ContactProblem<Scalar>& problem,
                                     const Scalar& share) noexcept {
  if (options_.law != FrictionLaw::coulomb) return;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Scalar wanted = problem.cone(i).friction * velocity_.template segment<2>(3 * i).norm();
    lift_[i] += share * (wanted - lift_[i]);
  }
  for (Index c = 0; c < factors_.size(); ++c) {
    if (!(factors_[c] > Scalar(0))) continue;
    const RowNumbers<Scalar> u = constraint_rows(problem, c, velocity_);
    const Scalar wanted = (de_saxce_velocity(problem.constraints().law(c).set, u) - u).sum();
    Scalar& lift = lift_[weights_.size() + c];
    lift += share * (wanted - lift);
  }
}

template <RealScalar Scalar>
SolveReport<Scalar> ProximalSap<Scalar>::solve(const ContactProblem<Scalar>& problem,
                                               VectorX<Scalar>& velocity) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  prepare(problem);
  SolveReport<Scalar> report;
  report.residual_target = options_.tolerance;
  report.residual = report.error_bound = best_error_ = infinity;
  best_.setZero();
  if (!velocity.allFinite()) return report;
  read(problem);
  held_.setZero();
  std::fill(lift_.begin(), lift_.end(), Scalar(0));
  proximal_ = options_.proximal;
  impulse_.setZero();
  Scalar error = measure(problem), before = infinity, share(1);
  report.status = SolveStatus::iteration_limit;
  renew_lift(problem, Scalar(1));
  int stalled = 0;
  const int limit = (std::min)(options_.iteration_limit, limits_.iteration_limit);
  while (report.iterations < limit && error > options_.tolerance) {
    if (limits_.is_over()) {
      report.status = SolveStatus::deadline;
      break;
    }
    pose(problem);
    const auto inner = sap_.solve(work_, velocity);
    ++report.iterations;
    if (inner.status == SolveStatus::not_finite) {
      report.status = SolveStatus::not_finite;
      break;
    }
    impulse_ = sap_.impulse();
    error = measure(problem);
    if (!detail::is_finite(error)) {
      report.status = SolveStatus::not_finite;
      break;
    }
    held_ = impulse_;
    stalled = error < Scalar(0.99) * before ? 0 : stalled + 1;
    // A lift that overshoots is approached in smaller steps.
    if (error > before) share = (std::max)(share * Scalar(0.7), Scalar(0.05));
    renew_lift(problem, share);
    if (!inner.converged() || inner.iterations > 30) {
      proximal_ = (std::min)(proximal_ * 3, Scalar(1));
    } else if (inner.iterations <= 12 && error > before * Scalar(0.1)) {
      proximal_ = (std::max)(proximal_ / 4, 1024 * std::numeric_limits<Scalar>::epsilon());
    }
    before = error;
    if (stalled > 60) {
      report.status = SolveStatus::no_progress;
      break;
    }
  }
  report.residual = best_error_;
  if (best_error_ <= options_.tolerance) report.status = SolveStatus::converged;
  if (detail::is_finite(best_error_)) write_velocity(problem, best_, velocity);
  return report;
}

}  // namespace carom::inline CAROM_ABI
