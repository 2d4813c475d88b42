// SPDX-License-Identifier: BSD-3-Clause
// carom._core.MujocoSolver: the constraints of a step of the package mujoco, for carom/mujoco.py.
#include <mutex>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "mujoco_view.hpp"
#include "solve_clock.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

/// carom.mujoco's answer to a step.
struct MujocoAnswer {
  SolveReport<double> report;
  double seconds = 0;
  std::vector<double> impulse;  ///< (t1, t2, n) per plain contact [N s].
  std::vector<Index> contacts;  ///< Their numbers in mjData.
};

MujocoLaw read_mujoco_law(nb::handle law) {
  std::string text;
  if (nb::try_cast(law, text)) {
    if (text == "rigid") return MujocoLaw::rigid;
    if (text == "coulomb") return MujocoLaw::coulomb;
    if (text == "soft_coulomb") return MujocoLaw::soft_coulomb;
    if (text == "soft") return MujocoLaw::soft;
  }
  refuse("law", "'rigid', 'coulomb', 'soft_coulomb' or 'soft'", describe(law));
}

detail::MujocoIntegration read_integration(int number) {
  switch (number) {
    case 0:
      return detail::MujocoIntegration::explicit_forces;
    case 1:
      return detail::MujocoIntegration::damped_joints;
    default:
      return detail::MujocoIntegration::implicit;
  }
}

class PyMujocoSolver {
 public:
  PyMujocoSolver(nb::handle law, nb::handle tolerance, nb::handle correction)
      : solver_({.law = read_mujoco_law(law),
                 .tolerance = read_number(tolerance, "tolerance"),
                 .correction = read_number(correction, "correction")}) {}

  /// Solves, and writes forces and qacc, and margins for the next step where they are its own.
  /// @return  None where margins are too narrow for this step: they are wide then, and the caller
  ///          finds contacts again.
  nb::object solve(nb::handle model, nb::handle data, int integration, int margins) {
    const std::unique_lock<std::mutex> alone(lock_, std::try_to_lock);
    if (!alone) refuse("stepper", "one step at a time", "another one from inside of it");
    MujocoAnswer answer;
    views_.take(model, data);
    if (margins == checked && !views_.has_wide_margins()) {
      views_.set_margins();
      return nb::none();
    }
    if (margins != fixed) views_.set_margins();
    views_.read(solver_.reads_softness());
    LongWork work(Py_False, "step");
    SolveClock clock(std::numeric_limits<double>::infinity(), work);
    const MujocoModelView& m = views_.model();
    MujocoDataView& d = views_.data();
    MujocoOutcome outcome;
    {
      const Unlocked unlocked;
      solver_.set_limits(clock.limits());
      outcome = solver_.solve(m, d, true, read_integration(integration));
      answer.seconds = clock.elapsed();
    }
    work.finish([] { return nb::none(); });
    answer.report = outcome.report;
    if (outcome.verdict == MujocoVerdict::not_finite) {
      answer.report.status = SolveStatus::not_finite;
      return nb::cast(std::move(answer));
    }
    if (!outcome.answered()) {
      refuse("carom.mujoco",
             "a mass matrix that is positive definite, and friction that a normal force carries",
             to_string(outcome.verdict));
    }
    solver_.write_forces(m, d);
    const bool written = solver_.write_acceleration(m, d);
    views_.write_acceleration(d.nefc > 0 && !written);
    write_impulses(m, d, answer);
    return nb::cast(std::move(answer));
  }

