// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <mujoco/mujoco.h>
#include <span>

#include "carom/adapters/detail/mujoco_problem.hpp"
#include "carom/adapters/mujoco_outcome.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Increases the margin of all geometries and pairs, such that contacts are known before they
/// touch. A rigid contact needs this for a gap of zero. MuJoCo's own law would push at that
/// distance.
/// @param margin  [m], ≥ 0.
inline void give_margin(mjModel& model, double margin) {
  detail::reject_if(detail::is_nonnegative(margin)
                        ? Fault{}
                        : detail::fault("margin", "a finite number >= 0", margin));
  for (int i = 0; i < model.ngeom; ++i) {
    model.geom_margin[i] = std::max(model.geom_margin[i], margin);
  }
  for (int i = 0; i < model.npair; ++i) {
    model.pair_margin[i] = std::max(model.pair_margin[i], margin);
  }
}

/// A step of MuJoCo with carom as its constraint solver: step() replaces mj_step().
///
/// ```
/// carom::give_margin(*model, 1e-3);
/// carom::MujocoStepper stepper;
/// while (data->time < 10) {
///   if (!stepper.step(model, data).answered()) break;
/// }
/// ```
/// It reads M, J, R and a_ref from MuJoCo, dense or sparse, and states them as a ContactProblem
/// whose bodies are MuJoCo's kinematic trees. It writes qacc, qfrc_constraint, efc_force, efc_state
/// and the warm start. Sensors and mj_contactForce() read them in the same way as MuJoCo's own
/// results. Facets of pyramids contain Coulomb's force in the form of mju_encodePyramid(). Some of
/// them are negative if the force is in the cone and not in the pyramid.
///
/// Contacts exist in MuJoCo only within the margin of the geometries. A rigid contact has a gap of
/// zero, where rounding would decide whether it exists. Geometries therefore need a margin of a
/// millimetre, and at least the distance by which bodies approach in a step, see give_margin().
/// There is no restitution.
/// @note  Allocates nothing after a step with as many contacts and the same pattern.
class MujocoStepper {
 public:
  explicit MujocoStepper(const MujocoOptions& options = {})
      : options_(accepted(options)),
        sap_({.law = FrictionLaw::convex, .tolerance = options.tolerance}),
        coulomb_({.law = FrictionLaw::coulomb, .tolerance = options.tolerance}) {}
  [[nodiscard]] const MujocoOptions& options() const noexcept { return options_; }

  /// The fault for which the constructor would throw; empty if there is none.
  [[nodiscard]] static Fault check(const MujocoOptions& options) {
    if (!detail::is_positive(options.tolerance)) {
      return detail::fault("tolerance", "a finite number > 0", options.tolerance);
    }
    if (options.correction >= 0 && options.correction <= 1) return {};
    return detail::fault("correction", "a number in [0, 1]", options.correction);
  }

  /// Advances by one step: mj_step() with the constraints solved by carom.
  /// @return  unless it is answered(), positions, velocities, activations and time are unchanged.
  MujocoOutcome step(const mjModel* model, mjData* data) {
    if (model->opt.integrator != mjINT_EULER) return refuse(MujocoVerdict::unsupported_integrator);
    if (!is_state_sound(*model, *data)) return refuse(MujocoVerdict::not_finite);
    position_ = VectorX<double>::Map(data->qpos, model->nq);
    mj_step1(model, data);  // makes quaternions of unit length in place
    mj_fwdActuation(model, data);
    mj_fwdAcceleration(model, data);
    const MujocoOutcome outcome = solve(model, data);
    if (!outcome.answered()) {
      VectorX<double>::Map(data->qpos, model->nq) = position_;
      return outcome;
    }
    mj_sensorAcc(model, data);
    mj_Euler(model, data);
    return outcome;
  }

