// SPDX-License-Identifier: BSD-3-Clause
// carom.Batch and carom.solve_batch.
#include <algorithm>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batch_solver.hpp"
#include "bindings.hpp"

namespace carom::python {
namespace {

/// Problems to be solved together. They are the ones of now: later changes do not reach them.
struct Batch {
  std::vector<std::shared_ptr<const ProblemData>> problems;
};

/// One array per problem out of an array with the problems as its first axis.
class PerProblem {
 public:
  PerProblem() = default;
  PerProblem(nb::handle value, const char* item, std::vector<Index> shape) {
    if (value.is_none()) return;
    given_.emplace(value, item);
    given_->require_shape(shape);
    numbers_ = given_->flat();
    width_ = 1;
    for (std::size_t axis = 1; axis < shape.size(); ++axis) width_ *= shape[axis];
  }
  [[nodiscard]] bool is_given() const noexcept { return given_.has_value(); }
  /// Of one problem, in C order.
  [[nodiscard]] auto of(Index problem) const { return numbers_.segment(problem * width_, width_); }

 private:
  std::optional<GivenArray> given_;
  VectorX<double> numbers_;
  Index width_ = 0;
};

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Matrices of bodies or contacts, per problem: a list with an array (count, rows, columns) or None
/// per item, or where there is one item, or where all have one size, an array of all.
class PerItem {
 public:
  PerItem(nb::handle value, const std::string& name, Index count,
          const std::vector<std::pair<Index, Index>>& sizes)
      : sizes_(sizes), items_(sizes.size()) {
    if (value.is_none()) return;
    const bool alike =
        std::all_of(sizes.begin(), sizes.end(), [&](const auto& s) { return s == sizes.front(); });
    const bool is_list = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
    if (!is_list && alike && !sizes.empty()) {
      const auto [rows, columns] = sizes.front();
      GivenArray given(value, name);
      const Index parts = Index(sizes.size());
      if (parts > 1 || given.rank() == 4) given.require_shape({count, parts, rows, columns});
      if (parts == 1 && given.rank() != 4) given.require_shape({count, rows, columns});
      const VectorX<double> numbers = given.flat();
      const Index width = rows * columns;
      for (Index k = 0; k < parts; ++k) {
        VectorX<double>& one = items_[std::size_t(k)].emplace(count * width);
        for (Index i = 0; i < count; ++i) {
          one.segment(i * width, width) = numbers.segment((i * parts + k) * width, width);
        }
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
      items_[k] = given.flat();
    }
  }
  /// The matrix of an item in a problem, or nothing.
  [[nodiscard]] std::optional<MatrixX<double>> of(Index problem, Index item) const {
    const auto& numbers = items_[std::size_t(item)];
    if (!numbers) return {};
    const auto [rows, columns] = sizes_[std::size_t(item)];
    return Eigen::Map<const RowMajor>(numbers->data() + problem * rows * columns, rows, columns);
  }

 private:
  std::vector<std::pair<Index, Index>> sizes_;
  std::vector<std::optional<VectorX<double>>> items_;
};

/// What replaces numbers of a pattern.
struct Replacements {
  PerProblem free_velocity, friction, gap, stiffness, dissipation_time, regularization, bias;
  PerItem mass, jacobian, other_jacobian;
};

void replace(const Replacements& given, Index problem, Index contact, ContactData& data) {
  if (given.friction.is_given()) data.law.friction = given.friction.of(problem)(contact);
  if (given.gap.is_given()) data.law.gap = given.gap.of(problem)(contact);
  if (given.stiffness.is_given()) data.law.stiffness = given.stiffness.of(problem)(contact);
  if (given.dissipation_time.is_given()) {
    data.law.dissipation_time = given.dissipation_time.of(problem)(contact);
  }
  if (given.regularization.is_given()) {
    data.regularization = Vector3<double>(given.regularization.of(problem).segment<3>(3 * contact));
  }
  if (given.bias.is_given()) {
    data.bias = Vector3<double>(given.bias.of(problem).segment<3>(3 * contact));
  }
}

/// The pattern with other numbers.
std::shared_ptr<const ProblemData> rebuild(const ProblemData& pattern, const Replacements& given,
                                           Index i) {
  const ContactProblem<double>& problem = pattern.problem();
  auto made = std::make_shared<ProblemData>(problem.time_step());
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    MatrixX<double> mass = problem.momentum_matrix(b);
    if (const auto other = given.mass.of(i, b)) mass = *other;
    VectorX<double> velocity = problem.free_velocity().segment(start, size);
    if (given.free_velocity.is_given()) velocity = given.free_velocity.of(i).segment(start, size);
    made->add_body(mass, velocity);
  }
  Index contact = 0;
  for (Index block = 0; block < problem.block_count(); ++block) {
    const auto* const data = std::get_if<ContactData>(&pattern.law(block));
    MatrixX<double> jacobians[2];
    for (int s = 0; s < problem.side_count(block); ++s) {
      jacobians[s] = problem.jacobian(block, s);
      const PerItem& others = s == 0 ? given.jacobian : given.other_jacobian;
      if (data == nullptr) continue;
      if (const auto other = others.of(i, contact)) jacobians[s] = *other;
    }
    const auto view = [](const MatrixX<double>& matrix) {
      return GivenMatrix(matrix.data(), matrix.rows(), matrix.cols(),
                         Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(matrix.rows(), 1));
    };
    BlockSides<GivenMatrix> sides{problem.side_body(block, 0), view(jacobians[0]), {}, {}};
    if (problem.side_count(block) == 2) {
      sides.other = problem.side_body(block, 1);
      sides.other_jacobian.emplace(view(jacobians[1]));
    }
    if (data == nullptr) {
      made->add_constraint(sides, pattern.law(block));
      continue;
    }
    ContactData changed = *data;
    replace(given, i, contact, changed);
    made->add_contact(sides, changed);
    ++contact;
  }
  if (problem.rigid_count() > 0 && problem.rigid_count() == problem.block_count()) {
    made->make_rigid();
  }
  return made;
}

Batch make_like(const PyProblem& problem, nb::handle count_given, nb::handle free_velocity,
                nb::handle friction, nb::handle gap, nb::handle stiffness,
                nb::handle dissipation_time, nb::handle regularization, nb::handle bias,
                nb::handle mass, nb::handle jacobian, nb::handle other_jacobian) {
  const std::shared_ptr<const ProblemData> pattern = problem.data;
  const ContactProblem<double>& step = pattern->problem();
  const Index count = read_index(count_given, "count");
  if (count < 0 || count > 100'000'000) {
    detail::reject_if(detail::fault("count", "a number from 0 to 100000000", count));
  }
  const Index contacts = pattern->contact_count();
  std::vector<std::pair<Index, Index>> masses, first, second;
  for (Index b = 0; b < step.body_count(); ++b) {
    masses.emplace_back(step.body(b).size, step.body(b).size);
  }
  for (const Index block : pattern->contacts()) {
    first.emplace_back(3, step.body(step.side_body(block, 0)).size);
    const bool two = step.side_count(block) == 2;
    second.emplace_back(3, two ? step.body(step.side_body(block, 1)).size : 0);
  }
  const Replacements given{
      PerProblem(free_velocity, "free_velocity", {count, step.velocity_count()}),
      PerProblem(friction, "friction", {count, contacts}),
      PerProblem(gap, "gap", {count, contacts}),
      PerProblem(stiffness, "stiffness", {count, contacts}),
      PerProblem(dissipation_time, "dissipation_time", {count, contacts}),
      PerProblem(regularization, "regularization", {count, contacts, 3}),
      PerProblem(bias, "bias", {count, contacts, 3}),
      PerItem(mass, "mass", count, masses),
      PerItem(jacobian, "jacobian", count, first),
      PerItem(other_jacobian, "other_jacobian", count, second)};
  Batch batch;
  for (Index i = 0; i < count; ++i) {
    try {
      batch.problems.push_back(rebuild(*pattern, given, i));
    } catch (const std::invalid_argument& fault) {
      throw std::invalid_argument("problem " + std::to_string(i) + ": " + fault.what());
    }
  }
  return batch;
}

/// A batch out of any iterable of problems.
Batch make_batch(nb::handle problems) {
  Batch batch;
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
      refuse("problem " + std::to_string(batch.problems.size()), "a ContactProblem", describe(one));
    }
    batch.problems.push_back(problem->data);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  return batch;
}

int read_threads(nb::handle threads) {
  if (threads.is_none()) return int(std::max(1U, std::thread::hardware_concurrency()));
  const Index count = read_index(threads, "threads");
  if (count < 1) detail::reject_if(detail::fault("threads", "a number >= 1", count));
  return int(std::min<Index>(count, 256));
}

BatchSolution solve_batch(nb::handle given, nb::handle law, nb::handle tolerance,
                          nb::handle threads, nb::handle rigid, nb::handle deadline,
                          nb::handle iteration_limit) {
  const SolveSettings settings = read_settings(law, rigid, tolerance, deadline, iteration_limit);
  const int thread_count = read_threads(threads);
  Batch* made = nullptr;
  Batch listed;
  if (!nb::try_cast(given, made, false) || made == nullptr) {
    listed = make_batch(given);
    made = &listed;
  }
  BatchSolution solution;
  for (const auto& problem : made->problems) {
    solution.steps.push_back(make_step(problem, settings));
  }
  bool interrupted = false;
  {
    const nb::gil_scoped_release unlocked;
    solve_all(solution.steps, settings, thread_count, [&] {
      const nb::gil_scoped_acquire lock;
      interrupted = PyErr_CheckSignals() != 0;
      return interrupted;
    });
  }
  if (interrupted) throw nb::python_error();
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
      .def("__len__", [](const Batch& b) { return b.problems.size(); })
      .def("__repr__", [](const Batch& b) {
        return "Batch(" + std::to_string(b.problems.size()) + " problems)";
      });
  bind_batch_solution(module);
  module.def(
      "solve_batch", &solve_batch, nb::arg("batch").none(), nb::arg("law").none() = "convex",
      nb::arg("tolerance").none() = 1e-8, nb::arg("threads") = nb::none(),
      nb::arg("rigid").none() = false, nb::arg("deadline") = nb::none(),
      nb::arg("iteration_limit") = nb::none(),
      nb::sig("def solve_batch(batch: Batch | collections.abc.Iterable[ContactProblem], "
              "law: str = 'convex', tolerance: float = 1e-08, threads: int | None = None, "
              "rigid: bool = False, deadline: float | None = None, "
              "iteration_limit: int | None = None) -> BatchSolution"),
      "Solves many problems on several threads; see solve() for the arguments.\n\n"
      "threads: None for as many as the processor has. The answers are those of single solves to\n"
      "the last bit, whatever it is. deadline [s] is that of the whole batch. Other threads of\n"
      "Python run meanwhile; Ctrl-C ends the batch.");
}

}  // namespace carom::python
