// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <pinocchio/multibody.hpp>
#include <string>

#include <Eigen/Core>

#include "carom/contact/rigid_contact.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A point where a frame of a Pinocchio model touches the world, or another frame.
///
/// Several points of one frame are several contacts: a foot may have four.
struct PinocchioContact {
  pinocchio::FrameIndex frame = 0;  ///< Whose side the normal points to, < model.nframes.
  pinocchio::FrameIndex other = 0;  ///< Where the normal begins; 0 is the world.
  Eigen::Vector3d normal{0, 0, 1};  ///< n in the world's axes [-], of any length > 0.
  double gap = 0;                   ///< ϕ [m] at the start of the step; negative in penetration.
  double friction = 0;              ///< μ [-], ≥ 0.
  double restitution = 0;           ///< e [-], in [0, 1], Newton's.
  double correction = 0;            ///< Share of a penetration that a step takes out, in [0, 1].
  std::optional<Eigen::Vector3d> point{};  ///< In the world [m]; without it, the frame's origin.
};

/// Configuration and velocity of a Pinocchio model.
struct PinocchioState {
  VectorX<double> configuration;  ///< q, model.nq, with unit quaternions.
  VectorX<double> velocity;       ///< v, model.nv [m/s, rad/s], as Pinocchio has it.
};

/// Forces of the joints, linear in what the step changes: τ − δt K v⁺ − D (v⁺ − v).
///
/// A servo with gains K and D is stable at any step when it is given with both, and with its
/// τ = K (q_d − q) − D v at the start of the step. What is empty counts as zeros.
struct PinocchioEffort {
  VectorX<double> torque;     ///< τ, model.nv [N, N·m].
  VectorX<double> stiffness;  ///< Diagonal of K, model.nv [N/m, N·m], ≥ 0.
  VectorX<double> damping;    ///< Diagonal of D, model.nv [N·s/m, N·m·s], ≥ 0.
};

namespace detail {

/// What is wrong with the numbers of one vector, or nothing.
[[nodiscard]] inline Fault pinocchio_vector_fault(const std::string& item,
                                                  const VectorX<double>& numbers, Index size,
                                                  bool nonnegative) {
  if (numbers.size() != size) {
    return fault(item + " entries", std::to_string(size).c_str(), numbers.size());
  }
  for (Index i = 0; i < size; ++i) {
    if (!is_finite(numbers(i))) return fault(entry(item, i), "a finite number", numbers(i));
    if (nonnegative && numbers(i) < 0) return fault(entry(item, i), "a number >= 0", numbers(i));
  }
  return {};
}

/// A contact's law, the speed of approach still zero.
[[nodiscard]] inline RigidContact<double> law_of(const PinocchioContact& contact) noexcept {
  return {.gap = contact.gap,
          .friction = contact.friction,
          .restitution = contact.restitution,
          .correction = contact.correction};
}

/// What is wrong with a contact, or nothing. A sentence is composed where something is wrong.
[[nodiscard]] inline Fault pinocchio_contact_fault(const pinocchio::Model& model, Index number,
                                                   const PinocchioContact& contact) {
  const auto item = [number](const char* part) {
    return "contact " + std::to_string(number) + part;
  };
  const auto frames = pinocchio::FrameIndex(model.nframes);
  const bool first = contact.frame >= frames;
  if (first || contact.other >= frames) {
    const std::string below = "a number below " + std::to_string(frames);
    return fault(item(first ? ": frame" : ": other"), below.c_str(),
                 Index(first ? contact.frame : contact.other));
  }
  if (model.frames[contact.frame].parentJoint == model.frames[contact.other].parentJoint) {
    return fault(item(": other"), "a frame of another joint than that of frame",
                 Index(contact.other));
  }
  if (!contact.normal.allFinite()) return finite_fault(item(": normal"), contact.normal);
  if (!is_positive(contact.normal.norm())) {
    return fault(item(": normal"), "a length > 0", contact.normal.norm());
  }
  if (contact.point && !contact.point->allFinite()) {
    return finite_fault(item(": point"), *contact.point);
  }
  return law_fault(item(""), law_of(contact));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