 private:
  /// What `margins` of solve() says: they are the user's, to be checked, or wide enough.
  enum : int { fixed, checked };
  /// Impulses of contacts without torsion, out of MuJoCo's forces.
  static void write_impulse(const MujocoDataView& data, const detail::MujocoBlock& block,
                            double step, double* impulse) {
    const double* const force = data.efc_force + block.first_row;
    impulse[0] = impulse[1] = 0;
    impulse[2] = step * force[0];
    if (block.rows == 1) return;
    const MujocoContactView contact = data.contact[block.id];
    if (block.type == detail::MujocoKind::pyramidal_contact) impulse[2] = 0;
    for (int i = 0; i < contact.dim - 1; ++i) {
      if (block.type == detail::MujocoKind::elliptic_contact) {
        impulse[i] = step * force[1 + i];
        continue;
      }
      impulse[2] += step * (force[2 * i] + force[2 * i + 1]);
      impulse[i] = step * contact.friction[i] * (force[2 * i] - force[2 * i + 1]);
    }
  }
  void write_impulses(const MujocoModelView& model, const MujocoDataView& data,
                      MujocoAnswer& answer) const {
    if (data.nefc == 0) return;
    for (const detail::MujocoBlock& block : solver_.blocks()) {
      if (!block.is_contact() || data.contact[block.id].dim > 3) continue;
      answer.contacts.push_back(block.id);
      answer.impulse.resize(answer.impulse.size() + 3);
      write_impulse(data, block, model.opt.timestep, &*answer.impulse.end() - 3);
    }
  }

  std::mutex lock_;
  MujocoViews views_;
  detail::MujocoSolver solver_;
};

std::string show(const MujocoAnswer& answer) {
  return std::string("Answer(status='") + to_string(answer.report.status) +
         "', contacts=" + std::to_string(answer.contacts.size()) +
         ", iterations=" + std::to_string(answer.report.iterations) +
         ", residual=" + carom::detail::number_text(answer.report.residual) + ")";
}

}  // namespace

void bind_mujoco(nb::module_& module) {
  nb::class_<MujocoAnswer>(module, "MujocoAnswer", "How a step of carom.mujoco was solved.")
      .def_prop_ro(
          "status", [](const MujocoAnswer& a) { return to_string(a.report.status); },
          "As that of carom.Solution. Nothing moved where it is 'not_finite'.")
      .def_prop_ro("converged", [](const MujocoAnswer& a) { return a.report.converged(); })
      .def_prop_ro("iterations", [](const MujocoAnswer& a) { return a.report.iterations; })
      .def_prop_ro(
          "residual", [](const MujocoAnswer& a) { return a.report.residual; },
          "Relative residual [-], as that of carom.Solution.")
      .def_prop_ro(
          "seconds", [](const MujocoAnswer& a) { return a.seconds; }, "Time of the solve [s].")
      .def_prop_ro(
          "impulse",
          [](const MujocoAnswer& a) {
            return make_array(a.impulse.data(), {Index(a.contacts.size()), 3});
          },
          nb::sig("def impulse(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(nc, 3) [N s]: rows (t1, t2, n) of the contacts that act and have no torsion.")
      .def_prop_ro(
          "contacts", [](const MujocoAnswer& a) { return make_index_array(a.contacts); },
          nb::sig("def contacts(self) -> numpy.typing.NDArray[numpy.int64]"),
          "(nc,): their numbers in data.contact.")
      .def("__repr__", &show);
  nb::class_<PyMujocoSolver>(module, "MujocoSolver",
                             "Solves the constraints of a step of the package mujoco, for "
                             "carom.mujoco.Stepper.")
      .def(nb::init<nb::handle, nb::handle, nb::handle>(), nb::arg("law").none(),
           nb::arg("tolerance").none(), nb::arg("correction").none(),
           nb::sig("def __init__(self, law: str, tolerance: float, correction: float) -> None"))
      .def(
          "solve", &PyMujocoSolver::solve, nb::arg("model"), nb::arg("data"),
          nb::arg("integration"), nb::arg("margins"),
          nb::sig("def solve(self, model: typing.Any, data: typing.Any, integration: int, "
                  "margins: int) -> MujocoAnswer | None"),
          "Writes efc_force, efc_state, qfrc_constraint, qacc and qacc_warmstart. integration: 0\n"
          "explicit forces, 1 damped joints, 2 the derivative of all forces by the velocity, out\n"
          "of data.qDeriv. margins: 0 leaves those of the model; 1 widens them if they are less\n"
          "than what geometries may approach in this step, and returns None; 2 takes them as wide\n"
          "enough. 1 and 2 set them for the next step.");
}

}  // namespace carom::python
