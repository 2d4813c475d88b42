// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/variational/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A linear spring with a damper and a drive at one coordinate, including PD control:
///
///   f = −k (q − rest) − d (v − rate) + push, at most `limit` in both directions.
template <RealScalar Scalar>
struct JointForce {
  Index coordinate = 0;
  Scalar stiffness = 0;  ///< k, or the proportional gain K_p [N/m, N·m/rad], ≥ 0.
  Scalar damping = 0;    ///< d, or the derivative gain K_d [N·s/m, N·m·s/rad], ≥ 0.
  Scalar rest = 0;       ///< position at rest, or target [unit of q].
  Scalar rate = 0;       ///< target of the velocity [unit of v].
  Scalar push = 0;       ///< constant part [N, N·m].
  /// Largest force of an actuator [N, N·m], ≥ 0; zero means no limit. The force has a kink at the
  /// limit.
  Scalar limit = 0;

  [[nodiscard]] static constexpr JointForce spring(Index coordinate, Scalar stiffness,
                                                   Scalar rest = 0) noexcept {
    return {coordinate, stiffness, 0, rest, 0, 0, 0};
  }
  [[nodiscard]] static constexpr JointForce damper(Index coordinate, Scalar damping) noexcept {
    return {coordinate, 0, damping, 0, 0, 0, 0};
  }
  /// PD control to a target: K_p is the stiffness, K_d the damping.
  [[nodiscard]] static constexpr JointForce servo(Index coordinate, Scalar proportional,
                                                  Scalar derivative, Scalar target) noexcept {
    return {coordinate, proportional, derivative, target, 0, 0, 0};
  }
};

/// A system with springs, dampers and actuators at its coordinates. Their targets may change
/// between steps. The system must have no forces of its own.
///
/// ```
/// carom::WithJointForces robot(tree, {carom::JointForce<double>::servo(2, 1e3, 50, 0.3)});
/// ```
/// @note  Hot calls allocate nothing.
template <SizedSystemLike System>
class WithJointForces : public System {
 public:
  using Scalar = typename System::scalar_type;
  using scalar_type = Scalar;
  using Forces = std::vector<JointForce<Scalar>>;

  /// The fault of forces on a system; empty if there is none.
  [[nodiscard]] static Fault check(const System& system, const Forces& forces) {
    for (std::size_t i = 0; i < forces.size(); ++i) {
      const JointForce<Scalar>& f = forces[i];
      const std::string item = "force " + std::to_string(i) + ": ";
      if (f.coordinate < 0 || f.coordinate >= system.size()) {
        return detail::fault(item + "coordinate", "one of the system's", f.coordinate);
      }
      const std::pair<const char*, Scalar> positive[] = {
          {"stiffness", f.stiffness}, {"damping", f.damping}, {"limit", f.limit}};
      for (const auto& [name, value] : positive) {
        if (!detail::is_nonnegative(value)) {
          return detail::fault(item + name, "a finite number >= 0", value);
        }
      }
      for (const Scalar value : {f.rest, f.rate, f.push}) {
        if (!detail::is_finite(value)) {
          return detail::fault(item + "rest, rate and push", "finite numbers", value);
        }
      }
    }
    return {};
  }

  /// @note  Cold: allocates, throws std::invalid_argument naming the force.
  WithJointForces(System system, Forces forces)
      : System(std::move(system)), forces_(std::move(forces)) {
    detail::reject_if(check(*this, forces_));
  }

  [[nodiscard]] const Forces& forces() const noexcept { return forces_; }

  /// Sets a new target of one force, for control between steps.
  void aim(Index force, const Scalar& rest, const Scalar& rate = Scalar(0)) noexcept {
    CAROM_EXPECTS(force >= 0 && force < Index(forces_.size()));
    forces_[std::size_t(force)].rest = rest;
    forces_[std::size_t(force)].rate = rate;
  }

  void write_force(const VectorX<Scalar>& q, const VectorX<Scalar>& v, const Scalar&,
                   VectorX<Scalar>& out, MatrixX<Scalar>& by_q,
                   MatrixX<Scalar>& by_v) const noexcept {
    out.setZero();
    by_q.setZero();
    by_v.setZero();
    for (const JointForce<Scalar>& f : forces_) {
      const Index i = f.coordinate;
      const Scalar wanted = f.push - f.stiffness * (q(i) - f.rest) - f.damping * (v(i) - f.rate);
      const bool limited = f.limit > Scalar(0) && (wanted > f.limit || wanted < -f.limit);
      out(i) += limited ? std::clamp(wanted, Scalar(-f.limit), f.limit) : wanted;
      if (limited) continue;
      by_q(i, i) -= f.stiffness;
      by_v(i, i) -= f.damping;
    }
  }

 private:
  Forces forces_;
};

}  // namespace CAROM_ABI
}  // namespace carom