  /// Solves the constraints of the instant, in place of mj_fwdConstraint(): for callers with their
  /// own integrator.
  /// @pre   mj_fwdPosition(), mj_fwdVelocity(), mj_fwdActuation() and mj_fwdAcceleration() were
  ///        called.
  /// @return  unless it is answered(), qacc, qfrc_constraint and efc_force are unchanged.
  MujocoOutcome solve(const mjModel* model, mjData* data);

  /// The problem of the last solve, its velocities and impulses, block by block. Under MuJoCo's law
  /// the velocities are relative to those before the step.
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return posed_.problem(); }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }

  /// Measures the error of the last solve from its problem only.
  /// @note  Cold: allocates.
  [[nodiscard]] ImpulseCertificate<double> certificate() const {
    DelassusForm<double> form;
    DelassusProblem<double> dual;
    const bool soft = options_.law == MujocoLaw::soft;
    form.write(problem(), dual);
    return certify(dual, impulse_, soft ? FrictionLaw::convex : FrictionLaw::coulomb);
  }

 private:
  [[nodiscard]] static const MujocoOptions& accepted(const MujocoOptions& options) {
    detail::reject_if(check(options));
    return options;
  }
  [[nodiscard]] static MujocoOutcome refuse(MujocoVerdict verdict) noexcept {
    return {verdict, {}};
  }
  /// Whether MuJoCo's own checks would pass. If they fail, MuJoCo resets the data.
  [[nodiscard]] static bool is_sound(const mjtNum* numbers, Index count) noexcept {
    return std::all_of(numbers, numbers + count, [](mjtNum x) { return std::abs(x) <= mjMAXVAL; });
  }
  [[nodiscard]] static bool is_state_sound(const mjModel& model, const mjData& data) noexcept {
    return is_sound(data.qpos, model.nq) && is_sound(data.qvel, model.nv) &&
           is_sound(data.act, model.na) && std::isfinite(data.time);
  }
  [[nodiscard]] static MujocoVerdict inspect(const mjModel& model, const mjData& data) noexcept;
  void solve_problem(const mjModel& model, const mjData& data, SolveReport<double>& report);
  void write_answer(const mjModel& model, mjData& data);
  void write_states(mjData& data) const noexcept;

  MujocoOptions options_;
  detail::MujocoProblem posed_;
  detail::MujocoMemory memory_;
  SapSolver<double> sap_;
  ContactSolver<double> coulomb_;
  VectorX<double> position_, velocity_, impulse_, guess_;
};

// --- implementation ---

inline MujocoVerdict MujocoStepper::inspect(const mjModel& model, const mjData& data) noexcept {
  const int rows = data.nefc;
  const bool sparse = mj_isSparse(&model) != 0;
  const Index entries = !sparse    ? Index(rows) * model.nv
                        : rows > 0 ? data.efc_J_rowadr[rows - 1] + data.efc_J_rownnz[rows - 1]
                                   : 0;
  const std::span<const mjtNum> inertia = detail::inertia_numbers(model, data);
  const bool sound =
      is_sound(data.qvel, model.nv) && is_sound(data.qacc_smooth, model.nv) &&
      is_sound(data.efc_J, entries) && is_sound(inertia.data(), Index(inertia.size())) &&
      std::all_of(data.efc_aref, data.efc_aref + rows, [](mjtNum x) { return std::isfinite(x); });
  if (!sound) return MujocoVerdict::not_finite;
  const bool definite = std::all_of(data.qLDiagInv, data.qLDiagInv + model.nv,
                                    [](mjtNum x) { return x > 0 && x < 1 / mjMINVAL; });
  return definite ? MujocoVerdict::solved : MujocoVerdict::singular_mass;
}

