// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "carom/adapters/detail/mujoco_problem.hpp"
#include "carom/adapters/mujoco_outcome.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether MuJoCo's own checks would pass. If they fail, MuJoCo resets the data.
[[nodiscard]] inline bool is_mujoco_sound(const MujocoNumber* numbers, Index count) noexcept {
  return std::all_of(numbers, numbers + count,
                     [](MujocoNumber x) { return std::abs(x) <= mujoco_largest; });
}

/// Solves the constraints of an instant by carom, and writes forces and states where MuJoCo's own
/// solver does.
class MujocoSolver {
 public:
  explicit MujocoSolver(const MujocoOptions& options)
      : options_(accepted(options)),
        sap_({.law = FrictionLaw::convex, .tolerance = options.tolerance}),
        coulomb_({.law = FrictionLaw::coulomb, .tolerance = options.tolerance}) {}
  [[nodiscard]] const MujocoOptions& options() const noexcept { return options_; }
  /// Whether efc_R, efc_aref and efc_vel are read.
  [[nodiscard]] bool reads_softness() const noexcept { return options_.law != MujocoLaw::rigid; }

  /// The fault for which the constructor would throw; empty if there is none.
  [[nodiscard]] static Fault check(const MujocoOptions& options) {
    if (!is_positive(options.tolerance)) {
      return fault("tolerance", "a finite number > 0", options.tolerance);
    }
    if (options.correction >= 0 && options.correction <= 1) return {};
    return fault("correction", "a number in [0, 1]", options.correction);
  }

  /// Limits of the next solves, of time and of iterations.
  void set_limits(const SolveLimits& limits) noexcept {
    sap_.set_limits(limits);
    coulomb_.set_limits(limits);
  }

  /// Solves.
  /// @param warm  whether qacc_warmstart may be the guess under MuJoCo's law.
  /// @return  if it is answered(), the answer is ready for write_forces().
  template <typename Model, typename Data>
  MujocoOutcome solve(const Model& model, Data& data, bool warm, MujocoIntegration integration);

  /// Writes efc_force, efc_state and qfrc_constraint of the last answer.
  template <typename Model, typename Data>
  void write_forces(const Model& model, Data& data) const;
  /// Writes qacc, for the law in which it follows from the answer directly.
  /// @return  whether the law is that one. Otherwise qacc is that without constraints, and the
  ///          caller solves M qacc = qfrc_smooth + qfrc_constraint if there are constraints.
  template <typename Model, typename Data>
  bool write_acceleration(const Model& model, Data& data) const;

  /// The problem of the last solve, its velocities and impulses, block by block.
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return posed_.problem(); }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  /// MuJoCo's rows of the last solve.
  [[nodiscard]] const Sequence<MujocoBlock>& blocks() const noexcept { return posed_.blocks(); }

  /// Measures the error of the last solve from its problem only.
  /// @note  Cold: allocates.
  [[nodiscard]] ImpulseCertificate<double> certificate() const {
    DelassusForm<double> form;
    DelassusProblem<double> dual;
    form.write(problem(), dual);
    return certify(dual, impulse_, coulomb() ? FrictionLaw::coulomb : FrictionLaw::convex);
  }

 private:
  [[nodiscard]] static const MujocoOptions& accepted(const MujocoOptions& options) {
    reject_if(check(options));
    return options;
  }
  [[nodiscard]] bool coulomb() const noexcept { return options_.law != MujocoLaw::soft; }
  template <typename Model, typename Data>
  [[nodiscard]] MujocoVerdict inspect(const Model& model, const Data& data) const noexcept;
  template <typename Model, typename Data>
  void solve_problem(const Model& model, const Data& data, bool warm, SolveReport<double>& report);
  template <typename Data>
  void write_states(Data& data) const noexcept;

  MujocoOptions options_;
  MujocoProblem posed_;
  MujocoMemory memory_;
  SapSolver<double> sap_;
  ContactSolver<double> coulomb_;
  VectorX<double> velocity_, impulse_, guess_;
};

// --- implementation ---

template <typename Model, typename Data>
MujocoVerdict MujocoSolver::inspect(const Model& model, const Data& data) const noexcept {
  const int rows = data.nefc;
  const bool sparse = mj_isSparse(&model) != 0;
  const Index entries = !sparse    ? Index(rows) * model.nv
                        : rows > 0 ? data.efc_J_rowadr[rows - 1] + data.efc_J_rownnz[rows - 1]
                                   : 0;
  const std::span<const MujocoNumber> inertia = inertia_numbers(model, data);
  const bool sound =
      is_mujoco_sound(data.qvel, model.nv) && is_mujoco_sound(data.qacc_smooth, model.nv) &&
      is_mujoco_sound(data.efc_J, entries) &&
      is_mujoco_sound(inertia.data(), Index(inertia.size())) &&
      (!reads_softness() || std::all_of(data.efc_aref, data.efc_aref + rows,
                                        [](MujocoNumber x) { return std::isfinite(x); }));
  if (!sound) return MujocoVerdict::not_finite;
  const bool definite = std::all_of(data.qLDiagInv, data.qLDiagInv + model.nv, [](MujocoNumber x) {
    return x > 0 && x < 1 / mujoco_smallest;
  });
  return definite ? MujocoVerdict::solved : MujocoVerdict::singular_mass;
}

