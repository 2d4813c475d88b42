// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "carom/variational/impact_stepper.hpp"

#include "scenes/trex_stance.hpp"

namespace carom::examples {

/// Which of the contacts that close reflects first.
enum class TrexOrder {
  foot_first,  ///< In the order of TrexContact.
  tail_first,  ///< In the opposite order.
};

/// A ReflectionOrderLike: infeasible contacts from one end of the list.
struct TrexReflections {
  TrexOrder order = TrexOrder::foot_first;

  void prepare(Index) noexcept {}
  void start(std::span<const double>) noexcept {}
  void update(Index, const double&) noexcept {}
  [[nodiscard]] Index pick(std::span<const double> rates, const double& limit) const noexcept {
    Index picked = -1;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (!(rates[i] < limit)) continue;
      picked = Index(i);
      if (order == TrexOrder::foot_first) break;
    }
    return picked;
  }
};

using TrexStepper = ImpactStepper<Trex, ImpactResolver<double, TrexReflections>>;

struct TrexDropOptions {
  double drop = 0.17;       ///< Height of foot and tail above the ground at the start [m], ≥ 0.
  double time_step = 1e-3;  ///< [s]
  double duration = 0.5;    ///< [s]
  TrexJoints joints;
  double friction = 0.5;  ///< of feet and tail that rest or slide on the ground [-], ≥ 0.
};

/// A robot that is released at rest above its stance.
class TrexDrop {
 public:
  /// Cold: allocates.
  TrexDrop(const TrexStance& stance, TrexOrder order, const TrexDropOptions& options = {})
      : stepper_(Trex(stance.shape, stance.q, options.joints, options.friction),
                 ImpactResolver<double, TrexReflections>({}, {order})),
        time_step_(options.time_step) {
    state_.q = stance.q;
    state_.q(trex_y) += options.drop;
    state_.momentum.setZero(trex_size);
    mass_.resize(trex_size);
  }

  ImpactStepReport<double> step() { return stepper_.step(state_, time_step_); }

  [[nodiscard]] const MechanicalState<double>& state() const noexcept { return state_; }
  [[nodiscard]] const Trex& trex() const noexcept { return stepper_.system(); }
  [[nodiscard]] std::span<const ImpactEvent<double>> events() const { return stepper_.events(); }
  /// Kinetic, gravity and springs [J].
  [[nodiscard]] double energy() { return stepper_.energy(state_); }
  [[nodiscard]] VectorX<double> velocity() {
    VectorX<double> out;
    static_cast<void>(stepper_.write_velocity(state_, out));
    return out;
  }
  /// |v|_M of a velocity at the present configuration [√J].
  [[nodiscard]] double norm(const VectorX<double>& velocity) {
    trex().write_lagrangian_curvature(state_.q, velocity, state_.time, mass_);
    return std::sqrt(velocity.dot(mass_.by_vv * velocity));
  }

 private:
  TrexStepper stepper_;
  MechanicalState<double> state_;
  LagrangianDerivatives<double> mass_;
  double time_step_;
};

/// One instant of two robots that resolve the same impacts in opposite order.
struct TrexSample {
  double time;           ///< [s]
  double indeterminacy;  ///< ξ = |v_a − v_b|_M / |v⁻|_M, v⁻ before the first impact [-].
  double distance;       ///< Largest difference of a coordinate [m, rad].
  double energy_a;       ///< [J]
  double energy_b;       ///< [J]
  Index impacts;         ///< Instants of impact so far, both robots.
  VectorX<double> q_a;   ///< see TrexCoordinate
  VectorX<double> q_b;
};

/// Drops two copies that differ only in the order of simultaneous reflections.
/// @return  one sample per step, up to the duration or to a step that fails.
[[nodiscard]] inline std::vector<TrexSample> compare_trex_orders(
    const TrexStance& stance, const TrexDropOptions& options = {}) {
  TrexDrop a(stance, TrexOrder::foot_first, options), b(stance, TrexOrder::tail_first, options);
  // The first impact meets the energy of the fall.
  const double fall = std::sqrt(
      2 *
      (a.energy() -
       TrexDrop(stance, TrexOrder::foot_first, {.drop = 0, .joints = options.joints}).energy()));
  std::vector<TrexSample> samples;
  Index impacts = 0;
  while (a.state().time < options.duration - options.time_step / 2) {
    const auto report_a = a.step();
    const auto report_b = b.step();
    if (!report_a.converged() || !report_b.converged()) break;
    impacts += report_a.impacts + report_b.impacts;
    samples.push_back({a.state().time, a.norm(a.velocity() - b.velocity()) / fall,
                       (a.state().q - b.state().q).cwiseAbs().maxCoeff(), a.energy(), b.energy(),
                       impacts, a.state().q, b.state().q});
  }
  return samples;
}

}  // namespace carom::examples
