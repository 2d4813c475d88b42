// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "carom/impact/impact_derivative.hpp"
#include "carom/variational/detail/evaluators.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/impact_step_report.hpp"
#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivative of the momentum after an impact, p⁺ = law(q, p⁻), by q, p⁻ and the restitution.
///
/// The law depends on the configuration through the gradients a_i of the gaps and through the mass
/// matrix M(q), whose derivatives are those of ∂²L/∂q∂v between velocity zero and unit velocities.
/// Under constraints C the inverse mass is the leading block S of [M Cᵀ; C 0]⁻¹ = [S Bᵀ; B D]. The
/// effect of the constraints' curvature on s_i = a_i·S p and ⟨a_i, a_j⟩ = a_i·S a_j is equal to
/// that of
///
///     da_i' = da_i − dCᵀ B a_i  and  dp' = dp − dCᵀ B p
///
/// without curvature, because dS = −S dM S − S dCᵀ B − Bᵀ dC S.
/// @note  Real-time safe once grown: no allocation, no exception.
template <LagrangianSystemLike System, DifferentiableImpactLaw<typename System::scalar_type> Law>
class ImpactJacobian {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Outcome = StepLinearizationStatus;

  MatrixX<Scalar> by_q, by_p;      ///< ∂p⁺/∂q, ∂p⁺/∂p⁻, n×n
  VectorX<Scalar> by_restitution;  ///< n, zero for laws without restitution

  explicit ImpactJacobian(const Law& law) : law_(law) {}

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size(), gaps = Gaps::count(system);
    const Index rows = Constraints::count(system);
    lagrangian_.prepare(system);
    gaps_.prepare(system);
    constraints_.prepare(system);
    at_.resize(n);
    still_.resize(n);
    mass_.prepare(n, rows);
    plastic_.grow(gaps);
    for (MatrixX<Scalar>* m : {&by_q, &by_p, &curvature_}) m->setZero(n, n);
    for (VectorX<Scalar>* v : {&by_restitution, &after_, &gradient_, &velocity_}) v->setZero(n);
    column_.setZero(n + rows);
    weights_.setZero(gaps);
    row_weights_.setZero(rows);
    reactions_.setZero(rows, gaps);
    lengths_.setZero(gaps);
    const MatrixX<Scalar> square = MatrixX<Scalar>::Zero(n, n);
    mass_slopes_.assign(std::size_t(n), square);
    normal_slopes_.assign(std::size_t(gaps), square);
    gradients_.resize(std::size_t(gaps + 1));
  }

  /// @param before  state at the impact, with the momentum before it.
  /// @param closed  contacts of the impact problem.
  /// @param rested  whether the impact was plastic instead of by the law.
  /// @return  linearized, or the reason why there is no derivative.
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] Outcome evaluate(const System& system, const State& before,
                                 std::span<const Index> closed, bool rested) noexcept;

  /// Contacts, by their place in `closed`, for which the slightest change may change the sequence.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept {
    return derivative_.one_sided();
  }

 private:
  using Constraints = LevelFunctions<System, LevelKind::constraints>;
  using Gaps = LevelFunctions<System, LevelKind::gaps>;
  /// Largest count of recorded reflections of an impact. Impacts of similar masses have a few for
  /// each contact. The memory is allocated once.
  static constexpr Index sequence_limit = 4096;

  [[nodiscard]] bool collect(const System& system, const State& before,
                             std::span<const Index> closed) noexcept;
  /// Resolves the impact again by the law that was used, and linearises it.
  template <typename Used>
  [[nodiscard]] Outcome linearize(const VectorX<Scalar>& momentum, Used& law) noexcept;
  void write_mass_slopes(const System& system, const State& before) noexcept;
  /// Writes Σ of the constraints' second derivatives, weighted by row_weights_, to curvature_.
  void write_bend(const System& system, const VectorX<Scalar>& q) noexcept {
    curvature_.setZero();
    constraints_.add_curvature(system, q, row_weights_, curvature_);
  }
  /// Writes λ_i/|a_i| of the last impact, summed over the reactions of its contacts, to
  /// row_weights_.
  void write_reactions(const Scalar* impulses, Index count) noexcept {
    row_weights_.setZero();
    for (Index i = 0; i < count; ++i) {
      for (Index r = 0; r < row_weights_.size(); ++r) {
        row_weights_(r) += impulses[i] / lengths_(i) * reactions_(r, i);
      }
    }
  }

  Law law_;
  PlasticImpact<Scalar> plastic_;
  ImpactDerivative<Scalar> derivative_;
  ImpactDifferential<Scalar> change_;
  LagrangianEvaluator<System> lagrangian_;
  LagrangianDerivatives<Scalar> at_, still_;
  Gaps gaps_;
  Constraints constraints_;
  ConstrainedMass<Scalar> mass_;
  ImpactProblem<Scalar> problem_;
  std::vector<MatrixX<Scalar>> gradients_;      ///< n×count, one for each count of contacts
  std::vector<MatrixX<Scalar>> mass_slopes_;    ///< ∂M/∂q_k
  std::vector<MatrixX<Scalar>> normal_slopes_;  ///< ∂a_i'/∂q
  MatrixX<Scalar> curvature_, reactions_;
  VectorX<Scalar> column_, gradient_, velocity_, after_, weights_, row_weights_, lengths_;
};

// --- implementation ---

