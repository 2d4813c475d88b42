// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <mujoco/mujoco.h>
#include <type_traits>

#include "carom/adapters/detail/mujoco_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

static_assert(std::is_same_v<mjtNum, detail::MujocoNumber>,
              "carom/adapters/mujoco.hpp: expected MuJoCo built with mjtNum double");
static_assert(int(mjCNSTR_EQUALITY) == detail::MujocoKind::equality &&
              int(mjCNSTR_CONTACT_ELLIPTIC) == detail::MujocoKind::elliptic_contact);
static_assert(int(mjCNSTRSTATE_CONE) == detail::MujocoState::cone);
static_assert(mjMAXVAL == detail::mujoco_largest && mjMINVAL == detail::mujoco_smallest);

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
  explicit MujocoStepper(const MujocoOptions& options = {}) : solver_(options) {}
  [[nodiscard]] const MujocoOptions& options() const noexcept { return solver_.options(); }

  /// The fault for which the constructor would throw; empty if there is none.
  [[nodiscard]] static Fault check(const MujocoOptions& options) {
    return detail::MujocoSolver::check(options);
  }

  /// Advances by one step: mj_step() with the constraints solved by carom.
  /// @return  unless it is answered(), positions, velocities, activations and time are unchanged.
  MujocoOutcome step(const mjModel* model, mjData* data) {
    if (model->opt.integrator != mjINT_EULER) return {MujocoVerdict::unsupported_integrator, {}};
    if (!is_state_sound(*model, *data)) return {MujocoVerdict::not_finite, {}};
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
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return solver_.problem(); }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return solver_.velocity(); }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return solver_.impulse(); }

  /// Measures the error of the last solve from its problem only.
  /// @note  Cold: allocates.
  [[nodiscard]] ImpulseCertificate<double> certificate() const { return solver_.certificate(); }

 private:
  [[nodiscard]] static bool is_state_sound(const mjModel& model, const mjData& data) noexcept {
    return detail::is_mujoco_sound(data.qpos, model.nq) &&
           detail::is_mujoco_sound(data.qvel, model.nv) &&
           detail::is_mujoco_sound(data.act, model.na) && std::isfinite(data.time);
  }
  void write_acceleration(const mjModel& model, mjData& data);

  detail::MujocoSolver solver_;
  VectorX<double> position_, force_;
};

// --- implementation ---

inline MujocoOutcome MujocoStepper::solve(const mjModel* model, mjData* data) {
  const bool warm = (model->opt.disableflags & mjDSBL_WARMSTART) == 0;
  const MujocoOutcome outcome =
      solver_.solve(*model, *data, warm, detail::MujocoIntegration::damped_joints);
  if (!outcome.answered()) return outcome;
  solver_.write_forces(*model, *data);
  write_acceleration(*model, *data);
  return outcome;
}

inline void MujocoStepper::write_acceleration(const mjModel& model, mjData& data) {
  if (!solver_.write_acceleration(model, data) && data.nefc > 0) {
    force_.resize(model.nv);
    force_ = VectorX<double>::Map(data.qfrc_smooth, model.nv) +
             VectorX<double>::Map(data.qfrc_constraint, model.nv);
    mj_solveM(&model, &data, data.qacc, force_.data(), 1);
  }
  std::copy_n(data.qacc, model.nv, data.qacc_warmstart);
}

}  // namespace CAROM_ABI
}  // namespace carom
