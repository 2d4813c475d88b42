// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/stepper.hpp"

#include "scenes/sliding_mass.hpp"

namespace carom::examples {

/// Stiff contact whose anchors go wherever the slip law sends them, along the normal too:
/// p₀ ← p₀ + t w, the procedure of the quadratic program's source. Under laws that let anchors
/// rise, a pushed body climbs. Contacts are made and broken at the ends of steps.
/// @cite  hammoud2022exponential, eq. (55)–(72)
template <ContactMechanism System>
class WanderingAnchors {
 public:
  using State = typename System::State;

  /// @param material  of all contacts.
  WanderingAnchors(System system, const ContactMaterial<double>& material, SlipLaw law)
      : system_(std::move(system)), material_(material), law_(law) {
    const Index n = 3 * system_.contact_count(), k = system_.velocity_count();
    jacobian_.grow(n, k);
    points_.grow(n);
    drift_.grow(n);
    anchors_ = VectorX<double>::Zero(n);
    closed_.assign(std::size_t(system_.contact_count()), false);
  }

  [[nodiscard]] System& system() noexcept { return system_; }

  /// Advances by dt > 0 [s].
  /// @return  whether the law was solved.
  bool step(State& state, double dt) {
    system_.write_contacts(state, points_, jacobian_, drift_);
    std::vector<Index> active;
    for (Index i = 0; i < system_.contact_count(); ++i) {
      if (!closed_[std::size_t(i)] && points_(3 * i + 2) <= 0) {
        closed_[std::size_t(i)] = true;
        anchors_.segment<3>(3 * i) << points_(3 * i), points_(3 * i + 1), 0;
      }
      if (closed_[std::size_t(i)]) active.push_back(i);
    }
    set(state, active, dt);
    const bool solved = step_.solve(data_, law_).converged();
    for (std::size_t c = 0; c < active.size(); ++c) {
      const auto row = 3 * Index(c);
      anchors_.segment<3>(3 * active[c]) += dt * step_.cone().velocity().template segment<3>(row);
      closed_[std::size_t(active[c])] = step_.cone().force()(row + 2) > 0;
    }
    system_.advance(state, step_.displacement(), step_.velocity());
    return solved;
  }

  /// Of the last step's active contacts [N].
  [[nodiscard]] VectorX<double> force() const { return step_.cone().force(); }

 private:
  void set(const State& state, const std::vector<Index>& active, double dt) {
    const Index n = Index(active.size()), k = system_.velocity_count();
    data_.time_step = dt;
    data_.grow(n, k);
    system_.write_dynamics(state, data_.mass_matrix, data_.free_acceleration);
    system_.write_velocity(state, data_.velocity);
    for (Index c = 0; c < n; ++c) {
      const Index from = 3 * active[std::size_t(c)], to = 3 * c;
      data_.jacobian.template middleRows<3>(to) = jacobian_.template middleRows<3>(from);
      data_.drift.template segment<3>(to) = drift_.template segment<3>(from);
      data_.points.template segment<3>(to) = points_.template segment<3>(from);
      data_.anchors.template segment<3>(to) = anchors_.segment<3>(from);
      data_.stiffness.template segment<3>(to) = material_.stiffness;
      data_.damping.template segment<3>(to) = material_.damping;
      data_.friction(c) = material_.friction;
    }
    step_.prepare(n, k);
  }

  using Matrix = Growing<MatrixX<double>>;
  using Vector = Growing<VectorX<double>>;

  System system_;
  ContactMaterial<double> material_;
  SlipLaw law_;
  Matrix jacobian_;
  Vector points_, drift_;
  VectorX<double> anchors_;
  std::vector<bool> closed_;
  ContactStepData<double, Matrix, Vector> data_;
  ContactStep<double> step_;
};

/// How fast a pulled mass climbs on stiff springs where anchors slide along the polar of a cone of
/// slope μ instead of along the plane: ż = μ ẋ, so that z̈ = μ (F/m − μ g)/(1 + μ²) [m/s²].
[[nodiscard]] inline double climb_acceleration(const SlidingMass& mass, double slope) {
  return slope * (mass.pull / mass.mass - slope * mass.gravity) / (1 + slope * slope);
}

}  // namespace carom::examples
