// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "carom/impact/concepts.hpp"
#include "carom/variational/detail/impact_tangent.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivative of the momentum after an impact, p⁺ = law(q, p⁻), by q, p⁻ and the restitution.
///
/// The law sees the configuration through the gaps' gradients a_i and the mass matrix under the
/// constraints, K = [M Cᵀ; C 0]: K (w_i, κ_i) = (a_i, 0), so that K (dw_i, dκ_i) =
/// (da_i − dM w_i − dCᵀκ_i, −dC w_i). dM w is the change of ∂²L/∂q∂v from velocity 0 to w.
/// @note  Real-time safe once grown: no allocation, no exception.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
class ImpactJacobian {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Status = StepLinearizationStatus;

  MatrixX<Scalar> by_q, by_p;     ///< ∂p⁺/∂q, ∂p⁺/∂p⁻, n×n
  VectorX<Scalar> by_restitution;  ///< n, zero for laws without
  VectorX<Scalar> after;           ///< p⁺

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
    contacts_.prepare(n, gaps, 2 * n + 1);
    tangent_.prepare(n, gaps, 2 * n + 1);
    plastic_.grow(gaps);
    for (MatrixX<Scalar>* m : {&by_q, &by_p, &curvature_, &bend_}) m->setZero(n, n);
    for (VectorX<Scalar>* v : {&by_restitution, &after, &gradient_, &velocity_}) v->setZero(n);
    column_.setZero(n + rows);
    weights_.setZero(gaps);
    row_weights_.setZero(rows);
  }

  /// @param before  state at the impact, with the momentum before it.
  /// @param closed  contacts of the impact problem.
  /// @param rested  whether the impact was resolved plastically instead of by the law.
  /// @return  linearized, or why there is no derivative.
  [[nodiscard]] Status evaluate(const System& system, const State& before,
                                std::span<const Index> closed, bool rested) noexcept;

  /// Contacts of the last impact that rest, to rounding, without an impulse of their own.
  [[nodiscard]] int idle_count() const noexcept { return idle_count_; }

 private:
  using Constraints = LevelFunctions<System, LevelKind::constraints>;
  using Gaps = LevelFunctions<System, LevelKind::gaps>;
  /// Reflections that an impact may have for its sequence to be followed.
  static constexpr Index sequence_limit = 1024;

  void write_contact(const System& system, const VectorX<Scalar>& q, Index index,
                     Index contact) noexcept;

  Law law_;
  PlasticImpact<Scalar> plastic_;
  LagrangianEvaluator<System> lagrangian_;
  LagrangianDerivatives<Scalar> at_, still_;
  Gaps gaps_;
  Constraints constraints_;
  ConstrainedMass<Scalar> mass_;
  ImpactProblem<Scalar> problem_;
  ContactTangents<Scalar> contacts_;
  ImpactTangent<Scalar> tangent_;
  MatrixX<Scalar> curvature_, bend_;
  VectorX<Scalar> column_, gradient_, velocity_, weights_, row_weights_;
  int idle_count_ = 0;
};

// --- implementation ---

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void ImpactJacobian<System, Law>::write_contact(const System& system, const VectorX<Scalar>& q,
                                                Index index, Index contact) noexcept {
  const Index n = q.size(), rows = constraints_.values.size();
  auto& out = contacts_.contact(index);
  out.a = gaps_.gradients.row(contact).transpose();
  column_.setZero();
  column_.head(n) = out.a;
  mass_.solve(column_);
  out.w = column_.head(n);
  row_weights_ = column_.tail(rows);
  velocity_ = out.w;
  out.da.setZero();
  out.dw.setZero();
  curvature_.setZero();
  weights_.setZero();
  weights_(contact) = 1;
  gaps_.add_curvature(system, q, weights_, curvature_);
  out.da.leftCols(n) = curvature_;
  lagrangian_.write_curvature(system, q, velocity_, Scalar(0), at_);
  bend_.setZero();
  constraints_.add_curvature(system, q, row_weights_, bend_);
  for (Index k = 0; k < n; ++k) {
    for (Index j = 0; j < n; ++j) {
      out.dw(j, k) = curvature_(j, k) - bend_(j, k) - (at_.by_qv(k, j) - still_.by_qv(k, j));
    }
  }
  // dw holds the right-hand sides; those of the constraints are computed one row at a time.
  for (Index k = 0; k < n; ++k) {
    column_.setZero();
    column_.head(n) = out.dw.col(k);
    for (Index r = 0; r < rows; ++r) {
      row_weights_.setZero();
      row_weights_(r) = 1;
      bend_.setZero();
      constraints_.add_curvature(system, q, row_weights_, bend_);
      column_(n + r) = -bend_.col(k).dot(velocity_);
    }
    mass_.solve(column_);
    out.dw.col(k) = column_.head(n);
  }
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepLinearizationStatus ImpactJacobian<System, Law>::evaluate(const System& system,
                                                              const State& before,
                                                              std::span<const Index> closed,
                                                              bool rested) noexcept {
  const Index n = system.size(), count = Index(closed.size());
  velocity_.setZero();
  lagrangian_.write_curvature(system, before.q, velocity_, before.time, still_);
  constraints_.write_gradients(system, before.q);
  if (!mass_.factor(still_.by_vv, constraints_.gradients, constraints_.values.size()))
    return Status::singular;
  gaps_.write_gradients(system, before.q);
  problem_.reset(n);
  for (Index i = 0; i < count; ++i) {
    write_contact(system, before.q, i, closed[std::size_t(i)]);
    gradient_ = contacts_.contact(i).a;
    if (!problem_.try_add_contact(mass_, gradient_)) return Status::singular;
  }
  problem_.prepare();
  tangent_.p = before.momentum;
  tangent_.dp.setZero();
  for (Index i = 0; i < n; ++i) tangent_.dp(i, n + i) = 1;
  tangent_.impulses.setZero();
  tangent_.dimpulses.setZero();
  after = before.momentum;
  plastic_.prepare(problem_);
  static_cast<void>(plastic_.resolve(problem_, after));
  const auto pushes = [&](Index i) { return plastic_.impulses()(i) > Scalar(0); };
  if (rested) {
    if (!contacts_.rest(count, pushes, tangent_)) return Status::singular;
  } else if constexpr (!requires { law_.sequence(); }) {
    law_.prepare(problem_);
    after = before.momentum;
    static_cast<void>(law_.resolve(problem_, after));
    const auto acts = [&](Index i) { return law_.impulses()(i) != Scalar(0); };
    if (!contacts_.rest(count, acts, tangent_)) return Status::singular;
  } else {
    law_.prepare(problem_, sequence_limit);
    after = before.momentum;
    const ImpactReport<Scalar> report = law_.resolve(problem_, after);
    if (report.reflections != Index(law_.sequence().size())) return Status::unfinished_impact;
    if constexpr (requires { law_.restitution(); }) {
      if (!contacts_.blend(law_.restitution(), law_.sequence(), count, pushes, tangent_))
        return Status::singular;
    } else {
      contacts_.reflect(law_.sequence(), tangent_);
    }
  }
  after = tangent_.p;
  by_q = tangent_.dp.leftCols(n);
  by_p = tangent_.dp.middleCols(n, n);
  by_restitution = tangent_.dp.col(2 * n);
  return Status::linearized;
}

}  // namespace CAROM_ABI
}  // namespace carom
