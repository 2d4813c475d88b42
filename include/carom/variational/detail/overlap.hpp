// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/core/solve_report.hpp"
#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/nonnegative_least_squares.hpp"
#include "carom/variational/detail/evaluators.hpp"
#include "carom/variational/detail/legendre.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Moves a configuration out of overlap by Newton's method on ϕ(q) ≥ 0. Each correction is the
/// shortest in the mass metric that opens all linearised gaps, argmin ½ dqᵀM dq with ϕ + Dϕ dq ≥ 0.
///
/// The corrections satisfy the constraints' gradients. The error from the constraints' curvature is
/// removed by the next step. The metric is that of the first configuration.
/// @note  Real-time safe once grown: the first calls allocate and may throw, later ones do not.
template <LagrangianSystemLike System>
class OverlapProjection {
 public:
  using Scalar = typename System::scalar_type;
  using Constraints = LevelFunctions<System, LevelKind::constraints>;
  using Gaps = LevelFunctions<System, LevelKind::gaps>;

  /// Largest count of corrections, which bounds the work. Newton's method needs a few, and more if
  /// the opening of one gap closes another.
  static constexpr int iteration_limit = 50;

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size(), gaps = Gaps::count(system);
    gaps_.prepare(system);
    constraints_.prepare(system);
    legendre_.prepare(system);
    mass_.prepare(n, Constraints::count(system));
    squares_.prepare(gaps);
    gradient_.setZero(n);
    velocity_.setZero(n);
    change_.setZero(n);
    for (auto* vector : {&levels_, &pushes_}) vector->grow(gaps);
    gram_.grow(gaps, gaps);
  }

  /// Deepest overlap, max(0, −min ϕ_i) [unit of the gaps].
  [[nodiscard]] Scalar depth(const System& system, const VectorX<Scalar>& q) noexcept {
    gaps_.write_values(system, q);
    return gaps_.values.size() > 0 ? (std::max)(Scalar(0), Scalar(-gaps_.values.minCoeff()))
                                   : Scalar(0);
  }

  /// Moves q until no gap is below −tolerance.
  /// @param time       of the mass matrix [s].
  /// @param tolerance  permitted overlap [unit of the gaps], > 0.
  /// @return  residual: the remaining overlap. no_progress if the mass matrix is singular or no
  ///          motion opens all gaps; q is then the last iterate.
  SolveReport<Scalar> project_out(const System& system, const Scalar& time, const Scalar& tolerance,
                                  VectorX<Scalar>& q) noexcept;

 private:
  [[nodiscard]] bool factor_mass(const System& system, const Scalar& time,
                                 const VectorX<Scalar>& q) noexcept {
    velocity_.setZero();
    change_.setZero();
    if (!legendre_.write_velocity(system, q, change_, time, velocity_)) return false;
    constraints_.write_gradients(system, q);
    return mass_.factor(legendre_.mass(), constraints_.gradients, constraints_.values.size());
  }

  /// Shortest correction that opens all linearised gaps. Returns false if the gradient of a gap is
  /// zero.
  [[nodiscard]] bool write_change() noexcept {
    const Index count = gaps_.values.size();
    problem_.reset(gradient_.size());
    for (Index i = 0; i < count; ++i) {
      gradient_ = gaps_.gradients.row(i).transpose();
      if (!problem_.try_add_contact(mass_, gradient_)) return false;
      Scalar norm = 0;  // ⟨Dϕ, u⟩ = |Dϕ|
      for (const auto& e : problem_.response(i)) norm += e.value * gradient_(e.index);
      levels_(i) = gaps_.values(i) / norm;
    }
    problem_.prepare();
    problem_.write_gram(gram_);
    for (Index i = 0; i < count; ++i) {  // of contacts with the same normal, only the first acts
      const Index twin = problem_.merged_into(i);
      if (twin < 0) continue;
      levels_(twin) = (std::min)(levels_(twin), levels_(i));
      levels_(i) = 1;
    }
    static_cast<void>(squares_.solve(gram_, levels_, pushes_));
    change_.setZero();
    for (Index i = 0; i < count; ++i) {
      for (const auto& e : problem_.response(i)) change_(e.index) += pushes_(i) * e.value;
    }
    return true;
  }

  Gaps gaps_;
  Constraints constraints_;
  LegendreMap<System> legendre_;
  ConstrainedMass<Scalar> mass_;
  ImpactProblem<Scalar> problem_;
  NonnegativeLeastSquares<Scalar> squares_;
  VectorX<Scalar> gradient_, velocity_, change_;
  Growing<VectorX<Scalar>> levels_, pushes_;
  Growing<MatrixX<Scalar>> gram_;
};

// --- implementation ---

template <LagrangianSystemLike System>
SolveReport<typename System::scalar_type> OverlapProjection<System>::project_out(
    const System& system, const Scalar& time, const Scalar& tolerance,
    VectorX<Scalar>& q) noexcept {
  CAROM_EXPECTS(q.size() == system.size() && tolerance > Scalar(0));
  SolveReport<Scalar> report;
  report.residual_target = tolerance;
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  report.residual = depth(system, q);
  if (!gaps_.values.allFinite()) return report;
  report.status = SolveStatus::converged;
  if (report.residual <= tolerance) return report;
  report.status = SolveStatus::no_progress;
  if (!factor_mass(system, time, q)) return report;
  while (report.iterations < iteration_limit) {
    gaps_.write_gradients(system, q);
    if (!write_change() || !change_.allFinite()) return report;
    q += change_;
    ++report.iterations;
    report.residual = depth(system, q);
    if (report.residual <= tolerance) {
      report.status = SolveStatus::converged;
      return report;
    }
  }
  report.status = SolveStatus::iteration_limit;
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
