// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/stepper.hpp"

#include "cli/document_program.hpp"
#include "scenes/sliding_mass.hpp"

namespace carom::cli {

/// The law that moves the anchors of slipping contacts.
enum class AnchorLaw : std::uint8_t {
  coulomb,          ///< Coulomb's law: anchors stay on the surface.
  convex,           ///< The associated law.
  program,          ///< The document's quadratic program, with the gain G.
  printed_program,  ///< The same with the column that the document prints.
};

/// Stiff contact whose anchors move with the full slip velocity, also along the normal: p₀ ← p₀ + t
/// w, the procedure of the quadratic program's source. Under laws in which anchors rise, a pushed
/// body climbs. Contacts are made and broken at the ends of steps.
/// @cite  hammoud2022exponential, eq. (55)–(72)
template <ContactMechanism System>
class WanderingAnchors {
 public:
  using State = typename System::State;

  /// @param material  of all contacts.
  WanderingAnchors(System system, const ContactMaterial<double>& material, AnchorLaw law)
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
    const bool solved = by_program() ? solve_program() : solve_law();
    for (std::size_t c = 0; c < active.size(); ++c) {
      const auto row = 3 * Index(c);
      anchors_.segment<3>(3 * active[c]) += dt * slip_.segment<3>(row);
      closed_[std::size_t(active[c])] = force_(row + 2) > 0;
    }
    system_.advance(state, displacement_, velocity_);
    return solved;
  }

  /// Forces of the last step's active contacts [N].
  [[nodiscard]] const VectorX<double>& force() const noexcept { return force_; }

 private:
  [[nodiscard]] bool by_program() const noexcept {
    return law_ == AnchorLaw::program || law_ == AnchorLaw::printed_program;
  }

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

  /// A step under a law of the library.
  bool solve_law() {
    const SlipLaw law = law_ == AnchorLaw::convex ? SlipLaw::convex : SlipLaw::coulomb;
    const bool solved = step_.solve(data_, law).converged();
    force_ = step_.force();
    slip_ = step_.anchor_velocity();
    velocity_ = step_.velocity();
    displacement_ = step_.displacement();
    return solved;
  }

  /// A step under the document's program: the library's averages without cones, then the program's
  /// forces and the resulting motion.
  bool solve_program() {
    bool solved = step_.solve(data_, SlipLaw::stick).converged();
    force_ = step_.average_force();
    VectorX<double> force2 = step_.average_force2();
    slip_ = VectorX<double>::Zero(force_.size());
    const VectorX<double> friction = data_.friction;
    if (solved && !all_stick(force_, friction)) {
      const Index n = force_.size();
      MatrixX<double> gain(n, n), gain2(n, n);
      solved = step_.forces().write_gains(gain, gain2);
      if (law_ == AnchorLaw::printed_program) {
        solved = solved && write_printed_column(step_.forces(), gain);
      }
      program_.prepare(friction.size());
      solved = solved && program_.solve(gain, force_, friction) == QuadraticStatus::optimal;
      force_ = program_.force();
      slip_ = program_.velocity();
      force2 += gain2 * slip_;
      for (Index i = 0; i < friction.size(); ++i) place_second(i, friction(i), force2);
    }
    const double t = data_.time_step;
    velocity_ = data_.velocity + t * acceleration(force_);
    displacement_ = t * (data_.velocity + t / 2 * acceleration(force2));
    return solved && velocity_.allFinite() && displacement_.allFinite();
  }

  /// Second average of a contact whose anchor moves: zero if it opens, otherwise on its cone in the
  /// direction of the first average.
  void place_second(Index i, double friction, VectorX<double>& force2) const {
    if (slip_.segment<3>(3 * i).isZero(0)) return;
    const auto first = force_.segment<3>(3 * i);
    auto second = force2.segment<3>(3 * i);
    const double tangent = first.head<2>().norm();
    second(2) = first(2) > 0 ? (std::max)(second(2), 0.0) : 0;
    second.head<2>() = (tangent > 0 ? friction * second(2) / tangent : 0) * first.head<2>();
  }

  /// v̇_free + M⁻¹ Jᵀ λ
  [[nodiscard]] VectorX<double> acceleration(const VectorX<double>& force) const {
    const MatrixX<double> mass = data_.mass_matrix;
    const VectorX<double> push = data_.jacobian.transpose() * force;
    return data_.free_acceleration + mass.llt().solve(push);
  }

  using Matrix = Growing<MatrixX<double>>;
  using Vector = Growing<VectorX<double>>;

  System system_;
  ContactMaterial<double> material_;
  AnchorLaw law_;
  Matrix jacobian_;
  Vector points_, drift_;
  VectorX<double> anchors_, force_, slip_, velocity_, displacement_;
  std::vector<bool> closed_;
  ContactStepData<double, Matrix, Vector> data_;
  ContactStep<double> step_;
  DocumentProgram<double> program_;
};

/// Acceleration of a climbing, pulled mass on stiff springs if anchors slide along the polar of a
/// cone of slope μ instead of along the plane: ż = μ ẋ, so that z̈ = μ (F/m − μ g)/(1 + μ²) [m/s²].
[[nodiscard]] inline double climb_acceleration(const examples::SlidingMass& mass, double slope) {
  return slope * (mass.pull / mass.mass - slope * mass.gravity) / (1 + slope * slope);
}

}  // namespace carom::cli
