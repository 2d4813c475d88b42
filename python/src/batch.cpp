// SPDX-License-Identifier: BSD-3-Clause
// carom.Batch and carom.solve_batch.
#include <algorithm>
#include <memory>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batch_solver.hpp"
#include "bindings.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

/// Problems to be solved together. They are the ones of now: later changes do not reach them.
struct Batch {
  std::shared_ptr<const BatchProblems> problems;
};

/// All numbers of an array, kept as long as somebody uses them.
std::shared_ptr<const VectorX<double>> keep(const GivenArray& given) {
  return std::make_shared<const VectorX<double>>(given.flat());
}

/// One array per problem out of an array with the problems as its first axis.
PerProblem read_per_problem(nb::handle value, const char* item, const std::vector<Index>& shape) {
  if (value.is_none()) return {};
  const GivenArray given(value, item);
  given.require_shape(shape);
  Index width = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) width *= shape[axis];
  const auto numbers = keep(given);
  return {numbers->data(), width, numbers};
}

/// Matrices of bodies or contacts, per problem: a list with an array (count, rows, columns) or None
/// per item, or where there is one item, or where all have one size, an array of all.
/// @param items  one per size, written.
void read_per_item(nb::handle value, const std::string& name, Index count,
                   const std::vector<MatrixSize>& sizes, std::vector<PerProblem>& items) {
  if (value.is_none()) return;
  const bool alike =
      std::all_of(sizes.begin(), sizes.end(), [&](const auto& s) { return s == sizes.front(); });
  const bool is_list = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  if (!is_list && alike && !sizes.empty()) {
    const auto [rows, columns] = sizes.front();
    const GivenArray given(value, name);
    const Index parts = Index(sizes.size());
    if (parts > 1 || given.rank() == 4) given.require_shape({count, parts, rows, columns});
    if (parts == 1 && given.rank() != 4) given.require_shape({count, rows, columns});
    const auto numbers = keep(given);
    const Index width = rows * columns;
    for (Index k = 0; k < parts; ++k) {
      items[std::size_t(k)] = {numbers->data() + k * width, parts * width, numbers};
    }
    return;
  }
  if (!is_list || nb::len(value) != sizes.size()) {
    refuse(name, "a list of " + std::to_string(sizes.size()) + " arrays", describe(value));
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const nb::object one = value[k];
    if (one.is_none()) continue;
    const GivenArray given(one, name + " " + std::to_string(k));
    given.require_shape({count, sizes[k].first, sizes[k].second});
    const auto numbers = keep(given);
    items[k] = {numbers->data(), sizes[k].first * sizes[k].second, numbers};
  }
}

/// Refuses problems that make no sense, on all threads; Python may interrupt it.
void check(const BatchProblems& problems) {
  bool interrupted = false;
  {
    const Unlocked unlocked;
    check_all(problems, all_threads(), [&](double) {
      const nb::gil_scoped_acquire lock;
      interrupted = is_stopped_by_python();
      return interrupted;
    });
  }
  if (interrupted) throw nb::python_error();
}

Batch make_like(const PyProblem& problem, nb::handle count_given, nb::handle free_velocity,
                nb::handle friction, nb::handle gap, nb::handle stiffness,
                nb::handle dissipation_time, nb::handle regularization, nb::handle bias,
                nb::handle mass, nb::handle jacobian, nb::handle other_jacobian) {
  const std::shared_ptr<const ProblemData> pattern = problem.data;
  const Index count = read_index(count_given, "count");
  if (count < 0 || count > 100'000'000) {
    detail::reject_if(detail::fault("count", "a number from 0 to 100000000", count));
  }
  const ProblemShape shape(*pattern);
  const Index contacts = shape.contacts;
  Replacements given(shape);
  given.free_velocity = read_per_problem(free_velocity, "free_velocity", {count, shape.velocities});
  given.friction = read_per_problem(friction, "friction", {count, contacts});
  given.gap = read_per_problem(gap, "gap", {count, contacts});
  given.stiffness = read_per_problem(stiffness, "stiffness", {count, contacts});
  given.dissipation_time =
      read_per_problem(dissipation_time, "dissipation_time", {count, contacts});
  given.regularization = read_per_problem(regularization, "regularization", {count, contacts, 3});
  given.bias = read_per_problem(bias, "bias", {count, contacts, 3});
  read_per_item(mass, "mass", count, shape.mass, given.mass);
  read_per_item(jacobian, "jacobian", count, shape.jacobian, given.jacobian);
  read_per_item(other_jacobian, "other_jacobian", count, shape.other_jacobian,
                given.other_jacobian);
  auto problems = std::make_shared<const BatchProblems>(pattern, std::move(given), count);
  check(*problems);
  return {std::move(problems)};
}

