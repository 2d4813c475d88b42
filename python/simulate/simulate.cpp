// SPDX-License-Identifier: BSD-3-Clause
// carom.simulate, by the systems of `carom simulate`.
#include <chrono>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "carom/variational/mechanical_state.hpp"

#include "bindings.hpp"
#include "cli/json_input.hpp"
#include "cli/simulated_systems.hpp"
#include "long_work.hpp"

namespace carom::python {
namespace {

/// What a run tells, and its rows.
struct Simulation {
  cli::SimulationAnswer answer;
  std::vector<double> time, energy, q, momentum;
};

/// JSON as Python writes it, with arrays of numpy as lists.
std::string to_json(nb::handle parameters) {
  if (parameters.is_none()) return "{}";
  const nb::object to_list =
      nb::cpp_function([](nb::handle value) -> nb::object { return value.attr("tolist")(); });
  try {
    const nb::object text = nb::module_::import_("json").attr("dumps")(
        parameters, nb::arg("default") = to_list, nb::arg("allow_nan") = false);
    return nb::cast<std::string>(text);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt) || error.matches(PyExc_MemoryError)) throw;
    refuse("parameters", "a dict of numbers, words and lists", describe(parameters));
  }
}

/// Keeps the rows of a run, and asks now and then whether to go on.
class Watch {
 public:
  Watch(Simulation& run, LongWork& work, double duration)
      : run_(run), work_(work), duration_(duration), next_(Clock::now() + pause) {}
  bool operator()(const MechanicalState<double>& state, double energy) {
    run_.time.push_back(state.time);
    run_.energy.push_back(energy);
    run_.q.insert(run_.q.end(), state.q.begin(), state.q.end());
    run_.momentum.insert(run_.momentum.end(), state.momentum.begin(), state.momentum.end());
    if (Clock::now() < next_) return true;
    next_ = Clock::now() + pause;
    return work_.goes_on(duration_ > 0 ? state.time / duration_ : 1);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds pause{50};
  Simulation& run_;
  LongWork& work_;
  double duration_;
  Clock::time_point next_;
};

cli::SimulationPlan read_plan(nb::handle time_step, nb::handle duration, nb::handle restitution) {
  cli::SimulationPlan plan;
  plan.time_step = read_number(time_step, "time_step");
  plan.duration = read_number(duration, "duration");
  plan.restitution = read_number(restitution, "restitution");
  plan.shows_progress = false;  // LongWork does
  if (!detail::is_positive(plan.time_step)) {
    detail::reject_if(detail::fault("time_step", "a finite number > 0", plan.time_step));
  }
  if (!detail::is_nonnegative(plan.duration)) {
    detail::reject_if(detail::fault("duration", "a finite number >= 0", plan.duration));
  }
  if (!(plan.restitution >= 0 && plan.restitution <= 1)) {
    detail::reject_if(detail::fault("restitution", "a number in [0, 1]", plan.restitution));
  }
  if (!(plan.duration / plan.time_step <= 1e8)) {
    detail::reject_if(
        detail::fault("time_step", "at most 1e8 steps of it in the duration", plan.time_step));
  }
  return plan;
}

Simulation simulate(nb::handle system, nb::handle parameters, nb::handle time_step,
                    nb::handle duration, nb::handle progress, nb::handle restitution) {
  cli::SimulationPlan plan = read_plan(time_step, duration, restitution);
  std::string name;
  if (!nb::try_cast(system, name)) refuse("system", "the name of a system", describe(system));
  const std::string text = to_json(parameters);
  Simulation run;
  LongWork work(progress, "simulate");
  Watch watch(run, work, plan.duration);
  {
    const Unlocked unlocked;
    try {
      const cli::SimulationRun start = cli::read_simulation(cli::Json(name), cli::parse_json(text));
      plan.watch = std::ref(watch);
      run.answer = start(plan);
    } catch (const files::BadInput& fault) {
      throw std::invalid_argument(fault.what());
    }
  }
  work.finish([&] { return nb::cast(std::move(run)); });
  return run;
}

nb::object rows_of(const Simulation& run, const std::vector<double>& numbers) {
  const Index steps = Index(run.time.size());
  return make_array(numbers.data(), {steps, steps > 0 ? Index(numbers.size()) / steps : 0});
}

std::string show(const Simulation& run) {
  return std::string("Simulation(status='") + to_string(run.answer.status) +
         "', time=" + carom::detail::number_text(run.answer.time) +
         ", impacts=" + std::to_string(run.answer.impact_times.size()) +
         ", energy_error_max=" + carom::detail::number_text(run.answer.energy_error) + ")";
}

}  // namespace

