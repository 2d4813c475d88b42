// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>

#include "carom/contact/compliance.hpp"
#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// @file
/// Laws of one row J, the velocity of a joint or a combination of velocities: limits, dry friction,
/// motors and tendons. Impulses are positive in the direction of J v.

/// A limit. J v > 0 is motion away from it. Without a stiffness it is rigid: an open gap can close
/// but not become negative. With a stiffness γ = δt k (−(ϕ + δt v) − τ_d v)₊ [N·s, N·m·s]. For an
/// upper limit J is the negative joint velocity.
template <RealScalar Scalar>
struct JointLimit {
  Scalar gap;  ///< ϕ [m, rad]; negative beyond the limit.
  /// k [N/m, N·m/rad], > 0; +∞: rigid.
  Scalar stiffness = std::numeric_limits<Scalar>::infinity();
  Scalar dissipation_time = 0;                    ///< τ_d [s], ≥ 0; with a spring.
  Scalar near_rigid = 1;                          ///< β, as in CompliantContact; with a spring.
  Compliance compliance = Compliance::stiffness;  ///< As in CompliantContact.
  Scalar correction = 0;                          ///< As in RigidContact; without a spring.
};

/// Friction that does not depend on a normal force: |γ| ≤ δt F against the motion. Below this limit
/// the joint does not move, or creeps at v = σ w γ if a slip is given.
template <RealScalar Scalar>
struct DryFriction {
  Scalar effort_limit;       ///< F [N, N·m], ≥ 0.
  Scalar relative_slip = 0;  ///< σ [-], ≥ 0, relative to the row's inverse mass w; 0: rigid.
};

/// A PD motor with a bounded effort, evaluated at the end of the step: γ = clamp(δt (−K_p (x + δt
/// v) − K_d (v − v_d)), ± δt F).
template <RealScalar Scalar>
struct Motor {
  Scalar position_error = 0;   ///< x [m, rad], position minus wanted position.
  Scalar wanted_velocity = 0;  ///< v_d [m/s, rad/s].
  Scalar position_gain = 0;    ///< K_p [N/m, N·m/rad], ≥ 0; one of the gains > 0.
  Scalar velocity_gain = 0;    ///< K_d [N·s/m, N·m·s/rad], ≥ 0.
  Scalar effort_limit = std::numeric_limits<Scalar>::infinity();  ///< F [N, N·m], ≥ 0.
  Scalar near_rigid = 1;  ///< β: gains that the step cannot resolve are reduced. 0 disables this.
};

/// A tendon, which pulls and never pushes; J v is its elongation rate. Without a stiffness it is a
/// rope that cannot become longer. With a stiffness it is a spring with linear dissipation, γ = −δt
/// min(F, (k (x + δt v) + k τ_d v)₊). A spring in both directions is a Bilateral with one row.
template <RealScalar Scalar>
struct Tendon {
  Scalar stretch;                                              ///< x [m]; negative when slack.
  Scalar stiffness = std::numeric_limits<Scalar>::infinity();  ///< k [N/m], > 0; +∞: rigid.
  Scalar dissipation_time = 0;                                 ///< τ_d [s], ≥ 0; of a spring.
  /// F [N], ≥ 0: the tendon slips at this tension.
  Scalar tension_limit = std::numeric_limits<Scalar>::infinity();
  Scalar near_rigid = 1;                          ///< β; of a spring.
  Compliance compliance = Compliance::stiffness;  ///< As in CompliantContact.
  Scalar correction = 0;  ///< Share of the stretch that a rope removes in one step [-], in [0, 1].
};

namespace detail {

/// One row with its numbers.
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> one_row(const ImpulseSet<Scalar>& set,
                                            const Scalar& regularization,
                                            const Scalar& bias_velocity,
                                            bool rigid = false) noexcept {
  WeightedBlock<Scalar> row;
  row.set = set;
  row.regularization(0) = regularization;
  row.bias_velocity(0) = bias_velocity;
  row.rigid = rigid;
  return row;
}
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> one_row(const ImpulseSet<Scalar>& set,
                                            const SpringRow<Scalar>& spring, bool rigid) noexcept {
  return one_row(set, spring.regularization, spring.bias_velocity, rigid);
}

}  // namespace detail

