// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/spatial.hpp>
#include <span>

#include "carom/adapters/detail/pinocchio_problem.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/contact/impulse_memory.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/impulse_certificate.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Options of a PinocchioStepper.
struct PinocchioOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// The solve ends at this natural map error [-], > 0. The remaining motion of a sticking contact
  /// is about this times the velocity from one step of the forces.
  double tolerance = 1e-10;
};

/// Time steps of Pinocchio models with rigid contact and Coulomb's law.
///
/// The caller specifies the contact frames, Pinocchio computes M, nle and the joints' Jacobians,
/// and carom computes velocities and impulses of all contacts at once: (M + δt D + δt²
/// K)(v⁺ − v) = δt (τ − nle) − δt² K v + Jᵀγ, then q⁺ = q ⊕ δt v⁺. Each kinematic tree is one body
/// of the ContactProblem. Trees without contact are omitted.
///
/// ```
/// carom::PinocchioStepper stepper;
/// carom::PinocchioContact foot{.frame = model.getFrameId("foot"), .friction = 0.7};
/// while (time < 10) {
///   foot.gap = height_of_the_foot(model, data, state);
///   if (!stepper.step(model, data, state, effort, {&foot, 1}, dt).converged()) break;
/// }
/// ```
/// @note  Cold: throws std::invalid_argument with the item and its index; check() returns the same
///        without an exception. It allocates nothing after a step of the same size and pattern.
class PinocchioStepper {
 public:
  explicit PinocchioStepper(const PinocchioOptions& options = {})
      : options_(accepted(options)),
        solver_({.law = options.law, .tolerance = options.tolerance}) {}
  [[nodiscard]] const PinocchioOptions& options() const noexcept { return options_; }
  /// Sets the limits of all later solves, as ContactSolver::set_limits() does.
  void set_limits(const SolveLimits& limits) noexcept { solver_.set_limits(limits); }

  /// The fault for which step() would throw; empty if there is none. The time step and the mass
  /// matrix are not checked.
  [[nodiscard]] static Fault check(const pinocchio::Model& model, const pinocchio::Data& data,
                                   const PinocchioState& state, const PinocchioEffort& effort,
                                   std::span<const PinocchioContact> contacts) {
    return detail::PinocchioProblem::check(model, data, state, effort, contacts);
  }

  /// Advances by one step.
  /// @param data       of the model; afterwards M, J, oMi and nle are those before the step.
  /// @param state      configuration and velocity, in and out. They do not change if the solver
  ///                   finds numbers that are not finite; otherwise the result is the best computed
  ///                   velocity.
  /// @param contacts   points that touch, or may touch within the step.
  /// @param time_step  δt [s], > 0.
  /// @return  residual: natural map error [-]; zero for a step without contacts.
  SolveReport<double> step(const pinocchio::Model& model, pinocchio::Data& data,
                           PinocchioState& state, const PinocchioEffort& effort,
                           std::span<const PinocchioContact> contacts, double time_step) {
    const SolveReport<double> report = solve(model, data, state, effort, contacts, time_step);
    if (report.status == SolveStatus::not_finite || !velocity_.allFinite()) return report;
    state.velocity = velocity_;
    motion_.resize(model.nv);
    motion_ = time_step * velocity_;
    next_.resize(model.nq);
    pinocchio::integrate(model, state.configuration, motion_, next_);
    state.configuration = next_;
    return report;
  }

  /// Solves a step without advancing: velocity() and the forces are available afterwards.
  /// @return  as for step().
  SolveReport<double> solve(const pinocchio::Model& model, pinocchio::Data& data,
                            const PinocchioState& state, const PinocchioEffort& effort,
                            std::span<const PinocchioContact> contacts, double time_step);

