// SPDX-License-Identifier: BSD-3-Clause
// carom.ImpulseProblem and its solution.
#include "impulse_problem.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>

#include "carom/solvers/impulse_certificate.hpp"

#include "bindings.hpp"
#include "io/bad_input.hpp"
#include "io/friction_dual.hpp"
#include "solve_clock.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

using SharedImpulseProblem = std::shared_ptr<const ImpulseProblem>;

/// An answer in impulses, in the rows of the problem.
struct ImpulseSolution {
  SharedImpulseProblem problem;
  FrictionLaw law = FrictionLaw::coulomb;
  VectorX<double> velocity, impulse, contact_velocity, multiplier;
  SolveReport<double> report;
  double seconds = 0;
};

VectorX<double> start_of(const ImpulseProblem& problem, nb::handle guess) {
  VectorX<double> start = VectorX<double>::Zero(problem.dual.row_count());
  if (!guess.is_none()) {
    const GivenArray given(guess, "guess");
    if (given.rank() == 2)
      given.require_shape({problem.file.contact_count, problem.file.dimension});
    if (given.rank() != 2) given.require_shape({problem.file.row_count()});
    start.head(problem.file.row_count()) = given.flat();
    detail::reject_if(detail::finite_fault("guess", start));
  } else if (problem.file.guess) {
    start.head(problem.file.row_count()) =
        files::to_row_order(problem.file.dimension, problem.file.guess->impulse);
    start.tail(problem.file.guess->multiplier.size()) = problem.file.guess->multiplier;
  }
  return start;
}

ImpulseSolution solve(SharedImpulseProblem problem, nb::handle law, nb::handle tolerance,
                      nb::handle guess, nb::handle deadline, nb::handle iteration_limit,
                      nb::handle rigid, nb::handle progress) {
  const SolveSettings settings = read_settings(law, rigid, tolerance, deadline, iteration_limit);
  ImpulseSolution answer;
  answer.law = law.is_none() ? FrictionLaw::coulomb : settings.law;
  VectorX<double> impulse = start_of(*problem, guess);
  LongWork work(progress, "solve");
  SolveClock clock(settings.deadline, work);
  {
    const Unlocked unlocked;
    InteriorPointOptions<double> options{.law = answer.law, .tolerance = settings.tolerance};
    if (settings.iteration_limit >= 0) options.iteration_limit = settings.iteration_limit;
    InteriorPointSolver<double> solver(options);
    solver.set_limits(clock.limits());
    answer.report = solver.solve(problem->dual, impulse);
    answer.seconds = clock.elapsed();
    const files::FrictionState state = files::friction_answer(problem->file, impulse);
    answer.velocity = state.velocity;
    answer.impulse = impulse.head(problem->file.row_count());
    answer.multiplier = state.multiplier;
    answer.contact_velocity = files::to_row_order(problem->file.dimension, state.contact_velocity);
  }
  answer.problem = std::move(problem);
  work.finish([&] { return nb::cast(answer); });
  return answer;
}

nb::object per_contact(const ImpulseSolution& answer, const VectorX<double>& rows) {
  const files::FrictionProblem& file = answer.problem->file;
  return make_array(rows.data(), {file.contact_count, file.dimension});
}

std::string show_problem(const ImpulseProblem& problem) {
  std::string text = "ImpulseProblem(contacts=" + std::to_string(problem.file.contact_count) +
                     ", dimension=" + std::to_string(problem.file.dimension);
  if (problem.file.equality_count() > 0) {
    text += ", equalities=" + std::to_string(problem.file.equality_count());
  }
  return text + ")";
}

std::string show_solution(const ImpulseSolution& answer) {
  return std::string("ImpulseSolution(status='") + to_string(answer.report.status) + "', law='" +
         to_string(answer.law) +
         "', contacts=" + std::to_string(answer.problem->file.contact_count) +
         ", iterations=" + std::to_string(answer.report.iterations) +
         ", residual=" + carom::detail::number_text(answer.report.residual) + ")";
}