/// Fills the impact problem and the data on which its contacts depend. Returns false if a mass
/// matrix is singular.
template <LagrangianSystemLike System, DifferentiableImpactLaw<typename System::scalar_type> Law>
bool ImpactJacobian<System, Law>::collect(const System& system, const State& before,
                                          std::span<const Index> closed) noexcept {
  using std::sqrt;
  const Index n = system.size(), rows = row_weights_.size();
  velocity_.setZero();
  lagrangian_.write_curvature(system, before.q, velocity_, before.time, still_);
  constraints_.write_gradients(system, before.q);
  if (!mass_.factor(still_.by_vv, constraints_.gradients, rows)) return false;
  gaps_.write_gradients(system, before.q);
  problem_.reset(n);
  MatrixX<Scalar>& gradients = gradients_[closed.size()];
  if (gradients.cols() != Index(closed.size())) gradients.setZero(n, Index(closed.size()));
  for (std::size_t i = 0; i < closed.size(); ++i) {
    gradient_ = gaps_.gradients.row(closed[i]).transpose();
    if (!problem_.try_add_contact(mass_, gradient_)) return false;
    gradients.col(Index(i)) = gradient_;
    column_.setZero();
    column_.head(n) = gradient_;
    mass_.solve(column_);
    lengths_(Index(i)) = sqrt(gradient_.dot(column_.head(n)));
    for (Index r = 0; r < rows; ++r) reactions_(r, Index(i)) = row_weights_(r) = column_(n + r);
    write_bend(system, before.q);
    normal_slopes_[i] = -curvature_;
    weights_.setZero();
    weights_(closed[i]) = 1;
    gaps_.add_curvature(system, before.q, weights_, normal_slopes_[i]);
  }
  problem_.prepare();
  return true;
}

template <LagrangianSystemLike System, DifferentiableImpactLaw<typename System::scalar_type> Law>
template <typename Used>
StepLinearizationStatus ImpactJacobian<System, Law>::linearize(const VectorX<Scalar>& momentum,
                                                               Used& law) noexcept {
  if constexpr (requires { law.prepare(problem_, sequence_limit); }) {
    law.prepare(problem_, sequence_limit);
  } else {
    law.prepare(problem_);
  }
  after_ = momentum;
  const ImpactReport<Scalar> report = law.resolve(problem_, after_);
  if (report.status == ImpactStatus::reflection_limit) return Outcome::unfinished_impact;
  derivative_.prepare(problem_, sequence_limit);
  const MatrixX<Scalar>& gradients = gradients_[std::size_t(problem_.contact_count())];
  switch (derivative_.linearize(problem_, mass_, gradients, momentum, law)) {
    case ImpactLinearization::usable:
      break;
    case ImpactLinearization::unrecorded:
      return Outcome::unfinished_impact;
    case ImpactLinearization::not_finite:
      return Outcome::singular;
  }
  write_reactions(law.impulses().data(), problem_.contact_count());
  return Outcome::linearized;
}

template <LagrangianSystemLike System, DifferentiableImpactLaw<typename System::scalar_type> Law>
void ImpactJacobian<System, Law>::write_mass_slopes(const System& system,
                                                    const State& before) noexcept {
  const Index n = system.size();
  velocity_.setZero();
  for (Index j = 0; j < n; ++j) {
    velocity_(j) = 1;
    lagrangian_.write_curvature(system, before.q, velocity_, before.time, at_);
    velocity_(j) = 0;
    for (Index k = 0; k < n; ++k) {
      for (Index i = 0; i < n; ++i) {
        mass_slopes_[std::size_t(k)](i, j) = at_.by_qv(k, i) - still_.by_qv(k, i);
      }
    }
  }
}

template <LagrangianSystemLike System, DifferentiableImpactLaw<typename System::scalar_type> Law>
StepLinearizationStatus ImpactJacobian<System, Law>::evaluate(const System& system,
                                                              const State& before,
                                                              std::span<const Index> closed,
                                                              bool rested) noexcept {
  const Index n = system.size(), count = Index(closed.size()), rows = row_weights_.size();
  if (!collect(system, before, closed)) return Outcome::singular;
  const Outcome status =
      rested ? linearize(before.momentum, plastic_) : linearize(before.momentum, law_);
  if (status != Outcome::linearized) return status;
  write_bend(system, before.q);  // for the change of the impulses
  by_q = curvature_;
  column_.setZero();
  column_.head(n) = before.momentum;
  mass_.solve(column_);
  row_weights_ = column_.tail(rows);
  write_bend(system, before.q);  // for the momentum before the impact
  write_mass_slopes(system, before);
  derivative_.set_zero(change_);
  for (Index k = 0; k < n; ++k) {
    change_.motion = -curvature_.col(k);
    change_.mass = mass_slopes_[std::size_t(k)];
    for (Index i = 0; i < count; ++i) {
      change_.normals.col(i) = normal_slopes_[std::size_t(i)].col(k);
    }
    derivative_.push_forward(change_, after_);
    by_q.col(k) += after_ + curvature_.col(k);
  }
  derivative_.set_zero(change_, false);
  for (Index k = 0; k < n; ++k) {
    change_.motion(k) = 1;
    derivative_.push_forward(change_, after_);
    change_.motion(k) = 0;
    by_p.col(k) = after_;
  }
  by_restitution.setZero();
  if (change_.restitution.size() == 0) return Outcome::linearized;
  change_.restitution(0) = 1;
  derivative_.push_forward(change_, by_restitution);
  return Outcome::linearized;
}

}  // namespace CAROM_ABI
}  // namespace carom
