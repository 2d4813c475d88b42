// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/variational/mechanical_state.hpp"

#include "cli/json_input.hpp"

namespace carom::cli {

/// Duration, steps and impacts of a run of a scene.
struct SimulationPlan {
  double time_step = 0;    ///< [s], > 0
  double duration = 0;     ///< [s], ≥ 0
  double restitution = 1;  ///< R, energetic [-], in [0, 1]
  /// Largest count of impacts in a step; the run stops there with the status of an early end.
  int event_limit = 1'000'000;
  std::string csv;             ///< File for the rows; empty: no file.
  bool shows_progress = true;  ///< A bar on standard error, if that is a terminal.
  /// Called with the time, q and momentum in the outer frame, and the energy, at the start and
  /// after each step; false ends the run. Empty: not called.
  std::function<bool(const MechanicalState<double>&, double)> watch = {};
};

/// The result of a run.
struct SimulationAnswer {
  std::vector<double> impact_times;  ///< [s]
  Index reflections = 0;
  /// relative to the largest energy, kinetic or total; NaN if the energy is not conserved [-]
  double energy_error = 0;
  double momentum_error = 0;  ///< relative to the largest size; NaN if no momentum is conserved [-]
  double time = 0;            ///< [s]
  VectorX<double> q, velocity;
  SolveStatus status = SolveStatus::converged;
};

/// Runs the system for which it was made.
using SimulationRun = std::function<SimulationAnswer(const SimulationPlan&)>;

/// Reads a system by its name and parameters. A fault of them is BadInput.
[[nodiscard]] SimulationRun read_simulation(const Json& system, const Json& parameters);

}  // namespace carom::cli
