// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/viscoelastic/detail/mechanism_derivative.hpp"
#include "carom/viscoelastic/stepper.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What the derivative of a step reads inside of a stepper: the data of the part being taken, the
/// step solved on them, and the places of all points after it.
template <typename Stepper>
struct StepperInside {
  using State = typename Stepper::State;
  using Scalar = typename Stepper::Scalar;
  Stepper& stepper;

  template <typename Watch>
  ViscoelasticReport step(State& state, const Scalar& dt, const Watch& watch) const noexcept {
    return stepper.step_watched(state, dt, watch);
  }
  [[nodiscard]] const auto& data() const noexcept { return stepper.data_; }
  [[nodiscard]] auto& solved() const noexcept { return stepper.contact_step_; }
  [[nodiscard]] const State& next() const noexcept { return stepper.next_; }
  [[nodiscard]] const auto& points() const noexcept { return stepper.all_points_; }
  [[nodiscard]] const auto& next_jacobian() const noexcept { return stepper.all_jacobian_; }
  [[nodiscard]] const auto& material(Index i) const noexcept {
    return stepper.materials_[std::size_t(i)];
  }
  [[nodiscard]] SlipLaw law() const noexcept { return stepper.options_.law; }
  [[nodiscard]] Scalar violation(Index i) const noexcept { return stepper.violation(i); }
  [[nodiscard]] Scalar height(Index i) const noexcept { return stepper.next_points_(3 * i + 2); }
  [[nodiscard]] Scalar rate(Index i) const noexcept {
    return next_jacobian().row(3 * i + 2).dot(solved().velocity());
  }
  [[nodiscard]] Scalar pull(Index i, const Scalar& height, const Scalar& rate) const noexcept {
    return stepper.pull(i, height, rate);
  }
  /// What changes its sign at the end of the part when the contact is made or broken then: the
  /// height of its point [m], or the force by which it pulls [N].
  [[nodiscard]] Scalar crossing(Index i) const noexcept {
    return by_height(i) ? height(i) : pull(i, height(i), rate(i));
  }
  /// Whether the violation of a contact is that of its height, and not of its force.
  [[nodiscard]] bool by_height(Index i) const noexcept {
    if (stepper.active(i)) return false;
    const Scalar stiff =
        (std::max)(material(i).stiffness(2), Scalar(material(i).damping(2) / data().time_step));
    return -stiff * height(i) <= -pull(i, height(i), rate(i));
  }
};

/// The derivatives of a mechanism at those of its contacts that are active.
template <typename System>
struct ActiveMechanism {
  const MechanismDerivative<System>& all;
  const std::vector<Index>& contacts;

  [[nodiscard]] Index row(Index r) const noexcept {
    return 3 * contacts[std::size_t(r / 3)] + r % 3;
  }
  [[nodiscard]] auto mass_by(Index d) const noexcept { return all.mass_by(d); }
  [[nodiscard]] auto acceleration_by(Index d) const noexcept {
    return all.acceleration_by().col(d);
  }
  [[nodiscard]] auto jacobian_by(Index d, Index r, Index j) const noexcept {
    return all.jacobian_by(d)(row(r), j);
  }
  [[nodiscard]] auto drift_by(Index d, Index r) const noexcept { return all.drift_by()(row(r), d); }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
