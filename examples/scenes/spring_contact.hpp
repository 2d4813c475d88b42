// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/stepper.hpp"

namespace carom::examples {

/// How SpringContact goes from one instant to the next.
enum class SpringIntegrator : std::uint8_t {
  explicit_euler,           ///< Places by the old velocity.
  symplectic_euler,         ///< Places by the new velocity.
  linearly_implicit_euler,  ///< Springs and dampers linearized at the end of the step.
  midpoint,                 ///< Explicit, of second order where nothing happens.
};

/// The differential equation of stiff contact, solved by general methods, with which others are
/// compared. A contact below the plane z = 0 carries λₙ = max(0, −Kₙ z − Bₙ ż), and −Kₜ e − Bₜ ẋₜ
/// cut to what Coulomb's law allows, e the stretch of its tangential spring. Contacts are made and
/// broken at the ends of steps.
template <ContactMechanism System>
class SpringContact {
 public:
  using State = typename System::State;

  /// @param material  of all contacts; B > 0, the same K and B along both tangents.
  SpringContact(System system, const ContactMaterial<double>& material)
      : system_(std::move(system)), material_(material) {
    const Index n = 3 * system_.contact_count(), k = system_.velocity_count();
    mass_.grow(k, k);
    jacobian_.grow(n, k);
    for (Vector* v : {&velocity_, &acceleration_, &half_}) v->grow(k);
    for (Vector* v : {&points_, &drift_}) v->grow(n);
    stretch_ = stretch_rate_ = force_ = VectorX<double>::Zero(n);
    slides_.assign(std::size_t(system_.contact_count()), false);
  }

  [[nodiscard]] System& system() noexcept { return system_; }

  /// Advances by dt > 0 [s].
  void step(State& state, double dt, SpringIntegrator method) {
    if (method == SpringIntegrator::midpoint) return step_midpoint(state, dt);
    evaluate(state);
    if (method == SpringIntegrator::linearly_implicit_euler) return step_implicit(state, dt);
    const VectorX<double> before = velocity_;
    velocity_ += dt * acceleration_;
    if (method == SpringIntegrator::explicit_euler) {
      stretch_ += dt * stretch_rate_;
      half_ = dt * before;
    } else {
      for (Index i = 0; i < system_.contact_count(); ++i) set_stretch_rate(i);
      stretch_ += dt * stretch_rate_;
      half_ = dt * velocity_;
    }
    system_.advance(state, half_, velocity_);
  }

 private:
  using Vector = Growing<VectorX<double>>;

  /// Computes everything at a state: forces, rates of the stretches, acceleration.
  void evaluate(const State& state) {
    system_.write_dynamics(state, mass_, acceleration_);
    system_.write_velocity(state, velocity_);
    system_.write_contacts(state, points_, jacobian_, drift_);
    factor_.compute(mass_);
    for (Index i = 0; i < system_.contact_count(); ++i) {
      const Vector3<double> rate = rates(i), k = material_.stiffness, b = material_.damping;
      const double z = points_(3 * i + 2);
      Vector3<double> force = -(k.cwiseProduct(stretch_.segment<3>(3 * i)) + b.cwiseProduct(rate));
      force(2) = z < 0 ? std::max(0.0, -k(2) * z - b(2) * rate(2)) : 0;
      cut(i, force);
      set_stretch_rate(i);
    }
    acceleration_ += factor_.solve(jacobian_.transpose() * force_);
  }

  [[nodiscard]] Vector3<double> rates(Index i) const {
    return jacobian_.middleRows<3>(3 * i) * velocity_;
  }

  /// Brings a contact's force into its cone; sets the stretch of an open contact to zero.
  void cut(Index i, Vector3<double> force) {
    const double reach = material_.friction * force(2), tangent = force.head<2>().norm();
    if (!(force(2) > 0)) {
      force.setZero();
      stretch_.segment<3>(3 * i).setZero();
    } else if (tangent > reach) {
      force.head<2>() *= reach / tangent;
    }
    slides_[std::size_t(i)] = force(2) > 0 && tangent > reach;
    force_.segment<3>(3 * i) = force;
  }

  /// ė: of the point in stick, what λ makes of the damper in slide, none where open.
  void set_stretch_rate(Index i) {
    auto rate = stretch_rate_.segment<3>(3 * i);
    rate.setZero();
    if (!(force_(3 * i + 2) > 0)) return;
    if (!slides_[std::size_t(i)]) {
      rate.head<2>() = rates(i).template head<2>();
      return;
    }
    for (Index k = 0; k < 2; ++k) {
      rate(k) = -(force_(3 * i + k) + material_.stiffness(k) * stretch_(3 * i + k)) /
                material_.damping(k);
    }
  }

  void step_midpoint(State& state, double dt) {
    evaluate(state);
    const VectorX<double> start = velocity_, begin = stretch_;
    stretch_ += dt / 2 * stretch_rate_;
    half_ = dt / 2 * start;
    velocity_ = start + dt / 2 * acceleration_;
    State middle = state;
    system_.advance(middle, half_, velocity_);
    evaluate(middle);
    half_ = dt * velocity_;
    velocity_ = start + dt * acceleration_;
    stretch_ = begin + dt * stretch_rate_;
    system_.advance(state, half_, velocity_);
  }

  /// Closed contacts hold by the springs and dampers of the step's end, linearized; where that
  /// leaves the cone it is cut, and the spring carries what is left of it.
  void step_implicit(State& state, double dt) {
    const VectorX<double> free =
        velocity_ + dt * (acceleration_ - factor_.solve(jacobian_.transpose() * force_));
    const Vector3<double> k = material_.stiffness, grip = material_.damping + dt * k;
    MatrixX<double> system = mass_;
    VectorX<double> load = mass_ * free;
    for (Index i = 0; i < system_.contact_count(); ++i) {
      if (!(points_(3 * i + 2) < 0)) continue;
      const auto rows = jacobian_.middleRows<3>(3 * i);
      system += dt * rows.transpose() * grip.asDiagonal() * rows;
      load -= dt * rows.transpose() * k.cwiseProduct(stretch(i));
    }
    velocity_ = system.ldlt().solve(load);
    for (Index i = 0; i < system_.contact_count(); ++i) {
      Vector3<double> force = -k.cwiseProduct(stretch(i)) - grip.cwiseProduct(rates(i));
      if (!(points_(3 * i + 2) < 0)) force.setZero();
      cut(i, force);
    }
    velocity_ = free + dt * factor_.solve(jacobian_.transpose() * force_);
    for (Index i = 0; i < system_.contact_count(); ++i) {
      for (Index c = 0; c < 2; ++c) {  // B (e⁺ − e)/dt = −(λ + K e⁺)
        const double b = material_.damping(c) / dt;
        double& e = stretch_(3 * i + c);
        e = force_(3 * i + 2) > 0 ? (b * e - force_(3 * i + c)) / (k(c) + b) : 0;
      }
    }
    half_ = dt * velocity_;
    system_.advance(state, half_, velocity_);
  }
  /// Tangential stretches and the depth of a contact.
  [[nodiscard]] Vector3<double> stretch(Index i) const {
    return {stretch_(3 * i), stretch_(3 * i + 1), points_(3 * i + 2)};
  }

  System system_;
  ContactMaterial<double> material_;
  Growing<MatrixX<double>> mass_, jacobian_;
  Vector points_, drift_, velocity_, acceleration_, half_;
  VectorX<double> stretch_, stretch_rate_, force_;
  Eigen::LLT<MatrixX<double>> factor_;
  std::vector<bool> slides_;
};

}  // namespace carom::examples