  /// v⁺ of the last solve, model.nv.
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  /// The last problem and its impulses, rows (t₁, t₂, n) of each contact, for certify().
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return posed_.problem(); }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  /// Axes of a contact of the last solve: rows t₁, t₂, n in world axes.
  [[nodiscard]] const Eigen::Matrix3d& axes(Index contact) const noexcept {
    return posed_.axes(contact);
  }
  /// Force of a contact on its frame [N], mean over the step, in world axes. The force on the other
  /// frame is the opposite.
  [[nodiscard]] Eigen::Vector3d force(Index contact) const noexcept {
    const Eigen::Vector3d rows = impulse_.segment<3>(3 * contact);
    return posed_.axes(contact).transpose() * rows / problem().time_step();
  }
  /// Force and moment of a contact on its frame [N, N·m], in the axes of that frame about its
  /// origin.
  /// @param contacts  those of the last solve.
  /// @pre   data is that of the last solve.
  [[nodiscard]] pinocchio::Force frame_force(const pinocchio::Model& model,
                                             const pinocchio::Data& data,
                                             std::span<const PinocchioContact> contacts,
                                             Index contact) const noexcept {
    const pinocchio::Frame& frame = model.frames[contacts[std::size_t(contact)].frame];
    return (data.oMi[frame.parentJoint] * frame.placement).actInv(wrench(contact));
  }
  /// Adds all contacts to forces by joints, in the axes of each joint about its origin, which is
  /// the form of rnea() and aba().
  /// @param forces  a vector of pinocchio::Force, model.njoints.
  /// @pre   data is that of the last solve, contacts are its contacts.
  template <typename Forces>
  void add_joint_forces(const pinocchio::Model& model, const pinocchio::Data& data,
                        std::span<const PinocchioContact> contacts, Forces& forces) const noexcept {
    CAROM_EXPECTS(Index(forces.size()) == Index(model.njoints));
    for (Index i = 0; i < Index(contacts.size()); ++i) {
      const PinocchioContact& contact = contacts[std::size_t(i)];
      const auto own = model.frames[contact.frame].parentJoint;
      const auto other = model.frames[contact.other].parentJoint;
      if (own > 0) forces[own] += data.oMi[own].actInv(wrench(i));
      if (other > 0) forces[other] -= data.oMi[other].actInv(wrench(i));
    }
  }
  /// Measures the error of the last solve from its problem only.
  /// @note  Cold: allocates.
  [[nodiscard]] ImpulseCertificate<double> certificate() const {
    DelassusForm<double> form;
    DelassusProblem<double> dual;
    form.write(problem(), dual);
    return certify(dual, impulse_, options_.law);
  }

 private:
  [[nodiscard]] static const PinocchioOptions& accepted(const PinocchioOptions& options) {
    detail::reject_if(detail::is_positive(options.tolerance)
                          ? Fault{}
                          : detail::fault("tolerance", "a finite number > 0", options.tolerance));
    return options;
  }
  /// The force of a contact on its frame about the world's origin.
  [[nodiscard]] pinocchio::Force wrench(Index contact) const noexcept {
    const Eigen::Vector3d push = force(contact);
    return {push, posed_.point(contact).cross(push)};
  }
  /// Names the contacts by their frames, and points of one frame by their order.
  void name_contacts(std::span<const PinocchioContact> contacts) {
    std::uint64_t order = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const bool same = i > 0 && contacts[i].frame == contacts[i - 1].frame &&
                        contacts[i].other == contacts[i - 1].other;
      order = same ? order + 1 : 0;
      memory_.name_block(Index(i), (std::uint64_t(contacts[i].frame) << 40) +
                                       (std::uint64_t(contacts[i].other) << 16) + order);
    }
  }

  PinocchioOptions options_;
  detail::PinocchioProblem posed_;
  ContactSolver<double> solver_;
  ImpulseMemory<double> memory_;
  VectorX<double> velocity_, impulse_, of_problem_, motion_, next_;
};

// --- implementation ---

inline SolveReport<double> PinocchioStepper::solve(
    const pinocchio::Model& model, pinocchio::Data& data, const PinocchioState& state,
    const PinocchioEffort& effort, std::span<const PinocchioContact> contacts, double time_step) {
  posed_.write(model, data, state, effort, contacts, time_step);
  SolveReport<double> report{SolveStatus::converged, 0, 0,
                             options_.tolerance,     0, ResidualMeasure::natural_map};
  of_problem_.resize(problem().velocity_count());
  of_problem_ = problem().free_velocity();
  name_contacts(contacts);
  memory_.write_guess(problem(), impulse_);
  if (!contacts.empty()) {
    report = solver_.solve_from(problem(), impulse_, of_problem_);
    impulse_ = solver_.impulse();
  }
  memory_.remember(problem(), impulse_);
  velocity_.resize(model.nv);
  posed_.scatter(of_problem_, velocity_);
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