void bind_answer(nb::module_& module) {
  nb::class_<ImpulseSolution>(
      module, "ImpulseSolution",
      "The answer to an ImpulseProblem. d = 3 entries (t1, t2, n) per\n"
      "contact, in the plane 2, (t, n), with rolling 5, (t1, t2, n, m1, m2).")
      .def_prop_ro(
          "velocity", [](const ImpulseSolution& s) { return make_array(s.velocity); },
          nb::sig("def velocity(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(nv,) [m/s, rad/s], of a file with bodies, else empty.")
      .def_prop_ro(
          "impulse", [](const ImpulseSolution& s) { return per_contact(s, s.impulse); },
          nb::sig("def impulse(self) -> numpy.typing.NDArray[numpy.float64]"), "(nc, d) [N s].")
      .def_prop_ro(
          "contact_velocity",
          [](const ImpulseSolution& s) { return per_contact(s, s.contact_velocity); },
          nb::sig("def contact_velocity(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(nc, d) [m/s].")
      .def_prop_ro(
          "multiplier", [](const ImpulseSolution& s) { return make_array(s.multiplier); },
          nb::sig("def multiplier(self) -> numpy.typing.NDArray[numpy.float64]"),
          "Impulses of the equality constraints [N s].")
      .def_prop_ro("law", [](const ImpulseSolution& s) { return to_string(s.law); })
      .def_prop_ro("status", [](const ImpulseSolution& s) { return to_string(s.report.status); })
      .def_prop_ro("converged", [](const ImpulseSolution& s) { return s.report.converged(); })
      .def_prop_ro("iterations", [](const ImpulseSolution& s) { return s.report.iterations; })
      .def_prop_ro("residual", [](const ImpulseSolution& s) { return s.report.residual; })
      .def_prop_ro("error_bound", [](const ImpulseSolution& s) { return s.report.error_bound; })
      .def_prop_ro("seconds", [](const ImpulseSolution& s) { return s.seconds; })
      .def("__repr__", &show_solution);
}

}  // namespace

ImpulseProblem::ImpulseProblem(files::FrictionProblem given)
    : file(std::move(given)), dual(files::friction_dual(file)) {
  if (const Fault fault = dual.check(); !fault.empty()) throw files::BadInput(fault);
}

void bind_impulse_problem(nb::module_& module) {
  nb::class_<ImpulseProblem>(module, "ImpulseProblem",
                             "A problem in impulses alone, u = W r + q, out of a file; see read().")
      .def_prop_ro("contact_count", [](const ImpulseProblem& p) { return p.file.contact_count; })
      .def_prop_ro(
          "dimension", [](const ImpulseProblem& p) { return p.file.dimension; },
          "Entries per contact: 3, in the plane 2, with rolling 5.")
      .def("__repr__", &show_problem);
  bind_answer(module);
  module.def(
      "solve",
      [](std::shared_ptr<ImpulseProblem> problem, nb::handle law, nb::handle rigid,
         nb::handle tolerance, nb::handle guess, nb::handle deadline, nb::handle iteration_limit,
         nb::handle progress) {
        return solve(std::move(problem), law, tolerance, guess, deadline, iteration_limit, rigid,
                     progress);
      },
      nb::arg("problem"), nb::arg("law") = nb::none(), nb::arg("rigid").none() = true,
      nb::arg("tolerance").none() = 1e-8, nb::arg("guess") = nb::none(),
      nb::arg("deadline") = nb::none(), nb::arg("iteration_limit") = nb::none(),
      nb::arg("progress").none() = true,
      nb::sig("def solve(problem: ImpulseProblem, law: str | None = None, rigid: bool = True, "
              "tolerance: float = 1e-08, guess: numpy.typing.ArrayLike | None = None, "
              "deadline: float | None = None, iteration_limit: int | None = None, "
              "progress: bool | collections.abc.Callable[[float | None], object] = True) "
              "-> ImpulseSolution"),
      "The same for a problem in impulses, whose law is 'coulomb' unless told otherwise and whose\n"
      "contacts are rigid. guess: (nc, d) impulses [N s].");
}

}  // namespace carom::python