void bind_simulate(nb::module_& module) {
  nb::class_<Simulation> simulation(
      module, "Simulation", "A mechanical system in time, impacts included; see simulate().");
  const auto array = [&](const char* name, auto getter, const char* doc) {
    const std::string signature =
        std::string("def ") + name + "(self) -> numpy.typing.NDArray[numpy.float64]";
    simulation.def_prop_ro(name, getter, nb::sig(signature.c_str()), doc);
  };
  array(
      "time", [](const Simulation& s) { return make_array(s.time.data(), {Index(s.time.size())}); },
      "(steps + 1,) [s], the start and the end of every step.");
  array(
      "energy",
      [](const Simulation& s) { return make_array(s.energy.data(), {Index(s.energy.size())}); },
      "(steps + 1,) [J]");
  array(
      "q", [](const Simulation& s) { return rows_of(s, s.q); },
      "(steps + 1, n), coordinates [m, rad]");
  array(
      "momentum", [](const Simulation& s) { return rows_of(s, s.momentum); },
      "(steps + 1, n), [N s, N m s]");
  array(
      "velocity", [](const Simulation& s) { return make_array(s.answer.velocity); },
      "(n,) [m/s, rad/s], at the end.");
  array(
      "impact_times",
      [](const Simulation& s) {
        return make_array(s.answer.impact_times.data(), {Index(s.answer.impact_times.size())});
      },
      "[s], of all impacts.");
  simulation.def_prop_ro("reflections", [](const Simulation& s) { return s.answer.reflections; })
      .def_prop_ro(
          "energy_error_max", [](const Simulation& s) { return s.answer.energy_error; },
          "Largest change of the energy, relative [-]; NaN where it is not kept.")
      .def_prop_ro(
          "momentum_error_max", [](const Simulation& s) { return s.answer.momentum_error; },
          "Largest change of a momentum, relative [-]; NaN where none is kept.")
      .def_prop_ro(
          "status", [](const Simulation& s) { return to_string(s.answer.status); },
          "'converged', or why the run stopped before its end.")
      .def("__repr__", &show);
  module.def(
      "simulate", &simulate, nb::arg("system").none(), nb::arg("parameters").none(),
      nb::arg("time_step").none(), nb::arg("duration").none(), nb::arg("progress").none() = true,
      nb::arg("restitution").none() = 1.0,
      nb::sig("def simulate(system: str, "
              "parameters: collections.abc.Mapping[str, typing.Any] | None, time_step: float, "
              "duration: float, "
              "progress: bool | collections.abc.Callable[[float | None], object] = True, "
              "restitution: float = 1.0) -> Simulation"),
      "Runs a mechanical system in time and finds the impacts inside its steps.\n\n"
      "system and parameters are those of `carom simulate`: bouncing_ball, pendulum,\n"
      "double_pendulum, oscillator, cradle, billiards, galperin, rocking_block, kepler, trex.\n"
      "time_step, duration [s]. progress: whether long runs show a bar on a terminal or in a\n"
      "notebook; or a function, called with the share done, in [0, 1], at most ten times a "
      "second.\n"
      "restitution [-], in [0, 1], is that of the energy of impacts. Ctrl-C ends the run; the\n"
      "KeyboardInterrupt has the Simulation up to there as its attribute `partial`.");
}

}  // namespace carom::python
