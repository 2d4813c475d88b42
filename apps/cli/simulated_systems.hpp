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

/// How long, in what steps and with which impacts a scene runs.
struct SimulationPlan {
  double time_step = 0;         ///< [s], > 0
  double duration = 0;          ///< [s], ≥ 0
  double restitution = 1;       ///< R, energetic [-], in [0, 1]
  int event_limit = 1'000'000;  ///< Most impacts in a step; a run ends there, stopped short.
  std::string csv;              ///< File for the rows; empty: none.
  bool shows_progress = true;   ///< A bar on standard error, if that is a terminal.
  /// Sees time, q and momentum as shown from outside and the energy at the start and after every
  /// step; false ends the run. Empty: nobody looks.
  std::function<bool(const MechanicalState<double>&, double)> watch = {};
};

/// The result of a run.
struct SimulationAnswer {
  std::vector<double> impact_times;  ///< [s]
  Index reflections = 0;
  double energy_error = 0;    ///< relative to the largest energy, kinetic or total; NaN where it is
                              ///< not kept [-]
  double momentum_error = 0;  ///< relative to the largest size; NaN where none is kept [-]
  double time = 0;            ///< [s]
  VectorX<double> q, velocity;
  SolveStatus status = SolveStatus::converged;
};

/// Runs the system it was made for.
using SimulationRun = std::function<SimulationAnswer(const SimulationPlan&)>;

/// Reads a system by its name and parameters; what is wrong with them is BadInput.
[[nodiscard]] SimulationRun read_simulation(const Json& system, const Json& parameters);

}  // namespace carom::cli
