// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/impact_stepper.hpp"

#include "cli/any_system.hpp"
#include "cli/progress.hpp"
#include "cli/simulated_systems.hpp"
#include "io/bad_input.hpp"
#include "io/number_text.hpp"

namespace carom::cli {

/// A system, its initial state, and its conserved quantities.
struct Scene {
  AnySystem system;
  VectorX<double> q, velocity;
  /// Momentum conserved by a symmetry, and its size for the relative error; none if empty.
  std::function<std::pair<VectorX<double>, double>(const MechanicalState<double>&)> kept = {};
  bool lossless = true;     ///< Whether only impacts reduce the energy.
  double impact_share = 1;  ///< R of the system's own impacts, on top of the plan's [-], in [0, 1].
  /// Each impact changes the system to its mirror image; the output is in the outer frame.
  bool mirrored = false;
  int first_side = 1;  ///< ±1: the sign of a mirrored system at the start of the output.
  /// Which contact reflects first.
  std::function<AnyImpactLaw(double restitution)> law = [](double restitution) {
    return AnyImpactLaw(restitution, MostInfeasibleTogether<double>());
  };
};

/// Records a number that should be constant: its largest distance from its first value.
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

/// Lines of "time, q, momentum, energy, event" in a file. The event is the list of contacts that
/// closed in the step.
class CsvRows {
 public:
  /// @param path  empty: nothing is written.
  CsvRows(const std::string& path, Index size) : path_(path) {
    if (path.empty()) return;
    file_.open(path, std::ios::binary);
    file_ << "time";
    for (const char* name : {"q", "p"}) {
      for (Index i = 0; i < size; ++i) file_ << ',' << name << i;
    }
    file_ << ",energy,event\n";
    check();
  }
  void add(const MechanicalState<double>& shown, double energy,
           std::span<const ImpactEvent<double>> events) {
    if (path_.empty()) return;
    file_ << files::format_number(shown.time);
    for (const VectorX<double>* part : {&shown.q, &shown.momentum}) {
      for (const double x : *part) file_ << ',' << files::format_number(x);
    }
    file_ << ',' << files::format_number(energy) << ',';
    for (std::size_t k = 0; k < events.size(); ++k) {
      file_ << (k > 0 ? ";" : "") << events[k].contact;
    }
    file_ << '\n';
  }
  /// Closes the file. Throws BadInput if not all of it could be written.
  void close() {
    if (path_.empty()) return;
    file_.close();
    check();
  }

 private:
  void check() const {
    if (!file_) {
      throw files::BadInput(path_ + ": expected a file to write, writing failed");
    }
  }

  std::string path_;
  std::ofstream file_;
};

/// One run of a scene.
class Simulation {
 public:
  Simulation(const Scene& scene, const SimulationPlan& plan)
      : scene_(scene),
        plan_(plan),
        restitution_(plan.restitution * scene.impact_share),
        stepper_(scene.system, scene.law(restitution_), options(plan)),
        state_{0, scene.q, scene.velocity},
        side_(scene.first_side),
        rows_(plan.csv, scene.q.size()) {
    // The stepper's make_state() would reject a momentum that is not finite. Here it stops the
    // first step, so that the run is still reported.
    LegendreMap<AnySystem> legendre;
    legendre.prepare(scene.system);
    legendre.write_momentum(scene.system, scene.q, scene.velocity, 0, state_.momentum);
  }

  /// Runs to the end, or to the step that fails.
  [[nodiscard]] SimulationAnswer run() {
    ProgressBar bar(plan_.shows_progress);
    look(false);
    for (Index k = 1; watched_ && state_.time < plan_.duration; ++k) {
      double next = std::min(double(k) * plan_.time_step, plan_.duration);
      if (plan_.duration - next < 1e-9 * plan_.time_step) next = plan_.duration;
      const auto report = stepper_.step(state_, next - state_.time);
      answer_.status = report.status;
      if (!report.converged()) break;
      state_.time = next;
      answer_.reflections += report.reflections;
      if (scene_.mirrored && report.impacts % 2 == 1) side_ = -side_;
      for (const ImpactEvent<double>& event : stepper_.events()) {
        const bool same =
            !answer_.impact_times.empty() && answer_.impact_times.back() == event.time;
        if (!same) answer_.impact_times.push_back(event.time);
      }
      look(restitution_ < 1 && report.impacts > 0);
      bar.show(state_.time / plan_.duration);
    }
    return finish();
  }

 private:
  [[nodiscard]] static ImpactStepOptions<double> options(const SimulationPlan& plan) {
    ImpactStepOptions<double> options;
    options.event_limit = options.recorded_events = plan.event_limit;
    return options;
  }
  /// The state in the outer frame.
  [[nodiscard]] MechanicalState<double> shown() const {
    return {state_.time, side_ * state_.q, side_ * state_.momentum};
  }
  void look(bool lost) {
    const double now = stepper_.energy(state_);
    if (lost) energy_.first.resize(0);  // the next smooth part starts here
    VectorX<double> velocity;
    const bool moves = stepper_.write_velocity(state_, velocity);
    const double kinetic = moves ? state_.momentum.dot(velocity) / 2 : 0;
    energy_.see(VectorX<double>::Constant(1, now), std::max(std::abs(now), kinetic));
    if (scene_.kept) {
      const auto [value, scale] = scene_.kept(state_);
      momentum_.see(value, scale);
    }
    const MechanicalState<double> seen = shown();
    rows_.add(seen, now, stepper_.events());
    if (plan_.watch) watched_ = plan_.watch(seen, now);
  }
  [[nodiscard]] SimulationAnswer finish() {
    rows_.close();
    answer_.time = state_.time;
    answer_.q = shown().q;
    if (!stepper_.write_velocity(state_, answer_.velocity)) {
      answer_.velocity.setZero(state_.q.size());
    }
    answer_.velocity *= side_;
    const double none = std::numeric_limits<double>::quiet_NaN();
    answer_.energy_error = scene_.lossless ? energy_.relative() : none;
    answer_.momentum_error = scene_.kept ? momentum_.relative() : none;
    return std::move(answer_);
  }

  const Scene& scene_;
  const SimulationPlan& plan_;
  double restitution_;
  ImpactStepper<AnySystem, AnyImpactLaw> stepper_;
  MechanicalState<double> state_;
  double side_;
  CsvRows rows_;
  Drift energy_, momentum_;
  bool watched_ = true;  ///< Whether the plan's watch function wants more calls.
  SimulationAnswer answer_;
};

}  // namespace carom::cli