template <typename Model, typename Data>
MujocoOutcome MujocoSolver::solve(const Model& model, Data& data, bool warm,
                                  MujocoIntegration integration) {
  MujocoOutcome outcome;
  outcome.verdict = inspect(model, data);
  if (!outcome.answered()) return outcome;
  const MujocoTerms terms{.coulomb = coulomb(),
                          .soft_normal = options_.law == MujocoLaw::soft_coulomb,
                          .rigid_rows = options_.law == MujocoLaw::rigid,
                          .correction = options_.correction,
                          .integration = integration};
  if (!posed_.write(model, data, terms)) return {MujocoVerdict::unsupported_contact, {}};
  solve_problem(model, data, warm, outcome.report);
  if (!outcome.report.converged()) outcome.verdict = MujocoVerdict::best_effort;
  if (!velocity_.allFinite() || !impulse_.allFinite() ||
      outcome.report.status == SolveStatus::not_finite) {
    return {MujocoVerdict::not_finite, {}};
  }
  write_iterations(data, outcome.report.iterations);
  return outcome;
}

template <typename Model, typename Data>
void MujocoSolver::solve_problem(const Model& model, const Data& data, bool warm,
                                 SolveReport<double>& report) {
  const ContactProblem<double>& problem = posed_.problem();
  velocity_.resize(problem.velocity_count());
  impulse_.resize(problem.impulse_count());
  velocity_ = problem.free_velocity();
  report = {SolveStatus::converged, 0, 0, options_.tolerance, 0};
  if (problem.impulse_count() == 0) return memory_.keep(data, posed_, impulse_);
  if (options_.law == MujocoLaw::soft) {
    if (warm && is_mujoco_sound(data.qacc_warmstart, model.nv)) {
      posed_.gather(model, data.qacc_warmstart, model.opt.timestep, velocity_);
    }
    report = sap_.solve(problem, velocity_);
    impulse_ = sap_.impulse();
    return;
  }
  const bool known = memory_.recall(data, posed_, impulse_);
  if (known) report = coulomb_.solve_from(problem, impulse_, velocity_);
  if (known && report.converged()) {
    impulse_ = coulomb_.impulse();
  } else {
    guess_ = coulomb_.impulse();
    const SolveReport<double> from_memory = report;
    velocity_ = problem.free_velocity();
    report = coulomb_.solve(problem, velocity_);
    impulse_ = coulomb_.impulse();
    if (known && from_memory.residual < report.residual) {
      report = from_memory;
      impulse_ = guess_;
      write_velocity(problem, impulse_, velocity_);
    }
  }
  memory_.keep(data, posed_, impulse_);
}

template <typename Model, typename Data>
void MujocoSolver::write_forces(const Model& model, Data& data) const {
  posed_.write_forces(data, impulse_, data.efc_force);
  std::fill_n(data.qfrc_constraint, model.nv, 0.0);
  for (int row = 0; row < data.nefc; ++row) {
    const MujocoNumber force = data.efc_force[row];
    visit_mujoco_row(model, data, row, [&](int dof, MujocoNumber entry) {
      data.qfrc_constraint[dof] += entry * force;
    });
  }
  write_states(data);
}

template <typename Model, typename Data>
bool MujocoSolver::write_acceleration(const Model& model, Data& data) const {
  std::copy_n(data.qacc_smooth, model.nv, data.qacc);
  if (coulomb()) return false;
  posed_.scatter(model, velocity_, 1 / model.opt.timestep, data.qacc);
  return true;
}

template <typename Data>
void MujocoSolver::write_states(Data& data) const noexcept {
  for (const MujocoBlock& block : posed_.blocks()) {
    const MujocoNumber* const force = data.efc_force + block.first_row;
    for (int k = 0; k < block.rows; ++k) {
      const int row = block.first_row + k;
      int state = force[k] > 0 ? MujocoState::quadratic : MujocoState::satisfied;
      if (block.type == MujocoKind::equality) state = MujocoState::quadratic;
      if (block.is_friction_loss()) {
        const double loss = data.efc_frictionloss[row];
        state = force[k] >= loss    ? MujocoState::linear_negative
                : force[k] <= -loss ? MujocoState::linear_positive
                                    : MujocoState::quadratic;
      }
      if (block.type == MujocoKind::elliptic_contact) {
        double reach = 0;
        const auto& contact = data.contact[block.id];
        for (int i = 1; i < block.rows; ++i) {
          const double x = force[i] / contact.friction[i - 1];
          reach += x * x;
        }
        const bool slides = std::sqrt(reach) >= force[0] * (1 - 1e-9);
        state = !(force[0] > 0) ? MujocoState::satisfied
                : slides        ? MujocoState::cone
                                : MujocoState::quadratic;
      }
      data.efc_state[row] = state;
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