/// Converts the law of a joint to R and v̂.
/// @param time_step     δt [s], > 0.
/// @param inverse_mass  w of the rows [1/kg, 1/(kg·m²)], the diagonal of the Delassus block.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const JointLimit<Scalar>& limit,
                                                  const Scalar& time_step,
                                                  const RowNumbers<Scalar>& inverse_mass) noexcept {
  const Scalar closes = detail::gap_velocity(limit.gap, limit.correction, time_step);
  const detail::SpringRow<Scalar> row(limit, limit.gap, closes, time_step, inverse_mass(0));
  return detail::one_row(pushing_impulse<Scalar>(), row, detail::is_unyielding(limit));
}

template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const DryFriction<Scalar>& friction,
                                                  const Scalar& time_step,
                                                  const RowNumbers<Scalar>& inverse_mass) noexcept {
  const Scalar limit = time_step * friction.effort_limit;
  const bool rigid = friction.relative_slip == Scalar(0);
  const Scalar weight = rigid ? detail::unyielding_weight(inverse_mass(0))
                              : Scalar(friction.relative_slip * inverse_mass(0));
  return detail::one_row(bounded_impulse(Scalar(-limit), limit), weight, Scalar(0), rigid);
}

template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const Motor<Scalar>& motor,
                                                  const Scalar& time_step,
                                                  const RowNumbers<Scalar>& inverse_mass) noexcept {
  const Scalar gain = time_step * motor.position_gain + motor.velocity_gain;
  const detail::NearRigidWeight<Scalar> weight(Scalar(1) / (time_step * gain), motor.near_rigid,
                                               inverse_mass(0));
  const Scalar limit = time_step * motor.effort_limit;
  const Scalar bias =
      (motor.velocity_gain * motor.wanted_velocity - motor.position_gain * motor.position_error) /
      gain;
  return detail::one_row(bounded_impulse(Scalar(-limit), limit), weight.value, bias);
}

template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const Tendon<Scalar>& tendon,
                                                  const Scalar& time_step,
                                                  const RowNumbers<Scalar>& inverse_mass) noexcept {
  const Scalar slack = -tendon.stretch;
  const Scalar closes = -detail::gap_velocity(slack, tendon.correction, time_step);
  const detail::SpringRow<Scalar> row(tendon, tendon.stretch, closes, time_step, inverse_mass(0));
  const Scalar limit = -time_step * tendon.tension_limit;
  return detail::one_row(bounded_impulse(limit, Scalar(0)), row, detail::is_unyielding(tendon));
}

/// The fault of the law of a joint; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const JointLimit<Scalar>& limit) {
  const Fault gap = detail::Checks(item).finite(": gap", limit.gap).fault();
  return gap.empty() ? detail::yielding_fault(item, limit) : gap;
}

template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const DryFriction<Scalar>& friction) {
  return detail::Checks(item)
      .nonnegative(": relative slip", friction.relative_slip)
      .expect(friction.effort_limit >= Scalar(0), ": effort limit", "a number >= 0",
              friction.effort_limit)
      .fault();
}

template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const Motor<Scalar>& motor) {
  const bool has_position = motor.position_gain != Scalar(0);
  const bool has_velocity = motor.velocity_gain != Scalar(0);
  return detail::Checks(item)
      .finite(": position error", motor.position_error)
      .finite(": wanted velocity", motor.wanted_velocity)
      .nonnegative(": position gain", motor.position_gain)
      .nonnegative(": velocity gain", motor.velocity_gain)
      .expect(has_position || has_velocity, ": velocity gain",
              "a number > 0 when the position gain is 0", motor.velocity_gain)
      .expect(has_position || motor.position_error == Scalar(0), ": position error",
              "0 without a position gain", motor.position_error)
      .expect(has_velocity || motor.wanted_velocity == Scalar(0), ": wanted velocity",
              "0 without a velocity gain", motor.wanted_velocity)
      .nonnegative(": near-rigid factor", motor.near_rigid)
      .expect(motor.effort_limit >= Scalar(0), ": effort limit", "a number >= 0",
              motor.effort_limit)
      .fault();
}

template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const Tendon<Scalar>& tendon) {
  const detail::Checks stretch = detail::Checks(item).finite(": stretch", tendon.stretch);
  if (!stretch.fault().empty()) return stretch.fault();
  if (Fault spring = detail::yielding_fault(item, tendon); !spring.empty()) return spring;
  return detail::Checks(item)
      .expect(tendon.tension_limit >= Scalar(0), ": tension limit", "a number >= 0",
              tendon.tension_limit)
      .fault();
}

}  // namespace CAROM_ABI
}  // namespace carom
