// SPDX-License-Identifier: BSD-3-Clause
// carom.Solution: the answer to a step, and how far to trust it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <string>

#include "bindings.hpp"

namespace carom::python {
namespace {

std::string show(const SolvedStep& step) {
  const auto number = [](double x) { return carom::detail::number_text(x); };
  std::string text = std::string("Solution(status='") + to_string(step.report.status) + "', law='" +
                     to_string(step.law) +
                     "', contacts=" + std::to_string(step.data->contact_count()) +
                     ", iterations=" + std::to_string(step.report.iterations) +
                     ", residual=" + number(step.report.residual);
  if (detail::is_finite(step.report.error_bound)) {
    text += ", error_bound=" + number(step.report.error_bound);
  }
  return text + ")";
}

constexpr const char* array_type = "numpy.typing.NDArray[numpy.float64]";

}  // namespace

void bind_solution(nb::module_& module) {
  nb::class_<SolvedStep> solution(
      module, "Solution", "The answer to a step, and how far to trust it. Every array is fresh.");
  const auto array = [&](const char* name, auto getter, const char* type, const char* doc) {
    const std::string signature = std::string("def ") + name + "(self) -> " + type;
    solution.def_prop_ro(name, getter, nb::sig(signature.c_str()), doc);
  };
  array(
      "velocity", [](const SolvedStep& s) { return make_array(s.velocity); }, array_type,
      "(nv,) [m/s, rad/s], stacked over the bodies.");
  array(
      "impulse", [](const SolvedStep& s) { return contact_array(*s.data, s.impulse); }, array_type,
      "(nc, 3) [N s], rows (t1, t2, n) per contact.");
  array(
      "contact_velocity",
      [](const SolvedStep& s) { return contact_array(*s.data, s.contact_velocity); }, array_type,
      "(nc, 3) [m/s], J v per contact.");
  array(
      "constraint_impulses",
      [](const SolvedStep& s) { return constraint_list(*s.data, s.impulse); },
      "list[numpy.typing.NDArray[numpy.float64]]",
      "One array [N s, N m s] per constraint, an entry per row.");
  array(
      "constraint_velocities",
      [](const SolvedStep& s) { return constraint_list(*s.data, s.contact_velocity); },
      "list[numpy.typing.NDArray[numpy.float64]]",
      "One array [m/s, rad/s] per constraint, an entry per row.");
  array(
      "stacked_impulse", [](const SolvedStep& s) { return make_array(s.impulse); }, array_type,
      "All impulses [N s, N m s], block by block in the order in which blocks were added.");
  solution.def_prop_ro("law", [](const SolvedStep& s) { return to_string(s.law); })
      .def_prop_ro(
          "status", [](const SolvedStep& s) { return to_string(s.report.status); },
          "'converged', 'iteration_limit', 'no_progress', 'deadline', 'infeasible' or\n"
          "'not_finite'. Where it is not the first, the best iterate is returned.")
      .def_prop_ro("converged", [](const SolvedStep& s) { return s.report.converged(); })
      .def_prop_ro("iterations", [](const SolvedStep& s) { return s.report.iterations; })
      .def_prop_ro(
          "residual", [](const SolvedStep& s) { return s.report.residual; },
          "Relative residual [-] of the kind that `measure` names.")
      .def_prop_ro(
          "measure", [](const SolvedStep& s) { return to_string(s.report.measure); },
          "'block_error': of the worst contact, by what its own bodies do, as certify() finds it.\n"
          "'natural_map' of the whole problem in heaps of 20,000 contacts.")
      .def_prop_ro(
          "worst_contact",
          [](const SolvedStep& s) -> std::optional<Index> {
            for (Index c = 0; c < s.data->contact_count(); ++c) {
              if (s.data->contacts()[std::size_t(c)] == s.report.worst_block) return c;
            }
            return {};
          },
          nb::sig("def worst_contact(self) -> int | None"),
          "The contact with the largest error; None where it is a constraint, or none has any.")
      .def_prop_ro(
          "deepest_overlap",
          [](const SolvedStep& s) { return s.data->problem().deepest_overlap(); },
          "How deep the bodies of the deepest contact are in each other before the step [m], >= 0.")
      .def_prop_ro(
          "error_bound", [](const SolvedStep& s) { return s.report.error_bound; },
          "Proven bound on the error of the velocity in the norm of the mass matrix\n"
          "[J^(1/2)]; infinite where none is known.")
      .def_prop_ro(
          "seconds", [](const SolvedStep& s) { return s.seconds; }, "Time of the solve [s].")
      .def_prop_ro(
          "problem",
          [](const SolvedStep& s) {
            // Whoever changes the copy changes data of its own, as these are shared.
            return PyProblem{std::const_pointer_cast<ProblemData>(s.data)};
          },
          nb::sig("def problem(self) -> ContactProblem"), "The problem as it was solved.")
      .def_prop_ro(
          "rigid", [](const SolvedStep& s) { return s.rigid; },
          "Whether every contact was taken as rigid.")
      .def(
          "plot",
          [](nb::pointer_and_handle<SolvedStep> self, nb::handle axes) {
            return nb::module_::import_("carom._plot").attr("plot")(self.h, axes);
          },
          nb::arg("axes") = nb::none(),
          nb::sig("def plot(self, axes: typing.Any = None) -> typing.Any"),
          "Draws the impulses of all contacts in their friction cone, by matplotlib: the normal\n"
          "impulse over the tangential one by mu [N s], coloured by stick, slide and open, with\n"
          "status and residual in the title. Returns the axes; None makes new ones.")
      .def("__repr__", &show);
}

}  // namespace carom::python
