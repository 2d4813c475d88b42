// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/restitution.hpp"
#include "carom/variational/impact_stepper.hpp"

#include "io/number_text.hpp"

namespace carom::cli {

/// How long, in what steps and with which impacts a scene runs.
struct SimulationPlan {
  double time_step = 0;    ///< [s], > 0
  double duration = 0;     ///< [s], ≥ 0
  double restitution = 1;  ///< R, energetic [-], in [0, 1]
  bool csv = false;        ///< Whether rows are written.
};

/// What a run tells.
struct SimulationAnswer {
  std::vector<double> impact_times;  ///< [s]
  Index reflections = 0;
  double energy_error =
      0;  ///< relative to the largest energy, kinetic or total; NaN where it is not kept [-]
  double momentum_error = 0;  ///< relative to the largest size; NaN where none is kept [-]
  double time = 0;            ///< [s]
  VectorX<double> q, velocity;
  SolveStatus status = SolveStatus::converged;
  std::string csv;
};

/// A system, where it starts, and which momentum it keeps.
template <typename System>
struct Scene {
  System system;
  VectorX<double> q, velocity;
  /// Momentum kept by a symmetry, and its size for the relative error; none if empty.
  std::function<std::pair<VectorX<double>, double>(const MechanicalState<double>&)> kept = {};
  bool lossless = true;  ///< Nothing but impacts with R < 1 takes energy.
};

/// Elastic where R = 1, else the blend with the plastic outcome.
class SceneLaw {
 public:
  explicit SceneLaw(double restitution) : elastic_only_(restitution == 1), blend_(restitution) {}

  void prepare(const ImpactProblem<double>& problem) {
    elastic_only_ ? elastic_.prepare(problem) : blend_.prepare(problem);
  }
  ImpactReport<double> resolve(const ImpactProblem<double>& problem,
                               VectorX<double>& momentum) noexcept {
    return elastic_only_ ? elastic_.resolve(problem, momentum) : blend_.resolve(problem, momentum);
  }
  [[nodiscard]] std::span<const double> impulses() const noexcept {
    if (elastic_only_) return elastic_.impulses();
    return {blend_.impulses().data(), std::size_t(blend_.impulses().size())};
  }

 private:
  bool elastic_only_;
  ImpactResolver<double> elastic_;
  RestitutionImpact<double> blend_;
};

/// Watches a number that should stay: its largest distance from where it was first seen.
struct Drift {
  VectorX<double> first;
  double largest = 0, size = 0;

  void see(const VectorX<double>& value, double scale) {
    if (first.size() == 0) first = value;
    largest = std::max(largest, (value - first).cwiseAbs().maxCoeff());
    size = std::max(size, scale);
  }
  [[nodiscard]] double relative() const { return size > 0 ? largest / size : 0; }
};

/// Lines of "time, q, momentum, energy, event"; the event names the contacts that closed in the
/// step.
class CsvRows {
 public:
  explicit CsvRows(Index size) {
    text_ = "time";
    for (const char* name : {"q", "p"}) {
      for (Index i = 0; i < size; ++i) text_ += std::string(",") + name + std::to_string(i);
    }
    text_ += ",energy,event\n";
  }
  void add(const MechanicalState<double>& state, double energy,
           std::span<const ImpactEvent<double>> events) {
    text_ += examples::format_number(state.time);
    for (const VectorX<double>* part : {&state.q, &state.momentum}) {
      for (const double x : *part) text_ += "," + examples::format_number(x);
    }
    text_ += "," + examples::format_number(energy) + ",";
    for (std::size_t k = 0; k < events.size(); ++k) {
      text_ += (k > 0 ? ";" : "") + std::to_string(events[k].contact);
    }
    text_ += "\n";
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Runs a scene to its end, or to the step that fails.
template <typename System>
[[nodiscard]] SimulationAnswer simulate(const Scene<System>& scene, const SimulationPlan& plan) {
  ImpactStepOptions<double> options;
  options.event_limit = options.recorded_events = 1'000'000;
  ImpactStepper<System, SceneLaw> stepper(scene.system, SceneLaw(plan.restitution), options);
  MechanicalState<double> state{0, scene.q, scene.velocity};
  LegendreMap<System> legendre;
  legendre.prepare(scene.system);
  legendre.write_momentum(scene.system, scene.q, scene.velocity, 0, state.momentum);
  SimulationAnswer answer;
  CsvRows rows(state.q.size());
  Drift energy, momentum;
  const auto look = [&](bool lost) {
    const double now = stepper.energy(state);
    if (lost) energy.first.resize(0);  // the next smooth part starts here
    VectorX<double> velocity;
    const bool moves = stepper.write_velocity(state, velocity);
    const double kinetic = moves ? state.momentum.dot(velocity) / 2 : 0;
    energy.see(VectorX<double>::Constant(1, now), std::max(std::abs(now), kinetic));
    if (scene.kept) {
      const auto [value, scale] = scene.kept(state);
      momentum.see(value, scale);
    }
    if (plan.csv) rows.add(state, now, stepper.events());
  };
  look(false);
  for (Index k = 1; state.time < plan.duration; ++k) {
    double next = std::min(double(k) * plan.time_step, plan.duration);
    if (plan.duration - next < 1e-9 * plan.time_step) next = plan.duration;
    const auto report = stepper.step(state, next - state.time);
    answer.status = report.status;
    if (!report.converged()) break;
    state.time = next;
    answer.reflections += report.reflections;
    for (const ImpactEvent<double>& event : stepper.events()) {
      const bool same = !answer.impact_times.empty() && answer.impact_times.back() == event.time;
      if (!same) answer.impact_times.push_back(event.time);
    }
    look(plan.restitution < 1 && report.impacts > 0);
  }
  answer.time = state.time;
  answer.q = state.q;
  if (!stepper.write_velocity(state, answer.velocity)) answer.velocity.setZero(state.q.size());
  const double none = std::numeric_limits<double>::quiet_NaN();
  answer.energy_error = scene.lossless ? energy.relative() : none;
  answer.momentum_error = scene.kept ? momentum.relative() : none;
  answer.csv = rows.take();
  return answer;
}

}  // namespace carom::cli
