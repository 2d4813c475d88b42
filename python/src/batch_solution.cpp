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

/// One array where every problem has as many numbers, else a list of arrays.
template <typename Count, typename Write, typename Make>
nb::object collect(const BatchSolution& solution, const Count& count, const Write& write,
                   const Make& make) {
  const auto& steps = solution.steps;
  const bool alike = std::all_of(steps.begin(), steps.end(), [&](const auto& step) {
    return count(*step) == count(*steps.front());
  });
  if (alike && !steps.empty()) {
    const Index width = count(*steps.front());
    VectorX<double> all(width * Index(steps.size()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (width > 0) write(*steps[i], all.segment(Index(i) * width, width));
    }
    return make(all, Index(steps.size()), width);
  }
  nb::list list;
  for (const auto& step : steps) {
    VectorX<double> one(count(*step));
    if (one.size() > 0) write(*step, one.segment(0, one.size()));
    list.append(make(one, -1, one.size()));
  }
  return list;
}

nb::object velocities(const BatchSolution& solution) {
  return collect(
      solution, [](const SolvedStep& s) { return s.velocity.size(); },
      [](const SolvedStep& s, auto out) { out = s.velocity; },
      [](const VectorX<double>& numbers, Index count, Index width) {
        return count < 0 ? make_array(numbers) : make_array(numbers.data(), {count, width});
      });
}

nb::object of_contacts(const BatchSolution& solution, VectorX<double> SolvedStep::*member) {
  return collect(
      solution, [](const SolvedStep& s) { return 3 * s.data->contact_count(); },
      [member](const SolvedStep& s, auto out) {
        for (Index c = 0; c < s.data->contact_count(); ++c) {
          const Index row = s.data->problem().first_row(s.data->contacts()[std::size_t(c)]);
          out.template segment<3>(3 * c) = (s.*member).template segment<3>(row);
        }
      },
      [](const VectorX<double>& numbers, Index count, Index width) {
        return count < 0 ? make_array(numbers.data(), {width / 3, 3})
                         : make_array(numbers.data(), {count, width / 3, 3});
      });
}

template <typename Read>
nb::object one_each(const BatchSolution& solution, const Read& read) {
  VectorX<double> numbers(Index(solution.steps.size()));
  for (std::size_t i = 0; i < solution.steps.size(); ++i) {
    numbers(Index(i)) = read(*solution.steps[i]);
  }
  return make_array(numbers);
}

std::string show(const BatchSolution& solution) {
  const auto done = std::count_if(solution.steps.begin(), solution.steps.end(),
                                  [](const auto& step) { return step->report.converged(); });
  return "BatchSolution(" + std::to_string(solution.steps.size()) + " problems, " +
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
      "impulse", [](const BatchSolution& s) { return of_contacts(s, &SolvedStep::impulse); },
      arrays, "(count, nc, 3) [N s]");
  array(
      "contact_velocity",
      [](const BatchSolution& s) { return of_contacts(s, &SolvedStep::contact_velocity); }, arrays,
      "(count, nc, 3) [m/s]");
  const char* const numbers = "numpy.typing.NDArray[numpy.float64]";
  array(
      "residual",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolvedStep& step) { return step.report.residual; });
      },
      numbers, "(count,) [-]");
  array(
      "error_bound",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolvedStep& step) { return step.report.error_bound; });
      },
      numbers, "(count,) [J^(1/2)]");
  array(
      "seconds",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolvedStep& step) { return step.seconds; });
      },
      numbers, "(count,) [s], the time of each solve on its thread");
  array(
      "status",
      [](const BatchSolution& s) {
        std::vector<std::string> names;
        for (const auto& step : s.steps) names.emplace_back(to_string(step->report.status));
        return names;
      },
      "list[str]", "As Solution.status.");
  array(
      "converged",
      [](const BatchSolution& s) {
        return one_each(s, [](const SolvedStep& step) { return step.report.converged(); })
            .attr("astype")("bool");
      },
      "numpy.typing.NDArray[numpy.bool_]", "(count,)");
  array(
      "iterations",
      [](const BatchSolution& s) {
        std::vector<Index> counts;
        for (const auto& step : s.steps) counts.push_back(step->report.iterations);
        return make_index_array(counts);
      },
      "numpy.typing.NDArray[numpy.int64]", "(count,)");
  solution.def("__len__", [](const BatchSolution& s) { return s.steps.size(); })
      .def(
          "__getitem__",
          [](const BatchSolution& s, Index i) {
            const Index count = Index(s.steps.size());
            if (i < -count || i >= count) throw nb::index_error("no such problem");
            return s.steps[std::size_t(i < 0 ? i + count : i)];
          },
          nb::sig("def __getitem__(self, arg: int, /) -> Solution"),
          "The Solution of one problem, with its gradients.")
      .def("__repr__", &show);
}

}  // namespace carom::python