/// A batch out of any iterable of problems.
Batch make_batch(nb::handle problems) {
  std::vector<std::shared_ptr<const ProblemData>> listed;
  const nb::object iterator = nb::steal(PyObject_GetIter(problems.ptr()));
  if (!iterator.is_valid()) {
    PyErr_Clear();
    refuse("problems", "a sequence of ContactProblem", describe(problems));
  }
  for (;;) {
    const nb::object one = nb::steal(PyIter_Next(iterator.ptr()));
    if (!one.is_valid()) break;
    PyProblem* problem = nullptr;
    if (!nb::try_cast(one, problem, false) || problem == nullptr) {
      refuse("problem " + std::to_string(listed.size()), "a ContactProblem", describe(one));
    }
    listed.push_back(problem->data);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  return {std::make_shared<const BatchProblems>(std::move(listed))};
}

std::shared_ptr<BatchSolution> solve_batch(nb::handle given, nb::handle law, nb::handle tolerance,
                                           nb::handle threads, nb::handle rigid,
                                           nb::handle deadline, nb::handle iteration_limit,
                                           nb::handle progress) {
  const SolveSettings settings = read_settings(law, rigid, tolerance, deadline, iteration_limit);
  const int thread_count = read_threads(threads);
  Batch* made = nullptr;
  const bool is_batch = nb::try_cast(given, made, false) && made != nullptr;
  // Held while code of Python may run that lets go of the batch.
  const std::shared_ptr<const BatchProblems> problems =
      is_batch ? made->problems : make_batch(given).problems;
  auto solution = std::make_shared<BatchSolution>(problems, settings);
  LongWork work(progress, "solve_batch");
  if (solution->count() == 1) {  // by the solver that single solves keep
    auto step = make_step(ProblemReader(*problems).make(0), settings);
    solve_alone(settings, work, *step);
    solution->take(0, std::move(step));
  } else {
    const Unlocked unlocked;
    solve_all(
        *problems, settings, thread_count, [&](double begun) { return !work.goes_on(begun); },
        solution->arrays());
  }
  work.finish([&] { return nb::cast(solution); });
  return solution;
}

constexpr const char* like_doc =
    "`count` problems of one pattern, some numbers of which differ.\n\n"
    "Arrays have the problems as their first axis: free_velocity (count, nv); friction, gap,\n"
    "stiffness, dissipation_time (count, nc); regularization, bias (count, nc, 3). mass: a list "
    "with\n"
    "(count, n, n) or None per body, or an array (count, bodies, n, n); of one body (count, n, "
    "n).\n"
    "jacobian, other_jacobian: the same per contact, (count, 3, n). What is left out is that of "
    "the\n"
    "pattern.";

}  // namespace

int all_threads() noexcept {
  static const int count = int(std::max(1U, std::thread::hardware_concurrency()));
  return count;
}

int read_threads(nb::handle threads) {
  if (threads.is_none()) return all_threads();
  const Index count = read_index(threads, "threads");
  if (count < 1) detail::reject_if(detail::fault("threads", "a number >= 1", count));
  return int(std::min<Index>(count, 256));
}

void bind_batch(nb::module_& module) {
  nb::class_<Batch> batch(module, "Batch",
                          "Problems to be solved together, as they are when the batch is made.");
  batch
      .def(
          "__init__",
          [](Batch* self, nb::handle problems) { new (self) Batch(make_batch(problems)); },
          nb::arg("problems").none(),
          nb::sig("def __init__(self, problems: collections.abc.Iterable[ContactProblem]) -> None"))
      .def_static(
          "like", &make_like, nb::arg("problem"), nb::arg("count").none(), nb::kw_only(),
          nb::arg("free_velocity") = nb::none(), nb::arg("friction") = nb::none(),
          nb::arg("gap") = nb::none(), nb::arg("stiffness") = nb::none(),
          nb::arg("dissipation_time") = nb::none(), nb::arg("regularization") = nb::none(),
          nb::arg("bias") = nb::none(), nb::arg("mass") = nb::none(),
          nb::arg("jacobian") = nb::none(), nb::arg("other_jacobian") = nb::none(),
          nb::sig(
              "def like(problem: ContactProblem, count: int, *, "
              "free_velocity: numpy.typing.ArrayLike | None = None, "
              "friction: numpy.typing.ArrayLike | None = None, "
              "gap: numpy.typing.ArrayLike | None = None, "
              "stiffness: numpy.typing.ArrayLike | None = None, "
              "dissipation_time: numpy.typing.ArrayLike | None = None, "
              "regularization: numpy.typing.ArrayLike | None = None, "
              "bias: numpy.typing.ArrayLike | None = None, "
              "mass: numpy.typing.ArrayLike | "
              "collections.abc.Sequence[numpy.typing.ArrayLike | None] | None = None, "
              "jacobian: numpy.typing.ArrayLike | "
              "collections.abc.Sequence[numpy.typing.ArrayLike | None] | None = None, "
              "other_jacobian: numpy.typing.ArrayLike | "
              "collections.abc.Sequence[numpy.typing.ArrayLike | None] | None = None) -> Batch"),
          like_doc)
      .def("__len__", [](const Batch& b) { return b.problems->count(); })
      .def("__repr__", [](const Batch& b) {
        return "Batch(" + std::to_string(b.problems->count()) + " problems)";
      });
  bind_batch_solution(module);
  module.def(
      "solve_batch", &solve_batch, nb::arg("batch").none(), nb::arg("law").none() = "coulomb",
      nb::arg("tolerance").none() = 1e-8, nb::arg("threads") = nb::none(),
      nb::arg("rigid").none() = false, nb::arg("deadline") = nb::none(),
      nb::arg("iteration_limit") = nb::none(), nb::arg("progress").none() = true,
      nb::sig("def solve_batch(batch: Batch | collections.abc.Iterable[ContactProblem], "
              "law: str = 'coulomb', tolerance: float = 1e-08, threads: int | None = None, "
              "rigid: bool = False, deadline: float | None = None, "
              "iteration_limit: int | None = None, "
              "progress: bool | collections.abc.Callable[[float | None], object] = True) "
              "-> BatchSolution"),
      "Solves many problems on several threads; see solve() for the arguments.\n\n"
      "threads: None for as many as the processor has. The answers are those of single solves to\n"
      "the last bit, whatever it is. deadline [s] is that of the whole batch. Other threads of\n"
      "Python run meanwhile. progress: whether long batches show a bar on a terminal or in a\n"
      "notebook; or a function, called with the share begun, in [0, 1], at most ten times a "
      "second.\n"
      "Ctrl-C ends the batch; the KeyboardInterrupt has the BatchSolution as its attribute\n"
      "`partial`, where what was not solved has the status 'deadline'.");
}

}  // namespace carom::python
