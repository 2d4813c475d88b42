// SPDX-License-Identifier: BSD-3-Clause
// carom.BatchSolution.
#include <algorithm>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <vector>

#include "batch_solver.hpp"
#include "bindings.hpp"

namespace carom::python {
namespace {

/// Whether all problems have as many of something as the first.
template <typename Count>
bool are_alike(const BatchProblems& problems, const Count& count) {
  if (problems.is_pattern()) return problems.count() > 0;
  for (Index i = 0; i < problems.count(); ++i) {
    if (count(problems.shape(i)) != count(problems.shape(0))) return false;
  }
  return problems.count() > 0;
}

nb::object velocities(const BatchSolution& solution) {
  const BatchProblems& problems = solution.problems();
  const auto count = [](const ProblemData& data) { return data.problem().velocity_count(); };
  const double* const numbers = solution.velocity().data();
  if (are_alike(problems, count)) {
    return make_array(numbers, {problems.count(), count(problems.shape(0))});
  }
  nb::list list;
  for (Index i = 0; i < problems.count(); ++i) {
    list.append(make_array(numbers + problems.velocity_start(i), {count(problems.shape(i))}));
  }
  return list;
}

/// Writes the numbers of the contacts of a problem, out of those of all its blocks.
void write_contacts(const ProblemData& data, const double* stacked, double* out) {
  for (const Index block : data.contacts()) {
    out = std::copy_n(stacked + data.problem().first_row(block), 3, out);
  }
}

/// @param stacked  numbers of all blocks of all problems.
nb::object of_contacts(const BatchProblems& problems, const VectorX<double>& stacked) {
  const auto count = [](const ProblemData& data) { return data.contact_count(); };
  if (are_alike(problems, count)) {
    const Index contacts = count(problems.shape(0));
    if (3 * contacts * problems.count() == stacked.size()) {  // there are no other blocks
      return make_array(stacked.data(), {problems.count(), contacts, 3});
    }
    VectorX<double> all(3 * contacts * problems.count());
    for (Index i = 0; i < problems.count(); ++i) {
      write_contacts(problems.shape(i), stacked.data() + problems.impulse_start(i),
                     all.data() + 3 * contacts * i);
    }
    return make_array(all.data(), {problems.count(), contacts, 3});
  }
  nb::list list;
  for (Index i = 0; i < problems.count(); ++i) {
    VectorX<double> one(3 * count(problems.shape(i)));
    write_contacts(problems.shape(i), stacked.data() + problems.impulse_start(i), one.data());
    list.append(make_array(one.data(), {one.size() / 3, 3}));
  }
  return list;
}

template <typename Read>
nb::object one_each(const BatchSolution& solution, const Read& read) {
  VectorX<double> numbers(solution.count());
  for (Index i = 0; i < numbers.size(); ++i) numbers(i) = read(solution.report(i));
  return make_array(numbers);
}

std::string show(const BatchSolution& solution) {
  Index done = 0;
  for (Index i = 0; i < solution.count(); ++i) done += Index(solution.report(i).converged());
  return "BatchSolution(" + std::to_string(solution.count()) + " problems, " +
         std::to_string(done) + " converged)";
}

}  // namespace

void bind_batch_solution(nb::module_& module) {
  const char* const arrays =
      "numpy.typing.NDArray[numpy.float64] | list[numpy.typing.NDArray[numpy.float64]]";
  nb::class_<BatchSolution> solution(
      module, "BatchSolution",
      "Answers in the order of the problems. Where all problems have one size the fields are one\n"
      "array with the problems as its first axis, else a list of arrays: velocity[i] is that of\n"
      "problem i in either case.");
  const auto array = [&](const char* name, auto getter, const char* type, const char* doc) {
    const std::string signature = std::string("def ") + name + "(self) -> " + type;
    solution.def_prop_ro(name, getter, nb::sig(signature.c_str()), doc);
  };
  array("velocity", &velocities, arrays, "(count, nv) [m/s, rad/s]");
  array(
      "impulse", [](const BatchSolution& s) { return of_contacts(s.problems(), s.impulse()); },
      arrays, "(count, nc, 3) [N s]");
  array(
      "contact_velocity",
      [](const BatchSolution& s) { return of_contacts(s.problems(), s.contact_velocity()); },
      arrays, "(count, nc, 3) [m/s]");
  const char* const numbers = "numpy.typing.NDArray[numpy.float64]";
  array(
      "residual",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolveReport<double>& report) { return report.residual; });
      },
      numbers, "(count,) [-]");
  array(
      "error_bound",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolveReport<double>& report) { return report.error_bound; });
      },
      numbers, "(count,) [J^(1/2)]");
  array(
      "seconds", [](const BatchSolution& s) { return make_array(s.seconds()); }, numbers,
      "(count,) [s], the time of each solve on its thread");
  array(
      "status",
      [](const BatchSolution& s) {
        std::vector<std::string> names;
        for (Index i = 0; i < s.count(); ++i) names.emplace_back(to_string(s.report(i).status));
        return names;
      },
      "list[str]", "As Solution.status.");
  array(
      "converged",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolveReport<double>& report) { return report.converged(); })
            .attr("astype")("bool");
      },
      "numpy.typing.NDArray[numpy.bool_]", "(count,)");
  array(
      "iterations",
      [](const BatchSolution& s) {
        std::vector<Index> counts;
        for (Index i = 0; i < s.count(); ++i) counts.push_back(s.report(i).iterations);
        return make_index_array(counts);
      },
      "numpy.typing.NDArray[numpy.int64]", "(count,)");
  solution.def("__len__", [](const BatchSolution& s) { return s.count(); })
      .def(
          "__getitem__",
          [](const BatchSolution& s, Index i) {
            const Index count = s.count();
            if (i < -count || i >= count) throw nb::index_error("no such problem");
            ProblemReader reader(s.problems());
            return s.step(i < 0 ? i + count : i, reader);
          },
          nb::sig("def __getitem__(self, arg: int, /) -> Solution"),
          "The Solution of one problem, with its gradients.")
      .def("__repr__", &show);
}

}  // namespace carom::python