inline MujocoOutcome MujocoStepper::solve(const mjModel* model, mjData* data) {
  MujocoOutcome outcome;
  outcome.verdict = inspect(*model, *data);
  if (!outcome.answered()) return outcome;
  const bool coulomb = options_.law != MujocoLaw::soft;
  const bool soft_normal = options_.law == MujocoLaw::soft_coulomb;
  if (!posed_.write(*model, *data, {coulomb, soft_normal, options_.correction})) {
    return refuse(MujocoVerdict::unsupported_contact);
  }
  solve_problem(*model, *data, outcome.report);
  if (!outcome.report.converged()) outcome.verdict = MujocoVerdict::best_effort;
  if (!velocity_.allFinite() || !impulse_.allFinite() ||
      outcome.report.status == SolveStatus::not_finite) {
    return refuse(MujocoVerdict::not_finite);
  }
  detail::write_iterations(*data, outcome.report.iterations);
  write_answer(*model, *data);
  return outcome;
}

inline void MujocoStepper::solve_problem(const mjModel& model, const mjData& data,
                                         SolveReport<double>& report) {
  const ContactProblem<double>& problem = posed_.problem();
  velocity_.resize(problem.velocity_count());
  impulse_.resize(problem.impulse_count());
  velocity_ = problem.free_velocity();
  report = {SolveStatus::converged, 0, 0, options_.tolerance, 0};
  if (problem.impulse_count() == 0) return memory_.keep(data, posed_, impulse_);
  if (options_.law == MujocoLaw::soft) {
    const bool warm =
        (model.opt.disableflags & mjDSBL_WARMSTART) == 0 && is_sound(data.qacc_warmstart, model.nv);
    if (warm) posed_.gather(model, data.qacc_warmstart, model.opt.timestep, velocity_);
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

inline void MujocoStepper::write_answer(const mjModel& model, mjData& data) {
  posed_.write_forces(data, impulse_, data.efc_force);
  std::fill_n(data.qfrc_constraint, model.nv, 0.0);
  if (data.nefc > 0) mj_mulJacTVec(&model, &data, data.qfrc_constraint, data.efc_force);
  std::copy_n(data.qacc_smooth, model.nv, data.qacc);
  if (options_.law == MujocoLaw::soft) {
    posed_.scatter(model, velocity_, 1 / model.opt.timestep, data.qacc);
  } else if (data.nefc > 0) {
    guess_.resize(model.nv);
    guess_ = VectorX<double>::Map(data.qfrc_smooth, model.nv) +
             VectorX<double>::Map(data.qfrc_constraint, model.nv);
    mj_solveM(&model, &data, data.qacc, guess_.data(), 1);
  }
  std::copy_n(data.qacc, model.nv, data.qacc_warmstart);
  write_states(data);
}

inline void MujocoStepper::write_states(mjData& data) const noexcept {
  for (const detail::MujocoBlock& block : posed_.blocks()) {
    const mjtNum* const force = data.efc_force + block.first_row;
    for (int k = 0; k < block.rows; ++k) {
      const int row = block.first_row + k;
      int state = force[k] > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
      if (block.type == mjCNSTR_EQUALITY) state = mjCNSTRSTATE_QUADRATIC;
      if (block.type == mjCNSTR_FRICTION_DOF || block.type == mjCNSTR_FRICTION_TENDON) {
        const double loss = data.efc_frictionloss[row];
        state = force[k] >= loss    ? mjCNSTRSTATE_LINEARNEG
                : force[k] <= -loss ? mjCNSTRSTATE_LINEARPOS
                                    : mjCNSTRSTATE_QUADRATIC;
      }
      if (block.type == mjCNSTR_CONTACT_ELLIPTIC) {
        double reach = 0;
        const mjContact& contact = data.contact[block.id];
        for (int i = 1; i < block.rows; ++i) {
          const double x = force[i] / contact.friction[i - 1];
          reach += x * x;
        }
        const bool slides = std::sqrt(reach) >= force[0] * (1 - 1e-9);
        state = !(force[0] > 0) ? mjCNSTRSTATE_SATISFIED
                : slides        ? mjCNSTRSTATE_CONE
                                : mjCNSTRSTATE_QUADRATIC;
      }
      data.efc_state[row] = state;
    }
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
